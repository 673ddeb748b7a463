//! One answer being produced.

use std::collections::VecDeque;

use agent_loop::{CallNumber, Consent, Decision, Run, RunEvent, Session};
use futures_util::FutureExt as _;
use mcp_client::Parked;
use mcp_jsonrpc::model::InputResponses;
use serde_json::{Value, json};

use crate::conversation::error::ConversationError;
use crate::conversation::live_question::LiveQuestion;
use crate::conversation::recorder::Recorder;
use crate::store::{Conversation, PendingId};

/// Pieces of text are joined up to this length while they come faster than they are stored.
const PIECE: usize = 4096;

/// An answer being produced. Events are stored before [`next`](Self::next) returns them, so nothing
/// is shown that could be lost.
///
/// Dropping it abandons what is running; the conversation can be loaded again.
#[derive(Debug)]
pub struct Turn<'t> {
    session: Session<'t>,
    recorder: &'t mut Recorder,
    next: Option<RunEvent>,
    /// Events that were stored together with an answer, and not returned yet.
    stored: VecDeque<RunEvent>,
    /// Why nothing may be driven.
    refused: Option<ConversationError>,
}

impl<'t> Turn<'t> {
    pub(super) fn new(session: Session<'t>, recorder: &'t mut Recorder) -> Self {
        Self {
            session,
            recorder,
            next: None,
            stored: VecDeque::new(),
            refused: None,
        }
    }

    /// Waits until there is something for [`next`](Self::next), which then comes without waiting
    /// for anything but the store. Cancel safe.
    pub async fn ready(&mut self) {
        if self.next.is_some() || !self.stored.is_empty() || self.refused.is_some() {
            return;
        }
        match self.recorder.hold().await {
            Ok(()) => self.next = self.session.next().await,
            Err(error) => self.refused = Some(error),
        }
    }

    /// What happened next, stored already; nothing once the answer is over.
    ///
    /// # Errors
    /// If it could not be stored, or another process drives it: then it does not count, and nothing
    /// more may be started.
    pub async fn next(&mut self) -> Result<Option<RunEvent>, ConversationError> {
        self.ready().await;
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        if let Some(event) = self.stored.pop_front() {
            return Ok(Some(event));
        }
        let event = self.next.take();
        let Some(event) = event.map(|event| self.join(event)) else {
            return Ok(None);
        };
        self.recorder.keep(&event, self.session.run()).await?;
        Ok(Some(event))
    }

    /// Joins text with the text that is there already: what comes faster than it can be stored is
    /// stored together.
    fn join(&mut self, event: RunEvent) -> RunEvent {
        let RunEvent::Text { mut text } = event else {
            return event;
        };
        while text.len() < PIECE {
            match self.session.next().now_or_never().flatten() {
                Some(RunEvent::Text { text: more }) => text.push_str(&more),
                other => {
                    self.next = other;
                    break;
                }
            }
        }
        RunEvent::Text { text }
    }

    /// The run as it is.
    pub fn run(&self) -> &Run {
        self.session.run()
    }

    /// What is stored of it.
    pub fn recorder(&self) -> &Recorder {
        self.recorder
    }

    /// Changes the conversation's own fields.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub async fn edit(
        &mut self,
        edit: impl FnOnce(&mut Conversation),
    ) -> Result<(), ConversationError> {
        self.recorder.edit(edit).await
    }

    /// Posts a notice.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub async fn notice(&mut self, message: &str) -> Result<(), ConversationError> {
        let message = message.to_owned();
        let event = RunEvent::Warning { message };
        self.recorder.keep(&event, self.session.run()).await
    }

    /// Answers one of several things that a server asked about a call; the next one is asked then.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub(crate) async fn supply_one(
        &mut self,
        number: CallNumber,
        parked: &Parked,
    ) -> Result<(), ConversationError> {
        self.recorder
            .answered_one(number, parked, self.session.run())
            .await
    }

    /// Stores and announces a server's question while its call runs. `false` if the call is over:
    /// then it must not be asked.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub(crate) async fn ask(&mut self, question: LiveQuestion) -> Result<bool, ConversationError> {
        self.recorder.ask_live(question).await
    }

    /// Stores and announces that such a question was answered or withdrawn. `false` if it is not
    /// open.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub(crate) async fn settle(
        &mut self,
        question: &PendingId,
        answer: Option<Value>,
    ) -> Result<bool, ConversationError> {
        self.recorder.settle_live(question, answer).await
    }

    /// Answers whether a call may run, as it was shown. The answer and the rule it leaves behind
    /// are stored in one commit, before the call starts.
    ///
    /// # Errors
    /// If no such question waits, if what waits is not what was shown, if edited arguments do not
    /// fit, or if it cannot be stored.
    pub async fn answer(
        &mut self,
        shown: &Consent,
        decision: Decision,
    ) -> Result<(), ConversationError> {
        let reported = serde_json::to_value(&decision).unwrap_or(Value::Null);
        if let Some(event) = self.next.take() {
            self.recorder.keep(&event, self.session.run()).await?;
            self.stored.push_back(event);
        }
        self.session
            .answer(shown, decision)
            .await
            .map_err(ConversationError::Answer)?;
        let events = self.queued();
        let run = self.session.run();
        self.recorder
            .answered(shown.call, reported, &events, run)
            .await?;
        self.stored.extend(events);
        Ok(())
    }

    /// What has happened already and needs no waiting.
    fn queued(&mut self) -> Vec<RunEvent> {
        let mut events = Vec::new();
        while self.session.has_queued() {
            events.extend(self.session.next().now_or_never().flatten());
        }
        events
    }

    /// Whether something has happened that was not stored and shown yet.
    pub fn has_queued(&self) -> bool {
        self.next.is_some() || !self.stored.is_empty() || self.session.has_queued()
    }

    /// Answers what a server asked about a call.
    ///
    /// # Errors
    /// If there is no such question, or it cannot be stored.
    pub async fn supply(
        &mut self,
        number: CallNumber,
        answers: InputResponses,
    ) -> Result<(), ConversationError> {
        self.session
            .supply(number, answers)
            .map_err(ConversationError::Answer)?;
        let reported = json!("supplied");
        let run = self.session.run();
        self.recorder.answered(number, reported, &[], run).await
    }

    /// Cancels the answer; the next events report how it ends.
    pub fn cancel(&mut self) {
        self.session.cancel();
    }

    /// Cancels from elsewhere.
    pub fn handle(&self) -> agent_loop::Handle {
        self.session.handle()
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // It is no longer driven.
        self.recorder.lease = None;
        self.recorder.acquiring = None;
    }
}
