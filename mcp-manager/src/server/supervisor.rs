//! The task of each server: it turns events into inputs of the state machine, and carries out its actions.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcp_client::{CallError, Client};
use mcp_config::{ServerConfig, Start};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use crate::catalog::Listing;
use crate::error::{Trouble, error_chain};
use crate::event::ManagerEvent;
use crate::manager::shared::Shared;
use crate::server::connect::{Fresh, Listening, Refused, connect};
use crate::server::handle::{Command, ServerHandle};
use crate::server::list_refresh::{ListKind, ListRefresh, Offer};
use crate::server::lists::{self, Outcomes};
use crate::server::signal::Pending;
use crate::server::{Action, Input, ListFailure, Machine, ServerState};

/// The minimum interval between checks whether a server is unused.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

type Work<T> = Option<Pin<Box<dyn Future<Output = T> + Send>>>;

/// Supervises one server.
pub(crate) struct Supervisor {
    shared: Arc<Shared>,
    handle: Arc<ServerHandle>,
    commands: mpsc::Receiver<Command>,
    machine: Machine,
    list_refresh: ListRefresh,
    /// The number of connections so far.
    connection: u64,
    client: Option<Client>,
    listening: Option<Listening>,
    permit: Option<OwnedSemaphorePermit>,
    turn: Work<Option<OwnedSemaphorePermit>>,
    connecting: Work<Result<Fresh, Refused>>,
    listing: Work<(Outcomes, u64)>,
    /// The callers that wait for lists yet to be requested, and for those in flight.
    awaited: [Vec<oneshot::Sender<()>>; 2],
}

/// Whether a supervisor continues.
#[derive(PartialEq)]
enum Flow {
    On,
    End,
}

impl Supervisor {
    pub(crate) fn new(
        shared: Arc<Shared>,
        handle: Arc<ServerHandle>,
        commands: mpsc::Receiver<Command>,
        machine: Machine,
    ) -> Self {
        Self {
            list_refresh: ListRefresh::new(&shared.limits),
            shared,
            handle,
            commands,
            machine,
            connection: 0,
            client: None,
            listening: None,
            permit: None,
            turn: None,
            connecting: None,
            listing: None,
            awaited: Default::default(),
        }
    }

    /// Runs until it is asked to quit; returns the programs that had to be killed then.
    pub(crate) async fn run(mut self) -> Vec<String> {
        self.queue_up();
        loop {
            self.attend().await;
            let wait = self.wait();
            let handle = Arc::clone(&self.handle);
            tokio::select! {
                biased;
                command = self.commands.recv() => {
                    let command = command.unwrap_or(Command::Quit);
                    if self.obey(command).await == Flow::End {
                        break;
                    }
                }
                permit = done(&mut self.turn) => {
                    self.permit = permit;
                    self.step(Input::Turn, None).await;
                }
                outcome = done(&mut self.connecting) => self.connected(outcome).await,
                (outcomes, seen) = done(&mut self.listing) => self.listed(outcomes, seen).await,
                () = handle.signals.bell.notified() => {}
                () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {
                    self.on_time().await;
                }
            }
        }
        self.shared.connector.ended(&self.handle.name).await
    }

    /// Handles signals of the connection.
    async fn attend(&mut self) {
        let Pending {
            changed,
            lost,
            silent,
        } = self.handle.signals.take();
        let now = self.shared.now();
        for (kind, changed) in ListKind::ALL.into_iter().zip(changed) {
            if changed {
                self.list_refresh.changed(kind, now);
            }
        }
        if silent == Some(self.connection) {
            self.list_refresh.silence(now);
        }
        if let Some((connection, reason)) = lost
            && connection == self.connection
            && self.machine.state().is_connected()
        {
            let trouble = reason.map(|reason| reason as Trouble);
            self.step(Input::Lost, trouble).await;
        }
    }

