//! Server selection.

use std::path::Path;

use mcp_manager::ServerConfig;

use crate::exit::{Exit, Failure};
use crate::models::Choice;
use crate::servers::doctor::Finding;
use crate::servers::{AdHoc, Host, demo, is_url, reach};
use crate::setup::{RunArgs, switched_off};
use crate::store::{Assistant, Server, Store, ToolSelection, Trust, UserId};

/// The selected servers.
#[derive(Debug, Default)]
pub(crate) struct Selected {
    pub(crate) configs: Vec<ServerConfig>,
    /// All stored servers.
    pub(crate) rows: Vec<Server>,
    /// Notices for the user.
    pub(crate) notices: Vec<String>,
}

/// The assistant of this name or id.
pub(crate) async fn assistant(
    store: &dyn Store,
    user: &UserId,
    name: Option<&str>,
) -> Result<Option<Assistant>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let mut all = store.assistants(user).await?.into_iter();
    let found = all.find(|assistant| assistant.name == name || assistant.id.as_str() == name);
    match found {
        Some(assistant) => Ok(Some(assistant)),
        None => Err(Failure::new(
            Exit::Other,
            format!("there is no assistant {name:?}"),
        )),
    }
}

/// Chooses servers: those named, those of a file, the assistant's, or all that are active; with
/// the demo model and nothing else, the demo server; without those that are switched off.
pub(crate) async fn servers(
    store: &dyn Store,
    user: &UserId,
    run_args: &RunArgs,
    assistant: Option<&Assistant>,
    choice: &Choice,
    host: Host,
) -> Result<Selected, Failure> {
    let mut selected = chosen(store, user, run_args, assistant, choice, host).await?;
    let off: Vec<&str> = switched_off::servers(&run_args.switched_off, &selected.rows).collect();
    let is_on = |config: &ServerConfig| !off.contains(&config.name().as_str());
    selected.configs.retain(is_on);
    Ok(selected)
}

async fn chosen(
    store: &dyn Store,
    user: &UserId,
    run_args: &RunArgs,
    assistant: Option<&Assistant>,
    choice: &Choice,
    host: Host,
) -> Result<Selected, Failure> {
    let ad_hoc = &run_args.ad_hoc;
    ad_hoc.check(run_args.servers.iter().any(|name| is_url(name)))?;
    if run_args.config.is_none() && !run_args.names_servers() {
        return of_assistant(store, user, assistant, choice, host).await;
    }
    let mut selected = Selected {
        rows: store.servers(user).await?,
        ..Selected::default()
    };
    // Users who may not use this machine may not name its files.
    if let (Some(file), Host::Allowed) = (&run_args.config, host) {
        of_file(file, &mut selected)?;
        if run_args.names_servers() {
            let named = |config: &ServerConfig| {
                let mut names = run_args.servers.iter();
                names.any(|name| name == config.name().as_str())
            };
            selected.configs.retain(named);
        }
    } else {
        for name in &run_args.servers {
            let row = selected.rows.iter().find(|row| row.name == *name);
            match row.cloned() {
                Some(row) => add(&row, host, &mut selected).await,
                None if name == "demo" => selected.configs.push(demo()?),
                None => selected.configs.push(remote(name, ad_hoc)?),
            }
        }
    }
    match host {
        Host::Allowed if ad_hoc.has_command() => selected.configs.push(ad_hoc.program()?),
        // Nor may they start its programs.
        Host::Forbidden if ad_hoc.has_command() => {
            let text = "the conversation uses a program of this machine, which you may not start";
            return Err(Failure::new(Exit::Denied, text));
        }
        _ => {}
    }
    Ok(selected)
}

/// The servers of an assistant, or all that are active; with the demo model and nothing else, the
/// demo server.
async fn of_assistant(
    store: &dyn Store,
    user: &UserId,
    assistant: Option<&Assistant>,
    choice: &Choice,
    host: Host,
) -> Result<Selected, Failure> {
    let mut selected = Selected::default();
    let rows = store.servers(user).await?;
    let chosen = match assistant.map(|assistant| (assistant.tool_selection, assistant)) {
        Some((ToolSelection::Off, _)) => Some(Vec::new()),
        Some((ToolSelection::Manual, it)) => Some(store.assistant_servers(&it.id).await?),
        _ => None,
    };
    let is_chosen = |row: &&Server| {
        chosen
            .as_ref()
            .is_none_or(|chosen| chosen.contains(&row.id))
    };
    for row in rows.iter().filter(|row| row.is_active).filter(is_chosen) {
        add(row, host, &mut selected).await;
    }
    if rows.is_empty() && chosen.is_none() && choice.provider.is_demo() {
        selected.configs.push(demo()?);
    }
    selected.rows = rows;
    Ok(selected)
}

async fn add(row: &Server, host: Host, selected: &mut Selected) {
    if row.trust == Trust::Pending {
        let text = format!(
            "{} is waiting for your approval: see `switchboard servers`",
            row.name
        );
        return selected.notices.push(text);
    }
    match reach(row, host).await {
        Ok(config) => selected.configs.push(config),
        Err(finding) => selected.leave_out(&row.name, &finding),
    }
}

/// A server that is only a URL.
fn remote(url: &str, ad_hoc: &AdHoc) -> Result<ServerConfig, Failure> {
    if is_url(url) {
        return ad_hoc.remote(url);
    }
    Err(
        Failure::new(Exit::Other, format!("there is no server {url:?}")).with_hint(
            "`switchboard servers list` names them; a URL, `demo` or `-- COMMAND` does as well.",
        ),
    )
}

/// The servers of a file, with their variables from the environment.
fn of_file(file: &Path, selected: &mut Selected) -> Result<(), Failure> {
    let chosen = crate::servers::of_file(file)?;
    for (server, finding) in &chosen.findings {
        selected.leave_out(server, finding);
    }
    let configs = chosen.servers.into_iter().map(|(config, _)| config);
    selected.configs.extend(configs);
    Ok(())
}

impl Selected {
    fn leave_out(&mut self, server: &str, finding: &Finding) {
        let Finding {
            message, advice, ..
        } = finding;
        self.notices
            .push(format!("{server} is left out: {message}. {advice}"));
    }
}
