//! A client of an OpenID provider (OpenID Connect Core, the authorization code flow with PKCE), with which a web
//! application logs its users in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_transport::Secret;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use url::Url;

use crate::discovery::server_metadata::ServerMetadata;
use crate::discovery::well_known;
use crate::http::Http;
use crate::http::guard::Guard;
use crate::identity::client::{Client, RegisteredClient};
use crate::login::callback::{self, Expected, NoCode};
use crate::random::{sha256, unguessable};
use crate::token::dpop::Nonces;
use crate::token::form::Form;
use crate::token::scope::Scopes;
use crate::token::token_endpoint::TokenRequest;
use crate::{AuthError, AuthLimits};

/// The time the provider's metadata is used without fetching it again.
const FRESH: Duration = Duration::from_secs(3600);

/// Logs people in at an OpenID provider.
///
/// The login page, the token endpoint and the keys are discovered. The ID token that [`finish`](Self::finish) returns
/// was received from the provider itself, but it must be verified: its signature with [`keys`](Self::keys), its issuer,
/// its audience, its time and its nonce.
///
/// ```no_run
/// # async fn example() -> Result<(), mcp_auth::AuthError> {
/// use mcp_auth::{OpenIdClient, RegisteredClient};
///
/// let client = RegisteredClient::new("my-app").with_secret("…");
/// let provider = OpenIdClient::new(
///     "https://login.example.com",
///     client,
///     "https://app.example.com/auth/callback",
/// )?;
/// let login = provider.begin().await?;
/// // Remember `login.state`, `login.nonce` and `login.verifier`; send the browser to `login.url`.
/// # let query = "";
/// let tokens = provider.finish(query, &login.state, &login.verifier).await?;
/// // Verify `tokens.id_token`. If it does not say enough:
/// let more = provider.user_info(&tokens.access_token).await?;
/// # let _ = more;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct OpenIdClient {
    http: Http,
    issuer: String,
    client: RegisteredClient,
    redirect_uri: String,
    scopes: Vec<String>,
    /// Scopes that are asked for if the provider has them.
    optional: Vec<String>,
    known: Mutex<Option<(Arc<ServerMetadata>, Instant)>>,
}

/// A login in progress.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenIdLogin {
    /// The page to show.
    pub url: String,
    /// The state, which the response must repeat.
    pub state: Secret,
    /// The nonce, which the ID token must repeat.
    pub nonce: String,
    /// The PKCE verifier, which proves that the response is ours.
    pub verifier: Secret,
}

/// What the provider issues at a login.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenIdTokens {
    /// Who logged in; not verified yet.
    pub id_token: Secret,
    /// What [`user_info`](OpenIdClient::user_info) is asked with.
    pub access_token: Secret,
}

impl OpenIdClient {
    /// Creates a client registered with this issuer, with this redirect URI.
    ///
    /// # Errors
    /// If the issuer's URL is not safe to contact: it must be https, or on this machine.
    pub fn new(
        issuer: impl Into<String>,
        client: RegisteredClient,
        redirect_uri: impl Into<String>,
    ) -> Result<Self, AuthError> {
        let issuer = issuer.into();
        let wrong = |_| AuthError::config(format!("the issuer {issuer:?} is not a URL"));
        let url = Url::parse(&issuer).map_err(wrong)?;
        let http = Http::new(&issuer, Guard::of(&url), AuthLimits::default(), None);
        http.check(&issuer)?;
        Ok(Self {
            http,
            issuer,
            client,
            redirect_uri: redirect_uri.into(),
            scopes: ["openid", "email", "profile"].map(str::to_owned).into(),
            optional: Vec::new(),
            known: Mutex::default(),
        })
    }

    /// Requests another scope besides `openid`, `email` and `profile`.
    #[must_use]
    pub fn with_scope(mut self, scope: impl Into<String>) -> Self {
        let scope = scope.into();
        if !self.scopes.contains(&scope) {
            self.scopes.push(scope);
        }
        self
    }

    /// Asks for another scope if the provider says that it has it: some refuse those that they do not
    /// know.
    #[must_use]
    pub fn with_optional_scope(mut self, scope: impl Into<String>) -> Self {
        self.optional.push(scope.into());
        self
    }

    /// The issuer.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The id of the client, which is the audience of its ID tokens.
    pub fn client_id(&self) -> &str {
        &self.client.id
    }