    async fn obey(&mut self, command: Command) -> Flow {
        match command {
            Command::Wanted => self.step(Input::Wanted, None).await,
            Command::Retry { done } => {
                self.handle.usage.touch();
                self.shared.forget(&self.handle.name);
                self.step(Input::Retry, None).await;
                let _ = done.send(());
            }
            Command::Stop { done } => {
                self.step(Input::Stop, None).await;
                self.shared.connector.ended(&self.handle.name).await;
                let _ = done.send(());
            }
            Command::Configure { config, done } => {
                self.configure(config).await;
                let _ = done.send(());
            }
            Command::Refresh { done } => self.refresh(done),
            Command::ListTools => self.list_tools(),
            Command::Quit => {
                self.step(Input::Stop, None).await;
                return Flow::End;
            }
        }
        Flow::On
    }

    /// Marks all lists as due. Replies at once if there are none to wait for.
    fn refresh(&mut self, done: oneshot::Sender<()>) {
        let now = self.shared.now();
        for kind in ListKind::ALL {
            self.list_refresh.changed(kind, now);
        }
        let some = self.list_refresh.due().is_some() || self.listing.is_some();
        let [coming, _] = &mut self.awaited;
        if some && self.machine.state().is_connected() {
            coming.push(done);
        } else {
            let _ = done.send(());
        }
    }

    /// Requests the tool list for waiting callers; if the server has none, there is nothing to wait for.
    fn list_tools(&mut self) {
        if !self.list_refresh.wanted(ListKind::Tools, self.shared.now()) {
            let client = self.client.as_ref();
            let seen = client.map_or(0, Client::tool_list_changes);
            self.handle.live.send_modify(|live| live.listed = seen);
        }
    }

    /// Notifies the callers that waited for the lists in flight.
    fn tell_listed(&mut self) {
        let [_, under_way] = &mut self.awaited;
        for done in under_way.drain(..) {
            // They may have been dropped.
            let _ = done.send(());
        }
    }

    /// Keeps the connection if it serves the new configuration as well.
    async fn configure(&mut self, config: Arc<ServerConfig>) {
        let old = std::mem::replace(&mut *self.handle.config.lock(), Arc::clone(&config));
        let same = old.connects_like(&config);
        if !same || !config.is_enabled() {
            self.step(Input::Stop, None).await;
        }
        if config.is_enabled() && !(same && old.is_enabled()) {
            self.handle.usage.touch();
            self.step(Input::Enable, None).await;
            if config.start() == Start::Eager {
                self.step(Input::Wanted, None).await;
            }
        }
        let listing = self.handle.listing.lock().clone();
        if let Some(listing) = listing {
            let listing = Listing::clone(&listing).with_policy(config.tools());
            self.shared.offer(&self.handle, Some(Arc::new(listing)));
        }
    }

    /// The time until the next action.
    fn wait(&self) -> Option<Duration> {
        let connected = self.machine.state().is_connected();
        let idle = connected.then(|| {
            let since = self.handle.usage.unused_since();
            let unused = since.map_or(Duration::ZERO, |since| since.elapsed());
            let left = self.shared.limits.idle_time().saturating_sub(unused);
            left.max(SHORTEST_WAIT)
        });
        let list = self
            .list_refresh
            .due()
            .filter(|_| connected && self.listing.is_none());
        let now = self.shared.now();
        let due = [self.machine.due(), list].into_iter().flatten();
        due.map(|at| at.saturating_sub(now)).chain(idle).min()
    }

