//! An answer to whether a call may run.

use agent_loop::{Answer, AnswerError, Approval, CallNumber, Consent, Decision};
use mcp_jsonrpc::RawObject;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::conversation::{ConversationError, Turn, views};
use crate::serve::error::ApiError;
use crate::store::{CallStatus, MessageId, Store};

/// An answer to whether a call may run, as the API takes it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Confirm {
    pub(crate) message: MessageId,
    pub(crate) number: CallNumber,
    pub(crate) verdict: Verdict,
    pub(crate) scope: Scope,
    /// Other arguments.
    pub(crate) arguments: Option<RawObject>,
    /// The digest of the question that was shown.
    pub(crate) digest: String,
    pub(crate) reason: Option<String>,
}

/// Yes or no.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Approve,
    Deny,
}

/// How far it reaches.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    #[default]
    Once,
    Conversation,
    Tool,
    Server,
}

impl Confirm {
    /// Gives the answer; the call's record as it is then.
    pub(crate) async fn apply(
        self,
        turn: &mut Turn<'_>,
        store: &dyn Store,
    ) -> Result<Value, ApiError> {
        let (number, message) = (self.number, self.message.clone());
        if turn.recorder().answer().id != message {
            return Err(refusal(store, &message, number).await);
        }
        let shown = Consent::new(number, &self.digest);
        let decision = self.decision()?;
        match turn.answer(&shown, decision).await {
            Ok(()) => {}
            Err(ConversationError::Answer(AnswerError::NotAsked(_))) => {
                return Err(refusal(store, &message, number).await);
            }
            Err(ConversationError::Answer(AnswerError::Superseded(now))) => {
                return Err(superseded(turn, &now));
            }
            Err(error) => return Err(error.into()),
        }
        let records = turn.run().records();
        let record = records.iter().find(|record| record.number == number);
        let row = record.map(|record| turn.recorder().preview(record));
        Ok(row.map_or(Value::Null, |row| views::call(&row, None)))
    }

    fn decision(self) -> Result<Decision, ApiError> {
        let answer = match (self.verdict, self.scope) {
            (Verdict::Approve, Scope::Once) => Answer::Once,
            (Verdict::Approve, Scope::Conversation) => Answer::ThisRun,
            (Verdict::Approve, Scope::Tool) => Answer::AlwaysTool,
            (Verdict::Approve, Scope::Server) => Answer::AlwaysServerReadOnly,
            (Verdict::Deny, Scope::Once) => Answer::Deny,
            (Verdict::Deny, Scope::Tool) => Answer::AlwaysDeny,
            (Verdict::Deny, _) => {
                let message = "a call is denied once, or for good with the scope `tool`";
                return Err(ApiError::unfit(message));
            }
        };
        let mut decision = Decision::from(answer);
        decision.arguments = self.arguments;
        decision.reason = self.reason;
        Ok(decision)
    }
}

/// Why a call takes no answer that does not wait for one in this process' memory. If it waits as it is stored, that memory
/// is behind: another process has moved the conversation on while this one was paused or cut off.
pub(super) async fn refusal(
    store: &dyn Store,
    message: &MessageId,
    number: CallNumber,
) -> ApiError {
    let stored = match store.message(message).await {
        Ok(stored) => stored,
        Err(error) => return error.into(),
    };
    let mut calls = stored
        .iter()
        .flat_map(|message| &message.tool_calls)
        .filter(|call| number == u64::from(call.position).into());
    if calls.any(|call| call.status == CallStatus::Pending) {
        let message = "the conversation is being moved to another process";
        return ApiError::conflict("moved", message).with_hint("Try again in a moment.");
    }
    let message = "this call is not waiting for an answer";
    ApiError::conflict("already_answered", message)
}

/// What waits for an answer now is not what was shown: it comes with the refusal.
fn superseded(turn: &Turn<'_>, now: &Approval) -> ApiError {
    let message = "the tool or its arguments are not what was shown";
    let asked = serde_json::to_value(now).unwrap_or(Value::Null);
    let call = views::call(&turn.recorder().preview(&now.record), Some(&asked));
    ApiError::conflict("stale", message)
        .with_hint("Look at it again: `call` is what waits for an answer now.")
        .with_details(json!({ "call": call }))
}
