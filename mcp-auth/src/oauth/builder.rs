//! The builder of a provider.

use std::sync::Arc;

use parking_lot::Mutex;
use url::Url;

use crate::http::Http;
use crate::http::guard::Guard;
use crate::identity::assertion::Assertion;
use crate::identity::client::RegisteredClient;
use crate::login::authorizer::Authorizer;
use crate::oauth::config::{Config, Dpop, Grant, Pkce, ResourceParameter};
use crate::oauth::engine::{Engine, Server, State};
use crate::oauth::single_flight::Flight;
use crate::store::TokenStore;
use crate::store::memory::MemoryStore;
use crate::token::dpop::Nonces;
use crate::token::id_jag::EnterpriseLogin;
use crate::{AuthError, AuthLimits, OAuth, PublicNetwork};

/// Builds a provider for one server; see [`OAuth::builder`].
///
/// By default a person logs in through the [`authorizer`](Self::authorizer), and tokens are kept in memory.
#[derive(Debug)]
pub struct OAuthBuilder {
    server: String,
    config: Config,
    store: Option<Arc<dyn TokenStore>>,
    loopback: bool,
    trusted_hosts: Vec<String>,
    network: Option<PublicNetwork>,
    proxy: Option<String>,
}

impl OAuthBuilder {
    pub(crate) fn new(server: String) -> Self {
        let config = Config {
            client_name: "Switchboard".to_owned(),
            registered: None,
            document: None,
            authorizer: None,
            grant: Grant::Login,
            dpop: Dpop::WhenAsked,
            resource: ResourceParameter::FromServer,
            pkce: Pkce::MustBeAdvertised,
            limits: AuthLimits::default(),
        };
        Self {
            server,
            config,
            store: None,
            loopback: false,
            trusted_hosts: Vec::new(),
            network: None,
            proxy: None,
        }
    }

    /// Sets the name that people see on the consent page.
    #[must_use]
    pub fn client_name(mut self, name: impl Into<String>) -> Self {
        self.config.client_name = name.into();
        self
    }

    /// Sets the authorizer, which may serve many providers. Without one, a required login is the error
    /// [`AuthError::LoginRequired`].
    #[must_use]
    pub fn authorizer(mut self, authorizer: Arc<dyn Authorizer>) -> Self {
        self.config.authorizer = Some(authorizer);
        self
    }

    /// Sets the store for tokens and registrations.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn TokenStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// Uses a manually registered client, and no other identity.
    #[must_use]
    pub fn registered_client(mut self, client: RegisteredClient) -> Self {
        self.config.registered = Some(client);
        self
    }

    /// Sets the `https` URL of a document that describes this client; it is the client id at authorization servers that
    /// support such documents. At others the client is registered.
    #[must_use]
    pub fn client_document(mut self, url: impl Into<String>) -> Self {
        self.config.document = Some(url.into());
        self
    }

    /// Uses the client credentials grant: the [registered client](Self::registered_client) acts on its own behalf.
    #[must_use]
    pub fn client_credentials(mut self) -> Self {
        self.config.grant = Grant::ClientCredentials;
        self
    }

    /// Uses the login of an enterprise identity provider.
    #[must_use]
    pub fn enterprise(mut self, login: EnterpriseLogin) -> Self {
        self.config.grant = Grant::Enterprise(login);
        self
    }

    /// Uses workload identity: a signed token from the platform this program runs on.
    #[must_use]
    pub fn workload_identity(mut self, token: Assertion) -> Self {
        self.config.grant = Grant::Workload(token);
        self
    }

    /// Requires tokens that are bound to a key (DPoP). Servers that request them get them in any case.
    #[must_use]
    pub fn require_dpop(mut self) -> Self {
        self.config.dpop = Dpop::Always;
        self
    }

    /// Sets the `resource` parameter.
    #[must_use]
    pub fn resource(mut self, resource: ResourceParameter) -> Self {
        self.config.resource = resource;
        self
    }

    /// Presumes PKCE support where an authorization server does not declare it. The protocol forbids this by default,
    /// but some large identity providers support PKCE without declaring it.
    #[must_use]
    pub fn presume_pkce(mut self) -> Self {
        self.config.pkce = Pkce::Presumed;
        self
    }

    /// Allows the server's metadata to refer to this machine. Not needed if the server itself is on it.
    #[must_use]
    pub fn allow_loopback(mut self) -> Self {
        self.loopback = true;
        self
    }

    /// Allows the server's metadata to refer to this host even if it is in a private network, such as a
    /// company's authorization server.
    #[must_use]
    pub fn trust_host(mut self, host: impl Into<String>) -> Self {
        self.trusted_hosts.push(host.into());
        self
    }

    /// Restricts all requests to this network, including those to the server's own host: its address was given by
    /// someone who does not own this machine.
    #[must_use]
    pub fn network(mut self, network: PublicNetwork) -> Self {
        self.network = Some(network);
        self
    }

    /// Uses a proxy for authorization servers. The proxy then resolves names and must reject those in private networks;
    /// addresses are still checked.
    #[must_use]
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = Some(url.into());
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: AuthLimits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Builds the provider and checks everything that requires no requests.
    pub fn build(self) -> Result<OAuth, AuthError> {
        let parse = |what: &str, url: &str| {
            Url::parse(url)
                .ok()
                .filter(Url::has_host)
                .ok_or_else(|| AuthError::config(format!("{what} is not a URL")))
        };
        let url = parse("the server's address", &self.server)?;
        if let Some(document) = &self.config.document {
            let document = parse("the client document's address", document)?;
            if document.scheme() != "https" || document.path() == "/" {
                return Err(AuthError::config(
                    "a client document needs an https URL with a path",
                ));
            }
        }
        if self.config.registered.is_none() && matches!(self.config.grant, Grant::ClientCredentials)
        {
            return Err(AuthError::config(
                "client credentials need a registered client",
            ));
        }
        let mut guard = match self.network {
            Some(network) => Guard::within(network),
            None => Guard::of(&url),
        };
        if self.loopback {
            guard.allow_loopback();
        }
        for host in &self.trusted_hosts {
            guard.trust_host(host);
        }
        if let Grant::Enterprise(login) = &self.config.grant {
            guard.trust(&parse(
                "the identity provider's token endpoint",
                &login.token_endpoint,
            )?);
        }
        if let Some(proxy) = &self.proxy {
            guard.trust(&parse("the proxy's address", proxy)?);
        }
        let shown = crate::http::guard::without_query(&url);
        let engine = Engine {
            http: Http::new(&shown, guard, self.config.limits.clone(), self.proxy),
            server: Server {
                text: self.server,
                url,
            },
            config: self.config,
            nonces: Nonces::default(),
            store: self.store.unwrap_or_else(|| Arc::new(MemoryStore::new())),
            flight: Flight::default(),
            state: Mutex::new(State::default()),
        };
        Ok(OAuth::new(engine))
    }
}
