//! The gate for calls: the policy's verdict, the caller's approval, and the limits on concurrency.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{CallToolResult, ElicitAction, ElicitFormParams, FormSchema};
use mcp_server::{AskError, Context, Error};
use parking_lot::Mutex;
use serde_json::json;
use tool_policy::{
    Alarm, AskReason, Caller, DefinitionChange, DenyReason, Grant, Policy, SecretSource, Secrets,
    ToolInfo, Verdict, consent_digest, is_hidden, screen_instructions, screen_result,
};

use crate::approver::{ApprovalRequest, Approver};
use crate::audit::CallDecision;

/// How long an approval may take: a later answer is to a forgotten question.
const APPROVAL_TIME: Duration = Duration::from_secs(10 * 60);
/// The longest arguments that are shown, in bytes.
const SHOWN: usize = 16_384;
const ONCE: &str = "run once";
const ALWAYS: &str = "run, and do not ask again until the gateway ends";
const NO: &str = "do not run";

/// The maximum number of concurrent calls.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallLimits {
    /// Per caller.
    pub per_caller: usize,
    /// Per tool.
    pub per_tool: usize,
    /// Per server.
    pub per_server: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            per_caller: 256,
            per_tool: 64,
            per_server: 256,
        }
    }
}

/// Decides about calls. Without a policy every call runs.
#[derive(Default)]
pub(crate) struct Gate {
    pub(crate) policy: Option<Mutex<Policy>>,
    /// The caller that the policy knows as its only one.
    pub(crate) owner: Option<String>,
    pub(crate) limits: CallLimits,
    /// What calls may not give to other servers.
    secrets: Mutex<Arc<Secrets>>,
    approver: Option<Arc<dyn Approver>>,
    running: Arc<Mutex<HashMap<String, usize>>>,
}

/// A call that does not run, and the reason for the caller.
pub(crate) struct Refusal {
    pub(crate) decision: CallDecision,
    pub(crate) reason: String,
}

impl Gate {
    pub(crate) fn new(
        policy: Option<Policy>,
        owner: Option<String>,
        limits: CallLimits,
        approver: Option<Arc<dyn Approver>>,
    ) -> Self {
        Self {
            approver,
            policy: policy.map(Mutex::new),
            owner,
            limits,
            secrets: Mutex::default(),
            running: Arc::default(),
        }
    }

    /// Replaces the policy. What was approved until the gateway ends stays so, and what tools were
    /// when they first ran is remembered, unless the new policy knows better.
    pub(crate) fn set_policy(&self, mut policy: Policy) {
        let Some(current) = &self.policy else { return };
        let mut current = current.lock();
        for grant in current.grants().iter().filter(|grant| grant.this_run) {
            policy.add_grant(grant.clone());
        }
        policy.adopt_pins(&current);
        *current = policy;
    }

    /// Replaces the secrets that calls may give to no server but their own.
    pub(crate) fn set_secrets(&self, secrets: Secrets) {
        *self.secrets.lock() = Arc::new(secrets);
    }

    /// What a caller gets of a result.
    pub(crate) fn screened(&self, result: CallToolResult) -> CallToolResult {
        match &self.policy {
            None => result,
            Some(policy) => {
                let scan = policy.lock().scan();
                screen_result(result, &scan)
            }
        }
    }

    /// What a caller reads of a server's instructions.
    pub(crate) fn instructions(&self, text: String) -> String {
        match &self.policy {
            None => text,
            Some(policy) => {
                let scan = policy.lock().scan();
                screen_instructions(text, &scan)
            }
        }
    }

    /// Whether a tool is listed: not if a rule denies it to this caller.
    pub(crate) fn offers(&self, tool: &ToolInfo, cx: &Context) -> bool {
        let Some(policy) = &self.policy else {
            return true;
        };
        let verdict = policy.lock().judge_for(&self.caller(cx), tool, now());
        !matches!(
            verdict,
            Verdict::Deny(DenyReason::Rule | DenyReason::Plan | DenyReason::Alarm)
        )
    }

