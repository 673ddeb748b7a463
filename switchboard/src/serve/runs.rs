//! Active conversations: one task each, for as long as there is an answer to drive.
//!
//! Every request to a conversation is a [`Command`] to its task, handled in order. A task that only
//! waits for the user ends; the next command loads the conversation again. So a waiting
//! conversation costs nothing, and survives a restart.

mod command;
mod confirm;
mod prepare;
mod remote;
mod say;
mod supply;
mod work;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::demo::DemoModel;
use crate::serve::app;
use crate::serve::error::ApiError;
use crate::serve::operate::Metrics;
use crate::serve::people::People;
use crate::serve::questions::Questions;
use crate::serve::server_pool::ServerPool;
use crate::store::{Cluster, ConversationId, Store, StoreError, UserId};

pub(crate) use command::{Command, Edit, Reply};
pub(crate) use confirm::{Confirm, Scope, Verdict};
pub(crate) use remote::{Action, Filled, Request, receive};

/// Maximum number of conversations driven at a time; others wait.
const MAX_ACTIVE: usize = 256;
/// Maximum number of queued commands per conversation; further ones are rejected.
const MAX_QUEUED_COMMANDS: usize = 64;
/// The longest interval of looking for runs that another process left behind, and for what others
/// ask.
const SWEEP: Duration = Duration::from_secs(1);
/// How often to look within the time after which a silent process is taken to be dead.
const SWEEPS: u32 = 10;
/// The same where nothing tells whether they are driven: each look challenges their processes.
const CHALLENGE: Duration = Duration::from_secs(5);
/// The most runs taken over at a time, so that processes share them.
const MAX_CLAIMED: usize = 32;
/// Grace period for running answers at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Active conversations. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Runs {
    shared: Arc<Shared>,
}

/// A weak handle.
#[derive(Clone)]
pub(crate) struct WeakRuns {
    shared: Weak<Shared>,
}

impl WeakRuns {
    /// The servers of the users, as long as there are any.
    pub(crate) fn server_pool(&self) -> Option<ServerPool> {
        Some(self.shared.upgrade()?.server_pool.clone())
    }

