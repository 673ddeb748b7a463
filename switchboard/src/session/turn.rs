//! One answer in the making.

use agent_loop::{CallNumber, Consent, Decision, Run, RunEvent, Session};
use futures_util::FutureExt as _;
use mcp_client::Parked;
use mcp_jsonrpc::model::InputResponses;
use serde_json::{Value, json};

use crate::session::error::SessionError;
use crate::session::ledger::Ledger;
use crate::session::live::LiveQuestion;
use crate::store::{Conversation, PendingId};

/// Pieces of text are joined up to this length while they come faster than they are stored.
const PIECE: usize = 4096;

/// An answer in the making: events come out of [`next`](Self::next) after they were stored, so
/// that whoever shows them shows nothing that could be lost.
///
/// Dropping it gives up what is under way; the conversation can be loaded again.
#[derive(Debug)]
pub struct Turn<'t> {
    session: Session<'t>,
    ledger: &'t mut Ledger,
    next: Option<RunEvent>,
    /// Why nothing may be driven.
    refused: Option<SessionError>,
}

impl<'t> Turn<'t> {
    pub(super) fn new(session: Session<'t>, ledger: &'t mut Ledger) -> Self {
        Self {
            session,
            ledger,
            next: None,
            refused: None,
        }
    }

    /// Waits until there is something for [`next`](Self::next), which then comes without waiting
    /// for anything but the store. Cancel safe.
    pub async fn ready(&mut self) {
        if self.next.is_some() || self.refused.is_some() {
            return;
        }
        match self.ledger.hold().await {
            Ok(()) => self.next = self.session.next().await,
            Err(error) => self.refused = Some(error),
        }
    }

    /// What happened next, stored already; nothing once the answer is over.
    ///
    /// # Errors
    /// If it could not be stored, or another process drives it: then it does not count, and nothing
    /// more may be started.
    pub async fn next(&mut self) -> Result<Option<RunEvent>, SessionError> {
        self.ready().await;
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        let event = self.next.take();
        let Some(event) = event.map(|event| self.join(event)) else {
            return Ok(None);
        };
        self.ledger.keep(&event, self.session.run()).await?;
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
    pub fn ledger(&self) -> &Ledger {
        self.ledger
    }

    /// Changes the conversation's own fields.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub async fn edit(&mut self, edit: impl FnOnce(&mut Conversation)) -> Result<(), SessionError> {
        self.ledger.edit(edit).await
    }

    /// Tells those who watch of something odd.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub async fn notice(&mut self, message: &str) -> Result<(), SessionError> {
        let message = message.to_owned();
        let event = RunEvent::Warning { message };
        self.ledger.keep(&event, self.session.run()).await
    }

    /// Answers one of several things that a server asked about a call; the next one is asked then.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub(crate) async fn supply_one(
        &mut self,
        number: CallNumber,
        parked: &Parked,
    ) -> Result<(), SessionError> {
        self.ledger
            .answered_one(number, parked, self.session.run())
            .await
    }

    /// Stores and tells what a server asks while its call runs. False if it does not run any more:
    /// then it must not be asked.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub(crate) async fn ask(&mut self, question: LiveQuestion) -> Result<bool, SessionError> {
        self.ledger.ask_live(question).await
    }

    /// Stores and tells that such a question was answered, or that nobody needs the answer any
    /// more. False if it does not wait.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub(crate) async fn settle(
        &mut self,
        question: &PendingId,
        answer: Option<Value>,
    ) -> Result<bool, SessionError> {
        self.ledger.settle_live(question, answer).await
    }

    /// Answers whether a call may run, as it was shown. The answer is stored before the call
    /// starts.
    ///
    /// # Errors
    /// If no such question waits, if what waits is not what was shown, if edited arguments do not
    /// fit, or if it cannot be stored.
    pub async fn answer(
        &mut self,
        shown: &Consent,
        decision: Decision,
    ) -> Result<(), SessionError> {
        let told = serde_json::to_value(&decision).unwrap_or(Value::Null);
        self.session
            .answer(shown, decision)
            .await
            .map_err(SessionError::Answer)?;
        let run = self.session.run();
        self.ledger.answered(shown.call, told, run).await
    }

    /// Whether something has happened that was not stored and shown yet.
    pub fn has_queued(&self) -> bool {
        self.next.is_some() || self.session.has_queued()
    }

    /// Answers what a server asked about a call.
    ///
    /// # Errors
    /// If nobody asked, or if it cannot be stored.
    pub async fn supply(
        &mut self,
        number: CallNumber,
        answers: InputResponses,
    ) -> Result<(), SessionError> {
        self.session
            .supply(number, answers)
            .map_err(SessionError::Answer)?;
        let told = json!("supplied");
        self.ledger.answered(number, told, self.session.run()).await
    }

    /// Cancels what is under way: the next events tell how it ends.
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
        // Nobody drives it any more.
        self.ledger.lease = None;
        self.ledger.acquiring = None;
    }
}
