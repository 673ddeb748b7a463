//! How servers are reached: by programs whose log is kept, by HTTP with the tokens of a login.

use std::sync::Arc;

use async_trait::async_trait;
use mcp_auth::{Authorizer, OAuth};
use mcp_client::ClientBuilder;
use mcp_manager::{Connector, DefaultConnector, Endpoint, ServerConfig, ServerName};
use mcp_transport::{AuthProvider, BoxError, LocalSpawner};

use super::log::{Logged, ServerLog};
use super::tokens::tokens;
use crate::store::UserId;

/// The program's connector to a user's servers. Without an authorizer a needed login is an error.
pub(crate) fn connector(
    user: &UserId,
    authorizer: Option<Arc<dyn Authorizer>>,
) -> impl Connector + use<> {
    let whose = user.clone();
    let auth = move |config: &ServerConfig| credentials(&whose, config, authorizer.as_ref());
    Reach {
        user: user.clone(),
        plain: DefaultConnector::new().with_auth(auth),
    }
}

#[derive(Debug)]
struct Reach {
    user: UserId,
    plain: DefaultConnector,
}

#[async_trait]
impl Connector for Reach {
    fn builder(&self, config: &ServerConfig) -> Result<ClientBuilder, BoxError> {
        let spawner = Logged {
            log: ServerLog::of(&self.user, config.name().as_str()),
            inner: Arc::new(LocalSpawner::new()),
        };
        // A clone shares the processes; the original waits for their end.
        let logged = self.plain.clone().with_spawner(Arc::new(spawner));
        logged.builder(config)
    }

    async fn ended(&self, server: &ServerName) -> Vec<String> {
        self.plain.ended(server).await
    }
}

/// The login of a remote server. One that has its own key in a header needs none.
fn credentials(
    user: &UserId,
    config: &ServerConfig,
    authorizer: Option<&Arc<dyn Authorizer>>,
) -> Option<Arc<dyn AuthProvider>> {
    let Endpoint::Remote(remote) = config.endpoint() else {
        return None;
    };
    let is_key = |name: &String| name.eq_ignore_ascii_case("authorization");
    if remote.headers().keys().any(is_key) {
        return None;
    }
    let mut builder = OAuth::builder(remote.url().expose())
        .client_name("Switchboard")
        .store(tokens(user));
    if let Some(authorizer) = authorizer {
        builder = builder.authorizer(Arc::clone(authorizer));
    }
    // An address that is none is found out by the transport, which says it better.
    let oauth = builder.build().ok()?;
    Some(Arc::new(oauth))
}
