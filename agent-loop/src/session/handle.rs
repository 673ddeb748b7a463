//! Commands to a session on another task.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::model::InputResponses;
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::approval::{AnswerError, Consent, Decision};
use crate::run::number::CallNumber;

/// The maximum number of queued commands.
const MAX_QUEUED_COMMANDS: usize = 256;

/// Sends answers to a [`Session`](crate::Session) from another task. Cheap to clone.
#[derive(Clone, Default)]
pub struct Handle {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    commands: Mutex<Commands>,
    wake: Notify,
}

#[derive(Default)]
struct Commands {
    queue: VecDeque<Command>,
    /// The session has ended.
    over: bool,
}

/// Reports whether an answer was accepted.
pub(crate) type Verdict = oneshot::Sender<Result<(), AnswerError>>;

pub(crate) enum Command {
    Answer(Consent, Decision, Verdict),
    Supply(CallNumber, InputResponses, Verdict),
    Cancel,
}

impl Handle {
    /// Answers an approval that was shown. Returns when the session has received the answer, or has ended.
    ///
    /// # Errors
    /// [`AnswerError`] if the answer is not accepted.
    pub async fn answer(
        &self,
        shown: &Consent,
        decision: impl Into<Decision>,
    ) -> Result<(), AnswerError> {
        let number = shown.call;
        let (verdict, heard) = oneshot::channel();
        let command = Command::Answer(shown.clone(), decision.into(), verdict);
        self.send(number, command)?;
        heard.await.unwrap_or(Err(AnswerError::NotAsked(number)))
    }

    /// Answers a server's question about a parked call. Returns when the session has received the answer, or has ended.
    ///
    /// # Errors
    /// [`AnswerError`] if the answer is not accepted.
    pub async fn supply(
        &self,
        number: CallNumber,
        answers: InputResponses,
    ) -> Result<(), AnswerError> {
        let (verdict, heard) = oneshot::channel();
        self.send(number, Command::Supply(number, answers, verdict))?;
        heard.await.unwrap_or(Err(AnswerError::NotAsked(number)))
    }

    /// Cancels everything in flight. The session then ends normally.
    pub fn cancel(&self) {
        let mut commands = self.shared.commands.lock();
        if !commands.over && !matches!(commands.queue.front(), Some(Command::Cancel)) {
            commands.queue.push_front(Command::Cancel);
        }
        self.shared.wake.notify_one();
    }

    /// Queues a command about this call.
    pub(crate) fn send(&self, number: CallNumber, command: Command) -> Result<(), AnswerError> {
        let mut commands = self.shared.commands.lock();
        if commands.over {
            return Err(AnswerError::NotAsked(number));
        }
        if commands.queue.len() >= MAX_QUEUED_COMMANDS {
            return Err(AnswerError::Busy);
        }
        commands.queue.push_back(command);
        self.shared.wake.notify_one();
        Ok(())
    }

    pub(crate) fn take(&self) -> VecDeque<Command> {
        std::mem::take(&mut self.shared.commands.lock().queue)
    }

    /// Ends the session: queued commands fail.
    pub(crate) fn close(&self) {
        let unheard = {
            let mut commands = self.shared.commands.lock();
            commands.over = true;
            std::mem::take(&mut commands.queue)
        };
        drop(unheard);
    }

    pub(crate) async fn woken(&self) {
        self.shared.wake.notified().await;
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
