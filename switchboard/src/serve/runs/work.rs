//! The task of a conversation.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use agent_loop::RunEvent;
use axum::http::StatusCode;
use tokio::sync::mpsc;

use crate::conversation::{ConversationError, DurableConversation, Model, Turn};
use crate::exit::Failure;
use crate::serve::app;
use crate::serve::error::ApiError;
use crate::serve::runs::Shared;
use crate::serve::runs::command::{Command, Reply};
use crate::serve::runs::confirm::refusal;
use crate::serve::runs::prepare::Plan;
use crate::serve::runs::say;
use crate::serve::runs::supply::supply;
use crate::serve::server_pool::Equipment;
use crate::store::{CallStatus, ConversationId, StoreError, Timestamp, UserId};

/// How many processes in a row may die while they drive an answer, before it is ended.
const MAX_DEATHS: u32 = 5;
/// The longest time after which an answer that was cut off goes on by itself.
const MAX_IDLE: Duration = Duration::from_secs(3600);

/// Handles commands, drives the answer, and ends when there is nothing to do.
pub(super) async fn work(
    shared: Arc<Shared>,
    user: UserId,
    id: ConversationId,
    mut commands: mpsc::Receiver<Command>,
) {
    // It is never closed.
    let _turn = shared.gate.acquire().await;
    let loaded = DurableConversation::load_watched(Arc::clone(&shared.store), &user, &id).await;
    let mut task = match loaded {
        Ok(durable) => Task {
            shared: Arc::clone(&shared),
            user,
            durable,
        },
        Err(error) => {
            let error = ApiError::from(error);
            while let Some(command) = shared.next(&id, &mut commands) {
                command.refuse(error.clone());
            }
            return;
        }
    };
    while let Some(command) = shared.next(&id, &mut commands) {
        if *shared.closing.borrow() {
            command.refuse(StoreError::Closed.into());
            continue;
        }
        if let Err(error) = task.obey(command, &mut commands).await {
            // Memory and store differ: the next command loads the conversation again.
            task.rescue(&error).await;
            while let Some(command) = shared.next(&id, &mut commands) {
                command.refuse(error.clone());
            }
            return;
        }
    }
}

pub(super) struct Task {
    shared: Arc<Shared>,
    user: UserId,
    pub(super) durable: DurableConversation,
}

impl Task {
    /// Handles a command while no answer is driven. An error means that the conversation must be
    /// loaded again.
    async fn obey(
        &mut self,
        command: Command,
        commands: &mut mpsc::Receiver<Command>,
    ) -> Result<(), ApiError> {
        match command {
            Command::Say {
                message,
                instead,
                reply,
            } => {
                let asked = say::Asked { message, instead };
                self.say(asked, reply, commands).await
            }
            Command::Regenerate { message, reply } => {
                self.regenerate(&message, reply, commands).await
            }
            Command::Show { message, reply } => self.show(&message, reply).await,
            Command::Confirm { confirm, reply } if !self.durable.is_open() => {
                let error = refusal(&*self.shared.store, &confirm.message, confirm.number).await;
                let is_behind = error.is_elsewhere();
                let _ = reply.send(Err(error));
                match is_behind {
                    true => Err(ConversationError::Overtaken.into()),
                    false => Ok(()),
                }
            }
            Command::Confirm { .. } | Command::Supply { .. } => {
                if !self.durable.is_open() {
                    let message = "nothing waits for an answer any more";
                    command.refuse(ApiError::conflict("already_answered", message));
                    return Ok(());
                }
                self.drive(VecDeque::from([command]), commands).await
            }
            Command::Ask { .. } | Command::Settle { .. } | Command::Notice { .. } => {
                let message = "no call runs in this conversation any more";
                command.refuse(ApiError::conflict("already_answered", message));
                Ok(())
            }
            Command::Cancel { reply } => {
                let ended = match self.durable.is_open() {
                    true => self.durable.cancel().await,
                    false => Ok(()),
                };
                answer(reply, ended)
            }
            Command::Continue { reply } => {
                if let Some(error) = self.cannot_continue() {
                    let _ = reply.send(Err(error));
                    return Ok(());
                }
                let begun = self.durable.proceed().await;
                if begun.is_err() {
                    return answer(reply, begun);
                }
                let _ = reply.send(Ok(()));
                self.drive(VecDeque::new(), commands).await
            }
            Command::Compact { reply } => match self.durable.compact().await {
                Ok(true) => {
                    let _ = reply.send(Ok(true));
                    self.drive(VecDeque::new(), commands).await
                }
                done => answer(reply, done),
            },
            Command::Edit { edit, reply } => {
                let edited = self.durable.edit(|row| edit.make(row)).await;
                let row = self.durable.conversation().clone();
                answer(reply, edited.map(|()| Box::new(row)))
            }
            Command::Recover { deaths, reply } => {
                if !self.durable.is_cut_off() {
                    let _ = reply.send(Ok(()));
                    return Ok(());
                }
                if !self.goes_on(deaths) {
                    return answer(reply, self.durable.interrupt().await);
                }
                let _ = reply.send(Ok(()));
                self.drive(VecDeque::new(), commands).await
            }
        }
    }

