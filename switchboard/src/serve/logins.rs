//! Logins by an OpenID provider: who comes back from it, and what they may do.

mod claims;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_auth::{AuthError, OpenIdClient, OpenIdLogin, RegisteredClient};
use mcp_jsonrpc::Secret;
use mcp_server::oauth::{JwtVerifier, KeySource};

use crate::exit::{Exit, Failure};
use crate::serve::audit::Audit;
use crate::serve::reach::Reach;
use crate::store::TeamRole;
pub(crate) use claims::{Person, Unwelcome};

/// Where the provider sends browsers back to.
pub(crate) const CALLBACK: &str = "/auth/callback";
/// How long a login may take.
pub(crate) const LOGIN_TIME: Duration = Duration::from_secs(600);

/// How users log in at an OpenID provider.
#[derive(Clone)]
pub struct OpenIdOptions {
    /// The provider's issuer URL.
    pub issuer: String,
    /// The id that the provider knows this program by.
    pub client_id: String,
    /// The secret that goes with it, if there is one.
    pub client_secret: Option<String>,
    /// The claim that lists a user's groups; a dot leads into an object.
    pub group_claim: String,
    /// The role of each group. If there are any, users in none of them are refused.
    pub roles: Vec<(String, TeamRole)>,
    /// Owners, by their verified addresses.
    pub owners: Vec<String>,
    /// The domains of the verified addresses of those who may log in; any, if there are none.
    pub domains: Vec<String>,
    /// What is asked of the provider beside `openid`, `email` and `profile`.
    pub scopes: Vec<String>,
}

/// Providers at which anyone can have an account, by their hosts.
const PUBLIC_PROVIDERS: [&str; 7] = [
    "accounts.google.com",
    "appleid.apple.com",
    "api.login.yahoo.com",
    "gitlab.com",
    "login.microsoftonline.com",
    "www.facebook.com",
    "www.linkedin.com",
];

impl OpenIdOptions {
    /// A provider at which every user may log in, as a member.
    pub fn new(issuer: impl Into<String>, client_id: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            client_id: client_id.into(),
            client_secret: None,
            group_claim: "groups".to_owned(),
            roles: Vec::new(),
            owners: Vec::new(),
            domains: Vec::new(),
            scopes: Vec::new(),
        }
    }

    /// Who could come in that was hardly meant, if anyone could.
    pub fn warning(&self) -> Option<String> {
        let url = url::Url::parse(&self.issuer).ok()?;
        let (host, path) = (url.host_str()?, url.path());
        let everyone = match host {
            // A company's own directory has its id in the address.
            "login.microsoftonline.com" => ["/common", "/organizations", "/consumers"]
                .iter()
                .any(|all| path.starts_with(all)),
            host => PUBLIC_PROVIDERS.contains(&host),
        };
        let is_open = everyone && self.roles.is_empty() && self.domains.is_empty();
        is_open.then(|| {
            format!(
                "Everyone with an account at {host} can log in as a member: name your domain with \
                 --oidc-domain, or groups with --oidc-role."
            )
        })
    }
}

impl std::fmt::Debug for OpenIdOptions {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenIdOptions")
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

/// How users come in.
#[derive(Debug)]
pub(crate) struct Logins {
    pub(crate) provider: Option<Provider>,
    /// Whether browsers come by TLS.
    pub(crate) is_secure: bool,
    /// How long a session may be unused.
    pub(crate) idle: Duration,
    /// How long a session may last.
    pub(crate) longest: Duration,
    /// The address of the page.
    pub(crate) url: String,
    pub(crate) audit: Audit,
}

/// The OpenID provider.
#[derive(Debug)]
pub(crate) struct Provider {
    options: OpenIdOptions,
    client: Arc<OpenIdClient>,
    verifier: JwtVerifier,
}

/// The provider's keys, by the client's rules for URLs.
struct Keys(Arc<OpenIdClient>);

#[async_trait]
impl KeySource for Keys {
    async fn fetch(&self) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.0.keys().await?)
    }
}

impl Provider {
    /// A provider that was looked up.
    pub(crate) async fn open(options: OpenIdOptions, url: &str) -> Result<Self, Failure> {
        let failed = |error: AuthError| {
            let text = format!("the OpenID provider {} cannot be used", options.issuer);
            Failure::new(Exit::Other, text).caused_by(error).with_hint(
                "--oidc-issuer must be the issuer's URL exactly as the provider writes it.",
            )
        };
        let mut client = RegisteredClient::new(&options.client_id).with_issuer(&options.issuer);
        if let Some(secret) = &options.client_secret {
            client = client.with_secret(secret);
        }
        let back = format!("{url}{CALLBACK}");
        let mut client = OpenIdClient::new(&options.issuer, client, back).map_err(failed)?;
        if !options.roles.is_empty() && options.group_claim == "groups" {
            client = client.with_optional_scope("groups");
        }
        for scope in &options.scopes {
            client = client.with_scope(scope);
        }
        client.discover().await.map_err(failed)?;
        let client = Arc::new(client);
        let keys = Keys(Arc::clone(&client));
        let verifier = JwtVerifier::new(&options.issuer, &options.client_id, keys);
        Ok(Self {
            options,
            client,
            verifier,
        })
    }

    pub(crate) fn issuer(&self) -> &str {
        &self.options.issuer
    }

    pub(crate) async fn begin(&self) -> Result<OpenIdLogin, AuthError> {
        self.client.begin().await
    }

    pub(crate) async fn logout_url(&self, back: &str) -> Option<String> {
        self.client.logout_url(back).await
    }

    /// Who came back, with the query that their browser brought.
    pub(crate) async fn finish(
        &self,
        query: &str,
        (state, verifier, nonce): (&str, &str, &str),
    ) -> Result<Person, Unwelcome> {
        let (state, verifier) = (Secret::new(state), Secret::new(verifier));
        let refused = |error: AuthError| Unwelcome::Provider(error.to_string());
        let tokens = self.client.finish(query, &state, &verifier).await;
        let tokens = tokens.map_err(refused)?;
        let caller = self.verifier.verify(tokens.id_token.expose()).await;
        let caller = caller.map_err(|error| Unwelcome::Provider(error.to_string()))?;
        let mut claims = caller.claims;
        // Who it is not for is asked nothing more about.
        claims::check(&self.options, &claims, nonce)?;
        if claims::lack(&self.options, &claims) {
            let more = self.client.user_info(&tokens.access_token).await;
            if let Some(more) = more.map_err(refused)? {
                claims::complete(&mut claims, more, &self.options)?;
            }
        }
        claims::person(&self.options, &claims)
    }
}

/// Whether others than this machine's own users can come: links and `--user` are not for them.
pub(crate) fn refuse_links(reach: &Reach, users: &[String]) -> Result<(), Failure> {
    match reach.is_public() && !users.is_empty() {
        false => Ok(()),
        true => Err(Failure::new(
            Exit::Other,
            "--user is for this machine only, and others can reach this address",
        )
        .with_hint(
            "Let users log in with --oidc-issuer and --oidc-client-id, or give them tokens: \
             `switchboard tokens add NAME --user USER`.",
        )),
    }
}
