//! All that is settled before a token is asked for.

use crate::discovery::challenge::Demand;
use crate::discovery::resource::{self, ResourceMetadata};
use crate::discovery::server_metadata::ServerMetadata;
use crate::oauth::config::{Config, Dpop, Grant, ResourceParameter};
use crate::oauth::session::Session;
use crate::token::scope::Scopes;

/// Whom to ask, for what, and how.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) metadata: ServerMetadata,
    /// What to send as `resource`.
    pub(crate) resource: Option<String>,
    pub(crate) scope: Scopes,
    /// Whether the token is to be bound to a key.
    pub(crate) dpop: bool,
}

impl Terms {
    /// Settles them from what everybody said. `held` is the session we have, if any.
    pub(crate) fn settle(
        config: &Config,
        server: &str,
        demand: &Demand,
        resource: Option<&ResourceMetadata>,
        metadata: ServerMetadata,
        held: Option<&Session>,
    ) -> Self {
        let parameter = match (&config.resource, resource) {
            (ResourceParameter::Omit, _) => None,
            (ResourceParameter::Exactly(text), _) => Some(text.clone()),
            (ResourceParameter::FromServer, Some(resource)) => Some(resource.resource.clone()),
            (ResourceParameter::FromServer, None) => Some(resource::identifier(server).to_owned()),
        };
        let held = held.filter(|held| held.issuer == metadata.issuer);
        let refreshable = matches!(config.grant, Grant::Login);
        Self {
            resource: parameter,
            scope: scope(demand, resource, &metadata, held, refreshable),
            dpop: config.dpop == Dpop::Always
                || demand.dpop
                || resource.is_some_and(|resource| resource.dpop_required),
            metadata,
        }
    }

    /// The `scope` parameter, or nothing if there is nothing to ask for.
    pub(crate) fn scope_parameter(&self) -> Option<String> {
        (!self.scope.is_empty()).then(|| self.scope.to_string())
    }
}

/// What the challenge asks for; else all the resource knows; else nothing at all, which is not the
/// same as an empty list. What was granted before is asked for again, so that nothing is lost.
fn scope(
    demand: &Demand,
    resource: Option<&ResourceMetadata>,
    metadata: &ServerMetadata,
    held: Option<&Session>,
    refreshable: bool,
) -> Scopes {
    let wanted = match resource {
        _ if !demand.scope.is_empty() => &demand.scope,
        Some(resource) => &resource.scopes_supported,
        None => return Scopes::default(),
    };
    if wanted.is_empty() {
        return Scopes::default();
    }
    let wanted = held.map_or(wanted.clone(), |held| held.scope.union(wanted));
    let offline = Scopes::parse("offline_access");
    if refreshable && offline.is_subset(&metadata.scopes_supported) {
        return wanted.union(&offline);
    }
    wanted
}
