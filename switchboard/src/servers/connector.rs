//! How servers are reached: by programs whose log is kept, in their sandbox if they have one; by HTTP with the tokens of a login.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_auth::{Authorizer, OAuth, PublicNetwork, RegisteredClient};
use mcp_client::{ClientBuilder, EraMode};
use mcp_manager::{Connector, DefaultConnector, Endpoint, ServerConfig, ServerName};
use mcp_transport::{AuthProvider, BoxError, HttpConfig, client_builder};

use super::log::{Logged, ServerLog};
use super::sandbox;
use super::tokens::tokens;
use crate::store::UserId;

/// How long a server may take to accept a connection.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// How servers are reached: the era that is spoken, who we are to those that want a login, and where
/// they may be.
#[derive(Debug, Default)]
pub(crate) struct Reaching {
    pub(crate) era: EraMode,
    pub(crate) oauth: OAuthClient,
    pub(crate) network: NetworkOf,
}

/// Where requests to the server at a URL may go.
type Bounds = dyn Fn(&str) -> Option<PublicNetwork> + Send + Sync;

/// Where requests to servers may go: anywhere, unless their user may not use this machine.
#[derive(Clone, Default)]
pub(crate) struct NetworkOf(Option<Arc<Bounds>>);

impl NetworkOf {
    /// Requests to the server at a URL go into this network; anywhere if there is none.
    pub(crate) fn new(of: impl Fn(&str) -> Option<PublicNetwork> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(of)))
    }

    pub(crate) fn of(&self, url: &str) -> Option<PublicNetwork> {
        self.0.as_ref().and_then(|of| of(url))
    }

    /// Keeps the requests to a server where they may go.
    fn bound(&self, config: &ServerConfig, http: HttpConfig) -> Result<HttpConfig, BoxError> {
        let Endpoint::Remote(remote) = config.endpoint() else {
            return Ok(http);
        };
        let url = remote.url().expose();
        let Some(network) = self.of(url) else {
            return Ok(http);
        };
        network.check(url)?;
        let client = network.guard(client_builder()?);
        Ok(http.with_client(client.connect_timeout(CONNECT_TIME))?)
    }
}

impl std::fmt::Debug for NetworkOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NetworkOf").field(&self.0.is_some()).finish()
    }
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
    let network = reaching.network.clone();
    let auth = move |config: &ServerConfig| credentials(&whose, config, &client, &network);
    let network = reaching.network;
    Reach {
        user: user.clone(),
        era: reaching.era,
        plain: DefaultConnector::new()
            .with_auth(auth)
            .with_http(move |config, http| network.bound(config, http)),
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
        let sandbox = sandbox::label(config);
        let spawner = Logged {
            log,
            inner,
            sandbox,
        };
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
    network: &NetworkOf,
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
    if let Some(network) = network.of(remote.url().expose()) {
        builder = builder.network(network);
    }
    if let Some(document) = &client.document {
        builder = builder.client_document(document);
    }
    // An address that is none is found out by the transport, which says it better.
    let oauth = builder.build().ok()?;
    Some(Arc::new(oauth))
}