    async fn on_time(&mut self) {
        let now = self.shared.now();
        if self.machine.due().is_some_and(|due| due <= now) {
            return self.step(Input::Due, None).await;
        }
        let Some(client) = self.client.clone() else {
            return;
        };
        let unused = self.handle.usage.unused_since();
        let unused = unused.is_some_and(|since| since.elapsed() >= self.shared.limits.idle_time());
        // A caller may use the connection directly, outside of the manager.
        if unused && self.listing.is_none() && !client.idle_time().is_zero() {
            return self.step(Input::Unused, None).await;
        }
        if self.listing.is_none() {
            let kinds = self.list_refresh.take_due(now);
            let limit = self.shared.limits.list_time();
            if !kinds.is_empty() {
                let [coming, under_way] = &mut self.awaited;
                under_way.append(coming);
                // A change that is announced from here on may be missing from the reply.
                let seen = match kinds.contains(&ListKind::Tools) {
                    true => client.tool_list_changes(),
                    false => self.handle.live.borrow().listed,
                };
                self.listing = Some(Box::pin(async move {
                    (lists::fetch(&client, kinds, limit).await, seen)
                }));
            }
        }
    }

    async fn connected(&mut self, outcome: Result<Fresh, Refused>) {
        let Fresh {
            client,
            lists,
            seen,
        } = match outcome {
            Ok(fresh) => fresh,
            Err(Refused { refusal, trouble }) => {
                return self.step(Input::Refused(refusal), Some(trouble)).await;
            }
        };
        let facts = client.server();
        self.list_refresh
            .begin(|kind| lists::offer(&facts.capabilities, kind));
        if let Some(known) = &mut *self.handle.listing.lock() {
            // It may have been known to offer more before it was updated.
            let offered = lists::offered(&facts.capabilities, Listing::clone(known));
            *known = Arc::new(offered);
        }
        self.list_refresh.take_all(self.shared.now());
        let announces = |kind| lists::offer(&facts.capabilities, kind) == Offer::Announced;
        self.listening =
            Listening::begin(&client, &self.handle.signals, self.connection, announces);
        self.client = Some(client);
        self.shared.forget(&self.handle.name);
        self.handle.usage.touch();
        let failure = self.take_lists(lists);
        self.handle.live.send_modify(|live| live.listed = seen);
        self.step(Input::Connected, None).await;
        if let Some((failure, trouble)) = failure {
            self.step(Input::ListFailed(failure), Some(trouble)).await;
        }
    }

    async fn listed(&mut self, outcomes: Outcomes, seen: u64) {
        match self.take_lists(outcomes) {
            None => self.step(Input::Listed, None).await,
            Some((failure, trouble)) => {
                self.step(Input::ListFailed(failure), Some(trouble)).await;
            }
        }
        // Also after a failure: the list was requested, and will be requested again.
        self.handle.live.send_modify(|live| live.listed = seen);
        self.tell_listed();
    }

    /// Replaces lists with those that arrived; the others stay unchanged.
    fn take_lists(&mut self, outcomes: Outcomes) -> Option<(ListFailure, Trouble)> {
        let config = self.handle.config();
        let old = self.handle.listing.lock().clone();
        let mut listing = old.map_or_else(
            || Listing::new(self.handle.name.clone()),
            |old| Listing::clone(&old),
        );
        let info = self.client.as_ref().and_then(|client| client.server().info);
        if let Some(info) = info {
            listing = listing.with_title(info.title.unwrap_or(info.name));
        }
        let (now, mut failed) = (self.shared.now(), None);
        for (kind, outcome) in outcomes {
            match outcome {
                Ok(found) => {
                    self.list_refresh.done(kind, Ok(found.ttl), now);
                    listing = found.put_into(listing, config.tools());
                }
                Err(error) => {
                    self.list_refresh.done(kind, Err(()), now);
                    let failure = self.judge(&error);
                    failed.get_or_insert((failure, Arc::new(error) as Trouble));
                }
            }
        }
        self.shared.offer(&self.handle, Some(Arc::new(listing)));
        failed
    }

    fn judge(&self, error: &CallError) -> ListFailure {
        match error {
            CallError::Unauthorized { .. } => ListFailure::Auth,
            CallError::Timeout { .. } | CallError::NotSent { .. } | CallError::Lost { .. }
                if !self.handle.usage.is_calling() =>
            {
                ListFailure::Silent
            }
            _ => ListFailure::Answered,
        }
    }

