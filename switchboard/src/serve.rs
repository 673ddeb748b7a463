//! `switchboard serve`: the REST API, live events and the web page, for this machine only.
//!
//! Everything goes through the [`Store`]: requests and runs commit to it, and readers of events are
//! woken and read it. Nothing is shown before it is durable.

pub(crate) mod access;
mod api;
mod app;
mod error;
mod events;
mod extractor;
mod guard;
mod input;
mod listen;
mod openapi;
mod operate;
mod page;
mod questions;
mod rate;
mod routes;
mod runs;
mod server_pool;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::demo::{DemoModel, DemoScript};
use crate::exit::{Exit, Failure};
use crate::store::{Change, Store, User, UserId};
pub(crate) use input::present;

use access::Access;
use app::App;

/// Grace period for open requests at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Options of the server.
#[derive(Clone, Debug)]
pub struct Options {
    tokens: PathBuf,
    port: u16,
    users: Vec<String>,
    trusted: Vec<String>,
    demo_step: Duration,
}

impl Options {
    /// Serves the local user on a free port. The tokens are kept in this file.
    pub fn new(tokens: impl Into<PathBuf>) -> Self {
        Self {
            tokens: tokens.into(),
            port: 0,
            users: Vec::new(),
            trusted: Vec::new(),
            demo_step: Duration::ZERO,
        }
    }

    /// As [`new`](Self::new), with the tokens beside the database.
    pub fn beside(database: &Path) -> Self {
        let mut file = database.as_os_str().to_owned();
        file.push(".tokens.json");
        Self::new(PathBuf::from(file))
    }

    /// On this port; 0 is a free one.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> Self {
        self.port = port;
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
    links: Vec<LoginLink>,
    app: App,
    closing: watch::Sender<bool>,
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
    /// Serves on 127.0.0.1, and resumes or settles the runs that the store has open.
    ///
    /// # Errors
    /// If the port is taken, or the store or the file of tokens cannot be used.
    pub async fn start(store: Arc<dyn Store>, options: Options) -> Result<Self, Failure> {
        let users = users(&*store, &options.users).await?;
        let trusted = trusted(&options.trusted, &users)?;
        let access = Access::open(&options.tokens, &users)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
            .await
            .map_err(|error| {
                let text = format!("port {} cannot be used", options.port);
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
        let links = users
            .iter()
            .filter_map(|user| {
                let token = access.token(user)?;
                let url = format!("http://{address}/#token={token}");
                let user = user.to_string();
                Some(LoginLink { user, url })
            })
            .collect();
        let (closing, closed) = watch::channel(false);
        let app = App::new(store, access, demo, address.port(), closed.clone(), trusted);
        for user in &users {
            app.runs.recover(user).await?;
        }
        app.runs.watch_over(users);
        tokio::spawn(runs::receive(app.clone()));
        let router = api::router(app.clone());
        let task = tokio::spawn(listen::serve(
            listener,
            router,
            listen::Limits::default(),
            closed,
        ));
        Ok(Self {
            address,
            links,
            app,
            closing,
            task,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
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
        Ok(format!("http://{}/#code={code}", self.address))
    }

    /// Shuts down gracefully: accepts no new requests, settles running calls, and ends every server
    /// process.
    pub async fn stop(mut self) {
        let _ = self.closing.send(true);
        self.app.runs.stop().await;
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, &mut self.task).await;
        self.task.abort();
        self.app.server_pool.close().await;
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
fn trusted(names: &[String], users: &[UserId]) -> Result<Arc<[UserId]>, Failure> {
    let found = names.iter().map(|name| {
        let user = users.iter().find(|user| user.as_str() == name);
        user.cloned().ok_or_else(|| {
            let text = format!("{name:?} is trusted, but not served");
            let failure = Failure::new(Exit::Other, text);
            failure.with_hint(format!("Serve the user as well: --user {name}."))
        })
    });
    found.collect()
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