    /// Whether an answer that was cut off goes on by itself: where several machines share the
    /// work, and as long as it is not the answer itself that ends their processes.
    fn goes_on(&self, deaths: u32) -> bool {
        let idle = Timestamp::now().since(self.durable.updated_at());
        self.shared.store.cluster().is_some() && deaths <= MAX_DEATHS && idle <= MAX_IDLE
    }

    fn cannot_continue(&self) -> Option<ApiError> {
        if self.durable.run().conversation().turns().is_empty() {
            return Some(ApiError::conflict(
                "nothing_to_continue",
                "nothing was said yet",
            ));
        }
        (self.durable.recorder().waiting() > 0).then(running)
    }

    pub(super) async fn plan(&self) -> Result<Plan, Failure> {
        Plan::make(&self.shared, &self.user, self.durable.conversation()).await
    }

    /// Drives the answer until it is over or waits for the user.
    async fn drive(
        &mut self,
        first: VecDeque<Command>,
        commands: &mut mpsc::Receiver<Command>,
    ) -> Result<(), ApiError> {
        match self.plan().await {
            Ok(plan) => self.drive_with(plan, first, commands).await,
            Err(failure) => self.fail(failure, first).await,
        }
    }

    pub(super) async fn drive_with(
        &mut self,
        plan: Plan,
        first: VecDeque<Command>,
        commands: &mut mpsc::Receiver<Command>,
    ) -> Result<(), ApiError> {
        let shared = Arc::clone(&self.shared);
        let conversation = self.durable.conversation().clone();
        let equipment = match plan.equip(&shared).await {
            Ok(equipment) => equipment,
            Err(failure) => return self.fail(failure, first).await,
        };
        if let Some(server) = self.absent(&equipment, &first).await {
            // The question stays: the server may come back.
            let message = format!("{server} cannot be reached now, so its tool cannot be run");
            let error = ApiError::new(StatusCode::BAD_GATEWAY, "unreachable", message)
                .with_hint("Try again when it is connected, or deny the call.");
            refuse(first, error);
            return Ok(());
        }
        let agent = match plan.agent(&shared, &equipment, &conversation).await {
            Ok(agent) => agent,
            Err(failure) => return self.fail(failure, first).await,
        };
        let servers = &equipment.servers;
        let governance = plan.governance(&shared, servers, &conversation).await;
        let (policy, limits) = match governance {
            Ok(governance) => governance,
            Err(error) => return Err(refuse(first, error.into())),
        };
        self.durable.govern(policy, limits);
        let name = plan.choice.name();
        let model = Model {
            name: &name,
            servers,
        };
        let mut turn = self.durable.turn(&agent, model);
        for notice in &equipment.notices {
            if let Err(error) = turn.notice(notice).await {
                return Err(refuse(first, error.into()));
            }
        }
        let mut driving = Driving {
            shared: &shared,
            turn,
            first,
            stops: Vec::new(),
        };
        let driven = driving.drive(commands).await;
        driving.end(&driven);
        driven
    }

