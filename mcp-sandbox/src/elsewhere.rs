//! Systems without a sandbox: servers run uncontained, if the profile allows it.

use std::path::PathBuf;
use std::sync::Arc;

use mcp_transport::{LocalSpawner, SpawnRequest, SpawnedProcess, Spawner, TransportError};

use crate::containment::Containment;
use crate::denial::Denials;
use crate::plan;
use crate::profile::Profile;

/// Nothing holds.
pub(crate) fn containment(_: &Profile) -> Containment {
    Containment::none("servers are not contained on this system")
}

/// Every profile can be ignored.
pub(crate) fn check(_: &Profile) -> Result<(), &'static str> {
    Ok(())
}

/// Starts the server with the environment of its profile; that is all.
pub(crate) async fn spawn(
    request: SpawnRequest,
    profile: Arc<Profile>,
    own: PathBuf,
    proxy: Option<u16>,
    _: Arc<Denials>,
) -> Result<Arc<dyn SpawnedProcess>, TransportError> {
    let mut request = request;
    let given = std::mem::take(&mut request.env);
    request.env = plan::environment(&profile, given, &own, proxy)
        .into_iter()
        .collect();
    LocalSpawner::new().spawn(request).await
}
