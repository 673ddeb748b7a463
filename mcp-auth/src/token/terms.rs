//! The parameters of a token request.

use crate::discovery::challenge::Demand;
use crate::discovery::resource::{self, ResourceMetadata};
use crate::discovery::server_metadata::ServerMetadata;
use crate::oauth::config::{Config, Dpop, Grant, ResourceParameter};
use crate::oauth::session::Session;
use crate::token::scope::Scopes;

/// The authorization server, the resource, the scopes and the binding of a token request.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) metadata: ServerMetadata,
    /// The `resource` parameter.
    pub(crate) resource: Option<String>,
    pub(crate) scope: Scopes,
    /// Whether the token is to be bound to a key.
    pub(crate) dpop: bool,
}

impl Terms {
    /// Determines the parameters from the configuration, the challenge and the metadata. `held` is the current session,
    /// if any.
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

    /// The `scope` parameter; `None` if there are no scopes to request.
    pub(crate) fn scope_parameter(&self) -> Option<String> {
        (!self.scope.is_empty()).then(|| self.scope.to_string())
    }
}

/// The scopes of the challenge, else all scopes of the resource, else none, which omits the parameter.
/// Scopes that were granted before are requested again.
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
