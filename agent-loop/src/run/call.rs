//! One call of a round, from the model's request to its result.

use std::collections::BTreeMap;
use std::time::Duration;

use mcp_client::{Parked, TaskTicket};
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{ContentBlock, InputResponses};
use provider_adapters::{ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use tool_policy::{
    Alarm, AskReason, Definition, DefinitionChange, DenyReason, Policy, SecretSource, ToolInfo,
    Verdict, consent_digest,
};

use crate::approval::{AnswerError, Approval, Consent, Decision};
use crate::offer::Offer;
use crate::run::limits::{RunLimits, Spent};
use crate::run::log::Logged;
use crate::run::number::CallNumber;
use crate::run::record::{Status, ToolCallRecord};
use crate::run::{Run, messages};
use crate::toolbox::{Invocation, Outcome, Start};

/// A call of the round that is under way.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct OpenCall {
    pub(crate) number: CallNumber,
    pub(crate) call: ToolCall,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<Target>,
    /// Whether a person changed the arguments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) edited: bool,
    /// The server's tools that change nothing, as they were when a person was asked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) read_only_tools: BTreeMap<String, String>,
    /// How the definition differs from the one that was approved, as it was when a person was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<DefinitionChange>,
    /// How often its server has asked something.
    #[serde(default)]
    pub(crate) questions: u32,
    pub(crate) state: CallState,
}

/// What a call is about, once it is understood.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Target {
    pub(crate) server_id: String,
    pub(crate) server: String,
    #[serde(default)]
    pub(crate) server_identity: String,
    pub(crate) tool: String,
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) alarm: Option<Alarm>,
    /// A secret of another server in the arguments: whose, not what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<SecretSource>,
    pub(crate) fingerprint: String,
    pub(crate) read_only: bool,
    #[serde(default, rename = "timeout", skip_serializing_if = "Option::is_none")]
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) arguments: RawObject,
}

impl Target {
    pub(crate) fn new(offer: &Offer, info: &ToolInfo, arguments: RawObject) -> Self {
        Self {
            secret: offer.secret_in(info, &arguments),
            server_id: info.server_id.clone(),
            server: info.server.clone(),
            server_identity: info.server_identity.clone(),
            tool: info.tool.clone(),
            name: info.name.clone(),
            description: info.description.clone(),
            alarm: info.alarm.clone(),
            fingerprint: info.fingerprint.clone(),
            read_only: info.is_read_only(),
            idle_timeout: info.idle_timeout,
            arguments,
        }
    }

    /// The verdict of a policy on it. `info` is its tool.
    fn verdict(&self, policy: &Policy, info: &ToolInfo) -> Verdict {
        let verdict = policy.judge(info);
        match self.secret {
            Some(_) => policy.hold(verdict),
            None => verdict,
        }
    }

    /// What an approval of it is bound to.
    pub(crate) fn definition(&self) -> Definition {
        Definition::new(
            &self.server,
            &self.server_identity,
            &self.tool,
            &self.fingerprint,
        )
    }
}

/// The status of a call.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallState {
    /// It needs approval.
    Asked(AskReason),
    /// It may start as soon as there is room.
    Ready,
    /// It was started. In a stored run, its outcome is unknown.
    Invoking,
    /// The server asked a question first.
    Parked(Box<Parked>),
    /// The server's questions are answered; it may continue as soon as there is room.
    Answered {
        parked: Box<Parked>,
        answers: InputResponses,
    },
    /// It continues at the server.
    Task {
        ticket: TaskTicket,
        /// Whether this process waits for it.
        #[serde(skip)]
        awaited: bool,
    },
    /// It is a call to a sub-agent, whose run continues or waits for approval.
    Delegated {
        run: Box<Run>,
        /// A person's answer to the question of the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Box<(Consent, Decision)>>,
        /// Whether this process drives it.
        #[serde(skip)]
        driven: bool,
    },
    /// It has ended.
    Settled { status: Status, result: ToolResult },
}

impl OpenCall {
    pub(crate) fn new(number: CallNumber, call: ToolCall) -> Self {
        Self {
            number,
            call,
            target: None,
            edited: false,
            read_only_tools: BTreeMap::new(),
            changes: Vec::new(),
            questions: 0,
            state: CallState::Ready,
        }
    }

    /// Resolves and judges it. False if it is invalid; its result then says why.
    pub(crate) fn understand(&mut self, offer: &Offer, policy: &Policy) -> bool {
        match offer.resolve(&self.call) {
            Ok(resolved) => {
                let target = Target::new(offer, resolved.info, resolved.arguments);
                let verdict = target.verdict(policy, resolved.info);
                self.changes = policy.changes(resolved.info);
                self.target = Some(target);
                self.judge(verdict, offer);
                true
            }
            Err(problem) => {
                self.settle(Status::Error, problem);
                false
            }
        }
    }

