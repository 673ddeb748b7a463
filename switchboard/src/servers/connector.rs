//! How servers are reached: by programs whose log is kept, in their sandbox if they have one; by HTTP with the tokens of a login.

use std::sync::Arc;

use async_trait::async_trait;
use mcp_auth::{Authorizer, OAuth, RegisteredClient};
use mcp_client::{ClientBuilder, EraMode};
use mcp_manager::{Connector, DefaultConnector, Endpoint, ServerConfig, ServerName};
use mcp_transport::{AuthProvider, BoxError};

use super::log::{Logged, ServerLog};
use super::sandbox;
use super::tokens::tokens;
use crate::store::UserId;

/// How servers are reached: the era that is spoken, and who we are to those that want a login.
#[derive(Debug, Default)]
pub(crate) struct Reaching {
    pub(crate) era: EraMode,
    pub(crate) oauth: OAuthClient,
}

/// Who we are to servers that want a login.
#[derive(Clone, Debug, Default)]
pub(crate) struct OAuthClient {
    /// A client that was registered before.
    pub(crate) registered: Option<RegisteredClient>,
    /// The address of the document that describes the client.
    pub(crate) document: Option<String>,
    /// Who shows the login page. Without it a needed login is an error.
    pub(crate) authorizer: Option<Arc<dyn Authorizer>>,
}

/// The program's connector to a user's servers.
pub(crate) fn connector(user: &UserId, reaching: Reaching) -> impl Connector + use<> {
    let (whose, client) = (user.clone(), reaching.oauth);
    let auth = move |config: &ServerConfig| credentials(&whose, config, &client);
    Reach {
        user: user.clone(),
        era: reaching.era,
        plain: DefaultConnector::new().with_auth(auth),
    }
}

#[derive(Debug)]
struct Reach {
    user: UserId,
    era: EraMode,
    plain: DefaultConnector,
}

#[async_trait]
impl Connector for Reach {
    fn builder(&self, config: &ServerConfig) -> Result<ClientBuilder, BoxError> {
        let log = ServerLog::of_config(&self.user, config);
        let inner = sandbox::spawner(&self.user, config, &log)?;
        let spawner = Logged { log, inner };
        // A clone shares the processes; the original waits for their end.
        let logged = self.plain.clone().with_spawner(Arc::new(spawner));
        Ok(logged.builder(config)?.era(self.era))
    }

    async fn ended(&self, server: &ServerName) -> Vec<String> {
        self.plain.ended(server).await
    }
}

/// The login of a remote server. One that has its own key in a header needs none.
fn credentials(
    user: &UserId,
    config: &ServerConfig,
    client: &OAuthClient,
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
    if let Some(authorizer) = &client.authorizer {
        builder = builder.authorizer(Arc::clone(authorizer));
    }
    if let Some(registered) = &client.registered {
        builder = builder.registered_client(registered.clone());
    }
    if let Some(document) = &client.document {
        builder = builder.client_document(document);
    }
    // An address that is none is found out by the transport, which says it better.
    let oauth = builder.build().ok()?;
    Some(Arc::new(oauth))
}
