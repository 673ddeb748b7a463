//! The users' servers: each user's own, shared by all of that user's conversations.

mod connection;
mod crew;
mod login;
mod shown;
mod status;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agent_loop::{Selection, Toolbox};
use futures_util::future::join_all;
use mcp_manager::{Lease, Manager, Pool};
use parking_lot::Mutex;
use serde_json::Value;

use crate::exit::{Exit, Failure};
use crate::home;
use crate::models::Choice;
use crate::serve::questions::Questions;
use crate::servers::{Host, connector};
use crate::settings::is_of_host;
use crate::store::{Assistant, Server, Store, StoreError, UserId};
use crate::workbench::{Wishes, select_servers};

pub(crate) use connection::Wanted;
pub(crate) use crew::Crew;
pub(crate) use shown::{HIDDEN, args, event, tools_event, value_shown};

/// How long a conversation waits for a server before it begins without it.
const START: Duration = Duration::from_secs(10);

/// The users' servers: a cheap clone.
///
/// Each user has one manager, so nothing of one user's reaches another. A server is
/// connected when somebody needs it, stays while a run holds a lease on it, and rests after 30
/// minutes without use. What it offers is kept until it says that it changed, or for 5 minutes.
#[derive(Clone)]
pub(crate) struct Fleet {
    store: Arc<dyn Store>,
    pool: Pool,
    questions: Questions,
    crews: Arc<Mutex<BTreeMap<UserId, Arc<Crew>>>>,
    /// The users who may use this machine as its owner does.
    trusted: Arc<[UserId]>,
}

/// The tools of a run, there for as long as this is.
pub(crate) struct Equipment {
    pub(crate) tools: Arc<dyn Toolbox>,
    /// Which of them the run may use.
    pub(crate) selection: Selection,
    /// All stored servers of the user.
    pub(crate) servers: Vec<Server>,
    /// What people should know.
    pub(crate) notices: Vec<String>,
    _leases: Vec<Lease>,
}

impl Fleet {
    /// The users among `trusted`, and the owner, may use this machine.
    pub(crate) fn new(store: Arc<dyn Store>, questions: Questions, trusted: Arc<[UserId]>) -> Self {
        let asked = questions.clone();
        let make = move |user: &str| {
            let user = UserId::new(user);
            Manager::builder()
                .connector(connector(&user, None))
                .elicitation(asked.asker(&user))
        };
        Self {
            store,
            pool: Pool::new(make),
            questions,
            crews: Arc::default(),
            trusted,
        }
    }

    /// Whether a user may use this machine.
    pub(crate) fn host(&self, user: &UserId) -> Host {
        match *user == UserId::local() || self.trusted.contains(user) {
            true => Host::Allowed,
            false => Host::Forbidden,
        }
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

    /// A user's servers. Must be called within a tokio runtime.
    pub(crate) fn crew(&self, user: &UserId) -> Arc<Crew> {
        let mut crews = self.crews.lock();
        let made = || {
            let manager = self.pool.manager(user.as_str());
            Crew::new(
                user,
                &self.store,
                manager,
                self.questions.clone(),
                self.host(user),
            )
        };
        Arc::clone(crews.entry(user.clone()).or_insert_with(made))
    }

    /// The tools a conversation or its assistant may use, connected.
    pub(crate) async fn equip(
        &self,
        user: &UserId,
        wishes: &Wishes,
        assistant: Option<&Assistant>,
        choice: &Choice,
    ) -> Result<Equipment, Failure> {
        let host = self.host(user);
        let selected = select_servers(&*self.store, user, wishes, assistant, choice, host).await?;
        let tools = self.crew(user).toolbox();
        let mut notices = selected.notices;
        let leases = selected.configs.into_iter().map(|config| async move {
            let name = config.name().to_string();
            let lease = self.pool.lease(user.as_str(), config);
            (name, tokio::time::timeout(START, lease).await)
        });
        let (mut names, mut held) = (Vec::new(), Vec::new());
        for (name, lease) in join_all(leases).await {
            match lease {
                Ok(Ok(lease)) => held.push(lease),
                Ok(Err(error)) => {
                    let failure = Failure::new(Exit::Unreachable, format!("{name} is not there"));
                    notices.push(failure.caused_by(error).chain());
                }
                Err(_) => notices.push(format!("{name} is still starting; its tools come later")),
            }
            names.push(name);
        }
        Ok(Equipment {
            tools,
            selection: Selection::only(names),
            servers: selected.rows,
            notices,
            _leases: held,
        })
    }

    /// Ends everything, and returns when no process is left.
    pub(crate) async fn close(&self) {
        self.crews.lock().clear();
        self.pool.shutdown().await;
    }
}

impl std::fmt::Debug for Fleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fleet")
            .field("pool", &self.pool)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Limits, SqliteStore};

    /// Connect within 30 s, tools kept for 5 min, idle after 30 min, each user apart.
    #[tokio::test]
    async fn the_default_time_limits_hold_and_each_user_has_one_manager() {
        let store = SqliteStore::in_memory(Limits::default()).await.unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let fleet = Fleet::new(store, Questions::default(), Arc::default());
        let (ann, bob) = (UserId::new("ann"), UserId::new("bob"));
        let crew = fleet.crew(&ann);
        let limits = crew.manager().limits();
        let minutes = |count: u64| Duration::from_secs(60 * count);
        assert_eq!(limits.connect_time(), Duration::from_secs(30));
        assert_eq!(limits.list_ttl(), minutes(5));
        assert_eq!(limits.idle_time(), minutes(30));
        assert!(Arc::ptr_eq(&crew, &fleet.crew(&ann)));
        assert!(!Arc::ptr_eq(&crew, &fleet.crew(&bob)));
        fleet.close().await;
    }
}
