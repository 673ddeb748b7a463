//! An answer to whether a call may run.

use agent_loop::{Answer, AnswerError, Approval, CallNumber, Consent, Decision};
use mcp_jsonrpc::RawObject;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::conversation::{ConversationError, Turn, views};
use crate::serve::error::ApiError;
use crate::store::MessageId;

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
    pub(crate) async fn apply(self, turn: &mut Turn<'_>) -> Result<Value, ApiError> {
        let number = self.number;
        let answered = || {
            let message = "this call is not waiting for an answer";
            ApiError::conflict("already_answered", message)
        };
        if turn.recorder().answer().id != self.message {
            return Err(answered());
        }
        let shown = Consent::new(number, &self.digest);
        let decision = self.decision()?;
        match turn.answer(&shown, decision).await {
            Ok(()) => {}
            Err(ConversationError::Answer(AnswerError::NotAsked(_))) => return Err(answered()),
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

/// What waits for an answer now is not what was shown: it comes with the refusal.
fn superseded(turn: &Turn<'_>, now: &Approval) -> ApiError {
    let message = "the tool or its arguments are not what was shown";
    let asked = serde_json::to_value(now).unwrap_or(Value::Null);
    let call = views::call(&turn.recorder().preview(&now.record), Some(&asked));
    ApiError::conflict("stale", message)
        .with_hint("Look at it again: `call` is what waits for an answer now.")
        .with_details(json!({ "call": call }))
}
