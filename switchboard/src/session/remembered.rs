//! Approvals that were remembered, between the store's rows and the loop's judge.

use agent_loop::{Effect, Grant, Mode, Pattern, Policy, Rule};
use serde_json::json;

use crate::store::{ConversationId, Decision, Rule as Row, RuleScope, Server, UserId};

/// The judge of a conversation's calls: a mode, what the user has decided before, and the tools
/// that servers' settings let run.
pub fn policy(
    mode: Mode,
    rows: &[Row],
    servers: &[Server],
    conversation: &ConversationId,
) -> Policy {
    let mut policy = Policy::new(mode);
    let here = |row: &&Row| {
        row.conversation_id
            .as_ref()
            .is_none_or(|id| id == conversation)
    };
    for row in rows.iter().filter(here) {
        match grant(row) {
            Some(grant) => policy = policy.with_grant(grant),
            None => policy = policy.with_rule(rule(row)),
        }
    }
    for server in servers {
        for tool in &server.auto_approve_tools {
            let allow = Rule::new(Effect::Allow, pattern(&server.name), pattern(tool));
            policy = policy.with_rule(allow);
        }
    }
    policy
}

fn pattern(text: &str) -> Pattern {
    Pattern::from(text)
}

fn rule(row: &Row) -> Rule {
    let effect = match row.decision {
        Decision::Allow => Effect::Allow,
        Decision::Ask => Effect::Ask,
        Decision::Deny => Effect::Deny,
    };
    Rule::new(effect, pattern(&row.server), pattern(&row.tool))
}

/// A yes that is bound to what the tools were when it was given.
fn grant(row: &Row) -> Option<Grant> {
    if row.decision != Decision::Allow {
        return None;
    }
    let scope = match (row.scope, &row.def_hash) {
        (RuleScope::ServerReadOnly, _) => {
            json!({"read_only": {"fingerprints": row.read_only_hashes}})
        }
        (RuleScope::Tool | RuleScope::Conversation, Some(hash)) => {
            json!({"tool": {"tool": row.tool, "fingerprint": hash}})
        }
        _ => return None,
    };
    let this_run = row.scope == RuleScope::Conversation;
    let grant = json!({"server": row.server, "scope": scope, "this_run": this_run});
    serde_json::from_value(grant).ok()
}

/// The row of a yes.
pub(super) fn granted(user: &UserId, grant: &Grant, servers: &[Server]) -> Option<Row> {
    let value = serde_json::to_value(&grant.scope).ok()?;
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let mut row = if let Some(scope) = value.get("tool") {
        let mut row = Row::new(user.clone(), RuleScope::Tool, Decision::Allow);
        row.tool = text(scope.get("tool")?)?;
        row.def_hash = text(scope.get("fingerprint")?);
        row
    } else {
        let hashes = value.get("read_only")?.get("fingerprints")?;
        let mut row = Row::new(user.clone(), RuleScope::ServerReadOnly, Decision::Allow);
        row.read_only_hashes = serde_json::from_value(hashes.clone()).ok()?;
        row
    };
    row.server.clone_from(&grant.server);
    row.server_id = id_of(&row.server, servers);
    Some(row)
}

/// The row of a lasting no.
pub(super) fn forbidden(user: &UserId, rule: &Rule, servers: &[Server]) -> Option<Row> {
    let value = serde_json::to_value(rule).ok()?;
    let mut row = Row::new(user.clone(), RuleScope::Pattern, Decision::Deny);
    row.server = value.get("server")?.as_str()?.to_owned();
    row.tool = value.get("tool")?.as_str()?.to_owned();
    row.server_id = id_of(&row.server, servers);
    Some(row)
}

fn id_of(name: &str, servers: &[Server]) -> Option<crate::store::ServerId> {
    let server = servers.iter().find(|server| server.name == name);
    server.map(|server| server.id.clone())
}
