//! `switchboard serve`.

use std::net::SocketAddr;
#[cfg(unix)]
use std::task::{Context, Poll};
use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::cli::Global;
use crate::cli::browser;
use crate::cli::reach::ReachOptions;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::serve::{Network, OpenIdOptions, Options, Serve as Server, UserLimits};
use crate::store::{LEASE_TIMEOUT, TeamRole};

/// Help heading of the options about logins.
const LOGIN: &str = "Logins";
/// Help heading of the limits.
const LIMITS: &str = "Limits of each user";

/// Serves the web page and the API to this machine or a team, until Ctrl-C ends it.
#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Listen on this port of 127.0.0.1; 0 is a free one
    #[arg(long, default_value_t = 7080, value_name = "PORT")]
    port: u16,
    /// Listen on this address instead, such as 0.0.0.0:7443, for other machines
    #[arg(long, value_name = "ADDR:PORT", conflicts_with = "port")]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    reach: ReachOptions,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Serve this user, with servers and conversations of their own; may be given several times
    #[arg(long = "user", value_name = "NAME")]
    users: Vec<String>,
    /// Let this user start programs on this machine and refer to its variables, keyring and files,
    /// as you can; may be given several times
    #[arg(long = "trust-user", value_name = "NAME")]
    trusted: Vec<String>,
    /// Let users who may not use this machine name servers and models in this private network, such
    /// as 10.0.0.0/8; without it, only at public addresses; may be given several times
    #[arg(long = "allow-private-network", value_name = "CIDR")]
    networks: Vec<Network>,
    /// Let users log in at this OpenID provider: its issuer URL
    #[arg(long, value_name = "URL", requires = "oidc_client_id", help_heading = LOGIN)]
    oidc_issuer: Option<String>,
    /// The OAuth client ID
    #[arg(long, value_name = "ID", requires = "oidc_issuer", help_heading = LOGIN)]
    oidc_client_id: Option<String>,
    /// Where the client's secret is: env:NAME, or a file
    #[arg(long, value_name = "env:NAME|FILE", requires = "oidc_issuer", help_heading = LOGIN)]
    oidc_client_secret: Option<String>,
    /// The claim that lists a user's groups; a dot leads into an object
    #[arg(long, value_name = "NAME", default_value = "groups", help_heading = LOGIN)]
    oidc_group_claim: String,
    /// The role of a group: owner, member or viewer; users in no such group are refused; may be
    /// given several times
    #[arg(
        long = "oidc-role",
        value_name = "GROUP=ROLE",
        requires = "oidc_issuer"
    )]
    #[arg(value_parser = group_role, help_heading = LOGIN)]
    oidc_roles: Vec<(String, TeamRole)>,
    /// An owner, by the address that the provider has verified; may be given several times
    #[arg(long = "oidc-owner", value_name = "EMAIL", requires = "oidc_issuer", help_heading = LOGIN)]
    oidc_owners: Vec<String>,
    /// Let in only users with a verified address of this domain, such as team.example; may be given
    /// several times
    #[arg(long = "oidc-domain", value_name = "DOMAIN", requires = "oidc_issuer", help_heading = LOGIN)]
    oidc_domains: Vec<String>,
    /// Ask the provider for this scope, beside openid, email, profile and, if it has it, groups; may
    /// be given several times
    #[arg(long = "oidc-scope", value_name = "SCOPE", requires = "oidc_issuer", help_heading = LOGIN)]
    oidc_scopes: Vec<String>,
    /// End sessions that were not used for this many minutes
    #[arg(long, default_value_t = 720, value_name = "MINUTES", help_heading = LOGIN)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=525_600))]
    session_idle: u64,
    /// End all sessions after this many minutes
    #[arg(long, default_value_t = 10_080, value_name = "MINUTES", help_heading = LOGIN)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=525_600))]
    session_length: u64,
    /// Answer this many conversations of a user at a time
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    limit_conversations: Option<u32>,
    /// Let each user spend this many tokens within 24 hours
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    limit_tokens: Option<u64>,
    /// Accept this many requests per second from one user, with bursts of ten times that [default: 200]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    limit_requests: Option<u32>,
    /// Let other machines that share the PostgreSQL database go on with this one's answers once it
    /// has been silent for this many seconds
    #[arg(long, default_value_t = LEASE_TIMEOUT.as_secs(), value_name = "SECONDS")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    lease_timeout: u64,
    /// After SIGTERM, go on serving for this many seconds while /readyz returns 503, so that a load
    /// balancer takes this machine out first [default: 3 with PostgreSQL, else 0]
    #[arg(long, value_name = "SECONDS")]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=300))]
    drain_time: Option<u64>,
    /// Delay in milliseconds between pieces of the demo model's replies
    #[arg(long, default_value_t = 0, value_name = "MS")]
    demo_step: u64,
}

