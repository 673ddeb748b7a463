//! Which calls need somebody's yes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::pattern::Pattern;
use crate::tool::{Definition, ToolInfo};
use crate::words;

/// What happens where no rule says otherwise.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Mode {
    /// Every call is asked for.
    #[default]
    Ask,
    /// Tools that change nothing run, if their server is trusted to say so; the rest is asked for.
    AutoRead,
    /// Every call runs.
    Auto,
    /// No call runs.
    Plan,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// The call runs.
    Allow,
    /// The call is asked for.
    Ask,
    /// The call does not run. Always wins.
    Deny,
}

/// A rule for tools, by patterns of their server's name and of their own.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// What it does.
    pub effect: Effect,
    /// For which servers.
    pub server: Pattern,
    /// For which tools, as their server spells them.
    pub tool: Pattern,
}

impl Rule {
    /// A rule.
    pub fn new(effect: Effect, server: impl Into<Pattern>, tool: impl Into<Pattern>) -> Self {
        Self {
            effect,
            server: server.into(),
            tool: tool.into(),
        }
    }

    fn covers(&self, tool: &ToolInfo) -> bool {
        self.server.matches(&tool.server) && self.tool.matches(&tool.tool)
    }
}

/// A yes that was given before. It covers exactly the definitions it was given for: a tool that was
/// added or changed since, or a server whose endpoint is another one now, is asked for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Grant {
    /// The server.
    pub server: String,
    /// The [identity](ToolInfo::server_identity) of its endpoint then.
    #[serde(default)]
    pub server_identity: String,
    /// What it covers.
    pub scope: GrantScope,
    /// Whether it ends with the run.
    pub this_run: bool,
}

/// What a yes covers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GrantScope {
    /// One tool, as it was defined then.
    Tool {
        /// The tool, as its server spells it.
        tool: String,
        /// Its fingerprint then.
        fingerprint: String,
    },
    /// The server's tools that change nothing; those it had then, as they were defined then.
    ReadOnly {
        /// Their fingerprints then, by the tools' own names.
        fingerprints: BTreeMap<String, String>,
    },
}

impl Grant {
    /// A yes for one tool.
    pub fn tool(definition: Definition) -> Self {
        Self {
            server: definition.server,
            server_identity: definition.server_identity,
            scope: GrantScope::Tool {
                tool: definition.tool,
                fingerprint: definition.fingerprint,
            },
            this_run: false,
        }
    }

    /// A yes for those tools of a server that change nothing, by their fingerprints.
    pub fn read_only(
        server: impl Into<String>,
        server_identity: impl Into<String>,
        fingerprints: BTreeMap<String, String>,
    ) -> Self {
        Self {
            server: server.into(),
            server_identity: server_identity.into(),
            scope: GrantScope::ReadOnly { fingerprints },
            this_run: false,
        }
    }

    /// It ends with the run.
    #[must_use]
    pub fn for_this_run(mut self) -> Self {
        self.this_run = true;
        self
    }

    fn covers(&self, tool: &ToolInfo) -> bool {
        if self.server != tool.server || self.server_identity != tool.server_identity {
            return false;
        }
        match &self.scope {
            GrantScope::Tool {
                tool: name,
                fingerprint,
            } => *name == tool.tool && *fingerprint == tool.fingerprint,
            GrantScope::ReadOnly { fingerprints } => {
                tool.is_read_only() && fingerprints.get(&tool.tool) == Some(&tool.fingerprint)
            }
        }
    }
}

/// The one judge of calls: a mode, rules, and what was answered before.
///
/// Deny always wins; then a rule that asks, a rule that allows, and the mode. A yes that was given
/// before answers the question. Where nobody is there to answer, it is a no. The loop's own tools
/// are never asked for.
///
/// ```
/// use agent_loop::{Effect, Mode, Policy, Rule};
///
/// let policy = Policy::new(Mode::AutoRead)
///     .with_rule(Rule::new(Effect::Allow, "files", "write_*"))
///     .with_rule(Rule::new(Effect::Deny, "*", "delete_*"));
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Policy {
    mode: Mode,
    rules: Vec<Rule>,
    grants: Vec<Grant>,
    /// The definitions that were last approved, by server and tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pins: BTreeMap<String, BTreeMap<String, Definition>>,
    attended: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self::new(Mode::default())
    }
}

