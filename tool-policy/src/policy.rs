//! The policy: decides which calls run, which need approval, and which are denied.

pub(crate) mod grant;
pub(crate) mod pattern;
pub(crate) mod rule;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use mcp_jsonrpc::model::Tool;
use serde::{Deserialize, Serialize};

use self::grant::{Caller, Grant};
use self::pattern::Pattern;
use self::rule::{Effect, Rule};
use crate::definition_diff::{DefinitionChange, definition_diff};
use crate::scan::{ScanPolicy, ScanResponse};
use crate::tool::{Definition, ToolInfo};

/// The number of grants a policy keeps; beyond it the oldest is dropped, and its tool needs approval
/// again.
const MAX_GRANTS: usize = 10_000;

/// The decision where no rule applies.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Mode {
    /// Every call needs approval.
    #[default]
    Ask,
    /// Read-only tools of trusted servers run; other calls need approval.
    AutoRead,
    /// Every call runs.
    Auto,
    /// No call runs.
    Plan,
}

/// The decisions about tool calls: a mode, rules, grants, and the definitions that people approved.
///
/// In order of precedence: a rule that denies; [`Mode::Plan`]; an alarm of a scan, as the
/// [`ScanPolicy`] says; a rule that asks; a definition that changed since its approval; a rule that
/// allows; the mode. A [`Grant`] answers the question instead of a person, but not about an alarm; for
/// the tools that it names it is an approval of their definitions, too. In an [unattended](Self::unattended) policy a question without an answer is a denial.
/// The built-in tools always run: the tool behind [`tool_call`](crate::CALL) is judged instead.
///
/// ```
/// use tool_policy::{Effect, Mode, Policy, Rule, ToolInfo, Verdict};
///
/// let policy = Policy::new(Mode::AutoRead)
///     .with_rule(Rule::new(Effect::Allow, "files", "write_*"))
///     .with_rule(Rule::new(Effect::Deny, "*", "delete_*"));
///
/// let tool = |name| ToolInfo::new("files", name, serde_json::from_str("{}").unwrap());
/// assert_eq!(policy.judge(&tool("write_text")), Verdict::Allow);
/// assert!(matches!(policy.judge(&tool("move")), Verdict::Ask(_)));
/// assert!(matches!(policy.judge(&tool("delete_all")), Verdict::Deny(_)));
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Policy {
    mode: Mode,
    /// The modes of callers that have their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modes: Vec<(Pattern, Mode)>,
    rules: Vec<Rule>,
    grants: Vec<Grant>,
    /// The definitions that were last approved, by server and tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pins: BTreeMap<String, BTreeMap<String, Definition>>,
    /// The same, whole, where they are at hand: what a change is shown against.
    #[serde(skip)]
    sources: BTreeMap<Definition, Arc<Tool>>,
    attended: bool,
    /// What is done about tools whose definitions look like an attack.
    scan: ScanPolicy,
}

impl Default for Policy {
    fn default() -> Self {
        Self::new(Mode::default())
    }
}

/// The decision about a call.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// The call runs.
    Allow,
    /// The call needs approval.
    Ask(AskReason),
    /// The call does not run.
    Deny(DenyReason),
}

/// The reason why a call needs approval.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AskReason {
    /// The mode requires it.
    Mode,
    /// A rule requires it.
    Rule,
    /// The tool's definition changed since it was approved.
    Changed,
    /// A [scan](ToolInfo::alarm) of its definition found signs of an attack: no grant answers this.
    Alarm,
    /// Its arguments hold a [secret](crate::Secrets) of another server: no grant answers this.
    Secret,
}

impl AskReason {
    /// Whether an answer counts for one call alone: nothing lasting is taken.
    pub fn is_for_one_call(self) -> bool {
        matches!(self, Self::Alarm | Self::Secret)
    }
}

/// The reason why a call is denied. Displays as a clause for the model.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DenyReason {
    /// A rule denies it.
    Rule,
    /// The mode is [`Mode::Plan`].
    Plan,
    /// It needs approval in an unattended policy.
    Unattended,
    /// A [scan](ToolInfo::alarm) of its definition found signs of an attack.
    Alarm,
}

