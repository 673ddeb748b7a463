//! `switchboard gateway`: all servers behind one endpoint.

mod http;
mod install;
mod options;
mod target;
mod tokens;
mod uninstall;

use std::sync::Arc;

use clap::{Args, Subcommand};
use mcp_jsonrpc::model::Implementation;
use mcp_manager::Manager;

use crate::cli::Global;
use crate::cli::examples;
use crate::cli::run_args::Approve;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::gateway::approvals::Waiting;
use crate::gateway::audit_file::AuditFile;
use crate::gateway::audit_folder::folder;
use crate::gateway::follow::{Follower, INTERVAL, Profiles};
use crate::gateway::presence::Presence;
use crate::gateway::source::Source;
use crate::gateway::state_key::state_key;
use crate::gateway::token::OWNER;
use crate::servers::{Reaching, connector, interruptible};
use crate::store::UserId;

/// Tries in a row to reach a server; the waits between them grow to half a minute.
const TRIES: u32 = 1_000_000;

/// Serves all servers that are switched on as one server, to any MCP client.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Gateway {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    http: http::HttpOptions,
    #[command(flatten)]
    offer: options::Offer,
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
        let listening = self.http.listen(out).await?;
        let callers = listening.as_ref().map(|it| Arc::clone(&it.callers));
        if let Some(callers) = &callers {
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
        for (server, reason) in Source::missing(&served) {
            builder = builder.missing(server, reason);
        }
        let (gateway, _) = self.offer.apply(builder).start().await;
        let (mut http, mut endpoint) = (None, None);
        if let Some(listening) = listening {
            let url = listening.url.clone();
            let (service, serving) = listening.serve(gateway.service());
            (http, endpoint) = (Some((service, url)), Some(serving));
        }
        let mut presence = Presence::new(&source, audit, waiting, http.as_ref());
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
            match endpoint {
                Some(endpoint) => endpoint.await,
                None => gateway.service().serve_stdio().await,
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
            prefixes: self.offer.prefixes(),
            tools: self.offer.tools(),
        }
    }
}
