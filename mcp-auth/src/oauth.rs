//! The OAuth provider that the transport calls before every request and after every refusal.

pub(crate) mod acquire;
pub(crate) mod builder;
pub(crate) mod config;
pub(crate) mod engine;
pub(crate) mod limits;
pub(crate) mod session;
pub(crate) mod single_flight;

use std::sync::Arc;

use async_trait::async_trait;
use mcp_transport::{AuthProvider, AuthRequest, AuthVerdict, BoxError, Challenge, Secret};
use url::Url;

use crate::AuthError;
use crate::discovery::challenge::Demand;
use crate::oauth::acquire::Need;
use crate::oauth::builder::OAuthBuilder;
use crate::oauth::engine::Engine;
use crate::oauth::session::Session;
use crate::oauth::single_flight::Purpose;
use crate::token::TokenKind;
use crate::token::dpop::{self, Proof};

/// OAuth for one MCP server, as an [`AuthProvider`] for its transport.
///
/// Nothing happens until the server rejects a request; then one authorization runs, however many requests were rejected
/// meanwhile. Tokens are refreshed before they expire, and sent to their own server only.
///
/// Cheap to clone: all clones share one session.
#[derive(Clone, Debug)]
pub struct OAuth {
    engine: Arc<Engine>,
}

impl OAuth {
    /// Creates a builder for the MCP server at this URL.
    pub fn builder(server: impl Into<String>) -> OAuthBuilder {
        OAuthBuilder::new(server.into())
    }

    /// Removes this server's tokens, here and in the store. The next request requires a new login. The tokens are not
    /// revoked at the authorization server.
    pub async fn log_out(&self) -> Result<(), AuthError> {
        self.engine.forget().await
    }

    pub(crate) fn new(engine: Engine) -> Self {
        Self {
            engine: Arc::new(engine),
        }
    }

    /// Whether a URL belongs to the server the tokens are for.
    fn is_ours(&self, url: &str) -> bool {
        Url::parse(url).is_ok_and(|url| url.origin() == self.engine.server.url.origin())
    }

    fn credentials(
        &self,
        session: &Session,
        request: &AuthRequest<'_>,
    ) -> Result<Vec<(String, Secret)>, AuthError> {
        let header = |scheme: &str| {
            let value = Secret::new(format!("{scheme} {}", session.access.expose()));
            ("Authorization".to_owned(), value)
        };
        match (session.kind, &session.key) {
            (TokenKind::Dpop, Some(key)) => {
                let proof = key.proof(&Proof {
                    method: request.method,
                    url: request.url,
                    token: Some(&session.access),
                    nonce: self.engine.nonces.get(request.url),
                })?;
                Ok(vec![header("DPoP"), ("DPoP".to_owned(), proof)])
            }
            _ => Ok(vec![header("Bearer")]),
        }
    }

    async fn answer(&self, challenge: &Challenge<'_>) -> Result<AuthVerdict, AuthError> {
        if !self.is_ours(challenge.request.url)
            || challenge.attempt > self.engine.config.limits.attempts
        {
            return Ok(AuthVerdict::Fail);
        }
        let demand = Demand::read(challenge.www_authenticate);
        if demand.is_error("use_dpop_nonce") {
            return Ok(self.nonce_verdict(challenge));
        }
        let need = match challenge.status {
            401 => Need::Token,
            403 if demand.is_error("insufficient_scope") => Need::Scope,
            _ => return Ok(AuthVerdict::Fail),
        };
        let sent = sent_token(challenge.sent);
        loop {
            let usable = self.engine.usable().map(|session| session.access.clone());
            if usable.is_some() && usable != sent {
                return Ok(AuthVerdict::Retry); // another request was quicker
            }
            self.check_pointless(need, &demand, sent.as_ref(), challenge.attempt)?;
            let (engine, demand, sent) = (self.engine.clone(), demand.clone(), sent.clone());
            let acquire = move || async move { engine.acquire(need, &demand, sent.as_ref()).await };
            let (mine, landing) = self.engine.flight.join(Purpose::Acquire, acquire).await;
            match landing.outcome {
                Ok(()) => return Ok(AuthVerdict::Retry),
                Err(error) if mine || landing.purpose == Purpose::Acquire => return Err(error),
                Err(_) => {} // a renewal failed that we only waited for: now it is our turn
            }
        }
    }

    /// A new proof with the nonce of the response, if the rejected one did not have it.
    fn nonce_verdict(&self, challenge: &Challenge<'_>) -> AuthVerdict {
        let nonce = self.engine.nonces.get(challenge.request.url);
        let proof = header(challenge.sent, "dpop");
        match (nonce, proof) {
            (Some(nonce), Some(proof)) if !dpop::carries(proof, &nonce) => AuthVerdict::Retry,
            _ => AuthVerdict::Fail,
        }
    }

    /// Fails if the same attempt has already been made without success.
    fn check_pointless(
        &self,
        need: Need,
        demand: &Demand,
        sent: Option<&Secret>,
        attempt: u32,
    ) -> Result<(), AuthError> {
        let mut state = self.engine.state.lock();
        match need {
            Need::Token => {
                if attempt > 1 && sent.is_some() && state.fresh.as_ref() == sent {
                    state.refused = sent.cloned();
                }
                if sent.is_some() && state.refused.as_ref() == sent {
                    return Err(AuthError::TokenRefused {
                        server: self.engine.shown(),
                    });
                }
            }
            Need::Scope => {
                let asked = state.asked.as_ref();
                if asked.is_some_and(|asked| demand.scope.is_subset(asked)) {
                    return Err(AuthError::ScopeRefused {
                        server: self.engine.shown(),
                        scope: demand.scope.to_string(),
                    });
                }
            }
        }
        Ok(())
    }
}

#[async_trait]
impl AuthProvider for OAuth {
    async fn headers(&self, request: &AuthRequest<'_>) -> Result<Vec<(String, Secret)>, BoxError> {
        if !self.is_ours(request.url) {
            return Ok(Vec::new());
        }
        match self.engine.session().await? {
            Some(session) => Ok(self.credentials(&session, request)?),
            None => Ok(Vec::new()),
        }
    }

    async fn challenged(&self, challenge: &Challenge<'_>) -> Result<AuthVerdict, BoxError> {
        Ok(self.answer(challenge).await?)
    }

    fn observed(&self, request: &AuthRequest<'_>, headers: &[(&str, &str)]) {
        if !self.is_ours(request.url) {
            return;
        }
        for (name, value) in headers {
            if name.eq_ignore_ascii_case("dpop-nonce") {
                self.engine.nonces.note(request.url, value);
            }
        }
    }
}

/// The access token among the headers we supplied.
fn sent_token(sent: &[(String, Secret)]) -> Option<Secret> {
    let (_, token) = header(sent, "authorization")?.expose().split_once(' ')?;
    Some(Secret::new(token))
}

fn header<'a>(sent: &'a [(String, Secret)], name: &str) -> Option<&'a Secret> {
    sent.iter()
        .find(|(header, _)| header.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}
