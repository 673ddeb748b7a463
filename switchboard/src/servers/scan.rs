//! Signs of an attack in what servers say, and what the user wants done about them.

use std::collections::BTreeMap;

use mcp_jsonrpc::model::Tool;
use mcp_manager::{Entry, Manager, ServerName};
use serde_json::{Value, json};
use tool_policy::{
    Finding, Neighbours, SCAN_RULES, ScanPolicy, Severity, scan_instructions, scan_tool,
};

use crate::store::ServerTool;

/// The settings of what is done about findings, with the severity of each.
pub(crate) const SETTINGS: [(&str, Severity); 3] = [
    ("scan.low", Severity::Low),
    ("scan.medium", Severity::Medium),
    ("scan.high", Severity::High),
];

/// What the user wants done about findings.
pub(crate) fn policy(settings: &BTreeMap<String, Value>) -> ScanPolicy {
    let mut policy = ScanPolicy::default();
    for (key, severity) in SETTINGS {
        let said = settings.get(key).cloned();
        let response = said.and_then(|value| serde_json::from_value(value).ok());
        policy = response.map_or(policy, |response| policy.with(severity, response));
    }
    policy
}

/// What was found in a tool's definition: beside the other servers' tools, if it is offered now.
pub(crate) fn of_tool(manager: &Manager, tool: &Entry) -> Vec<Finding> {
    let catalog = manager.catalog();
    let live = catalog.find(tool.server(), tool.name());
    match live.filter(|live| live.fingerprint() == tool.fingerprint()) {
        Some(live) => catalog.findings(live).to_vec(),
        None => scan_tool(tool.tool(), &Neighbours::default()),
    }
}

/// What was found in all that a connected server offers and says, each with the tool, or none for its
/// instructions.
pub(crate) fn of_server(manager: &Manager, server: &ServerName) -> Vec<(Option<String>, Finding)> {
    let catalog = manager.catalog();
    let tools = catalog.tools().iter().filter(|it| it.server() == server);
    let mut found = Vec::new();
    for tool in tools {
        let findings = catalog.findings(tool).iter().cloned();
        found.extend(findings.map(|finding| (Some(tool.name().to_owned()), finding)));
    }
    let client = manager.client(server.as_str());
    let said = client.and_then(|client| client.server().instructions);
    let others = catalog.tools().iter().filter(|it| it.server() != server);
    let neighbours = Neighbours::new(others.map(|it| it.name()));
    let findings = said.map(|text| scan_instructions(&text, &neighbours));
    found.extend(
        findings
            .into_iter()
            .flatten()
            .map(|finding| (None, finding)),
    );
    found
}

/// What was found in the tools that a server was last seen with.
pub(crate) fn of_seen(tools: &[ServerTool]) -> Vec<(Option<String>, Finding)> {
    let mut found = Vec::new();
    for tool in tools {
        if let Ok(definition) = serde_json::from_value::<Tool>(tool.definition.clone()) {
            let findings = scan_tool(&definition, &Neighbours::default()).into_iter();
            found.extend(findings.map(|finding| (Some(tool.name.clone()), finding)));
        }
    }
    found
}

/// A finding as JSON.
pub(crate) fn to_json(finding: &Finding) -> Value {
    let rule = SCAN_RULES.iter().find(|rule| rule.id == finding.rule);
    json!({
        "rule": finding.rule,
        "severity": finding.severity,
        "place": finding.place,
        "evidence": finding.evidence,
        "explanation": rule.map(|rule| rule.explanation),
        "owasp": rule.map(|rule| rule.owasp),
    })
}

/// Findings as JSON, each with its tool.
pub(crate) fn all_to_json(found: &[(Option<String>, Finding)]) -> Vec<Value> {
    let item = |(tool, finding): &(Option<String>, Finding)| {
        let mut item = to_json(finding);
        if let Some(members) = item.as_object_mut() {
            members.insert("tool".to_owned(), json!(tool));
        }
        item
    };
    found.iter().map(item).collect()
}

/// Where a finding is, for people.
pub(crate) fn place(tool: Option<&str>) -> String {
    tool.map_or_else(
        || "its instructions".to_owned(),
        |tool| format!("tool {tool:?}"),
    )
}
