//! Commands that begin an answer, or show another one.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use crate::conversation::{AttachmentError, UserMessage};
use crate::serve::error::ApiError;
use crate::serve::runs::command::{Begun, Command, Reply, Said};
use crate::serve::runs::prepare::Plan;
use crate::serve::runs::work::{Task, answer, running};
use crate::store::MessageId;

/// What a user says, and in place of what.
pub(super) struct Asked {
    pub(super) message: Box<UserMessage>,
    pub(super) instead: Option<MessageId>,
}

impl Task {
    pub(super) async fn say(
        &mut self,
        asked: Asked,
        reply: Reply<Box<Said>>,
        commands: &mut mpsc::Receiver<Command>,
    ) -> Result<(), ApiError> {
        let plan = match self.ready().await {
            Ok(plan) => plan,
            Err(error) => {
                let _ = reply.send(Err(error));
                return Ok(());
            }
        };
        if let Err(refused) = asked.message.check(&plan.choice) {
            let _ = reply.send(Err(refused.into()));
            return Ok(());
        }
        if let Some(before) = &asked.instead
            && let Err(error) = self.takes_files_of(before, &plan).await
        {
            let _ = reply.send(Err(error.at("instead")));
            return Ok(());
        }
        let said = match asked.instead {
            Some(before) => self.durable.ask_instead(&before, *asked.message).await,
            None => self.durable.ask(*asked.message).await,
        };
        let said = match said {
            Ok(said) => said,
            Err(error) => return answer(reply, Err(error)),
        };
        let begun = self.begun();
        let _ = reply.send(Ok(Box::new(Said { said, begun })));
        self.drive_with(plan, VecDeque::new(), commands).await
    }

    pub(super) async fn regenerate(
        &mut self,
        message: &MessageId,
        reply: Reply<Box<Begun>>,
        commands: &mut mpsc::Receiver<Command>,
    ) -> Result<(), ApiError> {
        let plan = match self.ready().await {
            Ok(plan) => plan,
            Err(error) => {
                let _ = reply.send(Err(error));
                return Ok(());
            }
        };
        if let Err(error) = self.takes_files_of(message, &plan).await {
            let _ = reply.send(Err(error));
            return Ok(());
        }
        if let Err(error) = self.durable.regenerate(message).await {
            return answer(reply, Err(error));
        }
        let _ = reply.send(Ok(Box::new(self.begun())));
        self.drive_with(plan, VecDeque::new(), commands).await
    }

    pub(super) async fn show(
        &mut self,
        message: &MessageId,
        reply: Reply<()>,
    ) -> Result<(), ApiError> {
        if self.is_waiting() {
            let _ = reply.send(Err(running()));
            return Ok(());
        }
        answer(reply, self.durable.show(message).await)
    }

    /// Whether the model can be sent the files of a message again.
    async fn takes_files_of(&self, message: &MessageId, plan: &Plan) -> Result<(), ApiError> {
        let files = self.durable.files_of(message).await?;
        let unfit = |refused: AttachmentError| ApiError::unfit(refused.to_string());
        files.check(&plan.choice).map_err(unfit)
    }

    /// Whether the user has to answer something before anything else.
    fn is_waiting(&self) -> bool {
        self.durable.is_open() && self.durable.recorder().waiting() > 0
    }

    /// Prepares for an answer that begins now.
    async fn ready(&mut self) -> Result<Plan, ApiError> {
        if self.is_waiting() {
            return Err(running());
        }
        let plan = self.plan().await?;
        let system = plan.assistant.as_ref().and_then(|it| it.system.clone());
        self.durable.instruct(system.as_deref());
        self.durable.remember(|row| plan.remember(row));
        Ok(plan)
    }

    fn begun(&self) -> Begun {
        let recorder = self.durable.recorder();
        Begun {
            answer: recorder.answer().clone(),
            run: recorder.run_id().clone(),
        }
    }
}