    /// Lets a call run, or not. `call` identifies it.
    pub(crate) async fn decide(
        &self,
        call: &str,
        tool: &ToolInfo,
        arguments: &RawObject,
        cx: &Context,
    ) -> Result<CallDecision, Refused> {
        let Some(policy) = &self.policy else {
            return Ok(CallDecision::Allowed);
        };
        let caller = self.caller(cx);
        let secrets = Arc::clone(&self.secrets.lock());
        let secret = secrets.find(&tool.server, arguments);
        let (verdict, changes) = {
            let mut policy = policy.lock();
            let mut verdict = policy.judge_for(&caller, tool, now());
            if secret.is_some() {
                verdict = policy.hold(verdict);
            }
            if verdict == Verdict::Allow && !policy.is_changed(tool) {
                // Once it is defined in another way it is asked for.
                policy.add_pin_of(tool);
            }
            (verdict, policy.changes(tool))
        };
        let refusal = |decision, reason: String| Refused::ByPolicy(Refusal { decision, reason });
        let why = match verdict {
            Verdict::Allow => return Ok(CallDecision::Allowed),
            Verdict::Ask(reason) => reason,
            Verdict::Deny(reason) => {
                let found = tool.alarm.as_ref().filter(|_| reason == DenyReason::Alarm);
                let found = found.map(|alarm| format!(". It is: {}", alarm.reason));
                let reason = format!("{reason}{}", found.unwrap_or_default());
                return Err(refusal(CallDecision::Denied, reason));
            }
            _ => {
                return Err(refusal(
                    CallDecision::Denied,
                    "it is not allowed".to_owned(),
                ));
            }
        };
        let Some(shown) = shown(arguments) else {
            let reason = format!(
                "it needs the user's approval, and its arguments ({} bytes) are too long to be shown \
                 whole. Allow the tool by a rule, or call it with less",
                arguments.get().len()
            );
            return Err(refusal(CallDecision::NotAskable, reason));
        };
        let digest = consent_digest(
            &[caller.as_str(), call],
            &tool.definition(),
            arguments.get(),
        );
        let asked: u64 = cx
            .step("approval-asked", async { Ok::<_, Error>(seconds()) })
            .await?;
        let answer = match cx
            .ask(
                &format!("approval-{digest}"),
                form(tool, &shown, why, secret, &changes)?,
            )
            .await
        {
            Ok(answer) => answer,
            Err(AskError::Unsupported { .. }) => {
                if let Some(approver) = &self.approver {
                    let request = ApprovalRequest {
                        digest,
                        caller: cx.caller().map(|it| it.id.clone()).unwrap_or_default(),
                        client: cx.client_info().map(|it| it.name.clone()),
                        server: tool.server.clone(),
                        tool: tool.tool.clone(),
                        arguments: shown,
                    };
                    return match approver.approve(request).await {
                        Some(true) => Ok(CallDecision::Approved),
                        Some(false) => {
                            let reason = "the user declined it".to_owned();
                            Err(refusal(CallDecision::Declined, reason))
                        }
                        None => {
                            let reason = "it needs the user's approval, this client cannot ask for \
                                          it, and the user did not answer elsewhere in time";
                            Err(refusal(CallDecision::Expired, reason.to_owned()))
                        }
                    };
                }
                let reason = "it needs the user's approval, and this client cannot ask for it (it \
                              does not support elicitation). Allow the tool by a rule, or use \
                              another client";
                return Err(refusal(CallDecision::NotAskable, reason.to_owned()));
            }
            Err(error) => return Err(Refused::Failed(error.into())),
        };
        if seconds().saturating_sub(asked) > APPROVAL_TIME.as_secs() {
            let reason = "its approval came too late; call it again to be asked again";
            return Err(refusal(CallDecision::Expired, reason.to_owned()));
        }
        let content = answer.content.unwrap_or_default();
        let decision = content.get("decision").and_then(|value| value.as_str());
        match (answer.action, decision) {
            (ElicitAction::Accept, Some(ONCE)) => Ok(CallDecision::Approved),
            (ElicitAction::Accept, Some(ALWAYS)) if !why.is_for_one_call() => {
                let grant = Grant::tool(tool.definition())
                    .for_caller(caller)
                    .for_this_run();
                let mut policy = policy.lock();
                policy.add_grant(grant);
                policy.add_pin_of(tool);
                Ok(CallDecision::Approved)
            }
            _ => Err(refusal(
                CallDecision::Declined,
                "the user declined it".to_owned(),
            )),
        }
    }

