//! Which servers take part.

use std::path::Path;

use mcp_manager::{ConfigFile, Dialect, RemoteEndpoint, ServerConfig, StdioEndpoint, Variable};

use crate::exit::{Exit, Failure};
use crate::home;
use crate::models::Choice;
use crate::store::{Assistant, McpMode, Server, Store, Trust, UserId};
use crate::workbench::Wishes;
use crate::workbench::reach::config;

/// The servers that take part.
pub(super) struct Selected {
    pub(super) configs: Vec<ServerConfig>,
    /// All stored servers.
    pub(super) rows: Vec<Server>,
    pub(super) notices: Vec<String>,
}

/// The assistant of this name or id.
pub(super) async fn assistant(
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
/// the demo model and nothing else, the demo server.
pub(super) async fn servers(
    store: &dyn Store,
    user: &UserId,
    wishes: &Wishes,
    assistant: Option<&Assistant>,
    choice: &Choice,
) -> Result<Selected, Failure> {
    let rows = store.servers(user).await?;
    let mut selected = Selected {
        configs: Vec::new(),
        rows: Vec::new(),
        notices: Vec::new(),
    };
    if let Some(file) = &wishes.config {
        of_file(file, &mut selected)?;
        if !wishes.servers.is_empty() {
            let named = |config: &ServerConfig| {
                let mut names = wishes.servers.iter();
                names.any(|name| name == config.name().as_str())
            };
            selected.configs.retain(named);
        }
    } else if wishes.servers.is_empty() {
        let chosen = match assistant.map(|assistant| (assistant.mcp_mode, assistant)) {
            Some((McpMode::Off, _)) => Some(Vec::new()),
            Some((McpMode::Manual, it)) => Some(store.assistant_servers(&it.id).await?),
            _ => None,
        };
        for row in rows.iter().filter(|row| row.is_active) {
            if chosen
                .as_ref()
                .is_some_and(|chosen| !chosen.contains(&row.id))
            {
                continue;
            }
            add(row, &mut selected).await;
        }
        if rows.is_empty() && choice.provider.is_demo() {
            selected.configs.push(demo()?);
        }
    } else {
        for name in &wishes.servers {
            let row = rows.iter().find(|row| row.name == *name);
            match row {
                Some(row) => add(row, &mut selected).await,
                None if name == "demo" => selected.configs.push(demo()?),
                None => selected.configs.push(remote(name)?),
            }
        }
    }
    selected.rows = rows;
    Ok(selected)
}

async fn add(row: &Server, selected: &mut Selected) {
    if row.trust == Trust::Pending {
        let text = format!(
            "{} waits for your approval: see `switchboard servers`",
            row.name
        );
        return selected.notices.push(text);
    }
    match config(row).await {
        Ok(config) => selected.configs.push(config),
        Err(problem) => selected
            .notices
            .push(format!("{} is left out: {problem}", row.name)),
    }
}

fn demo() -> Result<ServerConfig, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(Exit::Other, "this program cannot find itself").caused_by(error)
    })?;
    let command = program.to_str().ok_or_else(|| {
        let text = format!("{} cannot be started as the demo server", program.display());
        Failure::new(Exit::Other, text)
    })?;
    let endpoint = StdioEndpoint::new(command).with_args(["demo-server", "--stdio"]);
    let name = "demo".parse();
    let name = name.map_err(|_| Failure::new(Exit::Other, "the demo server has no name"))?;
    Ok(ServerConfig::stdio(name, endpoint).trusted())
}

/// A server that is only a URL.
fn remote(url: &str) -> Result<ServerConfig, Failure> {
    let unknown = || {
        Failure::new(Exit::Other, format!("there is no server {url:?}"))
            .with_hint("`switchboard servers list` names them; a URL or `demo` does as well.")
    };
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let host = rest.ok_or_else(unknown)?.split(['/', ':', '?']).next();
    let name = host.unwrap_or_default().replace('.', "-");
    let name = name.parse().map_err(|_| unknown())?;
    Ok(ServerConfig::remote(name, RemoteEndpoint::new(url)))
}

/// The servers of a file, with their variables from the environment.
fn of_file(file: &Path, selected: &mut Selected) -> Result<(), Failure> {
    let failed = || Failure::new(Exit::Other, format!("{} cannot be used", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| failed().caused_by(error))?;
    let read = ConfigFile::read(&text, Dialect::ClaudeDesktop);
    let read = read.map_err(|problem| failed().caused_by(problem.to_string()))?;
    let problems = read.problems().iter().map(ToString::to_string);
    selected.notices.extend(problems);
    let resolved = read.resolve(&|variable: Variable<'_>| match variable {
        Variable::Env(name) => home::environment(name),
        _ => None,
    });
    for server in &resolved.unresolved {
        let text = format!(
            "{} is left out: a value is missing: {:?}",
            server.server, server.missing
        );
        selected.notices.push(text);
    }
    let active = resolved
        .servers
        .into_iter()
        .filter(ServerConfig::is_enabled);
    selected.configs.extend(active);
    Ok(())
}
