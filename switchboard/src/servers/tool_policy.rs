//! What may be done with a tool: switched on or off, asked about, allowed or refused.
//!
//! There is one judge (X19): whatever rows say, the policy of the loop decides what they mean.

use agent_loop::{Mode, Policy, ToolInfo, Verdict};
use mcp_jsonrpc::RawObject;
use mcp_manager::Entry;
use serde::{Deserialize, Serialize};

use crate::session::policy;
use crate::store::{Change, ConversationId, Decision, Rule, RuleScope, Server, Timestamp};

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

/// What was decided for good about a server's tools.
#[derive(Debug)]
pub(crate) struct ToolPolicy {
    server: String,
    trusted: bool,
    judge: Policy,
}

impl ToolPolicy {
    /// What these rules and the server's own settings come to, where the mode says to ask.
    pub(crate) fn new(row: &Server, rules: &[Rule]) -> Self {
        let lasting = rules.iter().filter(|rule| rule.conversation_id.is_none());
        let lasting: Vec<Rule> = lasting.cloned().collect();
        let nowhere = ConversationId::fresh();
        Self {
            server: row.name.clone(),
            trusted: row.trust == crate::store::Trust::Trusted,
            judge: policy(Mode::Ask, &lasting, std::slice::from_ref(row), &nowhere),
        }
    }

    /// What was decided about a tool as it is now.
    pub(crate) fn approval(&self, tool: &Entry) -> Approval {
        let mut info = ToolInfo::new(&*self.server, tool.name(), RawObject::empty())
            .with_fingerprint(tool.fingerprint().to_string());
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

/// Offers a tool to models, or to nobody.
pub(crate) fn switch(row: &mut Server, tool: &str, switch: Switch) {
    row.disabled_tools.retain(|name| name != tool);
    if switch == Switch::Off {
        row.disabled_tools.push(tool.to_owned());
        row.disabled_tools.sort();
    }
    row.updated_at = Timestamp::now();
}

/// Decides about a tool, in place of what was decided before. A yes is for the tool as it is: it
/// comes with the tool's fingerprint. Gives back the changes of the rules; the row is to be stored
/// along with them.
pub(crate) fn decide(
    row: &mut Server,
    rules: &[Rule],
    tool: &str,
    decision: Decision,
    fingerprint: Option<String>,
) -> Vec<Change> {
    row.auto_approve_tools.retain(|name| name != tool);
    row.updated_at = Timestamp::now();
    let mut rule = Rule::new(row.user_id.clone(), RuleScope::Tool, decision);
    rule.server_id = Some(row.id.clone());
    rule.server.clone_from(&row.name);
    tool.clone_into(&mut rule.tool);
    rule.def_hash = fingerprint;
    let earlier = rules.iter().filter(|earlier| {
        earlier.server == rule.server
            && earlier.tool == rule.tool
            && earlier.conversation_id.is_none()
    });
    let user = &row.user_id;
    let forget = earlier.map(|earlier| Change::DeleteRule(user.clone(), earlier.id.clone()));
    let mut changes: Vec<Change> = forget.collect();
    changes.push(Change::PutRule(rule));
    changes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_jsonrpc::model::Tool;
    use mcp_manager::Listing;

    use super::*;
    use crate::store::{ServerKind, UserId};

    fn row() -> Server {
        let mut row = Server::new(UserId::local(), "files", ServerKind::Stdio);
        row.command = Some("run".to_owned());
        row
    }

    fn entry(description: &str) -> Arc<Entry> {
        let mut tool = Tool::new("write", RawObject::empty());
        tool.description = Some(description.to_owned());
        let listing = Listing::new("files".parse().unwrap());
        let listing = listing.with_tools([tool], &mcp_manager::ToolPolicy::default());
        Arc::clone(&listing.tools()[0])
    }

    /// The rules after some changes.
    fn after(mut rules: Vec<Rule>, changes: Vec<Change>) -> Vec<Rule> {
        for change in changes {
            match change {
                Change::PutRule(rule) => rules.push(rule),
                Change::DeleteRule(_, id) => rules.retain(|rule| rule.id != id),
                other => panic!("{other:?}"),
            }
        }
        rules
    }

    #[test]
    fn x19_the_last_decision_about_a_tool_is_the_only_one() {
        let (mut row, tool) = (row(), entry("writes"));
        row.auto_approve_tools = vec!["write".to_owned(), "read".to_owned()];
        let mut rules = Vec::new();
        let now = |row: &Server, rules: &[Rule]| ToolPolicy::new(row, rules).approval(&tool);
        assert_eq!(
            now(&row, &rules),
            Approval::Auto,
            "by the server's settings"
        );
        for approval in [Approval::Ask, Approval::Deny, Approval::Auto, Approval::Ask] {
            let hash = tool.fingerprint().to_string();
            let hash = (approval == Approval::Auto).then_some(hash);
            let changes = decide(&mut row, &rules, "write", approval.decision(), hash);
            rules = after(rules, changes);
            assert_eq!(now(&row, &rules), approval);
            assert_eq!(rules.len(), 1);
        }
        assert_eq!(row.auto_approve_tools, ["read"]);
    }

    #[test]
    fn a_yes_ends_when_the_tool_becomes_another() {
        let (mut row, tool) = (row(), entry("writes"));
        let hash = Some(tool.fingerprint().to_string());
        let changes = decide(&mut row, &[], "write", Decision::Allow, hash);
        let rules = after(Vec::new(), changes);
        let policy = ToolPolicy::new(&row, &rules);
        assert_eq!(policy.approval(&tool), Approval::Auto);
        assert_eq!(policy.approval(&entry("sends it away")), Approval::Ask);
    }

    #[test]
    fn a_no_for_everything_covers_every_tool_and_one_conversations_yes_none() {
        let (row, tool) = (row(), entry("writes"));
        let mut here = Rule::new(UserId::local(), RuleScope::Conversation, Decision::Allow);
        here.conversation_id = Some(ConversationId::fresh());
        let rules = [here.clone()];
        assert_eq!(ToolPolicy::new(&row, &rules).approval(&tool), Approval::Ask);
        let rules = [
            here,
            Rule::new(UserId::local(), RuleScope::Pattern, Decision::Deny),
        ];
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
