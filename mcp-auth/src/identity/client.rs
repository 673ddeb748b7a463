//! Clients, and their authentication at a token endpoint.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_transport::Secret;
use serde_json::{Map, json};
use url::form_urlencoded;

use crate::identity::jwt::PrivateKey;
use crate::random::unguessable;
use crate::token::form::Form;
use crate::{AuthError, clock};

/// A manually registered client.
///
/// ```
/// let client = mcp_auth::RegisteredClient::new("my-client")
///     .with_secret("…")
///     .with_issuer("https://login.example.com");
/// ```
#[derive(Clone, Debug)]
pub struct RegisteredClient {
    pub(crate) id: String,
    pub(crate) secret: Option<Secret>,
    pub(crate) key: Option<PrivateKey>,
    pub(crate) issuer: Option<String>,
}

impl RegisteredClient {
    /// Creates a public client with this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            secret: None,
            key: None,
            issuer: None,
        }
    }

    /// Authenticates with a secret.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<String>) -> Self {
        self.secret = Some(Secret::new(secret));
        self
    }

    /// Authenticates by signing with a key (`private_key_jwt`).
    #[must_use]
    pub fn with_private_key(mut self, key: PrivateKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Sets the authorization server the client is registered with; it is never sent to another one. Without this, it
    /// belongs to the first one it is used with.
    #[must_use]
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }
}

/// The origin of a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ClientOrigin {
    /// The configuration.
    Registered,
    /// A metadata document whose URL is the client id.
    Document,
    /// Dynamic registration at the authorization server.
    Dynamic,
}

/// How a client authenticates at a token endpoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AuthMethod {
    None,
    Basic,
    Post,
    PrivateKeyJwt,
}

/// A client of one authorization server.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) secret: Option<Secret>,
    pub(crate) key: Option<PrivateKey>,
    pub(crate) method: AuthMethod,
    pub(crate) origin: ClientOrigin,
}

impl AuthMethod {
    /// The registered name of the method.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::None, Self::Basic, Self::Post, Self::PrivateKeyJwt]
            .into_iter()
            .find(|method| method.name() == name)
    }

    /// The method to register with: the simplest one the authorization server supports. The default is
    /// `client_secret_basic` (RFC 8414).
    pub(crate) fn to_register(supported: Option<&[String]>) -> Self {
        let Some(supported) = supported else {
            return Self::Basic;
        };
        [Self::None, Self::Basic, Self::Post]
            .into_iter()
            .find(|method| supported.iter().any(|name| name == method.name()))
            .unwrap_or(Self::None)
    }

    /// The method of a client with a secret.
    fn for_secret(supported: Option<&[String]>) -> Self {
        let takes = |method: Self| {
            supported.is_none_or(|supported| supported.iter().any(|name| name == method.name()))
        };
        if !takes(Self::Basic) && takes(Self::Post) {
            Self::Post
        } else {
            Self::Basic
        }
    }
}

impl Client {
    /// A registered client at an authorization server that supports these methods.
    pub(crate) fn registered(client: &RegisteredClient, supported: Option<&[String]>) -> Self {
        let method = match (&client.key, &client.secret) {
            (Some(_), _) => AuthMethod::PrivateKeyJwt,
            (None, Some(_)) => AuthMethod::for_secret(supported),
            (None, None) => AuthMethod::None,
        };
        Self {
            id: client.id.clone(),
            secret: client.secret.clone(),
            key: client.key.clone(),
            method,
            origin: ClientOrigin::Registered,
        }
    }

    /// Adds the client's credentials to a form, or returns them for the `Authorization` header.
    pub(crate) fn authenticate(
        &self,
        form: Form,
        issuer: &str,
    ) -> Result<(Form, Option<Secret>), AuthError> {
        match (self.method, &self.secret, &self.key) {
            (AuthMethod::Basic, Some(secret), _) => Ok((form, Some(basic(&self.id, secret)))),
            (AuthMethod::Post, Some(secret), _) => {
                let form = form
                    .with("client_id", &self.id)
                    .with_secret("client_secret", secret);
                Ok((form, None))
            }
            (AuthMethod::PrivateKeyJwt, _, Some(key)) => {
                let form = form
                    .with("client_id", &self.id)
                    .with(
                        "client_assertion_type",
                        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                    )
                    .with_secret("client_assertion", &assertion(&self.id, key, issuer)?);
                Ok((form, None))
            }
            _ => Ok((form.with("client_id", &self.id), None)),
        }
    }
}

/// `Basic` credentials, each half form-encoded first (RFC 6749, section 2.3.1).
fn basic(id: &str, secret: &Secret) -> Secret {
    let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encode(id), encode(secret.expose()));
    Secret::new(format!("Basic {}", STANDARD.encode(pair)))
}

/// A client assertion for this issuer, valid for a minute (RFC 7523).
fn assertion(id: &str, key: &PrivateKey, issuer: &str) -> Result<Secret, AuthError> {
    let now = clock::now();
    let claims = json!({
        "iss": id, "sub": id, "aud": issuer, "jti": unguessable()?,
        "iat": now, "exp": now.saturating_add(60),
    });
    key.sign(Map::new(), &claims).map(Secret::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_method_is_one_the_server_takes() {
        let post = list(&["client_secret_post"]);
        let both = list(&["client_secret_post", "client_secret_basic"]);
        let none = list(&["none"]);
        assert_eq!(AuthMethod::for_secret(Some(&post)), AuthMethod::Post);
        assert_eq!(AuthMethod::for_secret(Some(&both)), AuthMethod::Basic);
        assert_eq!(AuthMethod::for_secret(None), AuthMethod::Basic);
        assert_eq!(AuthMethod::to_register(None), AuthMethod::Basic);
        assert_eq!(AuthMethod::to_register(Some(&post)), AuthMethod::Post);
        assert_eq!(AuthMethod::to_register(Some(&none)), AuthMethod::None);
    }

    #[test]
    fn a_secret_goes_where_the_method_says() {
        let registered = RegisteredClient::new("a:b").with_secret("p w%");
        let basic = Client::registered(&registered, None);
        let (form, header) = basic.authenticate(Form::default(), "https://as").unwrap();
        assert_eq!(form.encode(), "");
        assert_eq!(
            header.unwrap().expose(),
            format!("Basic {}", STANDARD.encode("a%3Ab:p+w%25"))
        );
        let post = Client::registered(&registered, Some(&list(&["client_secret_post"])));
        let (form, header) = post.authenticate(Form::default(), "https://as").unwrap();
        assert_eq!(form.encode(), "client_id=a%3Ab&client_secret=p+w%25");
        assert!(header.is_none());
        let none = Client::registered(&RegisteredClient::new("c"), None);
        let (form, header) = none.authenticate(Form::default(), "https://as").unwrap();
        assert_eq!((form.encode().as_str(), header), ("client_id=c", None));
    }
}