    /// A server that is to run a call now and offers nothing at all.
    async fn absent(&self, equipment: &Equipment, first: &VecDeque<Command>) -> Option<String> {
        let approved: Vec<_> = first.iter().filter_map(Command::approves).collect();
        let tools = equipment.tools.tools().await;
        let waiting = self.durable.run().approvals().into_iter();
        waiting
            .filter(|it| approved.contains(&it.record.number))
            .filter(|it| !it.is_built_in())
            .map(|it| it.record.server_name)
            .find(|server| !tools.iter().any(|tool| tool.server == *server))
    }

    /// An answer whose next step could not be stored ends, unless another process drives it.
    async fn rescue(self, error: &ApiError) {
        if error.is_overtaken() {
            return;
        }
        let (store, id) = (&self.shared.store, &self.durable.conversation().id);
        let loaded = DurableConversation::load_watched(Arc::clone(store), &self.user, id).await;
        if let Ok(mut durable) = loaded
            && durable.is_cut_off()
        {
            // If that cannot be stored either, the next start sees to it.
            let _ = durable.fail(error.to_string()).await;
        }
    }

    /// The model is unavailable: queued commands are rejected, and an answer that waits for no user
    /// ends.
    async fn fail(&mut self, failure: Failure, first: VecDeque<Command>) -> Result<(), ApiError> {
        let message = failure.chain();
        let error = ApiError::from(failure);
        if self.durable.is_cut_off() {
            self.durable.fail(message).await?;
        }
        refuse(first, error);
        Ok(())
    }
}

/// An answer that is driven.
struct Driving<'t> {
    shared: &'t Shared,
    turn: Turn<'t>,
    /// Commands that came before it was driven.
    first: VecDeque<Command>,
    /// Callers waiting for it to stop.
    stops: Vec<Reply<()>>,
}

