//! Discovery: from a rejected request to an authorization server.

pub(crate) mod challenge;
pub(crate) mod document;
pub(crate) mod resource;
pub(crate) mod server_metadata;
pub(crate) mod well_known;

use url::Url;

use crate::discovery::challenge::Demand;
use crate::discovery::resource::ResourceMetadata;
use crate::discovery::server_metadata::ServerMetadata;
use crate::http::Http;
use crate::{AuthError, AuthLimits};

/// Finds the metadata of one server and of its authorization servers.
#[derive(Debug)]
pub(crate) struct Discovery<'a> {
    pub(crate) http: &'a Http,
    pub(crate) limits: &'a AuthLimits,
    /// The server's URL as configured.
    pub(crate) server: &'a Url,
}

impl Discovery<'_> {
    /// The protected resource's metadata: at the URL in its challenge, else below its path, else at its root. `None` if
    /// there is none.
    pub(crate) async fn resource(
        &self,
        demand: &Demand,
    ) -> Result<Option<ResourceMetadata>, AuthError> {
        let named = demand.resource_metadata.as_deref();
        let named = named.filter(|url| !url.is_empty());
        let named = named.map(|url| self.server.join(url).map_or(url.to_owned(), String::from));
        let guesses = well_known::resource_metadata(self.server)
            .into_iter()
            .map(String::from);
        let guesses = guesses.filter(|guess| named.as_ref() != Some(guess));
        for place in named.clone().into_iter().chain(guesses) {
            if let Some(document) = self.http.document(&place).await? {
                let metadata = ResourceMetadata::read(&document, self.server)
                    .map_err(|violation| self.http.refused(violation))?;
                return Ok(Some(metadata));
            }
        }
        Ok(None)
    }

    /// The metadata of the authorization server to use. `known` is the issuer that we are already a client of: it is
    /// preferred if the resource still names it.
    pub(crate) async fn server(
        &self,
        resource: Option<&ResourceMetadata>,
        known: Option<&str>,
    ) -> Result<ServerMetadata, AuthError> {
        let named = resource.map_or(&[][..], |resource| &resource.authorization_servers);
        if named.is_empty() {
            return self.legacy().await;
        }
        let (first, rest): (Vec<_>, Vec<_>) = named
            .iter()
            .partition(|issuer| Some(issuer.as_str()) == known);
        let mut outage = None;
        for issuer in first
            .into_iter()
            .chain(rest)
            .take(self.limits.authorization_servers)
        {
            match self.named(issuer).await {
                Ok(Some(metadata)) => return Ok(metadata),
                Ok(None) => {}
                Err(error @ AuthError::Unavailable { .. }) => outage = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(outage.unwrap_or_else(|| AuthError::NoAuthorizationServer {
            server: self.server.to_string(),
            detail: format!(
                "no metadata found for {}",
                crate::http::guard::printable(&named.join(", "))
            ),
        }))
    }

    /// The document of an issuer. Only the first one found counts: if it belongs to another issuer, nothing further is
    /// tried.
    async fn named(&self, issuer: &str) -> Result<Option<ServerMetadata>, AuthError> {
        let url = self.http.check(issuer)?;
        for place in well_known::server_metadata(&url) {
            if let Some(document) = self.http.document(place.as_str()).await? {
                let metadata = ServerMetadata::read(&document, issuer)
                    .map_err(|violation| self.http.refused(violation))?;
                return Ok(Some(metadata));
            }
        }
        Ok(None)
    }

    /// 2025-03-26: the server is its own authorization server.
    async fn legacy(&self) -> Result<ServerMetadata, AuthError> {
        let origin = well_known::at(self.server, "");
        for place in well_known::server_metadata(&origin) {
            if let Some(document) = self.http.document(place.as_str()).await? {
                return ServerMetadata::read_legacy(&document, self.server)
                    .map_err(|violation| self.http.refused(violation));
            }
        }
        Ok(ServerMetadata::presumed(self.server))
    }
}