    /// Sends a command to a conversation's task if it is running, and waits for the reply.
    pub(crate) async fn send_to_active<T>(
        &self,
        conversation: &ConversationId,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, ApiError> {
        let over = || StoreError::Closed.into();
        let (reply, answer) = oneshot::channel();
        {
            let shared = self.shared.upgrade().ok_or_else(over)?;
            let active = shared.active.lock();
            let commands = active.get(conversation).ok_or_else(over)?;
            let sent = commands.try_send(command(reply));
            sent.map_err(|_| ApiError::rate_limited(1))?;
        }
        answer.await.unwrap_or_else(|_| Err(over()))
    }
}

struct Shared {
    store: Arc<dyn Store>,
    server_pool: ServerPool,
    demo: Arc<DemoModel>,
    closing: watch::Receiver<bool>,
    metrics: Metrics,
    gate: Semaphore,
    /// What servers ask while their calls run.
    questions: OnceLock<Questions>,
    active: Mutex<HashMap<ConversationId, mpsc::Sender<Command>>>,
    tasks: Mutex<JoinSet<()>>,
}

impl Runs {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        server_pool: ServerPool,
        demo: Arc<DemoModel>,
        closing: watch::Receiver<bool>,
        metrics: Metrics,
    ) -> Self {
        let shared = Shared {
            store,
            server_pool,
            demo,
            closing,
            metrics,
            gate: Semaphore::new(MAX_ACTIVE),
            questions: OnceLock::new(),
            active: Mutex::default(),
            tasks: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Returns a weak handle.
    pub(crate) fn downgrade(&self) -> WeakRuns {
        WeakRuns {
            shared: Arc::downgrade(&self.shared),
        }
    }

    /// Sends a command to a conversation's task, started if needed, and waits for the reply.
    pub(crate) async fn send<T>(
        &self,
        user: &UserId,
        conversation: &ConversationId,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, ApiError> {
        let (reply, answer) = oneshot::channel();
        self.queue(user, conversation, command(reply))?;
        answer
            .await
            .unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// Sets who answers servers' questions: once.
    pub(crate) fn answer_by(&self, questions: Questions) {
        let _ = self.shared.questions.set(questions);
    }

    /// Recovers runs that were interrupted: calls that were running are settled, questions stay
    /// open, and an answer that was cut off ends and can be continued.
    pub(crate) async fn recover(&self, user: &UserId) -> Result<(), StoreError> {
        if self.shared.store.cluster().is_some() {
            // Whether another process drives them is for `claim` to find out.
            return Ok(());
        }
        let unfinished = self.shared.store.unfinished(user).await?;
        for standing in self.shared.store.standings(&unfinished).await? {
            // One that only waits for the user needs no recovery.
            if standing.waiting > 0 && standing.invoking == 0 {
                continue;
            }
            let id = standing.conversation_id;
            if self.shared.active.lock().contains_key(&id) {
                continue;
            }
            // One that cannot be read must not keep the others from being served; one that another
            // process moves on is passed over.
            let recover = |reply| Command::Recover { deaths: 0, reply };
            let _ = self.send(user, &id, recover).await;
        }
        Ok(())
    }

    /// Goes on with the answers that dead processes left behind.
    async fn take_over(&self, cluster: &dyn Cluster, users: &[UserId]) -> Result<(), StoreError> {
        if self.shared.metrics.is_draining() {
            // They would be handed over again at once.
            return Ok(());
        }
        let driven: Vec<ConversationId> = self.shared.active.lock().keys().cloned().collect();
        let room = MAX_ACTIVE.saturating_sub(driven.len()).min(MAX_CLAIMED);
        if room == 0 {
            return Ok(());
        }
        for orphan in cluster.claim(users, &driven, room as u32).await? {
            if self.shared.active.lock().contains_key(&orphan.conversation) {
                continue;
            }
            self.shared.metrics.took_over();
            tracing::info!(conversation = %orphan.conversation, "goes on with what another process left behind");
            let (reply, _) = oneshot::channel();
            let deaths = orphan.deaths;
            // What cannot be queued is found again.
            let recover = Command::Recover { deaths, reply };
            let _ = self.queue(&orphan.user, &orphan.conversation, recover);
        }
        Ok(())
    }

    /// Looks for runs that other processes leave behind, for as long as the program runs.
    pub(crate) fn watch_over(&self, people: People) {
        let (runs, mut closing) = (self.clone(), self.shared.closing.clone());
        tokio::spawn(async move {
            let store = Arc::clone(&runs.shared.store);
            let mut mail = store.cluster().map(Cluster::mail);
            let sweep = (store.lease_timeout() / SWEEPS).min(SWEEP);
            let mut read_at = None;
            loop {
                let next = async {
                    match &mut mail {
                        Some(mail) => drop(tokio::time::timeout(sweep, mail.changed()).await),
                        None => tokio::time::sleep(CHALLENGE).await,
                    }
                };
                tokio::select! {
                    () = app::closed(&mut closing) => return,
                    () = next => {}
                }
                // However often others wake it.
                let is_fresh = |at: Instant| at.elapsed() < sweep;
                if people.is_team()
                    && !read_at.is_some_and(is_fresh)
                    && let Ok(users) = store.users().await
                {
                    people.refresh(&users);
                    read_at = Some(Instant::now());
                }
                let users = people.served();
                // If the store fails now, it may work the next time.
                match store.cluster() {
                    Some(cluster) => drop(runs.take_over(cluster, &users).await),
                    None => {
                        for user in &users {
                            let _ = runs.recover(user).await;
                        }
                    }
                }
            }
        });
    }

    /// Stops the answers of a user that are under way here.
    pub(crate) async fn stop_user(&self, user: &UserId) -> Result<(), StoreError> {
        for conversation in self.shared.store.unfinished(user).await? {
            if self.shared.active.lock().contains_key(&conversation) {
                // One that ends meanwhile is as good as stopped.
                let cancel = |reply| Command::Cancel { reply };
                let _ = self.send(user, &conversation, cancel).await;
            }
        }
        Ok(())
    }

    /// Waits until all tasks have settled, up to the grace period.
    pub(crate) async fn stop(&self) {
        let mut tasks = std::mem::take(&mut *self.shared.tasks.lock());
        let all = async { while tasks.join_next().await.is_some() {} };
        // Tasks that do not end in time are aborted, as by a crash.
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, all).await;
    }

    /// How many conversations this process drives.
    pub(crate) fn active(&self) -> usize {
        self.shared.active.lock().len()
    }

    /// Drops what is under way, as a crash would.
    pub(crate) fn abandon(&self) {
        drop(std::mem::take(&mut *self.shared.tasks.lock()));
    }

    /// Queues a command for a conversation's task, which is started if there is none.
    fn queue(
        &self,
        user: &UserId,
        conversation: &ConversationId,
        command: Command,
    ) -> Result<(), ApiError> {
        // A task checks under the same lock whether it may end, so no command is lost.
        let mut active = self.shared.active.lock();
        if let Some(commands) = active.get(conversation)
            && !commands.is_closed()
        {
            return commands
                .try_send(command)
                .map_err(|_| ApiError::rate_limited(1));
        }
        // What runs is still answered; nothing begins any more.
        if *self.shared.closing.borrow() {
            return Err(StoreError::Closed.into());
        }
        let (commands, queue) = mpsc::channel(MAX_QUEUED_COMMANDS);
        let sent = commands.try_send(command);
        sent.map_err(|_| ApiError::rate_limited(1))?;
        active.insert(conversation.clone(), commands);
        let shared = Arc::clone(&self.shared);
        let task = work::work(shared, user.clone(), conversation.clone(), queue);
        let mut tasks = self.shared.tasks.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
        Ok(())
    }
}

impl Shared {
    /// The next command; `None` if there is none, and then the task is deregistered.
    fn next(&self, id: &ConversationId, commands: &mut mpsc::Receiver<Command>) -> Option<Command> {
        let mut active = self.active.lock();
        let command = commands.try_recv().ok();
        if command.is_none() {
            active.remove(id);
        }
        command
    }
}

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs")
            .field("active", &self.shared.active.lock().len())
            .finish_non_exhaustive()
    }
}
