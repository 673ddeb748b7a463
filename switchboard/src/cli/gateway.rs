//! `switchboard gateway`: all servers behind one endpoint.

mod install;
mod target;
mod tokens;
mod uninstall;

use std::net::SocketAddr;
use std::sync::Arc;

use clap::{Args, Subcommand};
use mcp_jsonrpc::model::Implementation;
use mcp_manager::Manager;
use mcp_server::http::{HttpService, serve};
use serde_json::json;
use tokio::net::TcpListener;

use crate::cli::Global;
use crate::cli::examples;
use crate::cli::run_args::Approve;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::gateway::approvals::Waiting;
use crate::gateway::audit_file::{AuditFile, folder};
use crate::gateway::follow::{Follower, INTERVAL, Profiles};
use crate::gateway::presence::Presence;
use crate::gateway::source::Source;
use crate::gateway::state_key::state_key;
use crate::gateway::token::{ByToken, Callers, OWNER};
use crate::servers::{Reaching, connector, interruptible};
use crate::store::UserId;
use crate::token::fresh as fresh_token;

/// Tries in a row to reach a server; the waits between them grow to half a minute.
const TRIES: u32 = 1_000_000;

/// Serves all servers that are switched on as one server, to any MCP client.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Gateway {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Serve Streamable HTTP at this address (default: a free port of 127.0.0.1) instead of standard
    /// input and output
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    http: Option<SocketAddr>,
    /// With --http: require this bearer token (default: SWITCHBOARD_GATEWAY_TOKEN, else a new one),
    /// or one of `switchboard gateway tokens`
    #[arg(long, value_name = "TOKEN", requires = "http")]
    token: Option<String>,
    /// Leave the names of tools and prompts as they are; if two have the same name, the first is served
    #[arg(long)]
    no_prefix: bool,
    /// Serve this assistant's servers, with its approval mode
    #[arg(long, value_name = "NAME", conflicts_with = "servers")]
    assistant: Option<String>,
    /// Which tool calls run without asking; the others are asked of the client, by elicitation
    #[arg(long, value_enum, value_name = "MODE")]
    approve: Option<Approve>,
    /// Serve only these servers
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Write the gateway's entry into a client's file
    #[command(after_help = examples::GATEWAY_INSTALL)]
    Install(Box<install::Install>),
    /// Remove the entry again, and put back what was moved
    Uninstall(Box<uninstall::Uninstall>),
    /// Add, list and remove tokens for HTTP clients, each with a profile of its own
    #[command(after_help = examples::GATEWAY_TOKENS)]
    Tokens(tokens::Tokens),
}

impl Gateway {
    pub(crate) async fn run(mut self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        match self.verb.take() {
            None => self.run_gateway(global, out).await,
            Some(Verb::Install(verb)) => verb.run(global, out).await,
            Some(Verb::Uninstall(verb)) => verb.run(global, out).await,
            Some(Verb::Tokens(verb)) => verb.run(global, out).await,
        }
    }

    async fn run_gateway(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let store = global.store().await?;
        let source = self.source(global);
        let seen = source.look(&*store).await?;
        let served = source.read(&*store, &seen).await?;
        source.check(&served)?;
        // What cannot even be started is reported here; what fails later, to the client.
        for (name, finding) in &served.findings {
            out.failure(&finding.failure(name));
        }
        let policy = served.policy(&*store).await?;
        let audit = AuditFile::create().map_err(|error| {
            let text = format!("no audit log can be kept in {}", folder().display());
            Failure::new(Exit::Other, text).caused_by(error)
        })?;
        let waiting = Waiting::default();
        let profiles = Profiles::default();
        profiles.set(served.profiles.clone());
        let listener = match self.http {
            Some(address) => Some(self.listen(address, out).await?),
            None => None,
        };
        if let Some((_, _, callers)) = &listener {
            callers.set(served.tokens.iter());
        }
        let info = Implementation::new("switchboard", env!("CARGO_PKG_VERSION"));
        let manager =
            Manager::builder().connector(connector(&UserId::local(), Reaching::default()));
        // It may run for months: a server that was away for a while is found again.
        let manager = manager.adjust_limits(|limits| {
            let retry = limits.retry().clone().with_tries(TRIES);
            limits.with_retry(retry)
        });
        let of_caller = profiles.clone();
        let mut builder = mcp_gateway::Gateway::builder(info)
            .manager(manager)
            .policy(policy.clone())
            .owner(OWNER)
            .state_key(state_key(&*store).await?)
            .profiles(move |caller| of_caller.of(caller.map(|it| it.id.as_str())))
            .approver(waiting.clone())
            .audit(audit.clone());
        for upstream in source.upstreams(&served) {
            builder = builder.upstream(upstream);
        }
        let (gateway, _) = builder.start().await;
        let http = listener.as_ref().map(|(_, url, callers)| {
            let service = HttpService::new(gateway.service());
            (
                service.authenticator(ByToken(Arc::clone(callers))),
                url.clone(),
            )
        });
        let mut presence = Presence::new(&source, audit, waiting, http.as_ref());
        let callers = listener.as_ref().map(|(_, _, callers)| Arc::clone(callers));
        let mut follower = Follower {
            source: &source,
            store: &*store,
            gateway: &gateway,
            callers: callers.as_deref(),
            profiles: &profiles,
            seen,
            served,
            policy,
        };
        let follow = async {
            loop {
                // A store that is busy is read the next time.
                let _ = presence.tell(&*store, &gateway, &follower.served).await;
                tokio::time::sleep(INTERVAL).await;
                let _ = follower.step().await;
            }
        };
        let serving = interruptible(async {
            match (listener, &http) {
                (Some((listener, ..)), Some((service, url))) => {
                    serve(listener, service.clone()).await.map_err(|error| {
                        let text = format!("{url} cannot be served any longer");
                        Failure::new(Exit::Other, text).caused_by(error)
                    })?;
                }
                _ => gateway.service().serve_stdio().await,
            }
            Ok(Exit::Done)
        });
        let ended = tokio::select! {
            ended = serving => ended,
            () = follow => Ok(Exit::Done),
        };
        gateway.shutdown().await;
        presence.end(&*store).await?;
        store.close().await?;
        ended
    }

    fn source(&self, global: &Global) -> Source {
        Source {
            config: global.config.clone(),
            servers: self.servers.clone(),
            assistant: self.assistant.clone(),
            approve: self.approve.map(Approve::mode),
            no_prefix: self.no_prefix,
        }
    }

    /// Listens, and prints where and with which token.
    async fn listen(
        &self,
        address: SocketAddr,
        out: &Out,
    ) -> Result<(TcpListener, String, Arc<Callers>), Failure> {
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
        Ok((listener, url, Arc::new(Callers::new(&token))))
    }
}