impl Serve {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let database = home::database_file(global.database.as_deref());
        let local = SocketAddr::from(([127, 0, 0, 1], self.port));
        let listen = self.listen.unwrap_or(local);
        let reach = self.reach.at(listen)?;
        let openid = match self.oidc_issuer.zip(self.oidc_client_id) {
            Some((issuer, client_id)) => {
                let mut openid = OpenIdOptions::new(issuer, client_id);
                openid.client_secret = self.oidc_client_secret.map(secret).transpose()?;
                openid.group_claim = self.oidc_group_claim;
                openid.roles = self.oidc_roles;
                openid.owners = self.oidc_owners;
                openid.domains = self.oidc_domains;
                openid.scopes = self.oidc_scopes;
                if let Some(warning) = openid.warning() {
                    out.note(format!("! {warning}"));
                }
                Some(openid)
            }
            None => None,
        };
        let limits = UserLimits {
            conversations: self.limit_conversations,
            tokens_per_day: self.limit_tokens,
            requests_per_second: self.limit_requests,
        };
        let minutes = |count: u64| Duration::from_secs(60 * count);
        let lease_timeout = Duration::from_secs(self.lease_timeout);
        let store = global.store_with(lease_timeout).await?;
        let options = Options::beside(&database)
            .with_reach(reach)
            .with_users(self.users)
            .with_trusted_users(self.trusted)
            .with_private_networks(self.networks)
            .with_openid(openid)
            .with_limits(limits)
            .with_session_times(minutes(self.session_idle), minutes(self.session_length))
            .with_drain_time(self.drain_time.map(Duration::from_secs))
            .with_demo_step(Duration::from_millis(self.demo_step));
        open_more_files();
        if let Some(cluster) = store.cluster()
            && let Some(warning) = cluster.silence().await
        {
            out.note(format!("! {warning}"));
        }
        let mut signals = Signals::new();
        let server = Server::start(store, options).await?;
        let links = server.links();
        let url = format!("{}/", server.url());
        let reported: Vec<_> = links
            .iter()
            .map(|link| json!({ "user": link.user, "url": link.url }))
            .collect();
        let text = match links {
            [] => format!("Open {url}"),
            [link] => format!("Open {}", link.url),
            links => {
                let line = |link: &crate::serve::LoginLink| format!("{}: {}", link.user, link.url);
                let lines: Vec<String> = links.iter().map(line).collect();
                lines.join("\n")
            }
        };
        out.result(&json!({ "url": url, "links": reported }), text);
        out.note(match links.is_empty() {
            false => {
                "The link contains your access token: do not share it. Ctrl-C stops the server."
            }
            true => "Users log in there, or send a token. Ctrl-C stops the server.",
        });
        if self.open
            && let Err(error) = server.one_time_url().and_then(|url| browser::open(&url))
        {
            out.note(format!("The browser cannot be opened: {error}"));
        }
        signals.next().await;
        out.note("Stopping. Ctrl-C again stops at once.");
        tokio::select! {
            () = server.stop() => {}
            () = signals.next() => {}
        }
        Ok(Exit::Done)
    }
}

/// How many files are enough.
#[cfg(unix)]
const FILES: u64 = 65_536;

/// Lets this process open as many files as the system allows it: each connection is one, and what is
/// usual is a thousand.
pub(super) fn open_more_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut files = getrlimit(Resource::Nofile);
        let wanted = files.maximum.map_or(FILES, |most| most.min(FILES));
        if files.current.is_some_and(|current| current < wanted) {
            files.current = Some(wanted);
            // It goes on with fewer connections.
            let _ = setrlimit(Resource::Nofile, files);
        }
    }
}

/// Reads `GROUP=ROLE`.
fn group_role(text: &str) -> Result<(String, TeamRole), String> {
    let (group, role) = text
        .rsplit_once('=')
        .ok_or_else(|| format!("{text:?} is not GROUP=ROLE"))?;
    match group.is_empty() {
        true => Err(format!("{text:?} names no group")),
        false => Ok((group.to_owned(), role.parse()?)),
    }
}

/// A secret in a variable or a file.
fn secret(place: String) -> Result<String, Failure> {
    let read = match place.strip_prefix("env:") {
        Some(name) => home::environment(name).ok_or_else(|| {
            let text = format!("the variable {name} of --oidc-client-secret is not set");
            Failure::new(Exit::Other, text)
        }),
        None => std::fs::read_to_string(&place).map_err(|error| {
            let text = format!("the file {place:?} of --oidc-client-secret cannot be read");
            let failure = Failure::new(Exit::Other, text).caused_by(error);
            failure.with_hint("It is env:NAME, or a file that holds nothing but the secret.")
        }),
    }?;
    match read.trim() {
        "" => {
            let text = format!("{place:?} of --oidc-client-secret is empty");
            Err(Failure::new(Exit::Other, text))
        }
        secret => Ok(secret.to_owned()),
    }
}

/// Ctrl-C, and what asks a service to end.
struct Signals {
    interrupts: crate::chat::Interrupts,
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    fn new() -> Self {
        Self {
            interrupts: crate::chat::Interrupts::new(),
            #[cfg(unix)]
            terminate: {
                use tokio::signal::unix::{SignalKind, signal};
                signal(SignalKind::terminate()).ok()
            },
            #[cfg(unix)]
            hangup: {
                use tokio::signal::unix::{SignalKind, signal};
                let wanted = !super::processes::ignores_hangup();
                wanted.then(|| signal(SignalKind::hangup()).ok()).flatten()
            },
        }
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        {
            let heard = |signal: &mut Option<tokio::signal::unix::Signal>,
                         context: &mut Context| {
                let heard = signal.as_mut().map(|signal| signal.poll_recv(context));
                heard.is_some_and(|heard| heard.is_ready())
            };
            let asked = std::future::poll_fn(|context| {
                match heard(&mut self.terminate, context) || heard(&mut self.hangup, context) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            });
            tokio::select! {
                () = self.interrupts.next() => {}
                () = asked => {}
            }
        }
        #[cfg(not(unix))]
        self.interrupts.next().await;
    }
}
