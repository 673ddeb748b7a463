//! Policy of a tool: enabled or disabled, ask, allow or deny.
//!
//! There is one engine: the loop's policy decides what the stored rows mean.

use agent_loop::{Mode, Policy, ToolInfo, Verdict};
use mcp_jsonrpc::RawObject;
use mcp_manager::Entry;
use serde::{Deserialize, Serialize};
use tool_policy::{Alarm, Finding, ScanPolicy};

use crate::conversation::Decided;
use crate::servers::to_config;
use crate::store::{
    ApprovedDefinition, Change, ConversationId, Decision, DefinitionKind, Rule, RuleScope, Server,
    Timestamp, Trust,
};

/// Whether models may call a tool.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Approval {
    /// After a yes.
    Ask,
    /// Unasked.
    Auto,
    /// Never.
    Deny,
}

impl Approval {
    /// The decision that makes it so.
    pub(crate) fn decision(self) -> Decision {
        match self {
            Self::Ask => Decision::Ask,
            Self::Auto => Decision::Allow,
            Self::Deny => Decision::Deny,
        }
    }
}

/// Whether a tool is offered, or a server used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Switch {
    On,
    Off,
}

impl Switch {
    /// On or off.
    pub(crate) fn to(on: bool) -> Self {
        match on {
            true => Self::On,
            false => Self::Off,
        }
    }
}

/// What was decided for good about a server's tools.
#[derive(Debug)]
pub(crate) struct ToolPolicy {
    server: String,
    identity: String,
    trusted: bool,
    judge: Policy,
}

impl ToolPolicy {
    /// What these rules and the server's own settings come to, where the mode says to ask.
    pub(crate) fn new(row: &Server, decided: &Decided) -> Self {
        let mut lasting = decided.clone();
        lasting.rules.retain(|rule| rule.conversation_id.is_none());
        let nowhere = ConversationId::fresh();
        Self {
            server: row.name.clone(),
            identity: identity(row),
            trusted: row.trust == Trust::Trusted,
            judge: lasting.policy(Mode::Ask, std::slice::from_ref(row), &nowhere),
        }
    }

    /// The same with what the user wants done about findings of the scanner.
    pub(crate) fn with_scan(mut self, scan: ScanPolicy) -> Self {
        self.judge = self.judge.with_scan(scan);
        self
    }

    /// What was decided about a tool as it is now, with what was found in its definition.
    pub(crate) fn approval(&self, tool: &Entry, found: &[Finding]) -> Approval {
        let mut info = ToolInfo::new(&*self.server, tool.name(), RawObject::empty())
            .with_server_identity(&*self.identity)
            .with_fingerprint(tool.fingerprint().to_string())
            .with_alarm(Alarm::of(found));
        if let Some(annotations) = tool.annotations() {
            info = info.with_annotations(annotations.clone());
        }
        info.trusted = self.trusted;
        self.judged(&info)
    }

    /// Whether a tool is refused, whatever it is like.
    pub(crate) fn denies(&self, tool: &str) -> bool {
        let info = ToolInfo::new(&*self.server, tool, RawObject::empty());
        self.judged(&info) == Approval::Deny
    }

    fn judged(&self, info: &ToolInfo) -> Approval {
        match self.judge.judge(info) {
            Verdict::Allow => Approval::Auto,
            Verdict::Deny(_) => Approval::Deny,
            _ => Approval::Ask,
        }
    }
}

/// The identity of a server's endpoint, as running servers have it.
pub(crate) fn identity(row: &Server) -> String {
    to_config(row).map_or_else(|_| String::new(), |config| config.identity())
}

/// Enables or disables a tool.
pub(crate) fn switch(row: &mut Server, tool: &str, switch: Switch) {
    row.disabled_tools.retain(|name| name != tool);
    if switch == Switch::Off {
        row.disabled_tools.push(tool.to_owned());
        row.disabled_tools.sort();
    }
    row.updated_at = Timestamp::now();
}

