//! Refreshes a token under the store's lock, because refresh tokens may be usable only once.

use mcp_transport::Secret;
use tracing::debug;

use crate::http::guard::shown;
use crate::oauth::engine::{Engine, store_failed};
use crate::oauth::session::Session;
use crate::store::StoreLock;
use crate::token::form::Form;
use crate::token::token_endpoint::TokenRequest;
use crate::{AuthError, clock};

impl Engine {
    /// Replaces the `stale` session with a refreshed one, by our own refresh or by that of another process. A rejection
    /// does not change the store; only a new login does.
    pub(crate) async fn refresh(&self, stale: &Session) -> Result<(), AuthError> {
        let _alone = self.lock().await?;
        if self.adopt(Some(&stale.access)).await?.is_some() {
            return Ok(());
        }
        let newest = self.stored().await?.unwrap_or_else(|| stale.clone());
        let Some(token) = newest.refresh.clone() else {
            return Err(no_refresh_token(&newest));
        };
        match self.exchange(&newest, &token).await {
            Ok(renewed) => {
                debug!(server = %self.shown(), "renewed the token");
                self.keep(renewed).await;
                Ok(())
            }
            Err(error @ AuthError::Rejected { .. }) => {
                if self.adopt(Some(&newest.access)).await?.is_some() {
                    return Ok(());
                }
                debug!(server = %self.shown(), %error, "the token can no longer be renewed");
                self.hold(Session {
                    refresh: None,
                    ..newest
                });
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    async fn exchange(&self, session: &Session, token: &Secret) -> Result<Session, AuthError> {
        let form = Form::grant("refresh_token")
            .with_secret("refresh_token", token)
            .with_some("resource", session.resource.as_deref());
        let request = TokenRequest {
            action: "renewing the token",
            endpoint: &session.token_endpoint,
            issuer: &session.issuer,
            client: session.client.as_ref(),
            key: session.key.as_ref(),
            form,
        };
        let issued = request.send(&self.http, &self.nonces).await?;
        Ok(session.renewed(issued, clock::now()))
    }

    async fn lock(&self) -> Result<StoreLock, AuthError> {
        let action = "waiting for another process that renews the same token";
        let name = self.session_name();
        let lock = self.store.lock(&name);
        match tokio::time::timeout(self.config.limits.lock, lock).await {
            Ok(lock) => lock.map_err(|source| store_failed("locking a token", source)),
            Err(elapsed) => Err(store_failed(action, elapsed.into())),
        }
    }
}

fn no_refresh_token(session: &Session) -> AuthError {
    AuthError::Rejected {
        action: "renewing the token",
        url: shown(&session.token_endpoint),
        error: "there is no refresh token".to_owned(),
        description: None,
    }
}
