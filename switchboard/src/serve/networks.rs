//! Where the requests of users may go: of those who may use this machine, anywhere; of others, to
//! public addresses, into networks that its owner allows, and to the servers that their team shares.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use mcp_auth::PublicNetwork;
use parking_lot::RwLock;

use crate::serve::reach::Network;
use crate::servers::Host;
use crate::store::{Store, StoreError, UserId};

/// Where the requests of users may go. A cheap clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Networks {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Private networks that are open to all.
    allowed: Vec<Network>,
    /// The addresses of the servers that the team shares, which owners have named.
    team: RwLock<BTreeSet<String>>,
}

impl Networks {
    /// Public addresses, and these networks.
    pub(crate) fn allowing(allowed: Vec<Network>) -> Self {
        let shared = Shared {
            allowed,
            ..Shared::default()
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// What a user may reach by an address of their own; anything if that is nothing.
    pub(crate) fn of(&self, host: Host) -> Option<PublicNetwork> {
        if host == Host::Allowed {
            return None;
        }
        let shared = Arc::clone(&self.shared);
        let allowed = move |address: IpAddr| {
            let mut networks = shared.allowed.iter();
            networks.any(|network| network.contains(address))
        };
        Some(PublicNetwork::allowing(allowed))
    }

    /// The same for a server, which the team may share.
    pub(crate) fn of_server(&self, host: Host, url: &str) -> Option<PublicNetwork> {
        match self.shared.team.read().contains(url) {
            true => None,
            false => self.of(host),
        }
    }

    /// Takes over where the servers are that the team shares.
    pub(crate) async fn learn_team(&self, store: &dyn Store) -> Result<(), StoreError> {
        let entries = store.servers(&UserId::team()).await?;
        let urls = entries.into_iter().filter_map(|entry| entry.base_url);
        *self.shared.team.write() = urls.collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Change, Limits, Server, ServerKind, SqliteStore, User};

    #[tokio::test]
    async fn users_without_the_machine_reach_public_addresses_and_what_owners_name() {
        let networks = Networks::allowing(vec!["10.1.0.0/16".parse().unwrap()]);
        assert!(networks.of(Host::Allowed).is_none());
        let reaches = |url: &str| match networks.of_server(Host::Forbidden, url) {
            None => true,
            Some(network) => network.check(url).is_ok(),
        };
        let wiki = "http://192.168.7.7/mcp";
        assert!(reaches("https://8.8.8.8/mcp") && reaches("http://10.1.2.3/mcp"));
        assert!(!reaches("http://10.2.2.3/mcp") && !reaches("http://127.0.0.1:5432/"));
        assert!(!reaches(wiki));
        let store = SqliteStore::in_memory(Limits::default()).await.unwrap();
        let mut entry = Server::new(UserId::team(), "wiki", ServerKind::Auto);
        entry.base_url = Some(wiki.to_owned());
        let team = Change::PutUser(User::new(UserId::team(), "team"));
        let changes = vec![team, Change::PutServer(Box::new(entry))];
        store.commit(changes).await.unwrap();
        networks.learn_team(&store).await.unwrap();
        assert!(reaches(wiki) && !reaches("http://192.168.7.7/admin"));
    }
}