    /// Judges a call that has not started again: rules, grants and its tool may have changed. Returns
    /// whether it changed.
    pub(crate) fn review(&mut self, offer: &Offer, policy: &Policy) -> bool {
        let asked = matches!(self.state, CallState::Asked(_));
        if !asked && self.state != CallState::Ready {
            return false;
        }
        let Some(target) = &self.target else {
            return false;
        };
        let Some(info) = offer.at(&target.server, &target.tool) else {
            self.settle(Status::Error, messages::gone(&target.name));
            return true;
        };
        if info.definition() != target.definition() {
            if let Err(problem) = offer.check(&target.server, &target.tool, &target.arguments) {
                self.settle(Status::Error, problem);
                return true;
            }
            let target = Target::new(offer, info, target.arguments.clone());
            let verdict = match target.verdict(policy, info) {
                Verdict::Ask(why) if !why.is_for_one_call() => Verdict::Ask(AskReason::Changed),
                verdict => verdict,
            };
            self.changes = policy.changes(info);
            self.target = Some(target);
            self.judge(verdict, offer);
            return true;
        }
        if asked {
            // The question stays as it was asked, or goes.
            match target.verdict(policy, info) {
                Verdict::Ask(_) => {}
                verdict => self.judge(verdict, offer),
            }
        } else if policy.denies(info) {
            let reason = match policy.judge(info) {
                Verdict::Deny(reason) => reason,
                _ => DenyReason::Rule,
            };
            self.judge(Verdict::Deny(reason), offer);
        }
        self.is_settled()
    }

    fn judge(&mut self, verdict: Verdict, offer: &Offer) {
        match verdict {
            Verdict::Allow => self.state = CallState::Ready,
            Verdict::Ask(why) => {
                self.state = CallState::Asked(why);
                let target = self.target.as_ref().filter(|target| target.read_only);
                self.read_only_tools = target
                    .map(|target| offer.read_only_of(&target.server))
                    .unwrap_or_default();
            }
            Verdict::Deny(reason) => self.settle(Status::Denied, messages::denied(reason)),
            // A verdict of a later version: nothing runs that is not allowed.
            _ => self.settle(Status::Denied, messages::denied(DenyReason::Rule)),
        }
    }

    /// The question to a person, if it waits for one.
    pub(crate) fn approval(&self) -> Option<Approval> {
        if let CallState::Delegated { .. } = self.state {
            return self.delegated_approval().map(|(approval, _)| approval);
        }
        let (CallState::Asked(why), Some(target)) = (&self.state, &self.target) else {
            return None;
        };
        Some(Approval {
            record: self.record(),
            why: *why,
            read_only: target.read_only,
            description: target.description.clone(),
            alarm: target.alarm.clone(),
            secret: target.secret.clone(),
            definition: target.definition(),
            changes: self.changes.clone(),
            read_only_tools: self.read_only_tools.clone(),
            via: Vec::new(),
            digest: self.digest(target),
        })
    }

    /// The first question of the sub-agent's run, as one of this run, and what an answer to it names
    /// there.
    fn delegated_approval(&self) -> Option<(Approval, Consent)> {
        let CallState::Delegated {
            run,
            answer: None,
            driven: false,
        } = &self.state
        else {
            return None;
        };
        let mut approval = run.approvals().into_iter().next()?;
        let consent = approval.consent();
        let number = self.number.to_string();
        let context = [&*number, self.call.id.as_ref(), &approval.digest];
        let arguments = approval.record.arguments.text();
        approval.digest = consent_digest(&context, &approval.definition, arguments);
        approval.record.number = self.number;
        approval.via.insert(0, self.call.name.clone());
        Some((approval, consent))
    }

    /// Takes a person's answer to the question of the sub-agent's run. `None` if it is no
    /// sub-agent's.
    pub(crate) fn answer_delegated(
        &mut self,
        shown: &Consent,
        decision: &Decision,
    ) -> Option<Result<(), AnswerError>> {
        let asked = self.delegated_approval();
        let CallState::Delegated { answer, .. } = &mut self.state else {
            return None;
        };
        Some(match asked {
            Some((now, consent)) if now.digest == shown.digest => {
                if let Err(refused) = now.takes(decision.answer) {
                    return Some(Err(refused));
                }
                *answer = Some(Box::new((consent, decision.clone())));
                Ok(())
            }
            Some((now, _)) => Err(AnswerError::Superseded(Box::new(now))),
            None => Err(AnswerError::NotAsked(self.number)),
        })
    }

    /// Takes the state of the sub-agent's run in, and returns what that has spent since the last
    /// time.
    pub(crate) fn delegate(&mut self, run: Box<Run>) -> Spent {
        let before = match &self.state {
            CallState::Delegated { run, .. } => *run.spent(),
            CallState::Invoking => Spent::default(),
            _ => return Spent::default(),
        };
        let spent = run.spent().since(&before);
        self.state = CallState::Delegated {
            run,
            answer: None,
            driven: true,
        };
        spent
    }

    /// Stands for exactly what a person is asked about it.
    fn digest(&self, target: &Target) -> String {
        let context = [&*self.number.to_string(), self.call.id.as_ref()];
        consent_digest(&context, &target.definition(), target.arguments.get())
    }

