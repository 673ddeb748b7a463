//! Decides which calls run, which need approval, and which are denied.

pub(crate) mod grant;
pub(crate) mod pattern;
pub(crate) mod rule;

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use self::grant::{Caller, Grant};
use self::pattern::Pattern;
use self::rule::{Effect, Rule};
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

/// The one judge of tool calls: a mode, rules, grants, and the definitions that people approved.
///
/// In order of precedence: a rule that denies; [`Mode::Plan`]; an alarm of a scan, as the
/// [`ScanPolicy`] says; a rule that asks; a definition that changed since its approval; a rule that
/// allows; the mode. A [`Grant`] answers the question instead of a person, but not about an alarm. In an [unattended](Self::unattended) policy a question without an answer is a denial.
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
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
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

    /// Sets what is done about tools whose definitions look like an attack.
    #[must_use]
    pub fn with_scan(mut self, scan: ScanPolicy) -> Self {
        self.scan = scan;
        self
    }

    /// Denies what would need approval: no one is available to answer.
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
        tools.insert(definition.tool.clone(), definition);
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

    /// What is done about what looks like an attack.
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

    /// Judges a call of `tool` by the default caller. Grants that expire do not count: the time is
    /// unknown.
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

    /// Whether a rule denies `tool` to the default caller, or its alarm blocks it.
    pub fn denies(&self, tool: &ToolInfo) -> bool {
        let is_blocked = self.response(tool) == Some(ScanResponse::Block);
        !tool.is_built_in() && (is_blocked || self.has_rule(Effect::Deny, &Caller::default(), tool))
    }

    /// What is done about the tool's alarm, if it gives one.
    fn response(&self, tool: &ToolInfo) -> Option<ScanResponse> {
        tool.alarm.as_ref().map(|alarm| self.scan.answer(alarm))
    }

    /// Whether `tool` differs from the definition a person approved.
    pub fn is_changed(&self, tool: &ToolInfo) -> bool {
        let pin = self.pins.get(&tool.server);
        let pin = pin.and_then(|tools| tools.get(&tool.tool));
        pin.is_some_and(|pin| *pin != tool.definition())
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
