//! Conversion between stored decisions and the loop's policy.

use std::sync::Arc;

use agent_loop::{Definition, Effect, Grant, GrantScope, Mode, Pattern, Policy, Rule};
use mcp_jsonrpc::model::Tool;

use crate::store::Store;
use crate::store::{
    ApprovedDefinition, ConversationId, Decision, DefinitionKind, Rule as Row, RuleScope, Server,
    ServerId, StoreError, UserId,
};

/// What a user has decided before, in one read.
#[derive(Clone, Debug, Default)]
pub struct Decided {
    /// Remembered approvals and denials.
    pub rules: Vec<Row>,
    /// Definitions that count as approved.
    pub definitions: Vec<ApprovedDefinition>,
}

impl Decided {
    /// Reads what a user has decided.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn read(store: &dyn Store, user: &UserId) -> Result<Self, StoreError> {
        Ok(Self {
            rules: store.rules(user).await?,
            definitions: store.approved_definitions(user).await?,
        })
    }

    /// The policy of a conversation: its mode, the user's lasting decisions, and the tools that
    /// server settings approve, as they were defined when first seen.
    pub fn policy(&self, mode: Mode, servers: &[Server], conversation: &ConversationId) -> Policy {
        let mut policy = Policy::new(mode);
        let here = |row: &&Row| {
            row.conversation_id
                .as_ref()
                .is_none_or(|id| id == conversation)
        };
        for row in self.rules.iter().filter(here) {
            policy = match (row.decision, grant(row)) {
                (_, Some(grant)) => policy.with_grant(grant),
                // An approval that is not bound to a definition does not count.
                (Decision::Allow, None) => policy,
                (_, None) => policy.with_rule(rule(row)),
            };
        }
        // What a person approved counts before what was first seen.
        let is_pinned = |it: &&ApprovedDefinition| it.kind == DefinitionKind::Pinned;
        let (pinned, seen): (Vec<_>, Vec<_>) = self.definitions.iter().partition(is_pinned);
        for approved in seen.into_iter().chain(pinned) {
            let server = servers.iter().find(|row| row.id == approved.server_id);
            let Some(server) = server else { continue };
            let definition = Definition::new(
                &server.name,
                &approved.server_identity,
                &approved.tool,
                &approved.fingerprint,
            );
            if approved.kind == DefinitionKind::AutoApproved {
                policy = policy.with_grant(Grant::tool(definition.clone()));
            }
            policy = match approved.whole() {
                Some(tool) => policy.with_pin_of(definition, Arc::new(tool)),
                None => policy.with_pin(definition),
            };
        }
        policy
    }
}

fn rule(row: &Row) -> Rule {
    let effect = match row.decision {
        Decision::Allow => Effect::Allow,
        Decision::Ask => Effect::Ask,
        Decision::Deny => Effect::Deny,
    };
    let pattern = |text: &str| match row.scope {
        RuleScope::Pattern => Pattern::from(text),
        _ => Pattern::exact(text),
    };
    Rule::new(effect, pattern(&row.server), pattern(&row.tool))
}

/// An approval bound to the server and tool definitions it was given for.
fn grant(row: &Row) -> Option<Grant> {
    if row.decision != Decision::Allow {
        return None;
    }
    let (server, identity) = (row.server.clone(), row.server_identity.clone()?);
    let grant = match (row.scope, &row.def_hash) {
        (RuleScope::ServerReadOnly, _) => {
            Grant::read_only(server, identity, row.read_only_hashes.clone())
        }
        (RuleScope::Tool | RuleScope::Conversation, Some(hash)) => {
            Grant::tool(Definition::new(server, identity, &row.tool, hash))
        }
        _ => return None,
    };
    Some(match row.scope {
        RuleScope::Conversation => grant.for_this_run(),
        _ => grant,
    })
}

/// The row of an approval.
pub(super) fn granted(user: &UserId, grant: &Grant, servers: &[Server]) -> Option<Row> {
    let mut row = match &grant.scope {
        GrantScope::Tool { tool, fingerprint } => {
            let mut row = Row::new(user.clone(), RuleScope::Tool, Decision::Allow);
            row.tool.clone_from(tool);
            row.def_hash = Some(fingerprint.clone());
            row
        }
        GrantScope::ReadOnly { fingerprints } => {
            let mut row = Row::new(user.clone(), RuleScope::ServerReadOnly, Decision::Allow);
            row.read_only_hashes.clone_from(fingerprints);
            row
        }
        _ => return None,
    };
    row.server.clone_from(&grant.server);
    row.server_identity = Some(grant.server_identity.clone());
    row.server_id = id_of(&row.server, servers);
    Some(row)
}

/// The row of a lasting denial.
pub(super) fn forbidden(user: &UserId, rule: &Rule, servers: &[Server]) -> Option<Row> {
    let mut row = Row::new(user.clone(), RuleScope::Tool, Decision::Deny);
    row.server = rule.server.as_exact()?;
    row.tool = rule.tool.as_exact()?;
    row.server_id = id_of(&row.server, servers);
    Some(row)
}

/// The row of a definition that a person approved, if its server is stored.
pub(super) fn pinned(
    definition: &Definition,
    tool: Option<&Tool>,
    servers: &[Server],
) -> Option<ApprovedDefinition> {
    let row = ApprovedDefinition::new(
        id_of(&definition.server, servers)?,
        &definition.tool,
        DefinitionKind::Pinned,
        &definition.server_identity,
        &definition.fingerprint,
    );
    Some(match tool {
        Some(tool) => row.with_tool(tool),
        None => row,
    })
}

fn id_of(name: &str, servers: &[Server]) -> Option<ServerId> {
    let server = servers.iter().find(|server| server.name == name);
    server.map(|server| server.id.clone())
}
