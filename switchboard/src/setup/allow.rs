//! Tools that run without asking in one run: consent to exactly their current definitions.

use agent_loop::{Definition, Grant};
use mcp_manager::{Entry, Manager};

use crate::display::untrusted;
use crate::exit::{Exit, Failure};

/// The grants for these tools, as they are defined now. A tool is named as its server does, with
/// `SERVER/` before it where several servers have one of that name.
pub(super) fn grants(manager: &Manager, names: &[String]) -> Result<Vec<Grant>, Failure> {
    let catalog = manager.catalog();
    let tools: Vec<&Entry> = catalog.enabled_tools().map(AsRef::as_ref).collect();
    names
        .iter()
        .map(|name| {
            let entry = one(name, &tools)?;
            let identity = manager
                .server(entry.server().as_str())
                .map(|server| server.config.identity());
            Ok(Grant::tool(Definition::new(
                entry.server().as_str(),
                identity.unwrap_or_default(),
                entry.name(),
                entry.fingerprint().to_string(),
            )))
        })
        .collect()
}

/// The one tool that a name means.
fn one<'a>(name: &str, tools: &[&'a Entry]) -> Result<&'a Entry, Failure> {
    let full = |tool: &Entry| format!("{}/{}", tool.server(), tool.name());
    let means = |tool: &&&Entry| tool.name() == name || full(tool) == name;
    let found: Vec<&&Entry> = tools.iter().filter(means).collect();
    let list = |tools: &mut dyn Iterator<Item = &&Entry>| {
        let names = tools.map(|tool| untrusted::line(&full(tool)).into_owned());
        names.collect::<Vec<_>>().join(", ")
    };
    match found.as_slice() {
        [tool] => Ok(tool),
        [] => {
            let text = format!("--allow {name:?}: no connected server has this tool");
            let hint = match tools.is_empty() {
                true => "No server is connected: `switchboard doctor` tells why.".to_owned(),
                false => format!("There are: {}.", list(&mut tools.iter())),
            };
            Err(Failure::new(Exit::Other, text).with_hint(hint))
        }
        several => {
            let text = format!("--allow {name:?}: several servers have this tool");
            let hint = format!("Write one of: {}.", list(&mut several.iter().copied()));
            Err(Failure::new(Exit::Other, text).with_hint(hint))
        }
    }
}
