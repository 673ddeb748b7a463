//! An answer to whether a call may run.

use agent_loop::{Answer, Approval, CallNumber, Decision};
use mcp_jsonrpc::RawObject;
use serde::Deserialize;
use serde_json::Value;

use crate::serve::error::ApiError;
use crate::session::{Turn, shape};
use crate::store::MessageId;

/// An answer to whether a call may run, as the API takes it.
#[derive(Clone, Debug)]
pub(crate) struct Confirm {
    pub(crate) message: MessageId,
    pub(crate) number: CallNumber,
    pub(crate) verdict: Verdict,
    pub(crate) scope: Scope,
    /// Other arguments.
    pub(crate) arguments: Option<RawObject>,
    /// The hash of the arguments that were shown.
    pub(crate) hash: String,
    pub(crate) reason: Option<String>,
}

/// Yes or no.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Approve,
    Deny,
}

/// How far it reaches.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
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
    pub(crate) async fn give(self, turn: &mut Turn<'_>) -> Result<Value, ApiError> {
        let number = self.number;
        let answered = || {
            let message = "this call does not wait for an answer any more";
            ApiError::conflict("already_answered", message)
        };
        if turn.ledger().answer().id != self.message {
            return Err(answered());
        }
        let open = turn.run().approvals();
        let asked = open.into_iter().find(|it| it.record.number == number);
        let asked = asked.ok_or_else(answered)?;
        let shown = turn.ledger().preview(&asked.record).args_hash;
        if shown.as_deref() != Some(&self.hash) {
            let message = "the arguments are not those that were shown: look at them again";
            return Err(ApiError::conflict("stale", message));
        }
        let decision = self.decision(&asked)?;
        turn.answer(number, decision).await?;
        let records = turn.run().records();
        let record = records.iter().find(|record| record.number == number);
        let row = record.map(|record| turn.ledger().preview(record));
        Ok(row.map_or(Value::Null, |row| shape::call(&row, None)))
    }

    fn decision(self, asked: &Approval) -> Result<Decision, ApiError> {
        let answer = match (self.verdict, self.scope) {
            (Verdict::Approve, Scope::Once) => Answer::Once,
            (Verdict::Approve, Scope::Conversation) => Answer::ThisRun,
            (Verdict::Approve, Scope::Tool) => Answer::AlwaysTool,
            (Verdict::Approve, Scope::Server) if asked.read_only => Answer::AlwaysServerReadOnly,
            (Verdict::Approve, Scope::Server) => {
                let message = "only tools that change nothing can be approved for a whole server";
                return Err(ApiError::unfit(message));
            }
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
