//! The authorization code flow (RFC 6749, RFC 7636, RFC 9207).

pub(crate) mod authorizer;
pub(crate) mod callback;
pub(crate) mod loopback;

use mcp_transport::Secret;
use tracing::debug;
use url::Url;

use crate::http::guard::{is_loopback, printable};
use crate::identity::client::Client;
use crate::login::authorizer::LoginPrompt;
use crate::login::callback::{Expected, NoCode};
use crate::oauth::config::Pkce;
use crate::oauth::engine::Engine;
use crate::oauth::session::Session;
use crate::random::{sha256, unguessable};
use crate::token::form::Form;
use crate::token::terms::Terms;
use crate::{AuthError, Violation};

impl Engine {
    /// Has a person log in, and exchanges the code.
    pub(crate) async fn login(&self, terms: &Terms) -> Result<Session, AuthError> {
        let issuer = &terms.metadata.issuer;
        let Some(authorizer) = &self.config.authorizer else {
            return Err(AuthError::LoginRequired {
                server: self.shown(),
            });
        };
        if !terms.metadata.s256 && self.config.pkce == Pkce::MustBeAdvertised {
            return Err(self.http.refused(Violation::NoPkce {
                issuer: issuer.clone(),
            }));
        }
        let endpoint = terms
            .metadata
            .authorization_endpoint
            .as_deref()
            .ok_or_else(|| {
                AuthError::malformed(issuer, "its metadata names no authorization endpoint")
            })?;
        let endpoint = self.http.check(endpoint)?;
        let remembered = self.remembered(issuer).await?;
        let used = remembered
            .as_ref()
            .map(|registration| registration.redirect_uri.as_str());
        let pending = self.by_host(authorizer.begin(used)).await?;
        let redirect_uri = pending.redirect_uri().to_owned();
        check_redirect(&redirect_uri)?;
        let (client, reused) = self
            .identify(&terms.metadata, remembered, &redirect_uri)
            .await?;

        let attempt = Attempt {
            state: Secret::new(unguessable()?),
            verifier: Secret::new(unguessable()?),
            redirect_uri: redirect_uri.clone(),
        };
        let prompt = LoginPrompt {
            url: attempt.url(endpoint, &client, terms).into(),
            redirect_uri,
            server: self.shown(),
            issuer: issuer.clone(),
            scope: terms.scope.to_string(),
        };
        debug!(server = %self.shown(), issuer, "asking for a login");
        let session = match self.by_host(pending.finish(prompt)).await {
            Ok(answer) => self.redeem(&attempt, terms, client, &answer).await,
            Err(error) => Err(error),
        };
        if session.is_err() && reused {
            // The authorization server may no longer know us: register again next time.
            self.forget_registration(issuer).await;
        }
        session
    }

    async fn redeem(
        &self,
        attempt: &Attempt,
        terms: &Terms,
        client: Client,
        answer: &str,
    ) -> Result<Session, AuthError> {
        let metadata = &terms.metadata;
        let expected = Expected {
            state: &attempt.state,
            issuer: (!metadata.guessed).then_some(metadata.issuer.as_str()),
            names_itself: metadata.names_itself,
        };
        let code = callback::code(answer, &expected).map_err(|no_code| match no_code {
            NoCode::Refused(violation) => self.http.refused(violation),
            NoCode::Denied { error, description } => AuthError::Denied {
                server: self.shown(),
                error,
                description,
            },
            NoCode::Empty => AuthError::malformed(&metadata.issuer, "the login brought no code"),
        })?;
        let form = Form::grant("authorization_code")
            .with_secret("code", &code)
            .with("redirect_uri", &attempt.redirect_uri)
            .with_secret("code_verifier", &attempt.verifier);
        self.ask(terms, Some(client), form, "exchanging the code")
            .await
    }
}

/// Codes are only ever sent to this machine, or over https.
fn check_redirect(uri: &str) -> Result<(), AuthError> {
    let safe = Url::parse(uri).is_ok_and(|uri| match uri.scheme() {
        "https" => true,
        "http" => is_loopback(&uri),
        _ => false,
    });
    if safe {
        return Ok(());
    }
    Err(AuthError::config(format!(
        "the redirect URI {} is neither https nor on this machine",
        printable(uri)
    )))
}

/// The secrets that identify one login.
#[derive(Debug)]
struct Attempt {
    state: Secret,
    verifier: Secret,
    redirect_uri: String,
}

impl Attempt {
    /// The page to show.
    fn url(&self, mut endpoint: Url, client: &Client, terms: &Terms) -> Url {
        endpoint.set_fragment(None);
        let mut query = endpoint.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", &self.redirect_uri)
            .append_pair("state", self.state.expose())
            .append_pair("code_challenge", &sha256(self.verifier.expose()))
            .append_pair("code_challenge_method", "S256");
        if let Some(scope) = terms.scope_parameter() {
            query.append_pair("scope", &scope);
        }
        if let Some(resource) = &terms.resource {
            query.append_pair("resource", resource);
        }
        if terms.scope.contains("offline_access") {
            // OpenID Connect issues refresh tokens only if the person was asked.
            query.append_pair("prompt", "consent");
        }
        drop(query);
        endpoint
    }
}
