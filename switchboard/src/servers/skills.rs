//! Skills of servers (SEP-2640): listed, and screened before a model follows one.

use mcp_jsonrpc::model::Skill;
use mcp_manager::{Manager, ManagerError, ServerName};
use tool_policy::{Alarm, Finding, ScanPolicy, ScanResponse};

/// A skill whose text was read, checked and scanned.
#[derive(Clone, Debug)]
pub(crate) struct Screened {
    /// Its `SKILL.md`.
    pub(crate) text: String,
    /// Signs of an attack in it.
    pub(crate) findings: Vec<Finding>,
    /// What the user wants done about them.
    pub(crate) response: Option<ScanResponse>,
}

impl Screened {
    /// What was found, in a line.
    pub(crate) fn reason(&self) -> String {
        Alarm::of(&self.findings).map_or_else(String::new, |alarm| alarm.reason)
    }
}

/// The skills of all connected servers, and why those of a server cannot be listed.
pub(crate) async fn skills(
    manager: &Manager,
) -> (Vec<(ServerName, Skill)>, Vec<(ServerName, ManagerError)>) {
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for server in manager.connected() {
        match manager.skills(server.as_str()).await {
            Ok(its) => all.extend(its.into_iter().map(|skill| (server.clone(), skill))),
            Err(error) => failed.push((server, error)),
        }
    }
    (all, failed)
}

/// Reads a skill, and looks for signs of an attack in it.
pub(crate) async fn load_skill(
    manager: &Manager,
    server: &ServerName,
    uri: &str,
    policy: ScanPolicy,
) -> Result<Screened, ManagerError> {
    let loaded = manager.load_skill(server.as_str(), uri).await?;
    let text = loaded.text().to_owned();
    let findings = manager.catalog().findings_in_instructions(server, &text);
    let response = policy.respond(&findings);
    Ok(Screened {
        text,
        findings,
        response,
    })
}

/// The name of a skill's text as a file that goes with a message.
pub(crate) fn skill_file(skill: &Skill) -> String {
    format!("{}.SKILL.md", skill.name().unwrap_or("skill"))
}