    pub(crate) fn into_result(self) -> Option<ToolResult> {
        match self.state {
            CallState::Settled { result, .. } => Some(result),
            _ => None,
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.state, CallState::Settled { .. })
    }

    /// Whether this process executes it or waits for it.
    pub(crate) fn is_running(&self) -> bool {
        matches!(
            self.state,
            CallState::Invoking
                | CallState::Task { awaited: true, .. }
                | CallState::Delegated { driven: true, .. }
        )
    }

    pub(crate) fn can_start(&self) -> bool {
        if let CallState::Delegated {
            run,
            answer,
            driven: false,
        } = &self.state
        {
            return answer.is_some() || run.approvals().is_empty();
        }
        matches!(
            self.state,
            CallState::Ready | CallState::Answered { .. } | CallState::Task { awaited: false, .. }
        )
    }

    pub(crate) fn status(&self) -> Status {
        match &self.state {
            CallState::Settled { status, .. } => *status,
            CallState::Delegated { .. } if self.delegated_approval().is_some() => Status::Pending,
            CallState::Invoking | CallState::Task { .. } | CallState::Delegated { .. } => {
                Status::Invoking
            }
            _ => Status::Pending,
        }
    }

    /// Settles it with an answer of ours.
    pub(crate) fn settle(&mut self, status: Status, text: impl Into<String>) {
        self.state = CallState::Settled {
            status,
            result: ToolResult::error(self.call.id.clone(), text),
        };
    }

    /// Cancels it, with what is known about it as its result.
    pub(crate) fn cancel(&mut self, why: &str) {
        match self.state {
            CallState::Settled { .. } => {}
            CallState::Invoking
            | CallState::Task { .. }
            | CallState::Parked(_)
            | CallState::Delegated { .. }
            | CallState::Answered { .. } => self.settle(Status::Cancelled, messages::stopped(why)),
            CallState::Asked(_) | CallState::Ready => {
                self.settle(Status::Cancelled, messages::not_made(why));
            }
        }
    }

    /// Marks it as started, and returns what to do.
    pub(crate) fn start(&mut self) -> Option<Invocation> {
        let target = self.target.as_ref()?;
        let start = match std::mem::replace(&mut self.state, CallState::Invoking) {
            CallState::Answered { parked, answers } => Start::Resume { parked, answers },
            CallState::Task { ticket, .. } => {
                self.state = CallState::Task {
                    ticket: ticket.clone(),
                    awaited: true,
                };
                Start::Await(ticket)
            }
            CallState::Delegated { run, answer, .. } => {
                self.state = CallState::Delegated {
                    run: run.clone(),
                    answer: None,
                    driven: true,
                };
                Start::Continue { run, answer }
            }
            _ => Start::Call,
        };
        Some(Invocation {
            number: self.number,
            id: self.call.id.clone(),
            server: target.server.clone(),
            tool: target.tool.clone(),
            name: target.name.clone(),
            definition: target.definition(),
            arguments: target.arguments.clone(),
            start,
            idle_timeout: target.idle_timeout,
        })
    }

    /// Takes in what became of it.
    pub(crate) fn finish(&mut self, outcome: Outcome, limits: &RunLimits) {
        let waited = matches!(self.state, CallState::Task { .. });
        self.state = match outcome {
            Outcome::Result(result) => {
                let mut result = ToolResult::from_mcp(self.call.id.clone(), result);
                if self.edited
                    && let Some(target) = &self.target
                {
                    let note = messages::edited(target.arguments.get());
                    result.content.insert(0, ContentBlock::text(note));
                }
                let status = if result.is_error {
                    Status::Error
                } else {
                    Status::Done
                };
                CallState::Settled { status, result }
            }
            Outcome::Failed(failure) => {
                let server = self.target.as_ref().map_or("", |target| &target.server);
                return self.settle(Status::Error, messages::failed(server, &failure));
            }
            Outcome::Parked(_) if self.questions >= limits.questions => {
                let why = format!("its server asked something {} times", self.questions);
                return self.settle(Status::Error, messages::stopped(&why));
            }
            Outcome::Parked(parked) => {
                self.questions += 1;
                CallState::Parked(parked)
            }
            Outcome::Task(_) if waited => {
                return self.settle(Status::Error, messages::interrupted());
            }
            Outcome::Task(ticket) => CallState::Task {
                ticket,
                awaited: false,
            },
            Outcome::Suspended => match &mut self.state {
                CallState::Delegated { driven, .. } => {
                    *driven = false;
                    return;
                }
                _ => return self.settle(Status::Error, messages::interrupted()),
            },
        };
    }

    /// Its record as it was before anything was done about it.
    pub(crate) fn wish(&self) -> ToolCallRecord {
        let mut record = Logged::of(self).record(&self.call);
        record.status = Status::Pending;
        record
    }

    pub(crate) fn record(&self) -> ToolCallRecord {
        let record = Logged::of(self).record(&self.call);
        match &self.state {
            CallState::Settled { result, .. } => record.with_result(result),
            _ => record,
        }
    }
}
