//! macOS: `sandbox-exec` with a profile written by [`seatbelt`](crate::seatbelt). Not tested on a Mac yet, which every
//! guarantee reports.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_transport::{LocalSpawner, SpawnRequest, SpawnedProcess, Spawner, TransportError};

use crate::containment::{Containment, Guarantee, Holding};
use crate::denial::Denials;
use crate::plan::{self, ProgramFiles};
use crate::profile::Profile;
use crate::seatbelt;

const TOOL: &str = "/usr/bin/sandbox-exec";

/// Files, the network and signals, by a tool that Apple has deprecated; nothing else.
pub(crate) fn containment(_: &Profile) -> Containment {
    let all = Containment::none("macOS has no such limit here");
    let by_seatbelt = [
        Guarantee::Files,
        Guarantee::Network,
        Guarantee::UnixSockets,
        Guarantee::Signals,
    ];
    let all = all.guarantees().map(|(which, holding)| {
        let holding = if by_seatbelt.contains(&which) && Path::new(TOOL).exists() {
            Holding::partly("by sandbox-exec, untested")
        } else if which == Guarantee::Environment {
            Holding::Holds
        } else {
            holding.clone()
        };
        (which, holding)
    });
    Containment::new(all.collect::<Vec<_>>())
}

/// Every profile can be written for seatbelt.
pub(crate) fn check(_: &Profile) -> Result<(), &'static str> {
    Ok(())
}

/// Starts the server by `sandbox-exec`.
pub(crate) async fn spawn(
    mut request: SpawnRequest,
    profile: Arc<Profile>,
    own: PathBuf,
    proxy: Option<u16>,
    _: Arc<Denials>,
) -> Result<Arc<dyn SpawnedProcess>, TransportError> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let rules = plan::file_rules(&profile, &ProgramFiles::default(), home.as_deref(), &own);
    let text = seatbelt::write(&profile, &rules, proxy);
    let given = std::mem::take(&mut request.env);
    request.env = plan::environment(&profile, given, &own, proxy)
        .into_iter()
        .collect();
    let program = std::mem::replace(&mut request.program, TOOL.to_owned());
    let before = ["-p".to_owned(), text, program];
    request.args.splice(0..0, before);
    LocalSpawner::new().spawn(request).await
}
