//! The users' servers: each user's own, shared by all of that user's conversations.

mod connection;
mod login;
mod status;
mod user_servers;
mod views;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agent_loop::{Selection, Toolbox};
use futures_util::future::join_all;
use mcp_manager::{Lease, Manager, Pool};
use parking_lot::Mutex;
use serde_json::Value;

use crate::demo::SERVER;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::models::{self, Choice, is_of_environment};
use crate::serve::people::People;
use crate::serve::questions::Questions;
use crate::servers::roots::Roots;
use crate::servers::{Host, PRIVATE_NETWORK, Reaching, built_in, connector, follow_shared, scan};
use crate::setup::settings::is_of_host;
use crate::setup::{RunArgs, choice, select_servers, tools_off};
use crate::store::{Assistant, Server, ServerId, Store, StoreError, UserId};

pub(crate) use connection::Wanted;
pub(crate) use user_servers::UserServers;
pub(crate) use views::{HIDDEN, args, event, tools_event, value_shown};

/// How long a conversation waits for a server before it begins without it.
const START: Duration = Duration::from_secs(10);

/// The users' servers. Cloning is cheap.
///
/// Each user has a manager of their own, so users are isolated. A server is connected on first use,
/// stays connected while a run holds a lease on it, and is disconnected after 30 idle minutes. Its
/// lists are cached until it announces a change, or for 5 minutes.
#[derive(Clone)]
pub(crate) struct ServerPool {
    store: Arc<dyn Store>,
    pool: Pool,
    questions: Questions,
    crews: Arc<Mutex<BTreeMap<UserId, Arc<UserServers>>>>,
    people: People,
}

/// The tools of a run, there for as long as this is.
pub(crate) struct Equipment {
    pub(crate) tools: Arc<dyn Toolbox>,
    /// Which of them the run may use.
    pub(crate) selection: Selection,
    /// All stored servers of the user.
    pub(crate) servers: Vec<Server>,
    /// Notices for the user.
    pub(crate) notices: Vec<String>,
    _leases: Vec<Lease>,
}

impl ServerPool {
    pub(crate) fn new(store: Arc<dyn Store>, questions: Questions, people: People) -> Self {
        let (asked, served) = (questions.clone(), people.clone());
        let stored = Arc::clone(&store);
        let make = move |user: &str| {
            let user = UserId::new(user);
            let reaching = Reaching {
                network: served.network_of(&user),
                ..Reaching::default()
            };
            let builder = Manager::builder()
                .connector(connector(&user, reaching))
                .elicitation(asked.asker(&user));
            match served.host(&user) {
                Host::Allowed => {
                    let roots = Roots::new(Arc::clone(&stored), user);
                    builder.host(roots, Roots::capabilities())
                }
                Host::Forbidden => builder,
            }
        };
        Self {
            store,
            pool: Pool::new(make),
            questions,
            crews: Arc::default(),
            people,
        }
    }

    /// Whether a user may use this machine.
    pub(crate) fn host(&self, user: &UserId) -> Host {
        self.people.host(user)
    }

    /// Notifies a user's connected servers that the roots have changed.
    pub(crate) async fn roots_changed(&self, user: &UserId) {
        self.pool.manager(user.as_str()).roots_changed().await;
    }

    /// A user's settings, as far as the user may have them.
    pub(crate) async fn settings(
        &self,
        user: &UserId,
    ) -> Result<BTreeMap<String, Value>, StoreError> {
        let mut settings = home::settings(&*self.store, user).await?;
        if self.host(user) == Host::Forbidden {
            settings.retain(|key, _| !is_of_host(key));
        }
        Ok(settings)
    }

    /// The model that a user wants, which asks nothing of places that the user may not reach.
    pub(crate) async fn choice(
        &self,
        user: &UserId,
        wanted: &models::Wanted,
        settings: &BTreeMap<String, Value>,
    ) -> Result<Choice, Failure> {
        let mut chosen = choice(wanted, settings).await?;
        let named = wanted.base_url.is_some() || chosen.endpoint.is_some();
        if let (true, Some(url)) = (named, &chosen.base_url)
            && !is_of_environment(url, &home::environment)
            && let Some(network) = self.people.networks().of(self.host(user))
        {
            network.check(url).map_err(|violation| {
                let failure = Failure::new(Exit::Model, "the model's address cannot be used");
                failure.caused_by(violation).with_hint(PRIVATE_NETWORK)
            })?;
            chosen.network = Some(network);
        }
        Ok(chosen)
    }

    /// A user's servers as rows: the stored ones or, while there are none and the demo model
    /// answers, the demo server.
    pub(crate) async fn servers(&self, user: &UserId) -> Result<Vec<Server>, StoreError> {
        let mut rows = self.store.servers(user).await?;
        if rows.is_empty() && self.host(user) == Host::Allowed {
            let settings = self.settings(user).await?;
            let chosen = choice(&models::Wanted::default(), &settings).await;
            if chosen.is_ok_and(|chosen| chosen.provider.is_demo()) {
                rows.extend(built_in(user));
            }
        }
        Ok(rows)
    }

