//! A token with everything required to use, refresh and store it.

use mcp_transport::Secret;
use serde::{Deserialize, Serialize};

use crate::identity::client::{AuthMethod, Client, ClientOrigin, RegisteredClient};
use crate::token::dpop::DpopKey;
use crate::token::scope::Scopes;
use crate::token::{Issued, Lifetime, TokenKind};

/// The result of an authorization.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// The issuer of the tokens.
    pub(crate) issuer: String,
    pub(crate) token_endpoint: String,
    /// The resource they were requested for; `None` if the parameter is omitted.
    pub(crate) resource: Option<String>,
    /// The client; workloads may have none.
    pub(crate) client: Option<Client>,
    pub(crate) access: Secret,
    pub(crate) refresh: Option<Secret>,
    pub(crate) kind: TokenKind,
    /// The key they are bound to.
    pub(crate) key: Option<DpopKey>,
    /// The granted scopes.
    pub(crate) scope: Scopes,
    pub(crate) lifetime: Lifetime,
}

impl Session {
    /// The session after a refresh. Values omitted in the response are unchanged.
    #[must_use]
    pub(crate) fn renewed(&self, issued: Issued, now: u64) -> Self {
        Self {
            access: issued.access,
            refresh: issued.refresh.or_else(|| self.refresh.clone()),
            kind: issued.kind,
            scope: issued.scope.unwrap_or_else(|| self.scope.clone()),
            lifetime: Lifetime::starting(now, issued.expires_in),
            ..self.clone()
        }
    }

    /// The session as text, for the token store. A configured client's secrets stay in the
    /// configuration.
    pub(crate) fn store(&self) -> Option<Secret> {
        let client = self.client.as_ref().map(|client| StoredClient {
            id: client.id.clone(),
            secret: match client.origin {
                ClientOrigin::Registered => None,
                _ => client.secret.as_ref().map(text),
            },
            method: client.method.name().to_owned(),
            origin: origin_name(client.origin).to_owned(),
        });
        let stored = Stored {
            version: VERSION,
            issuer: self.issuer.clone(),
            token_endpoint: self.token_endpoint.clone(),
            resource: self.resource.clone(),
            client,
            access_token: text(&self.access),
            refresh_token: self.refresh.as_ref().map(text),
            dpop: self.kind == TokenKind::Dpop,
            dpop_key: self.key.as_ref().map(|key| text(key.stored())),
            scope: self.scope.to_string(),
            issued_at: self.lifetime.issued_at,
            expires_at: self.lifetime.expires_at,
        };
        serde_json::to_string(&stored).ok().map(Secret::new)
    }

    /// Reads the output of [`store`](Self::store). `None` for anything else, and for sessions of a client that is no
    /// longer configured.
    pub(crate) fn restore(text: &Secret, registered: Option<&RegisteredClient>) -> Option<Self> {
        let stored: Stored = serde_json::from_str(text.expose()).ok()?;
        if stored.version != VERSION {
            return None;
        }
        let client = match stored.client {
            Some(client) => Some(client.restore(registered)?),
            None => None,
        };
        let key = match stored.dpop_key {
            Some(key) => Some(DpopKey::restore(&Secret::new(key)).ok()?),
            None => None,
        };
        Some(Self {
            issuer: stored.issuer,
            token_endpoint: stored.token_endpoint,
            resource: stored.resource,
            client,
            access: Secret::new(stored.access_token),
            refresh: stored.refresh_token.map(Secret::new),
            kind: if stored.dpop {
                TokenKind::Dpop
            } else {
                TokenKind::Bearer
            },
            key,
            scope: Scopes::parse(&stored.scope),
            lifetime: Lifetime {
                issued_at: stored.issued_at,
                expires_at: stored.expires_at,
            },
        })
    }
}

const VERSION: u32 = 1;

// Intentionally without `Debug`: these contain secrets.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    issuer: String,
    token_endpoint: String,
    resource: Option<String>,
    client: Option<StoredClient>,
    access_token: String,
    refresh_token: Option<String>,
    dpop: bool,
    dpop_key: Option<String>,
    scope: String,
    issued_at: u64,
    expires_at: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct StoredClient {
    id: String,
    secret: Option<String>,
    method: String,
    origin: String,
}

impl StoredClient {
    fn restore(self, registered: Option<&RegisteredClient>) -> Option<Client> {
        let origin = origin_from(&self.origin)?;
        let method = AuthMethod::from_name(&self.method)?;
        let mut client = Client {
            id: self.id,
            secret: self.secret.map(Secret::new),
            key: None,
            method,
            origin,
        };
        if origin == ClientOrigin::Registered {
            let registered = registered.filter(|registered| registered.id == client.id)?;
            client.secret = registered.secret.clone();
            client.key = registered.key.clone();
        }
        Some(client)
    }
}

fn origin_name(origin: ClientOrigin) -> &'static str {
    match origin {
        ClientOrigin::Registered => "registered",
        ClientOrigin::Document => "document",
        ClientOrigin::Dynamic => "dynamic",
    }
}

fn origin_from(name: &str) -> Option<ClientOrigin> {
    [
        ClientOrigin::Registered,
        ClientOrigin::Document,
        ClientOrigin::Dynamic,
    ]
    .into_iter()
    .find(|origin| origin_name(*origin) == name)
}

fn text(secret: &Secret) -> String {
    secret.expose().to_owned()
}
