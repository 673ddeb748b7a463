//! Selection of a verb's servers.

use std::path::Path;
use std::sync::Arc;

use mcp_config::{ConfigFile, Dialect};
use mcp_manager::ServerConfig;

use super::ad_hoc::{AdHoc, is_url};
use super::host::Host;
use super::lookup::{Lookup, reach, wanted};
use crate::cli::Global;
use crate::demo::{demo_server_config, this_program};
use crate::exit::{Exit, Failure};
use crate::servers::doctor::{Finding, Problem};
use crate::store::{Server, Store, Trust, UserId};

/// The servers of a verb.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    /// Those that can be reached, each with its row if it is stored.
    pub(crate) servers: Vec<(ServerConfig, Option<Server>)>,
    /// Those of a file that are switched off there.
    pub(crate) off: Vec<ServerConfig>,
    /// What is wrong with the others, by name.
    pub(crate) findings: Vec<(String, Finding)>,
    /// Where the stored ones are.
    pub(crate) store: Option<Arc<dyn Store>>,
}

/// Chooses: the given program, the server at the given address, the named one, or all that are
/// switched on, out of the file of `--config` or the store.
pub(crate) async fn select(
    global: &Global,
    name: Option<&str>,
    ad_hoc: &AdHoc,
) -> Result<Chosen, Failure> {
    ad_hoc.check(name.is_some_and(is_url))?;
    if ad_hoc.has_command() {
        if let Some(name) = name {
            let text = format!("a command is given, and a server {name:?} as well");
            return Err(Failure::new(Exit::Other, text).with_hint("Give one of them."));
        }
        return Ok(Chosen::once(ad_hoc.program()?));
    }
    if let Some(url) = name.filter(|name| is_url(name)) {
        return Ok(Chosen::once(ad_hoc.remote(url)?));
    }
    if let Some(file) = &global.config {
        let mut chosen = of_file(file)?;
        if let Some(name) = name {
            chosen
                .servers
                .retain(|(config, _)| config.name().as_str() == name);
            chosen.findings.retain(|(server, _)| server == name);
            if chosen.servers.is_empty() && chosen.findings.is_empty() {
                let text = format!("{} has no server {name:?}", file.display());
                return Err(Failure::new(Exit::Other, text));
            }
        }
        return Ok(chosen);
    }
    let store = global.store().await?;
    let rows = store.servers(&UserId::local()).await?;
    let rows = match name {
        None => rows.into_iter().filter(|row| row.is_active).collect(),
        Some(name) => match rows.iter().find(|row| row.name == name) {
            Some(row) => vec![row.clone()],
            None if name == "demo" => return Ok(Chosen::once(demo()?)),
            None => return Err(unknown(name, &rows)),
        },
    };
    let mut chosen = Chosen {
        store: Some(store),
        ..Chosen::default()
    };
    for row in rows {
        let ready = match row.trust {
            Trust::Pending => Err(pending(&row)),
            Trust::Allowed | Trust::Trusted => reach(&row, Host::Allowed).await,
        };
        match ready {
            // Naming a disabled server is explicit enough.
            Ok(config) => chosen.servers.push((config.enabled(), Some(row))),
            Err(finding) => chosen.findings.push((row.name, finding)),
        }
    }
    Ok(chosen)
}

/// One stored server, and the store.
pub(crate) async fn find(global: &Global, name: &str) -> Result<(Arc<dyn Store>, Server), Failure> {
    let store = global.store().await?;
    let rows = store.servers(&UserId::local()).await?;
    match rows.iter().find(|row| row.name == name) {
        Some(row) => Ok((store, row.clone())),
        None => Err(unknown(name, &rows)),
    }
}

/// The servers of a file that are switched on, their variables replaced.
pub(crate) fn of_file(file: &Path) -> Result<Chosen, Failure> {
    let failed = || Failure::new(Exit::Other, format!("{} cannot be used", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| failed().caused_by(error))?;
    let dialect = Dialect::of(file, &text);
    let read = ConfigFile::read(&text, dialect).map_err(|problem| failed().caused_by(problem))?;
    let mut chosen = Chosen::default();
    for problem in read.problems() {
        let name = problem
            .server
            .clone()
            .unwrap_or_else(|| file.display().to_string());
        let advice = format!("Mend {} at line {}.", file.display(), problem.place.line);
        let finding = Finding::new(Problem::BadConfig, problem.to_string(), advice);
        chosen.findings.push((name, finding));
    }
    let resolved = read.resolve(&Lookup::of_file(file));
    for server in resolved.unresolved {
        let finding = wanted(server.server.as_str(), &server.missing);
        chosen.findings.push((server.server.to_string(), finding));
    }
    let (active, off) = resolved
        .servers
        .into_iter()
        .partition::<Vec<_>, _>(ServerConfig::is_enabled);
    chosen.servers = active.into_iter().map(|config| (config, None)).collect();
    chosen.off = off;
    Ok(chosen)
}

impl Chosen {
    fn once(config: ServerConfig) -> Self {
        Self {
            servers: vec![(config, None)],
            ..Self::default()
        }
    }
}

/// This program's own demo server.
pub(crate) fn demo() -> Result<ServerConfig, Failure> {
    demo_server_config(&this_program()?, None)
}

/// The finding for a server that was not approved yet.
pub(crate) fn pending(row: &Server) -> Finding {
    let source = row.source.as_deref().unwrap_or("a project's file");
    Finding::new(
        Problem::Pending,
        format!("it comes from {source} and waits for your approval"),
        format!(
            "See what it runs with `switchboard servers show {0}`, then allow it with \
             `switchboard servers enable {0}`.",
            row.name
        ),
    )
}

fn unknown(name: &str, rows: &[Server]) -> Failure {
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let hint = match names.is_empty() {
        true => "There are none yet: `switchboard servers add NAME -- COMMAND`, or `switchboard \
                 import`; `demo`, a URL or `-- COMMAND` work at once."
            .to_owned(),
        false => format!("There are: {}.", names.join(", ")),
    };
    Failure::new(Exit::Other, format!("there is no server {name:?}")).with_hint(hint)
}
