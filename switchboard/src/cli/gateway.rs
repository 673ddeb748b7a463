//! `switchboard gateway`: all servers behind one endpoint.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use agent_loop::Mode;
use async_trait::async_trait;
use axum::http::{HeaderMap, header};
use clap::Args;
use mcp_gateway::Upstream;
use mcp_jsonrpc::model::Implementation;
use mcp_manager::{Manager, ServerConfig};
use mcp_server::http::{HttpService, serve};
use mcp_server::{Authenticator, Caller, Denied};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;

use crate::cli::Global;
use crate::cli::run_args::Approve;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::gateway::audit_file::{AuditFile, folder};
use crate::gateway::profile;
use crate::home;
use crate::serve::access::fresh_token;
use crate::servers::{AdHoc, Chosen, connector, interruptible, select};
use crate::setup::{find_assistant, mode as approval_mode};
use crate::store::{Store, ToolSelection, UserId};

/// The one caller over HTTP: whoever has the token.
const OWNER: &str = "owner";

/// Serves all servers that are switched on as one server, to any MCP client.
#[derive(Args, Debug)]
pub(crate) struct Gateway {
    /// Serve Streamable HTTP at this address (default: a free port of 127.0.0.1) instead of standard
    /// input and output
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    http: Option<SocketAddr>,
    /// With --http: require this bearer token (default: SWITCHBOARD_GATEWAY_TOKEN, else a new one)
    #[arg(long, value_name = "TOKEN", requires = "http")]
    token: Option<String>,
    /// Leave the names of tools and prompts as they are; of two with one name the first is served
    #[arg(long)]
    no_prefix: bool,
    /// Serve this assistant's servers, with its approval mode
    #[arg(long, value_name = "NAME", conflicts_with = "servers")]
    assistant: Option<String>,
    /// Which tool calls run without asking; the others are asked of the client, by elicitation
    #[arg(long, value_enum, value_name = "MODE")]
    approve: Option<Approve>,
    /// These servers only
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
}

impl Gateway {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let mut chosen = select(global, None, &AdHoc::default()).await?;
        let store = match &chosen.store {
            Some(store) => Arc::clone(store),
            None => global.store().await?,
        };
        let mode = self.profile(&*store, &mut chosen).await?;
        let configs = self.chosen(&chosen)?;
        // What cannot even be started is reported here; what fails later, to the client.
        for (name, finding) in &chosen.findings {
            out.failure(&finding.failure(name));
        }
        let policy = profile::policy(&*store, mode).await?;
        let audit = AuditFile::create().map_err(|error| {
            let text = format!("no audit log could be started in {}", folder().display());
            Failure::new(Exit::Other, text).caused_by(error)
        })?;
        let info = Implementation::new("switchboard", env!("CARGO_PKG_VERSION"));
        let manager = Manager::builder().connector(connector(&UserId::local(), None));
        let mut builder = mcp_gateway::Gateway::builder(info)
            .manager(manager)
            .policy(policy.clone())
            .owner(OWNER)
            .audit(audit);
        for config in configs {
            let upstream = Upstream::new(config);
            builder = builder.upstream(match self.no_prefix {
                true => upstream.with_prefix(""),
                false => upstream,
            });
        }
        let (gateway, _) = builder.start().await;
        let served = tokio::select! {
            served = self.serve(&gateway, out) => served,
            () = profile::follow(Arc::clone(&store), mode, policy, &gateway) => Ok(Exit::Done),
        };
        gateway.shutdown().await;
        store.close().await?;
        served
    }

    async fn serve(&self, gateway: &mcp_gateway::Gateway, out: &Out) -> Result<Exit, Failure> {
        match self.http {
            None => {
                interruptible(async {
                    gateway.service().serve_stdio().await;
                    Ok(Exit::Done)
                })
                .await
            }
            Some(address) => interruptible(self.serve_http(address, gateway, out)).await,
        }
    }

    /// Leaves the servers of the assistant, if one is named, and returns the approval mode.
    async fn profile(&self, store: &dyn Store, chosen: &mut Chosen) -> Result<Mode, Failure> {
        let user = UserId::local();
        let assistant = find_assistant(store, &user, self.assistant.as_deref()).await?;
        let settings = home::settings(store, &user).await?;
        let wished = self.approve.map(Approve::mode);
        let mode = approval_mode(wished, assistant.as_ref(), &settings)?;
        let wanted = match &assistant {
            Some(it) if it.tool_selection == ToolSelection::Off => Vec::new(),
            Some(it) if it.tool_selection == ToolSelection::Manual => {
                store.assistant_servers(&it.id).await?
            }
            _ => return Ok(mode),
        };
        chosen
            .servers
            .retain(|(_, row)| row.as_ref().is_some_and(|row| wanted.contains(&row.id)));
        Ok(mode)
    }

    /// The servers to serve, in their order.
    fn chosen(&self, chosen: &Chosen) -> Result<Vec<ServerConfig>, Failure> {
        let known = chosen
            .servers
            .iter()
            .map(|(config, _)| config.name().as_str());
        let failed = chosen.findings.iter().map(|(name, _)| name.as_str());
        let known: BTreeSet<&str> = known.chain(failed).collect();
        if let Some(name) = self
            .servers
            .iter()
            .find(|name| !known.contains(name.as_str()))
        {
            let text = format!("there is no server {name:?} that is switched on");
            return Err(
                Failure::new(Exit::Other, text).with_hint("`switchboard servers` lists them.")
            );
        }
        let wanted = |config: &ServerConfig| {
            let name = config.name().as_str();
            self.servers.is_empty() || self.servers.iter().any(|wanted| wanted == name)
        };
        let configs = chosen.servers.iter().map(|(config, _)| config.clone());
        Ok(configs.filter(wanted).collect())
    }

    async fn serve_http(
        &self,
        address: SocketAddr,
        gateway: &mcp_gateway::Gateway,
        out: &Out,
    ) -> Result<Exit, Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(Exit::Other, format!("could not listen on {address}")).caused_by(error)
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let url = format!("http://{}/mcp", listener.local_addr().map_err(failed)?);
        let set = std::env::var("SWITCHBOARD_GATEWAY_TOKEN").ok();
        let token = match self.token.clone().or(set) {
            Some(token) => token,
            None => fresh_token().map_err(failed)?,
        };
        let value = json!({"url": url, "token": token});
        out.result(&value, format!("{url}\nAuthorization: Bearer {token}"));
        let expected = BearerToken(Sha256::digest(&token).into());
        let service = HttpService::new(gateway.service()).authenticator(expected);
        serve(listener, service).await.map_err(failed)?;
        Ok(Exit::Done)
    }
}

/// The hash of the one token that all clients of this gateway have.
struct BearerToken([u8; 32]);

#[async_trait]
impl Authenticator for BearerToken {
    async fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, Denied> {
        let given = headers.get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer "));
        // Hashes, so that the time it takes tells nothing about the token.
        match given.is_some_and(|given| Sha256::digest(given)[..] == self.0) {
            true => Ok(Caller::new(OWNER)),
            false => Err(Denied::unauthorized("Bearer")),
        }
    }
}
