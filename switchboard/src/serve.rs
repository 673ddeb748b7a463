//! `switchboard serve`: the REST API, live events and the web page, for this machine or for a team.
//!
//! Everything goes through the [`Store`]: requests and runs commit to it, and readers of events are
//! woken and read it. Nothing is shown before it is durable.

pub(crate) mod access;
mod api;
mod app;
mod audit;
mod callbacks;
mod cookie;
mod endpoint;
mod enforce;
mod error;
mod events;
mod extractor;
mod guard;
mod identity;
mod idle;
mod input;
mod limits;
mod listen;
mod logins;
mod networks;
mod openapi;
mod operate;
mod page;
mod people;
mod permission;
mod questions;
mod rate;
mod reach;
mod routes;
mod runs;
mod server_pool;
mod tls;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::demo::{DemoModel, DemoScript};
use crate::exit::{Exit, Failure};
use crate::store::{Change, Store, StoreError, User, UserId};
pub(crate) use audit::by_hand;
pub(crate) use callbacks::is_answer;
pub(crate) use endpoint::Endpoint;
pub(crate) use input::present;
pub use limits::UserLimits;
pub use logins::OpenIdOptions;
pub use reach::{Network, Reach, TlsFiles};

use access::Access;
use app::App;
use audit::Audit;
use logins::{Logins, Provider};
use networks::Networks;
use people::People;
use tls::Certificate;

/// How long a session may be unused, and how long it lasts.
const SESSION_IDLE: Duration = Duration::from_secs(12 * 3600);
const SESSION_LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long others on the network may take to notice that it is not ready.
const DRAIN_TIME: Duration = Duration::from_secs(3);
/// Grace period for open requests at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Options of the server.
#[derive(Clone, Debug)]
pub struct Options {
    tokens: PathBuf,
    /// What tells the store from others on this machine.
    database: PathBuf,
    reach: Reach,
    users: Vec<String>,
    trusted: Vec<String>,
    networks: Vec<Network>,
    openid: Option<OpenIdOptions>,
    session_times: (Duration, Duration),
    limits: UserLimits,
    drain_time: Option<Duration>,
    demo_step: Duration,
}

impl Options {
    /// Serves the local user on a free port. The tokens are kept in this file.
    pub fn new(tokens: impl Into<PathBuf>) -> Self {
        let tokens = tokens.into();
        Self {
            database: tokens.clone(),
            tokens,
            reach: Reach::local(0),
            users: Vec::new(),
            trusted: Vec::new(),
            networks: Vec::new(),
            openid: None,
            session_times: (SESSION_IDLE, SESSION_LONGEST),
            limits: UserLimits::default(),
            drain_time: None,
            demo_step: Duration::ZERO,
        }
    }

    /// As [`new`](Self::new), with the tokens beside the database.
    pub fn beside(database: &Path) -> Self {
        let mut file = database.as_os_str().to_owned();
        file.push(".tokens.json");
        Self {
            database: database.to_owned(),
            ..Self::new(PathBuf::from(file))
        }
    }

    /// On this port; 0 is a free one.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> Self {
        self.reach = Reach::local(port);
        self
    }

    /// At this address, by these names.
    #[must_use]
    pub fn with_reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// For these users in place of the local one. Each has servers and conversations of their own.
    #[must_use]
    pub fn with_users(mut self, users: impl IntoIterator<Item = String>) -> Self {
        self.users = users.into_iter().collect();
        self
    }

    /// Lets these users use this machine as its owner does: start programs, and refer to its
    /// variables, keyring and files. Other users than the local one may not.
    #[must_use]
    pub fn with_trusted_users(mut self, users: impl IntoIterator<Item = String>) -> Self {
        self.trusted = users.into_iter().collect();
        self
    }

    /// Lets users who may not use this machine name addresses in these private networks. Otherwise
    /// their servers and models are at public addresses.
    #[must_use]
    pub fn with_private_networks(mut self, networks: Vec<Network>) -> Self {
        self.networks = networks;
        self
    }

    /// For all who log in at this OpenID provider.
    #[must_use]
    pub fn with_openid(mut self, openid: Option<OpenIdOptions>) -> Self {
        self.openid = openid;
        self
    }

    /// Ends sessions that were not used for this long, and all after the second span.
    #[must_use]
    pub fn with_session_times(mut self, idle: Duration, longest: Duration) -> Self {
        self.session_times = (idle, longest);
        self
    }

    /// Limits what each user may use.
    #[must_use]
    pub fn with_limits(mut self, limits: UserLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Goes on serving for this long after the signal to stop, while it reports that it is not ready, so
    /// that whatever spreads requests over machines takes it out first; 3 seconds where machines share
    /// the store, else none.
    #[must_use]
    pub fn with_drain_time(mut self, time: Option<Duration>) -> Self {
        self.drain_time = time;
        self
    }

    /// Delays each piece of the demo model's replies.
    #[must_use]
    pub fn with_demo_step(mut self, step: Duration) -> Self {
        self.demo_step = step;
        self
    }
}