    /// Passes an input to the state machine and carries out its actions.
    async fn step(&mut self, input: Input, trouble: Option<Trouble>) {
        let before = self.machine.state();
        let actions = self.machine.step(input, self.shared.now());
        let after = self.machine.state();
        self.drop_what_is_over(after);
        let closing = if actions.contains(&Action::Close) {
            self.client.take()
        } else {
            None
        };
        if before != after {
            self.tell_state(before, after, trouble);
        }
        for action in actions {
            self.act(action);
        }
        if let Some(client) = closing {
            client.close().await;
        }
        self.queue_up();
    }

    /// Abandons work in flight that belongs to another state.
    fn drop_what_is_over(&mut self, state: ServerState) {
        if state != ServerState::Pending {
            self.turn = None;
        }
        if state != ServerState::Connecting {
            self.connecting = None;
            self.permit = None;
        }
        if !state.is_connected() {
            self.listing = None;
            self.listening = None;
            // Dropping the senders notifies the waiting callers.
            self.awaited = Default::default();
        }
    }

    /// Waits for its turn to start, if it has to.
    fn queue_up(&mut self) {
        if self.machine.state() == ServerState::Pending && self.turn.is_none() {
            let gate = self.shared.gate(self.handle.config().endpoint());
            self.turn = Some(Box::pin(async move { gate.acquire_owned().await.ok() }));
        }
    }

    fn tell_state(&self, from: ServerState, to: ServerState, trouble: Option<Trouble>) {
        let error = trouble
            .as_ref()
            .map(|trouble| error_chain(trouble.as_ref()));
        self.handle.live.send_modify(|live| {
            live.state = to;
            live.client = self.client.clone().filter(|_| to.is_connected());
            match to {
                ServerState::Connected | ServerState::Idle | ServerState::Disabled => {
                    live.error = None;
                }
                _ => live.error = trouble.or(live.error.take()),
            }
        });
        if matches!(to, ServerState::Disabled | ServerState::Failed) {
            self.shared.offer(&self.handle, None);
            self.shared.forget(&self.handle.name);
        }
        let server = self.handle.name.clone();
        self.shared.emit(ManagerEvent::StateChanged {
            server,
            from,
            to,
            error,
        });
    }

    fn act(&mut self, action: Action) {
        let server = self.handle.name.clone();
        let error = || {
            let live = self.handle.live.borrow();
            live.error
                .as_ref()
                .map(|error| error_chain(error.as_ref()))
                .unwrap_or_default()
        };
        match action {
            Action::Connect { attempt } => {
                if attempt > 0 {
                    let max_attempts = self.machine.max_attempts();
                    self.shared.emit(ManagerEvent::Reconnecting {
                        server,
                        attempt,
                        max_attempts,
                    });
                }
                self.connection += 1;
                if let Some(permit) = self.permit.take() {
                    let (shared, handle) = (Arc::clone(&self.shared), Arc::clone(&self.handle));
                    let work = connect(shared, handle, self.connection, permit);
                    self.connecting = Some(Box::pin(work));
                }
            }
            Action::Close => {}
            Action::Reconnected { attempt } => {
                self.shared
                    .emit(ManagerEvent::Reconnected { server, attempt });
            }
            Action::TryFailed { attempt } => self.shared.emit(ManagerEvent::ReconnectFailed {
                server,
                attempt,
                error: error(),
            }),
            Action::Removed => self.shared.emit(ManagerEvent::ServerRemoved {
                server,
                reason: error(),
            }),
        }
    }
}

/// The result of the work, if there is any.
async fn done<T>(work: &mut Work<T>) -> T {
    let result = poll_fn(|cx| match work {
        Some(work) => work.as_mut().poll(cx),
        None => Poll::Pending,
    });
    let result = result.await;
    *work = None;
    result
}
