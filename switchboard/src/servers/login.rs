//! Logging in to remote servers, and out.

use std::sync::Arc;
use std::time::Duration;

use mcp_auth::{LoginPrompt, LoopbackAuthorizer, OAuth};
use mcp_manager::{Endpoint, Limits, Manager, ManagerError, ServerConfig};
use tokio::sync::watch;

use super::connector::connector;
use super::tokens::tokens;

/// How long a person has for a login.
const PATIENCE: Duration = Duration::from_secs(300);

/// Connects to a server, and lets a person log in if it wants that: `show` brings the page before
/// them. Gives back who issued the tokens; nothing if no login was needed.
pub(crate) async fn log_in(
    config: ServerConfig,
    show: impl Fn(&LoginPrompt) -> Result<(), mcp_transport::BoxError> + Send + Sync + 'static,
) -> Result<Option<String>, ManagerError> {
    let (issuer, seen) = watch::channel(None);
    let authorizer = LoopbackAuthorizer::new(move |prompt| {
        issuer.send_replace(Some(prompt.issuer.clone()));
        show(prompt)
    });
    let retry = Limits::default().retry().clone().with_tries(0);
    let manager = Manager::builder()
        .connector(connector(Some(Arc::new(authorizer))))
        .limits(Limits::default().with_retry(retry))
        .build();
    let config = config.with_connect_timeout(PATIENCE);
    let connected = manager.connect_one(config).await;
    manager.shutdown().await;
    connected?;
    let issuer = seen.borrow().clone();
    Ok(issuer)
}

/// Forgets the tokens of a server.
pub(crate) async fn log_out(config: &ServerConfig) -> Result<(), mcp_auth::AuthError> {
    let Endpoint::Remote(remote) = config.endpoint() else {
        return Ok(());
    };
    let oauth = OAuth::builder(remote.url().expose()).store(tokens());
    oauth.build()?.log_out().await
}