/// A running server. Dropping it is like a crash: nothing that was shown is lost.
#[derive(Debug)]
pub struct Serve {
    address: SocketAddr,
    url: String,
    links: Vec<LoginLink>,
    app: App,
    closing: watch::Sender<bool>,
    drain_time: Duration,
    task: JoinHandle<()>,
}

/// A user's link to the page.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct LoginLink {
    /// The user.
    pub user: String,
    /// The page's address, with the user's token.
    pub url: String,
}

impl std::fmt::Debug for LoginLink {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginLink")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Serve {
    /// Serves, on 127.0.0.1 unless the options name another address, and resumes or settles the runs that the store has open.
    ///
    /// # Errors
    /// If the port is taken, or the store or the file of tokens cannot be used.
    pub async fn start(store: Arc<dyn Store>, options: Options) -> Result<Self, Failure> {
        if let Some(cluster) = store.cluster()
            && !cluster.takes_changes().await?
        {
            return Err(StoreError::ReadOnly.into());
        }
        let reach = options.reach;
        logins::refuse_links(&reach, &options.users)?;
        // A team has no links, except those that were asked for on this machine.
        let is_team = reach.is_public() || options.openid.is_some();
        let users = match is_team && options.users.is_empty() {
            true => Vec::new(),
            false => users(&*store, &options.users).await?,
        };
        let access = Access::open(&options.tokens, &users)?;
        let people = match is_team {
            true => team(&*store, options.trusted, options.openid.is_some()).await?,
            false => People::fixed(users.clone(), trusted(options.trusted, &users)?),
        };
        let people = people.with_networks(Networks::allowing(options.networks));
        let certificate = reach.tls.clone().map(Certificate::open).transpose()?;
        let listener = TcpListener::bind(reach.listen).await.map_err(|error| {
            let text = match reach.listen.ip().is_loopback() {
                true => format!("port {} cannot be used", reach.listen.port()),
                false => format!("{} cannot be used", reach.listen),
            };
            let failure = Failure::new(Exit::Other, text).caused_by(error);
            failure.with_hint("Choose another one with --port; 0 is a free one.")
        })?;
        let failed =
            |error: std::io::Error| Failure::new(Exit::Other, "cannot serve").caused_by(error);
        let address = listener.local_addr().map_err(failed)?;
        let demo = DemoModel::paced(DemoScript::default(), 0, options.demo_step);
        let demo = demo.await.map_err(|error| {
            Failure::new(Exit::Model, "the demo model did not start").caused_by(error)
        })?;
        let url = reach.url(address);
        let provider = match options.openid {
            Some(openid) => Some(Provider::open(openid, &url).await?),
            None => None,
        };
        let audit = match is_team {
            true => Audit::open().map_err(|error| {
                Failure::new(Exit::Other, "the audit log cannot be written").caused_by(error)
            })?,
            false => Audit::default(),
        };
        let drain_time = options.drain_time.unwrap_or(match store.cluster() {
            Some(_) => DRAIN_TIME,
            None => Duration::ZERO,
        });
        let (idle, longest) = options.session_times;
        let logins = Logins {
            provider,
            is_secure: url.starts_with("https://"),
            idle,
            longest,
            url: url.clone(),
            audit,
        };
        let links = users
            .iter()
            .filter_map(|user| {
                let token = access.token(user)?;
                let url = format!("{url}/#token={token}");
                let user = user.to_string();
                Some(LoginLink { user, url })
            })
            .collect();
        tracing::info!(%address, url, "serving");
        let (closing, closed) = watch::channel(false);
        let names = reach.names(address.port());
        let reach = Arc::new(reach);
        let app = App::new(
            store,
            access,
            demo,
            (
                Arc::clone(&reach),
                names,
                options.database.display().to_string(),
            ),
            closed.clone(),
            (people.clone(), logins, options.limits),
        );
        for user in &people.served() {
            app.runs.recover(user).await?;
        }
        app.runs.watch_over(people);
        tokio::spawn(runs::receive(app.clone()));
        tokio::spawn(enforce::enforce(app.clone()));
        let router = api::router(app.clone());
        let door = listen::Door {
            listener,
            reach,
            certificate,
        };
        let task = tokio::spawn(listen::serve(
            door,
            router,
            listen::Limits::default(),
            closed,
        ));
        Ok(Self {
            address,
            url,
            links,
            app,
            closing,
            drain_time,
            task,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that users open.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The links, one per user.
    pub fn links(&self) -> &[LoginLink] {
        &self.links
    }

    /// The page's address for a browser that is opened now, with a code that opens it once in
    /// place of the first user's token: other programs see what a browser is started with.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn one_time_url(&self) -> std::io::Result<String> {
        let user = self
            .links
            .first()
            .map(|link| UserId::new(link.user.clone()));
        let code = self.app.access.code(&user.unwrap_or_else(UserId::local))?;
        Ok(format!("{}/#code={code}", self.url))
    }

    /// Shuts down gracefully: says that it is not ready, accepts no new requests, settles running
    /// calls, and ends every server process.
    pub async fn stop(mut self) {
        tracing::info!(address = %self.address, "stopping");
        self.app.metrics.drain();
        tokio::time::sleep(self.drain_time).await;
        let _ = self.closing.send(true);
        self.app.runs.stop().await;
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, &mut self.task).await;
        self.task.abort();
        self.app.server_pool.close().await;
        self.app.logins.audit.end(&*self.app.store).await;
        // Everything committed is durable either way.
        let _ = self.app.store.close().await;
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        self.task.abort();
        self.app.runs.abandon();
    }
}

/// The trusted users. Each must be a served user, so that a typo is noticed.
fn trusted(names: Vec<String>, users: &[UserId]) -> Result<Vec<String>, Failure> {
    let served = |name: &str| users.iter().any(|user| user.as_str() == name);
    match names.iter().find(|name| !served(name)) {
        None => Ok(names),
        Some(name) => {
            let text = format!("{name:?} is trusted, but not served");
            let failure = Failure::new(Exit::Other, text);
            Err(failure.with_hint(format!("Serve the user as well: --user {name}.")))
        }
    }
}

/// The team in the store. Someone must be able to come in.
async fn team(
    store: &dyn Store,
    trusted: Vec<String>,
    has_provider: bool,
) -> Result<People, Failure> {
    let people = People::team(trusted);
    let users = store.users().await?;
    people.refresh(&users);
    let mut may_come = has_provider;
    for user in &users {
        may_come = may_come || !store.access_tokens(&user.id).await?.is_empty();
    }
    match may_come {
        true => Ok(people),
        false => Err(Failure::new(
            Exit::Other,
            "others can reach this address, and no one could come in: the link of this machine is \
             not for it",
        )
        .with_hint(
            "Let users log in with --oidc-issuer and --oidc-client-id, or give them tokens: \
             `switchboard tokens add NAME --user USER`.",
        )),
    }
}

/// The users to serve, each in the store.
async fn users(store: &dyn Store, names: &[String]) -> Result<Vec<UserId>, Failure> {
    if names.is_empty() {
        return Ok(vec![UserId::local()]);
    }
    let known = store.users().await?;
    let mut users = Vec::new();
    for name in names {
        let sign = |sign: char| sign.is_ascii_alphanumeric() || "-_.".contains(sign);
        if name.is_empty() || name.len() > 64 || !name.chars().all(sign) {
            let text = format!("{name:?} cannot be a user's name");
            let failure = Failure::new(Exit::Other, text);
            return Err(failure.with_hint("Use letters, digits, `-`, `_` and `.`."));
        }
        let id = UserId::new(name.clone());
        if !known.iter().any(|user| user.id == id) {
            let user = User::new(id.clone(), name);
            store.commit(vec![Change::PutUser(user)]).await?;
        }
        if !users.contains(&id) {
            users.push(id);
        }
    }
    Ok(users)
}