    /// The caller, as the policy knows it.
    pub(crate) fn caller(&self, cx: &Context) -> Caller {
        match cx.caller() {
            Some(caller) if Some(&caller.id) != self.owner.as_ref() => Caller::new(&*caller.id),
            _ => Caller::default(),
        }
    }

    /// A place among the running calls; the error names the limit that is reached.
    pub(crate) fn enter(&self, tool: &ToolInfo, cx: &Context) -> Result<Running, Error> {
        let caller = self.caller(cx);
        let wanted = [
            (format!("caller {caller}"), self.limits.per_caller),
            (
                format!("tool {} {}", tool.server, tool.tool),
                self.limits.per_tool,
            ),
            (format!("server {}", tool.server), self.limits.per_server),
        ];
        let mut running = self.running.lock();
        for (key, limit) in &wanted {
            if running.get(key).copied().unwrap_or_default() >= *limit {
                let text = format!("too many calls at once: {limit} of {}", key.trim_end());
                return Err(Error::failed(text));
            }
        }
        let keys = wanted.map(|(key, _)| key);
        for key in &keys {
            *running.entry(key.clone()).or_default() += 1;
        }
        Ok(Running {
            table: Arc::clone(&self.running),
            keys,
        })
    }
}

/// A running call.
pub(crate) struct Running {
    table: Arc<Mutex<HashMap<String, usize>>>,
    keys: [String; 3],
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut table = self.table.lock();
        for key in &self.keys {
            match table.get_mut(key) {
                Some(count) if *count > 1 => *count -= 1,
                _ => {
                    table.remove(key);
                }
            }
        }
    }
}

/// Why a call does not run.
pub(crate) enum Refused {
    ByPolicy(Refusal),
    /// It could not be decided.
    Failed(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The question whether a call may run.
fn form(
    tool: &ToolInfo,
    arguments: &str,
    why: AskReason,
    secret: Option<&SecretSource>,
    changes: &[DefinitionChange],
) -> Result<ElicitFormParams, Error> {
    let choices: &[&str] = match why.is_for_one_call() {
        true => &[ONCE, NO],
        false => &[ONCE, ALWAYS, NO],
    };
    let schema: FormSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {"decision": {
            "type": "string", "title": "Decision", "enum": choices,
        }},
        "required": ["decision"],
    }))
    .map_err(|error| Error::internal(error.to_string()))?;
    let note = match (why, &tool.alarm) {
        (AskReason::Secret, _) => {
            let whose = secret.map(ToString::to_string).unwrap_or_default();
            format!(" Its arguments hold a secret that this server does not have: {whose}.")
        }
        (AskReason::Changed, _) => {
            let lines = changes.iter().map(|change| format!("\n- {change}"));
            let lines: String = lines.collect();
            format!(" Its definition has changed since it was first used or last approved.{lines}")
        }
        (AskReason::Alarm, Some(Alarm { reason, .. })) => {
            format!(" Its definition has signs of an attack: {reason}.")
        }
        _ => String::new(),
    };
    let message = format!(
        "Run the tool {:?} of the server {:?} with these arguments?{note}\n{arguments}",
        tool.tool, tool.server
    );
    Ok(ElicitFormParams::new(message, schema))
}

/// Arguments as a person sees them; nothing if they are too long: what is not shown is not approved.
fn shown(arguments: &RawObject) -> Option<String> {
    let text = arguments.get();
    (text.len() <= SHOWN).then(|| text.chars().map(visible).collect())
}

/// Characters that could make the text look different from what it is are replaced.
fn visible(c: char) -> char {
    if is_hidden(c) { '\u{fffd}' } else { c }
}

fn now() -> Option<SystemTime> {
    Some(SystemTime::now())
}

/// The time, in seconds since 1970.
pub(crate) fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}