    /// One of these.
    pub(crate) async fn server(
        &self,
        user: &UserId,
        id: &ServerId,
    ) -> Result<Option<Server>, StoreError> {
        if let Some(row) = self.store.server(user, id).await? {
            return Ok(Some(row));
        }
        if id.as_str() != SERVER {
            return Ok(None);
        }
        let rows = self.servers(user).await?;
        Ok(rows.into_iter().find(|row| row.id == *id))
    }

    /// A user's servers. Must be called within a tokio runtime.
    pub(crate) fn user_servers(&self, user: &UserId) -> Arc<UserServers> {
        let mut crews = self.crews.lock();
        let made = || {
            let manager = self.pool.manager(user.as_str());
            UserServers::new(
                user,
                &self.store,
                manager,
                self.questions.clone(),
                self.people.clone(),
            )
        };
        Arc::clone(crews.entry(user.clone()).or_insert_with(made))
    }

    /// The tools a conversation or its assistant may use, connected.
    pub(crate) async fn equip(
        &self,
        user: &UserId,
        run_args: &RunArgs,
        assistant: Option<&Assistant>,
        choice: &Choice,
    ) -> Result<Equipment, Failure> {
        follow_shared(&*self.store, user).await?;
        self.people.networks().learn_team(&*self.store).await?;
        let host = self.host(user);
        let selected =
            select_servers(&*self.store, user, run_args, assistant, choice, host).await?;
        let tools = self.user_servers(user).toolbox();
        tools.set_scan(scan::policy(&self.settings(user).await?));
        let mut notices = selected.notices;
        let leases = selected.configs.into_iter().map(|config| async move {
            let name = config.name().to_string();
            let lease = self.pool.lease(user.as_str(), config);
            (name, tokio::time::timeout(START, lease).await)
        });
        let left_out = tools_off(&run_args.switched_off, &selected.rows);
        let left_out: Vec<_> = left_out
            .map(|(server, tools)| (server.to_owned(), tools.to_vec()))
            .collect();
        let left_out = left_out.into_iter();
        let (mut names, mut held) = (Vec::new(), Vec::new());
        for (name, lease) in join_all(leases).await {
            match lease {
                Ok(Ok(lease)) => held.push(lease),
                Ok(Err(error)) => {
                    let failure = Failure::new(Exit::Unreachable, format!("{name} is unavailable"));
                    notices.push(failure.caused_by(error).chain());
                }
                Err(_) => notices.push(format!("{name} is still starting; its tools come later")),
            }
            names.push(name);
        }
        Ok(Equipment {
            tools,
            selection: left_out.fold(Selection::only(names), |selection, (server, tools)| {
                selection.without(server, tools)
            }),
            servers: selected.rows,
            notices,
            _leases: held,
        })
    }

    /// Ends the connections of users who may not use this machine. Those that they may still have come
    /// back with their next use.
    pub(crate) async fn end_forbidden(&self) {
        let crews: Vec<_> = self.crews.lock().values().cloned().collect();
        for user_servers in crews {
            if user_servers.host() == Host::Forbidden {
                user_servers.disconnect_all().await;
            }
        }
    }

    /// Shuts down, and returns once no process is left.
    pub(crate) async fn close(&self) {
        self.crews.lock().clear();
        self.pool.shutdown().await;
    }
}

impl std::fmt::Debug for ServerPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerPool")
            .field("pool", &self.pool)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Limits, SqliteStore};

    /// Limits: 30 s to connect, lists cached for 5 minutes, disconnected after 30 idle minutes.
    #[tokio::test]
    async fn the_default_time_limits_hold_and_each_user_has_one_manager() {
        let store = SqliteStore::in_memory(Limits::default()).await.unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let server_pool = ServerPool::new(
            store,
            Questions::default(),
            People::fixed(Vec::new(), Vec::new()),
        );
        let (ann, bob) = (UserId::new("ann"), UserId::new("bob"));
        let user_servers = server_pool.user_servers(&ann);
        let limits = user_servers.manager().limits();
        let minutes = |count: u64| Duration::from_secs(60 * count);
        assert_eq!(limits.connect_time(), Duration::from_secs(30));
        assert_eq!(limits.list_ttl(), minutes(5));
        assert_eq!(limits.idle_time(), minutes(30));
        assert!(Arc::ptr_eq(&user_servers, &server_pool.user_servers(&ann)));
        assert!(!Arc::ptr_eq(&user_servers, &server_pool.user_servers(&bob)));
        server_pool.close().await;
    }
}
