//! How servers are reached: by programs whose log is kept, by HTTP with the tokens of a login.

use std::sync::Arc;

use async_trait::async_trait;
use mcp_auth::{Authorizer, OAuth};
use mcp_client::Builder;
use mcp_manager::{Connector, DefaultConnector, Endpoint, ServerConfig, ServerName};
use mcp_transport::{AuthProvider, BoxError, LocalSpawner};

use super::log::Logged;
use super::tokens::tokens;

/// The program's connector. Without an authorizer a needed login is an error.
pub(crate) fn connector(authorizer: Option<Arc<dyn Authorizer>>) -> impl Connector {
    let plain = DefaultConnector::new().with_auth(move |config| credentials(config, &authorizer));
    Reach { plain }
}

#[derive(Debug)]
struct Reach {
    plain: DefaultConnector,
}

#[async_trait]
impl Connector for Reach {
    fn builder(&self, config: &ServerConfig) -> Result<Builder, BoxError> {
        let spawner = Logged {
            server: config.name().to_string(),
            inner: Arc::new(LocalSpawner::new()),
        };
        // A clone shares what was started: the original waits for its end.
        let logged = self.plain.clone().with_spawner(Arc::new(spawner));
        logged.builder(config)
    }

    async fn ended(&self, server: &ServerName) -> Vec<String> {
        self.plain.ended(server).await
    }
}

/// The login of a remote server. One that has its own key in a header needs none.
pub(super) fn credentials(
    config: &ServerConfig,
    authorizer: &Option<Arc<dyn Authorizer>>,
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
        .store(tokens());
    if let Some(authorizer) = authorizer {
        builder = builder.authorizer(Arc::clone(authorizer));
    }
    // An address that is none is found out by the transport, which says it better.
    let oauth = builder.build().ok()?;
    Some(Arc::new(oauth))
}