/// Decides about a tool, in place of what was decided before. A yes is for the tool as it is, which
/// is `allowed`: once it is another one, it is asked for in every mode. Returns what is to be stored
/// with the row.
pub(crate) fn decide(
    row: &mut Server,
    rules: &[Rule],
    tool: &str,
    decision: Decision,
    allowed: Option<&Entry>,
) -> Vec<Change> {
    row.auto_approve_tools.retain(|name| name != tool);
    row.updated_at = Timestamp::now();
    let mut rule = Rule::new(row.user_id.clone(), RuleScope::Tool, decision);
    rule.server_id = Some(row.id.clone());
    rule.server.clone_from(&row.name);
    tool.clone_into(&mut rule.tool);
    let pin = allowed.map(|tool| {
        let fingerprint = tool.fingerprint().to_string();
        let (id, kind) = (row.id.clone(), DefinitionKind::Pinned);
        ApprovedDefinition::new(id, tool.name(), kind, identity(row), fingerprint)
            .with_tool(tool.tool())
    });
    rule.server_identity = pin.as_ref().map(|pin| pin.server_identity.clone());
    rule.def_hash = pin.as_ref().map(|pin| pin.fingerprint.clone());
    let earlier = rules.iter().filter(|earlier| {
        earlier.server == rule.server
            && earlier.tool == rule.tool
            && earlier.conversation_id.is_none()
    });
    let user = &row.user_id;
    let forget = earlier.map(|earlier| Change::DeleteRule(user.clone(), earlier.id.clone()));
    let mut changes: Vec<Change> = forget.collect();
    changes.push(Change::PutRule(rule));
    changes.extend(pin.map(Change::PutDefinition));
    changes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agent_loop::AskReason;
    use mcp_jsonrpc::model::Tool;
    use mcp_manager::Listing;

    use super::*;
    use crate::store::{ServerKind, UserId};

    fn decided(rules: Vec<Rule>) -> Decided {
        Decided {
            rules,
            ..Decided::default()
        }
    }

    fn row() -> Server {
        let mut row = Server::new(UserId::local(), "files", ServerKind::Stdio);
        row.command = Some("run".to_owned());
        row
    }

    fn entry(description: &str) -> Arc<Entry> {
        let mut tool = Tool::new("write", RawObject::empty());
        tool.description = Some(description.to_owned());
        let listing = Listing::new("files".parse().unwrap());
        let listing = listing.with_tools([tool], &mcp_manager::ToolSettings::default());
        Arc::clone(&listing.tools()[0])
    }

    /// The rules after some changes.
    fn after(mut rules: Vec<Rule>, changes: Vec<Change>) -> Vec<Rule> {
        for change in changes {
            match change {
                Change::PutRule(rule) => rules.push(rule),
                Change::DeleteRule(_, id) => rules.retain(|rule| rule.id != id),
                Change::PutDefinition(_) => {}
                other => panic!("{other:?}"),
            }
        }
        rules
    }

    #[test]
    fn the_last_decision_about_a_tool_is_the_only_one() {
        let (mut row, tool) = (row(), entry("writes"));
        row.auto_approve_tools = vec!["write".to_owned(), "read".to_owned()];
        let mut rules = Vec::new();
        let now = |row: &Server, rules: &[Rule]| {
            ToolPolicy::new(row, &decided(rules.to_vec())).approval(&tool, &[])
        };
        assert_eq!(now(&row, &rules), Approval::Ask, "it was not seen yet");
        for approval in [Approval::Ask, Approval::Deny, Approval::Auto, Approval::Ask] {
            let allowed = (approval == Approval::Auto).then_some(&*tool);
            let changes = decide(&mut row, &rules, "write", approval.decision(), allowed);
            rules = after(rules, changes);
            assert_eq!(now(&row, &rules), approval);
            assert_eq!(rules.len(), 1);
        }
        assert_eq!(row.auto_approve_tools, ["read"]);
    }

    #[test]
    fn a_yes_ends_when_the_tool_becomes_another() {
        let (mut row, tool) = (row(), entry("writes"));
        let changes = decide(&mut row, &[], "write", Decision::Allow, Some(&tool));
        let rules = after(Vec::new(), changes);
        let policy = ToolPolicy::new(&row, &decided(rules.clone()));
        assert_eq!(policy.approval(&tool, &[]), Approval::Auto);
        assert_eq!(policy.approval(&entry("sends it away"), &[]), Approval::Ask);
        row.args.push("--elsewhere".to_owned());
        let elsewhere = ToolPolicy::new(&row, &decided(rules));
        assert_eq!(elsewhere.approval(&tool, &[]), Approval::Ask);
    }

    #[test]
    fn an_allowed_tool_that_becomes_another_is_asked_for_in_mode_auto_with_what_changed() {
        let (mut row, tool) = (row(), entry("writes"));
        let changes = decide(&mut row, &[], "write", Decision::Allow, Some(&tool));
        let pins = changes.iter().filter_map(|change| match change {
            Change::PutDefinition(pin) => Some(pin.clone()),
            _ => None,
        });
        let definitions = pins.collect();
        for rules in [after(Vec::new(), changes.clone()), Vec::new()] {
            let decided = Decided {
                rules,
                definitions: Vec::clone(&definitions),
            };
            let judge = decided.policy(Mode::Auto, &[row.clone()], &ConversationId::fresh());
            let info = |tool: &Entry| {
                ToolInfo::new("files", "write", RawObject::empty())
                    .with_server_identity(identity(&row))
                    .with_fingerprint(tool.fingerprint().to_string())
                    .with_source(Arc::clone(tool.tool()))
            };
            assert_eq!(judge.judge(&info(&tool)), Verdict::Allow);
            let changed = info(&entry("sends it away"));
            assert_eq!(judge.judge(&changed), Verdict::Ask(AskReason::Changed));
            let lines: Vec<_> = judge
                .changes(&changed)
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(lines, ["/description: \"writes\" is now \"sends it away\""]);
        }
    }

    #[test]
    fn a_servers_settings_approve_a_tool_as_it_was_first_seen_and_by_its_very_name() {
        let (mut row, tool) = (row(), entry("writes"));
        row.name = "*".to_owned();
        row.auto_approve_tools = vec!["write".to_owned()];
        let listing = Listing::new("*".parse().unwrap());
        let definition = Tool::new("write", RawObject::empty());
        let listing = listing.with_tools([definition], &mcp_manager::ToolSettings::default());
        let its = Arc::clone(&listing.tools()[0]);
        let mut decided = decided(Vec::new());
        decided.definitions.push(ApprovedDefinition::new(
            row.id.clone(),
            "write",
            DefinitionKind::AutoApproved,
            identity(&row),
            its.fingerprint().to_string(),
        ));
        assert_eq!(
            ToolPolicy::new(&row, &decided).approval(&its, &[]),
            Approval::Auto
        );
        assert_eq!(
            ToolPolicy::new(&row, &decided).approval(&tool, &[]),
            Approval::Ask
        );
        // The tool of the same name and definition at another server.
        let judge = decided.policy(Mode::Ask, &[row], &ConversationId::fresh());
        let other = ToolInfo::new("files", "write", RawObject::empty())
            .with_fingerprint(its.fingerprint().to_string());
        assert!(matches!(judge.judge(&other), Verdict::Ask(_)));
    }

    #[test]
    fn a_no_for_everything_covers_every_tool_and_one_conversations_yes_none() {
        let (row, tool) = (row(), entry("writes"));
        let mut here = Rule::new(UserId::local(), RuleScope::Conversation, Decision::Allow);
        here.conversation_id = Some(ConversationId::fresh());
        let rules = decided(vec![here.clone()]);
        assert_eq!(
            ToolPolicy::new(&row, &rules).approval(&tool, &[]),
            Approval::Ask
        );
        let rules = decided(vec![
            here,
            Rule::new(UserId::local(), RuleScope::Pattern, Decision::Deny),
        ]);
        assert!(ToolPolicy::new(&row, &rules).denies("whatever"));
    }

    #[test]
    fn a_tool_is_switched_off_once() {
        let mut row = row();
        switch(&mut row, "write", Switch::Off);
        switch(&mut row, "write", Switch::Off);
        switch(&mut row, "read", Switch::Off);
        assert_eq!(row.disabled_tools, ["read", "write"]);
        switch(&mut row, "write", Switch::On);
        assert_eq!(row.disabled_tools, ["read"]);
    }
}
