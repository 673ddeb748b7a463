//! Two processes that drive one conversation.

use std::path::PathBuf;
use std::sync::Arc;

use agent_loop::{Agent, AnswerError, Approval, Decision, Mode, RunEvent, RunLimits};
use parking_lot::Mutex;
use switchboard::conversation::{ConversationError, Decided, DurableConversation, Model, Turn};
use switchboard::store::{ConversationId, Server, Store, UserId};
use tokio::sync::{mpsc, oneshot};

use super::world::World;
use crate::mortal::Mortal;

#[derive(Clone)]
pub(super) enum Command {
    Drive,
    Answer(Box<(Approval, Decision)>),
    Say,
    Cancel,
}

/// What came of a command.
#[derive(Debug)]
pub(super) enum Reported {
    /// It did something.
    Done,
    /// Everything waits for people.
    Idle,
    /// The answer is over.
    Over,
    /// The answer counts.
    Counts,
    /// It could not be done: what is in memory is not what is stored, or another process drives it.
    Failed,
    /// The process died. Its last command may have been executed.
    Died,
}

pub(super) type Shown = Arc<Mutex<Vec<Approval>>>;
type Commands = mpsc::Receiver<(Command, oneshot::Sender<Reported>)>;

pub(super) struct Stage {
    pub(super) path: PathBuf,
    pub(super) mode: Mode,
    pub(super) world: Arc<World>,
    pub(super) id: ConversationId,
    pub(super) agent: Agent,
    pub(super) rows: Vec<Server>,
    pub(super) shown: Shown,
}

impl Stage {
    /// A process: it loads the conversation and executes commands; when something fails, it loads
    /// the conversation again.
    async fn process(
        self: Arc<Self>,
        store: Arc<dyn Store>,
        mut commands: Commands,
        loaded: oneshot::Sender<()>,
    ) {
        let (mut loaded, user) = (Some(loaded), UserId::local());
        loop {
            let found = DurableConversation::load(Arc::clone(&store), &user, &self.id).await;
            let decided = Decided::read(&*store, &user).await;
            drop(loaded.take());
            let (Ok(mut talk), Ok(decided)) = (found, decided) else {
                let Some((_, reply)) = commands.recv().await else {
                    return;
                };
                let _ = reply.send(Reported::Failed);
                continue;
            };
            talk.govern(
                decided.policy(self.mode, &self.rows, &self.id),
                RunLimits::default(),
            );
            if self.obey(&mut talk, &mut commands).await.is_none() {
                return;
            }
        }
    }

    /// Executes commands until the conversation must be loaded again or the channel closes.
    async fn obey(&self, talk: &mut DurableConversation, commands: &mut Commands) -> Option<()> {
        let model = Model {
            name: "scripted",
            servers: &self.rows,
        };
        let mut driver = Driver {
            turn: talk.turn(&self.agent, model),
            shown: &self.shown,
            idle: false,
            over: false,
        };
        let (reply, ends) = loop {
            let (command, reply) = commands.recv().await?;
            let reported = match command {
                Command::Drive => driver.drive().await,
                Command::Answer(answer) => driver.answer(*answer).await,
                Command::Say => break (reply, false),
                Command::Cancel => break (reply, true),
            };
            let failed = reported.is_err();
            let _ = reply.send(reported.unwrap_or(Reported::Failed));
            if failed {
                return Some(());
            }
        };
        drop(driver);
        let done = match ends {
            true if talk.is_open() => talk.cancel().await,
            true => Ok(()),
            false => talk.ask("Go on.").await.map(drop),
        };
        let _ = reply.send(done.map_or(Reported::Failed, |()| Reported::Done));
        Some(())
    }
}

struct Driver<'t> {
    turn: Turn<'t>,
    shown: &'t Mutex<Vec<Approval>>,
    idle: bool,
    over: bool,
}

impl Driver<'_> {
    /// Does the next thing, unless there is nothing to do.
    async fn drive(&mut self) -> Result<Reported, ConversationError> {
        if self.over {
            return Ok(Reported::Over);
        }
        if self.idle {
            // What was loaded waits as well.
            self.shown.lock().extend(self.turn.run().approvals());
            return Ok(Reported::Idle);
        }
        match self.turn.next().await? {
            None | Some(RunEvent::Done { .. }) => self.over = true,
            Some(RunEvent::Waiting { .. }) => self.idle = true,
            Some(RunEvent::Approval(approval)) => self.shown.lock().push(*approval),
            Some(_) => {}
        }
        Ok(Reported::Done)
    }

    async fn answer(
        &mut self,
        answer: (Approval, Decision),
    ) -> Result<Reported, ConversationError> {
        let (approval, decision) = answer;
        self.idle = false;
        match self.turn.answer(&approval.consent(), decision).await {
            Ok(()) => Ok(Reported::Counts),
            Err(ConversationError::Answer(error)) => {
                if let AnswerError::Superseded(now) = error {
                    self.shown.lock().push(*now);
                }
                Ok(Reported::Done)
            }
            Err(error) => Err(error),
        }
    }
}

pub(super) struct Process {
    commands: mpsc::Sender<(Command, oneshot::Sender<Reported>)>,
    task: tokio::task::JoinHandle<()>,
    pub(super) store: Arc<Mortal>,
}

impl Process {
    /// Starts one, and returns when it has loaded the conversation, or failed to.
    pub(super) async fn start(stage: &Arc<Stage>) -> Self {
        let store = Mortal::open(&stage.path).await;
        let (commands, queue) = mpsc::channel(1);
        let (loaded, wait) = oneshot::channel();
        let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
        let task = tokio::spawn(Arc::clone(stage).process(shared, queue, loaded));
        let _ = wait.await;
        Self {
            commands,
            task,
            store,
        }
    }

    pub(super) async fn order(&self, command: Command) -> Reported {
        let (reply, reported) = oneshot::channel();
        let ordered = async {
            if self.commands.send((command, reply)).await.is_err() {
                return Reported::Died;
            }
            reported.await.unwrap_or(Reported::Died)
        };
        tokio::select! {
            biased;
            reported = ordered => reported,
            () = self.store.died() => Reported::Died,
        }
    }

    pub(super) async fn kill(self) {
        self.store.kill().await;
        self.task.abort();
        let _ = self.task.await;
    }

    /// Dies, and another one comes.
    pub(super) async fn replace(&mut self, stage: &Arc<Stage>) {
        self.store.kill().await;
        self.task.abort();
        let _ = (&mut self.task).await;
        *self = Self::start(stage).await;
    }
}
