//! JSON views of servers, without secrets.

use std::collections::BTreeMap;

use mcp_transport::ServerCommand;
use serde_json::{Map, Value, json};

use super::status::ServerStatus;
use crate::servers::doctor::Finding;
use crate::servers::sandbox::not_contained;
use crate::servers::{answers, has_open_secret, is_built_in, shown_endpoint_of, shown_url};
use crate::store::{Change, NewEvent, Server, ServerId, StoredValue, UserId};

/// In place of a value that is in the store itself.
pub(crate) const HIDDEN: &str = "…";

/// What is known of a server beside its row.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) status: ServerStatus,
    /// What is wrong.
    pub(crate) finding: Option<Finding>,
    /// How it is spoken to now.
    pub(crate) transport: Option<&'static str>,
    pub(crate) tools: usize,
    pub(crate) tokens: u64,
}

/// A server.
pub(crate) fn server(row: &Server, sight: &Sight) -> Value {
    let finding = sight.finding.as_ref();
    let error = match (sight.status, finding) {
        (ServerStatus::Connected, _) => None,
        (_, Some(finding)) => Some(&finding.message),
        (_, None) => row.last_error.as_ref(),
    };
    let mut reported = json!({
        "id": row.id,
        "name": row.name,
        "endpoint": shown_endpoint_of(row),
        "type": row.kind,
        "isActive": row.is_active,
        "baseUrl": row.base_url.as_deref().map(shown_url),
        "headers": values(&row.headers),
        "timeout": row.timeout,
        "command": row.command,
        "args": args(row),
        "env": values(&row.env),
        "disabledTools": row.disabled_tools,
        "autoApproveTools": row.auto_approve_tools,
        "source": row.source,
        "trust": row.trust,
        "cwd": row.cwd,
        "toolTimeouts": row.tool_timeouts,
        "parallel": row.parallel,
        "alwaysLoad": row.always_load,
        "envPolicy": row.env_policy,
        "sandbox": row.sandbox,
        "installed": row.installed,
        "notContained": row.sandbox.as_ref().map(not_contained).unwrap_or_default(),
        "plainValues": has_open_secret(row),
        "inputs": inputs(row),
        "transportSeen": sight.transport.or(row.transport_seen.as_deref()),
        "lastError": error,
        "status": sight.status,
        "coarseStatus": sight.status.coarse(),
        "toolCount": sight.tools,
        "tokens": sight.tokens,
        "sort": row.sort,
        "createdAt": row.created_at.rfc3339(),
        "updatedAt": row.updated_at.rfc3339(),
    });
    if let (true, Some(members)) = (is_built_in(row), reported.as_object_mut()) {
        members.insert("builtIn".to_owned(), true.into());
    }
    if let (Some(finding), Some(members)) = (finding, reported.as_object_mut()) {
        members.insert("hint".to_owned(), finding.advice.clone().into());
        members.insert("problem".to_owned(), finding.problem.as_str().into());
    }
    reported
}

/// The event for a server's new state.
pub(super) fn status_event(user: &UserId, server: Value) -> Change {
    event(user, "server.status", json!({ "server": server }))
}

/// The event for a change of a server's tools or their policy.
pub(crate) fn tools_event(user: &UserId, id: &ServerId) -> Change {
    event(user, "server.tools.changed", json!({ "serverId": id }))
}

pub(crate) fn event(user: &UserId, kind: &str, data: Value) -> Change {
    Change::AppendEvent(NewEvent::new(user.clone(), None, kind, data))
}

/// The arguments, without those that look like secrets.
pub(crate) fn args(row: &Server) -> Vec<String> {
    let command = row.command.as_deref().unwrap_or_default();
    ServerCommand::new(command)
        .with_args(&row.args)
        .shown_args()
}

fn values(values: &BTreeMap<String, StoredValue>) -> Map<String, Value> {
    let shown = |(name, value): (&String, &StoredValue)| (name.clone(), value_shown(value).into());
    values.iter().map(shown).collect()
}

/// A reference as it is; a value that is kept in the store hidden.
pub(crate) fn value_shown(value: &StoredValue) -> String {
    match value {
        StoredValue::Plain(text) if is_template(text) => text.clone(),
        StoredValue::Plain(_) => HIDDEN.to_owned(),
        reference => reference.to_string(),
    }
}

/// Whether a text is nothing but variables, with the word before a key at most.
fn is_template(text: &str) -> bool {
    let mut rest = String::new();
    let mut parts = text.split("${");
    rest.push_str(parts.next().unwrap_or_default());
    let mut variables = 0;
    for part in parts {
        let Some((name, after)) = part.split_once('}') else {
            return false;
        };
        // A default may be the secret itself.
        if name.contains(":-") {
            return false;
        }
        variables += 1;
        rest.push_str(after);
    }
    let word = rest.trim().to_ascii_lowercase();
    variables > 0 && matches!(word.as_str(), "" | "bearer" | "basic" | "token")
}

/// Which questions of its file were answered.
fn inputs(row: &Server) -> Map<String, Value> {
    let shown = |(id, value): (String, StoredValue)| (id, value_shown(&value).into());
    answers(row).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_value_is_shown_only_if_it_is_nothing_but_variables() {
        let shown = |text: &str| value_shown(&StoredValue::Plain(text.to_owned()));
        for text in ["${input:key}", "Bearer ${KEY}", "${A}${B}"] {
            assert_eq!(shown(text), text);
        }
        for text in [
            "sk-1",
            "",
            "Bearer sk-1",
            "${KEY:-sk-1}",
            "sk-${A}",
            "${A",
            "debug",
        ] {
            assert_eq!(shown(text), HIDDEN, "{text}");
        }
    }
}
