//! The gateway's HTTP endpoint: where it is, and who may call it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use clap::Args;
use mcp_server::http::HttpService;
use mcp_server::oauth::{JwksUrl, JwtAuthenticator};
use serde_json::json;

use crate::cli::reach::ReachOptions;
use crate::cli::serve::open_more_files;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::gateway::token::{Callers, Inbound};
use crate::serve::Endpoint;
use crate::token::fresh as fresh_token;

/// Help heading of the options for HTTP.
const HTTP: &str = "With --http";

/// How clients reach the gateway over HTTP.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = HTTP)]
pub(super) struct HttpOptions {
    /// Serve Streamable HTTP at this address (default: a free port of 127.0.0.1) instead of standard
    /// input and output
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    http: Option<SocketAddr>,
    /// With --http: require this bearer token (default: SWITCHBOARD_GATEWAY_TOKEN, else a new one),
    /// or one of `switchboard gateway tokens`
    #[arg(long, value_name = "TOKEN", requires = "http")]
    token: Option<String>,
    /// Answer requests for this host name, too; may be given several times
    #[arg(long = "allow-host", value_name = "NAME", requires = "http")]
    hosts: Vec<String>,
    #[command(flatten)]
    reach: ReachOptions,
    /// Also accept access tokens (JWT) of this OAuth issuer for this endpoint
    #[arg(long, value_name = "URL", requires = "http", requires = "oauth_keys")]
    oauth_issuer: Option<String>,
    /// Where the issuer publishes its keys (JWKS)
    #[arg(long, value_name = "URL", requires = "oauth_issuer")]
    oauth_keys: Option<String>,
    /// Require this scope of such tokens; may be given several times
    #[arg(long = "oauth-scope", value_name = "SCOPE", requires = "oauth_issuer")]
    oauth_scopes: Vec<String>,
}

/// The endpoint, once it listens.
pub(super) struct Listening {
    endpoint: Endpoint,
    hosts: Vec<String>,
    inbound: Inbound,
    /// Where clients reach it.
    pub(super) url: String,
    pub(super) callers: Arc<Callers>,
}

impl HttpOptions {
    /// Listens, if it was asked for, and prints where and with which token.
    pub(super) async fn listen(&self, out: &Out) -> Result<Option<Listening>, Failure> {
        let Some(address) = self.http else {
            return Ok(None);
        };
        let endpoint = Endpoint::open(self.reach.clone().at(address)?).await?;
        open_more_files();
        let url = format!("{}/mcp", endpoint.url());
        let set = std::env::var("SWITCHBOARD_GATEWAY_TOKEN").ok();
        let token = match self.token.clone().or(set) {
            Some(token) => token,
            None => fresh_token().map_err(|error| {
                Failure::new(Exit::Other, "no token could be made").caused_by(error)
            })?,
        };
        let callers = Arc::new(Callers::new(&token));
        let oauth = self.oauth(&url)?;
        let value = json!({"url": url, "token": token});
        out.result(&value, format!("{url}\nAuthorization: Bearer {token}"));
        let host = endpoint.host().map(str::to_owned);
        Ok(Some(Listening {
            hosts: self.hosts.iter().cloned().chain(host).collect(),
            inbound: Inbound::new(Arc::clone(&callers), oauth),
            endpoint,
            url,
            callers,
        }))
    }

    fn oauth(&self, url: &str) -> Result<Option<JwtAuthenticator>, Failure> {
        let (Some(issuer), Some(keys)) = (&self.oauth_issuer, &self.oauth_keys) else {
            return Ok(None);
        };
        let keys = JwksUrl::new(keys)
            .map_err(|error| Failure::new(Exit::Other, format!("--oauth-keys: {error}")))?;
        let oauth = JwtAuthenticator::new(issuer, url, keys);
        let scopes = self.oauth_scopes.iter();
        Ok(Some(
            scopes.fold(oauth, |oauth, scope| oauth.require_scope(scope)),
        ))
    }
}

impl Listening {
    /// The gateway's service, for those who may call it; and what serves it until it is dropped.
    pub(super) fn serve(
        self,
        service: &mcp_server::Service,
    ) -> (HttpService, impl Future<Output = ()>) {
        let service = HttpService::new(service).authenticator(self.inbound);
        let hosts = self.hosts.iter();
        let service = hosts.fold(service, |service, host| service.allow_host(host));
        let router = Router::new().fallback_service(service.clone());
        (service, self.endpoint.serve(router))
    }
}