    /// Begins a login.
    ///
    /// # Errors
    /// If the provider's metadata cannot be fetched or violates a rule.
    pub async fn begin(&self) -> Result<OpenIdLogin, AuthError> {
        let metadata = self.metadata().await?;
        let endpoint = metadata.authorization_endpoint.as_deref();
        let endpoint = endpoint.ok_or_else(|| self.lacks("authorization endpoint"))?;
        let mut url = self.http.check(endpoint)?;
        let state = Secret::new(unguessable()?);
        let verifier = Secret::new(unguessable()?);
        let nonce = unguessable()?;
        let there = |scope: &&String| {
            let known = Scopes::parse(scope).is_subset(&metadata.scopes_supported);
            known && !self.scopes.contains(scope)
        };
        let scopes = self.scopes.iter().chain(self.optional.iter().filter(there));
        let scopes: Vec<&str> = scopes.map(String::as_str).collect();
        url.set_fragment(None);
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.client.id)
            .append_pair("redirect_uri", &self.redirect_uri)
            .append_pair("scope", &scopes.join(" "))
            .append_pair("state", state.expose())
            .append_pair("nonce", &nonce)
            .append_pair("code_challenge", &sha256(verifier.expose()))
            .append_pair("code_challenge_method", "S256");
        Ok(OpenIdLogin {
            url: url.into(),
            state,
            nonce,
            verifier,
        })
    }

    /// Exchanges the code in the query that the browser returned for tokens. The ID token is not verified yet.
    ///
    /// # Errors
    /// If the response belongs to another login or another issuer, if the login was denied, or if the code is not
    /// accepted.
    pub async fn finish(
        &self,
        query: &str,
        state: &Secret,
        verifier: &Secret,
    ) -> Result<OpenIdTokens, AuthError> {
        let metadata = self.metadata().await?;
        let expected = Expected {
            state,
            issuer: Some(&self.issuer),
            names_itself: metadata.names_itself,
        };
        let code = callback::code(query, &expected).map_err(|no_code| match no_code {
            NoCode::Refused(violation) => self.http.refused(violation),
            NoCode::Denied { error, description } => AuthError::Denied {
                server: self.issuer.clone(),
                error,
                description,
            },
            NoCode::Empty => AuthError::malformed(&self.issuer, "the login brought no code"),
        })?;
        let endpoint = metadata.token_endpoint.as_deref();
        let endpoint = endpoint.ok_or_else(|| self.lacks("token endpoint"))?;
        let client = Client::registered(&self.client, metadata.auth_methods.as_deref());
        let request = TokenRequest {
            action: "exchanging the code",
            endpoint,
            issuer: &self.issuer,
            client: Some(&client),
            key: None,
            form: Form::grant("authorization_code")
                .with_secret("code", &code)
                .with("redirect_uri", &self.redirect_uri)
                .with_secret("code_verifier", verifier),
        };
        let issued = request.send(&self.http, &Nonces::default()).await?;
        let missing = || AuthError::malformed(endpoint, "the response has no ID token");
        Ok(OpenIdTokens {
            id_token: issued.id_token.ok_or_else(missing)?,
            access_token: issued.access,
        })
    }

    /// What the provider says of the person who logged in, beside what is in the ID token; nothing if
    /// it has no place for that. It is of another person, and must not be used, unless its `sub` is the
    /// one of the verified ID token.
    ///
    /// # Errors
    /// If it cannot be had.
    pub async fn user_info(
        &self,
        access_token: &Secret,
    ) -> Result<Option<Map<String, Value>>, AuthError> {
        let metadata = self.metadata().await?;
        let Some(place) = metadata.userinfo_endpoint.as_deref() else {
            return Ok(None);
        };
        let bearer = Secret::new(format!("Bearer {}", access_token.expose()));
        let document = self.http.document_with(place, &bearer).await?;
        let missing = || AuthError::malformed(place, "the userinfo response is not a JSON object");
        document.map(Some).ok_or_else(missing)
    }

    /// The provider's public keys: a JSON Web Key Set.
    ///
    /// # Errors
    /// If they cannot be fetched.
    pub async fn keys(&self) -> Result<String, AuthError> {
        let metadata = self.metadata().await?;
        let place = metadata.jwks_uri.as_deref();
        let place = place.ok_or_else(|| self.lacks("keys"))?;
        let document = self.http.document(place).await?;
        let missing = || AuthError::malformed(place, "not a JSON Web Key Set");
        Ok(Value::Object(document.ok_or_else(missing)?).to_string())
    }

    /// The provider's logout page, which redirects to `back` afterwards.
    pub async fn logout_url(&self, back: &str) -> Option<String> {
        let metadata = self.metadata().await.ok()?;
        let mut url = self
            .http
            .check(metadata.end_session_endpoint.as_deref()?)
            .ok()?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.client.id)
            .append_pair("post_logout_redirect_uri", back);
        Some(url.into())
    }

    /// Fetches the provider's metadata, so that a wrong setting is detected at once.
    ///
    /// # Errors
    /// If its metadata cannot be fetched, or belongs to another issuer.
    pub async fn discover(&self) -> Result<(), AuthError> {
        self.metadata().await.map(drop)
    }

    async fn metadata(&self) -> Result<Arc<ServerMetadata>, AuthError> {
        let known = self.known.lock().clone();
        if let Some((metadata, at)) = &known
            && at.elapsed() < FRESH
        {
            return Ok(Arc::clone(metadata));
        }
        match (self.fetch().await, known) {
            (Ok(metadata), _) => {
                let metadata = Arc::new(metadata);
                *self.known.lock() = Some((Arc::clone(&metadata), Instant::now()));
                Ok(metadata)
            }
            // Metadata an hour old is better than none.
            (Err(AuthError::Unavailable { .. }), Some((metadata, _))) => Ok(metadata),
            (Err(error), _) => Err(error),
        }
    }

    async fn fetch(&self) -> Result<ServerMetadata, AuthError> {
        let issuer = self.http.check(&self.issuer)?;
        let place = well_known::openid_configuration(&issuer);
        let document = self.http.document(place.as_str()).await?;
        let missing = || AuthError::malformed(&place, "not an OpenID configuration");
        ServerMetadata::read(&document.ok_or_else(missing)?, &self.issuer)
            .map_err(|violation| self.http.refused(violation))
    }

    fn lacks(&self, what: &str) -> AuthError {
        AuthError::malformed(&self.issuer, format!("its metadata names no {what}"))
    }
}