impl fmt::Display for DenyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rule => "a rule of the user forbids it",
            Self::Plan => "in plan mode no tool is called. Describe what you would do instead",
            Self::Unattended => "it needs approval, and no one is available to approve it",
            Self::Alarm => {
                "its definition has signs of an attack, and the user's settings block such tools"
            }
        })
    }
}

impl Policy {
    /// A policy without rules.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            modes: Vec::new(),
            rules: Vec::new(),
            grants: Vec::new(),
            pins: BTreeMap::new(),
            sources: BTreeMap::new(),
            attended: true,
            scan: ScanPolicy::default(),
        }
    }

    /// Gives these callers a mode of their own, in place of the policy's; the first that fits counts.
    #[must_use]
    pub fn with_mode_for(mut self, callers: impl Into<Pattern>, mode: Mode) -> Self {
        self.modes.push((callers.into(), mode));
        self
    }

    /// Adds a rule.
    #[must_use]
    pub fn with_rule(mut self, rule: Rule) -> Self {
        self.add_rule(rule);
        self
    }

    /// Adds a grant.
    #[must_use]
    pub fn with_grant(mut self, grant: Grant) -> Self {
        self.add_grant(grant);
        self
    }

    /// Adds a definition that a person approved: once the tool differs from it, calls need approval
    /// in every mode, with [`AskReason::Changed`].
    #[must_use]
    pub fn with_pin(mut self, definition: Definition) -> Self {
        self.add_pin(definition);
        self
    }

    /// Adds a definition that a person approved, with the whole of it, so that a change can be shown.
    #[must_use]
    pub fn with_pin_of(mut self, definition: Definition, tool: Arc<Tool>) -> Self {
        self.add_pin(definition.clone());
        self.sources.insert(definition, tool);
        self
    }

    /// Sets the response to tools whose definitions look like an attack.
    #[must_use]
    pub fn with_scan(mut self, scan: ScanPolicy) -> Self {
        self.scan = scan;
        self
    }

    /// Denies calls that would need approval: no one is available to answer.
    #[must_use]
    pub fn unattended(mut self) -> Self {
        self.attended = false;
        self
    }

    /// Adds a rule, unless the policy has it.
    pub fn add_rule(&mut self, rule: Rule) {
        if !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
    }

    /// Adds a grant, unless the policy has it.
    pub fn add_grant(&mut self, grant: Grant) {
        if !self.grants.contains(&grant) {
            if self.grants.len() >= MAX_GRANTS {
                self.grants.remove(0);
            }
            self.grants.push(grant);
        }
    }

    /// Adds a definition that a person approved, in place of the tool's earlier one.
    pub fn add_pin(&mut self, definition: Definition) {
        let tools = self.pins.entry(definition.server.clone()).or_default();
        let before = tools.insert(definition.tool.clone(), definition.clone());
        if let Some(before) = before.filter(|before| *before != definition) {
            self.sources.remove(&before);
        }
    }

    /// Adds the definitions that were approved under another policy, where this one has none of the tool.
    pub fn adopt_pins(&mut self, other: &Self) {
        for pin in other.pins() {
            let tools = self.pins.get(&pin.server);
            if tools.is_some_and(|tools| tools.contains_key(&pin.tool)) {
                continue;
            }
            self.add_pin(pin.clone());
            if let Some(source) = other.sources.get(pin) {
                self.sources.insert(pin.clone(), Arc::clone(source));
            }
        }
    }

    /// Adds a tool's definition as it is now, which a person approved, in place of its earlier one.
    pub fn add_pin_of(&mut self, tool: &ToolInfo) {
        self.add_pin(tool.definition());
        if let Some(source) = &tool.source {
            self.sources.insert(tool.definition(), Arc::clone(source));
        }
    }

    /// What differs between a tool's definition and the one that a person approved; nothing if it is the
    /// same, or if one of them is not at hand.
    pub fn changes(&self, tool: &ToolInfo) -> Vec<DefinitionChange> {
        let pin = self.pin(tool);
        let before = pin.and_then(|pin| self.sources.get(pin));
        match (before, &tool.source) {
            (Some(before), Some(now)) => definition_diff(before, now),
            _ => Vec::new(),
        }
    }

    /// Whether the policy has exactly this definition.
    pub fn has_pin(&self, definition: &Definition) -> bool {
        let pin = self.pins.get(&definition.server);
        pin.and_then(|tools| tools.get(&definition.tool)) == Some(definition)
    }

    /// The definitions that a person approved.
    pub fn pins(&self) -> impl Iterator<Item = &Definition> {
        self.pins.values().flat_map(BTreeMap::values)
    }

    /// The response to signs of an attack.
    pub fn scan(&self) -> ScanPolicy {
        self.scan
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The grants.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// The rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Judges a call of `tool` by the default caller. Grants that expire do not apply, because the time is unknown.
    pub fn judge(&self, tool: &ToolInfo) -> Verdict {
        self.judge_for(&Caller::default(), tool, None)
    }

    /// Judges a call of `tool` by `caller` at `now`.
    pub fn judge_for(&self, caller: &Caller, tool: &ToolInfo, now: Option<SystemTime>) -> Verdict {
        if tool.is_built_in() {
            return Verdict::Allow;
        }
        let ruled = |effect| self.has_rule(effect, caller, tool);
        if ruled(Effect::Deny) {
            return Verdict::Deny(DenyReason::Rule);
        }
        let mut modes = self.modes.iter();
        let own = modes.find(|(callers, _)| callers.matches(caller.as_str()));
        let mode = own.map_or(self.mode, |(_, mode)| *mode);
        if mode == Mode::Plan {
            return Verdict::Deny(DenyReason::Plan);
        }
        match self.response(tool) {
            Some(ScanResponse::Block) => return Verdict::Deny(DenyReason::Alarm),
            Some(ScanResponse::Ask) if self.attended => return Verdict::Ask(AskReason::Alarm),
            Some(ScanResponse::Ask) => return Verdict::Deny(DenyReason::Unattended),
            _ => {}
        }
        let reason = if ruled(Effect::Ask) {
            AskReason::Rule
        } else if self.is_changed(tool) {
            AskReason::Changed
        } else if ruled(Effect::Allow) || runs_by_mode(mode, tool) {
            return Verdict::Allow;
        } else {
            AskReason::Mode
        };
        let mut grants = self.grants.iter();
        if grants.any(|grant| grant.covers(caller, tool, now)) {
            Verdict::Allow
        } else if self.attended {
            Verdict::Ask(reason)
        } else {
            Verdict::Deny(DenyReason::Unattended)
        }
    }

    /// What becomes of a verdict on a call whose arguments hold a secret of another server
    /// ([`Secrets::find`](crate::Secrets::find)): nothing but a person's answer to it lets it run.
    #[must_use]
    pub fn hold(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Deny(reason) => Verdict::Deny(reason),
            _ if self.attended => Verdict::Ask(AskReason::Secret),
            _ => Verdict::Deny(DenyReason::Unattended),
        }
    }

    /// Whether a rule denies `tool` to the default caller, or its alarm blocks it.
    pub fn denies(&self, tool: &ToolInfo) -> bool {
        let is_blocked = self.response(tool) == Some(ScanResponse::Block);
        !tool.is_built_in() && (is_blocked || self.has_rule(Effect::Deny, &Caller::default(), tool))
    }

    /// What is done about the tool's alarm, if it gives one.
    fn response(&self, tool: &ToolInfo) -> Option<ScanResponse> {
        tool.alarm.as_ref().map(|alarm| self.scan.answer(alarm))
    }

    /// Whether `tool` differs from the definition a person approved: the pinned one or, where none is pinned, those
    /// that grants at its endpoint were given for.
    pub fn is_changed(&self, tool: &ToolInfo) -> bool {
        if let Some(pin) = self.pin(tool) {
            return *pin != tool.definition();
        }
        let granted = self.grants.iter();
        let mut granted = granted
            .filter_map(|grant| grant.fingerprint_of(tool))
            .peekable();
        granted.peek().is_some() && granted.all(|fingerprint| fingerprint != tool.fingerprint)
    }

    fn pin(&self, tool: &ToolInfo) -> Option<&Definition> {
        self.pins.get(&tool.server)?.get(&tool.tool)
    }

    fn has_rule(&self, effect: Effect, caller: &Caller, tool: &ToolInfo) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.effect == effect && rule.covers(caller, tool))
    }
}

fn runs_by_mode(mode: Mode, tool: &ToolInfo) -> bool {
    match mode {
        Mode::Ask | Mode::Plan => false,
        Mode::AutoRead => tool.is_read_only(),
        Mode::Auto => true,
    }
}