/// What is to happen to a call.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// It runs.
    Allow,
    /// Somebody is asked.
    Ask(Why),
    /// It does not run; the model is told why.
    Deny(String),
}

/// Why somebody is asked.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// The mode says so.
    Mode,
    /// A rule says so.
    Rule,
    /// The tool is not what it was when it was approved.
    Changed,
}

impl Policy {
    /// A policy without rules.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            rules: Vec::new(),
            grants: Vec::new(),
            pins: BTreeMap::new(),
            attended: true,
        }
    }

    /// With one more rule.
    #[must_use]
    pub fn with_rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// With a yes that was given before.
    #[must_use]
    pub fn with_grant(mut self, grant: Grant) -> Self {
        self.grants.push(grant);
        self
    }

    /// With a definition that a person approved before: a tool that is another one now is asked
    /// for in every mode, with [`Why::Changed`].
    #[must_use]
    pub fn with_pin(mut self, definition: Definition) -> Self {
        self.pin(definition);
        self
    }

    /// With nobody there to answer: what would be asked for is denied.
    #[must_use]
    pub fn unattended(mut self) -> Self {
        self.attended = false;
        self
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The yeses that were given.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// The rules, with those that came of a lasting no.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(crate) fn remember(&mut self, grant: Grant) {
        if !self.grants.contains(&grant) {
            self.grants.push(grant);
        }
    }

    pub(crate) fn pin(&mut self, definition: Definition) {
        let tools = self.pins.entry(definition.server.clone()).or_default();
        tools.insert(definition.tool.clone(), definition);
    }

    /// Whether the tool is not what it was when a person approved it.
    fn is_changed(&self, tool: &ToolInfo) -> bool {
        let pin = self.pins.get(&tool.server);
        let pin = pin.and_then(|tools| tools.get(&tool.tool));
        tool.changed || pin.is_some_and(|pin| *pin != tool.definition())
    }

    pub(crate) fn forbid(&mut self, rule: Rule) {
        if !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
    }

    /// Whether a rule forbids this tool.
    pub(crate) fn forbids(&self, tool: &ToolInfo) -> bool {
        !tool.is_built_in() && self.ruled(Effect::Deny, tool)
    }

    fn ruled(&self, effect: Effect, tool: &ToolInfo) -> bool {
        self.rules
            .iter()
            .any(|rule| rule.effect == effect && rule.covers(tool))
    }

    /// Judges a call of this tool.
    pub fn judge(&self, tool: &ToolInfo) -> Verdict {
        if tool.is_built_in() {
            return Verdict::Allow;
        }
        if self.forbids(tool) {
            return Verdict::Deny(words::forbidden());
        }
        if self.mode == Mode::Plan {
            return Verdict::Deny(
                "only plans are made now: no tool is called. Say what you would do".to_owned(),
            );
        }
        let why = if self.ruled(Effect::Ask, tool) {
            Why::Rule
        } else if self.is_changed(tool) {
            Why::Changed
        } else if self.ruled(Effect::Allow, tool) || self.runs_by_mode(tool) {
            return Verdict::Allow;
        } else {
            Why::Mode
        };
        if self.grants.iter().any(|grant| grant.covers(tool)) {
            Verdict::Allow
        } else if self.attended {
            Verdict::Ask(why)
        } else {
            Verdict::Deny("it needs a person's approval, and nobody is there to give it".to_owned())
        }
    }

    fn runs_by_mode(&self, tool: &ToolInfo) -> bool {
        match self.mode {
            Mode::Ask | Mode::Plan => false,
            Mode::AutoRead => tool.is_read_only(),
            Mode::Auto => true,
        }
    }
}