impl Driving<'_> {
    async fn drive(&mut self, commands: &mut mpsc::Receiver<Command>) -> Result<(), ApiError> {
        let mut closing = self.shared.closing.clone();
        // Answers can be taken once the tools are known: with the first event they are.
        let (mut begun, mut waits, mut closed) = (false, false, false);
        loop {
            if waits && self.first.is_empty() && commands.is_empty() {
                return Ok(());
            }
            tokio::select! {
                biased;
                // Events that precede a command are stored and announced first.
                command = next(&mut self.first, commands), if begun && !self.turn.has_queued() => {
                    // Changes revealed by a command are stored and announced as well.
                    waits &= !self.obey(command).await? && !self.turn.has_queued();
                    continue;
                }
                () = app::closed(&mut closing), if !closed => {
                    // A question may wait for the next start; what runs may not.
                    if waits {
                        return Ok(());
                    }
                    closed = true;
                    if self.shared.store.cluster().is_none() {
                        self.turn.cancel();
                    }
                    continue;
                }
                () = std::future::ready(()), if closed && self.can_hand_over() => return Ok(()),
                () = self.turn.ready() => {}
            }
            begun = true;
            match self.turn.next().await? {
                None | Some(RunEvent::Done { .. }) => return Ok(()),
                Some(RunEvent::Waiting { .. }) => waits = true,
                Some(_) => {}
            }
        }
    }

    /// Whether another process can go on with the answer as it is stored: no call runs here.
    fn can_hand_over(&self) -> bool {
        let runs = |status| matches!(status, CallStatus::Invoking | CallStatus::Queued);
        let mut calls = self.turn.recorder().calls();
        self.shared.store.cluster().is_some()
            && !self.turn.has_queued()
            && !calls.any(|call| runs(call.status))
    }

    /// Handles a command meanwhile. Returns whether it may lead to new events.
    async fn obey(&mut self, command: Command) -> Result<bool, ApiError> {
        match command {
            Command::Confirm { confirm, reply } => {
                let given = confirm.apply(&mut self.turn, &*self.shared.store).await;
                tell(reply, given)
            }
            Command::Supply {
                question,
                result,
                reply,
            } => {
                let store = &*self.shared.store;
                let given = supply(&mut self.turn, store, &question, *result).await;
                let goes_on = !matches!(given, Ok(false));
                Ok(tell(reply, given.map(drop))? && goes_on)
            }
            Command::Ask { question, reply } => {
                let asked = self.turn.ask(*question).await;
                tell(reply, counts(asked)).map(|_| false)
            }
            Command::Settle {
                question,
                answer,
                reply,
            } => {
                let settled = self.turn.settle(&question, answer).await;
                tell(reply, counts(settled)).map(|_| false)
            }
            Command::Notice { message, reply } => {
                let reported = self.turn.notice(&message).await;
                tell(reply, reported.map_err(ApiError::from)).map(|_| false)
            }
            Command::Cancel { reply } => {
                self.turn.cancel();
                self.stops.push(reply);
                Ok(true)
            }
            Command::Edit { edit, reply } => {
                let edited = self.turn.edit(|row| edit.make(row)).await;
                let row = self.turn.recorder().conversation().clone();
                let edited = edited.map(|()| Box::new(row));
                tell(reply, edited.map_err(ApiError::from))?;
                Ok(false)
            }
            Command::Recover { reply, .. } => {
                let _ = reply.send(Ok(()));
                Ok(false)
            }
            command @ (Command::Say { .. }
            | Command::Regenerate { .. }
            | Command::Show { .. }
            | Command::Continue { .. }
            | Command::Compact { .. }) => {
                command.refuse(running());
                Ok(false)
            }
        }
    }

    fn end(self, driven: &Result<(), ApiError>) {
        for reply in self.stops {
            let _ = reply.send(driven.clone());
        }
        let over = || ApiError::conflict("overtaken", "the conversation was moved on elsewhere");
        let error = driven.as_ref().err().cloned().unwrap_or_else(over);
        refuse(self.first, error);
    }
}

/// The next command: queued ones first. Cancel safe.
async fn next(first: &mut VecDeque<Command>, commands: &mut mpsc::Receiver<Command>) -> Command {
    if let Some(command) = first.pop_front() {
        return command;
    }
    match commands.recv().await {
        Some(command) => command,
        // All senders are gone.
        None => std::future::pending().await,
    }
}

/// Passes on what came of an answer: whether it counts. An error means that what is in memory is
/// no longer what is stored.
fn tell<T>(reply: Reply<T>, given: Result<T, ApiError>) -> Result<bool, ApiError> {
    let reported = match &given {
        Err(error) if error.is_overtaken() || error.status.is_server_error() => Err(error.clone()),
        given => Ok(given.is_ok()),
    };
    let _ = reply.send(given);
    reported
}

pub(super) fn answer<T>(
    reply: Reply<T>,
    done: Result<T, ConversationError>,
) -> Result<(), ApiError> {
    match done {
        Ok(done) => {
            // The caller may be gone.
            let _ = reply.send(Ok(done));
            Ok(())
        }
        Err(error) => {
            let error = ApiError::from(error);
            let _ = reply.send(Err(error.clone()));
            Err(error)
        }
    }
}

/// Rejects queued commands with this error.
fn refuse(commands: VecDeque<Command>, error: ApiError) -> ApiError {
    commands
        .into_iter()
        .for_each(|command| command.refuse(error.clone()));
    error
}

/// Whether a question was still there to be asked or settled.
fn counts(done: Result<bool, ConversationError>) -> Result<(), ApiError> {
    match done? {
        true => Ok(()),
        false => Err(answered()),
    }
}

fn answered() -> ApiError {
    ApiError::conflict("already_answered", "this question was answered already")
}

pub(super) fn running() -> ApiError {
    let message = "an answer is under way";
    ApiError::conflict("running", message)
        .with_hint("Wait for it, answer what it asks, or cancel it.")
}
