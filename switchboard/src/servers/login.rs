//! Login to and logout from remote servers.

use std::sync::Arc;
use std::time::Duration;

use mcp_auth::{Authorizer, LoginPrompt, LoopbackAuthorizer, OAuth};
use mcp_manager::{Endpoint, Manager, ManagerError, ManagerLimits, ServerConfig};
use mcp_transport::BoxError;
use tokio::sync::watch;

use super::connector::{NetworkOf, OAuthClient, Reaching, connector};
use super::host::Host;
use super::lookup::reach;
use super::tokens::tokens;
use crate::exit::{Exit, Failure};
use crate::store::{Server, UserId};

/// Presents a login page.
pub(crate) type ShowLogin = Arc<dyn Fn(&LoginPrompt) -> Result<(), BoxError> + Send + Sync>;

/// Logs in with a browser on this machine.
pub(crate) fn on_this_machine(show: ShowLogin) -> Arc<dyn Authorizer> {
    Arc::new(LoopbackAuthorizer::new(move |prompt| show(prompt)))
}

/// Time limit for a login.
pub(crate) const LOGIN_TIMEOUT: Duration = Duration::from_secs(300);

/// Connects to a user's server, and lets the user log in if needed: `show` presents the login page, and
/// what `authorizer` makes knows where the browser comes back to.
/// Returns the issuer of the tokens; `None` if no login was needed.
pub(crate) async fn log_in(
    user: &UserId,
    (config, network): (ServerConfig, NetworkOf),
    authorizer: impl FnOnce(ShowLogin) -> Arc<dyn Authorizer>,
    show: impl Fn(&LoginPrompt) -> Result<(), BoxError> + Send + Sync + 'static,
) -> Result<Option<String>, ManagerError> {
    let (issuer, seen) = watch::channel(None);
    let authorizer = authorizer(Arc::new(move |prompt| {
        issuer.send_replace(Some(prompt.issuer.clone()));
        show(prompt)
    }));
    let reaching = Reaching {
        oauth: OAuthClient {
            authorizer: Some(authorizer),
            ..OAuthClient::default()
        },
        network,
        ..Reaching::default()
    };
    let retry = ManagerLimits::default().retry().clone().with_tries(0);
    let manager = Manager::builder()
        .connector(connector(user, reaching))
        .limits(ManagerLimits::default().with_retry(retry))
        .build();
    let config = config.with_connect_timeout(LOGIN_TIMEOUT);
    let connected = manager.connect_one(config).await;
    manager.shutdown().await;
    connected?;
    let issuer = seen.borrow().clone();
    Ok(issuer)
}

/// Removes a server's tokens, if any.
pub(crate) async fn log_out(
    row: &Server,
    (host, network): (Host, NetworkOf),
) -> Result<(), Failure> {
    let Ok(config) = reach(row, host).await else {
        // An address with a variable that has no value never had a login.
        return Ok(());
    };
    forget(&row.user_id, &config, &network)
        .await
        .map_err(|error| {
            let text = format!("the login to {} cannot be forgotten", row.name);
            Failure::new(Exit::Other, text).caused_by(error)
        })
}

async fn forget(
    user: &UserId,
    config: &ServerConfig,
    network: &NetworkOf,
) -> Result<(), mcp_auth::AuthError> {
    let Endpoint::Remote(remote) = config.endpoint() else {
        return Ok(());
    };
    let url = remote.url().expose();
    let mut oauth = OAuth::builder(url).store(tokens(user));
    if let Some(network) = network.of(url) {
        oauth = oauth.network(network);
    }
    oauth.build()?.log_out().await
}
