//! The client we are at an authorization server: the configured one, else our metadata document, else a dynamically
//! registered one; otherwise a person has to register one.

pub(crate) mod assertion;
pub(crate) mod client;
pub(crate) mod jwt;
pub(crate) mod registration;

use mcp_transport::Secret;
use tracing::{debug, warn};

use crate::discovery::document::{self, Document};
use crate::discovery::server_metadata::ServerMetadata;
use crate::http::Body;
use crate::http::guard::{printable, shown};
use crate::identity::client::{AuthMethod, Client, ClientOrigin};
use crate::identity::registration::Registration;
use crate::oauth::engine::{Engine, store_failed};
use crate::{AuthError, clock};

impl Engine {
    /// The client to use, and whether it is an earlier registration.
    pub(crate) async fn identify(
        &self,
        metadata: &ServerMetadata,
        remembered: Option<Registration>,
        redirect_uri: &str,
    ) -> Result<(Client, bool), AuthError> {
        if let Some(registered) = &self.config.registered {
            return Ok((
                Client::registered(registered, metadata.auth_methods.as_deref()),
                false,
            ));
        }
        if let Some(url) = self
            .config
            .document
            .as_ref()
            .filter(|_| metadata.client_documents)
        {
            let client = Client {
                id: url.clone(),
                secret: None,
                key: None,
                method: AuthMethod::None,
                origin: ClientOrigin::Document,
            };
            return Ok((client, false));
        }
        if let Some(known) = remembered.filter(|known| known.redirect_uri == redirect_uri) {
            return Ok((known.client(), true));
        }
        let Some(endpoint) = &metadata.registration_endpoint else {
            return Err(AuthError::NoClient {
                issuer: metadata.issuer.clone(),
                redirect_uri: Some(redirect_uri.to_owned()),
            });
        };
        let client = self.register(metadata, endpoint, redirect_uri).await?;
        Ok((client, false))
    }

    async fn register(
        &self,
        metadata: &ServerMetadata,
        endpoint: &str,
        redirect_uri: &str,
    ) -> Result<Client, AuthError> {
        let method = AuthMethod::to_register(metadata.auth_methods.as_deref());
        let request = registration::request(&self.config.client_name, redirect_uri, method);
        let reply = self.http.post(endpoint, Body::Json(request), &[]).await?;
        let url = shown(endpoint);
        let answer: Document = serde_json::from_slice(&reply.body).unwrap_or_default();
        match reply.status {
            200..=299 => {}
            429 | 500.. => {
                return Err(AuthError::unavailable(
                    url,
                    format!("HTTP {}", reply.status),
                ));
            }
            404 | 405 if metadata.guessed => {
                return Err(AuthError::NoAuthorizationServer {
                    server: self.shown(),
                    detail: "it has no OAuth metadata, and registers no clients; perhaps it wants \
                             a fixed token"
                        .to_owned(),
                });
            }
            status => {
                let text = |field| document::text(&answer, field).map(|text| printable(&text));
                return Err(AuthError::Rejected {
                    action: "registering a client",
                    url,
                    error: text("error").unwrap_or_else(|| format!("HTTP {status}")),
                    description: text("error_description"),
                });
            }
        }
        let registration = Registration::read(&answer, method, redirect_uri)
            .ok_or_else(|| AuthError::malformed(url, "it registered a client without an id"))?;
        debug!(issuer = metadata.issuer, "registered a client");
        self.remember(&metadata.issuer, registration.store()).await;
        Ok(registration.client())
    }

    /// The client that an issuer registered earlier.
    pub(crate) async fn remembered(&self, issuer: &str) -> Result<Option<Registration>, AuthError> {
        let stored = self.store.load(&registration_name(issuer)).await;
        let stored = stored.map_err(|source| store_failed("reading a registration", source))?;
        Ok(stored.and_then(|text| Registration::restore(&text, clock::now())))
    }

    /// Removes that client.
    pub(crate) async fn forget_registration(&self, issuer: &str) {
        if let Err(error) = self.store.remove(&registration_name(issuer)).await {
            warn!(issuer, %error, "the registration could not be removed");
        }
    }

    async fn remember(&self, issuer: &str, registration: Option<Secret>) {
        let Some(text) = registration else { return };
        if let Err(error) = self.store.save(&registration_name(issuer), &text).await {
            warn!(issuer, %error, "the registration could not be stored");
        }
    }
}

/// The key of an issuer's client in the store: credentials belong to one issuer.
fn registration_name(issuer: &str) -> String {
    format!("client {issuer}")
}
