//! Who is served, and whose servers may use the machine.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::RwLock;
use tokio::sync::watch;

use crate::serve::networks::Networks;
use crate::servers::{Host, NetworkOf};
use crate::store::{TeamRole, User, UserId};

/// The people who are served. A cheap clone.
///
/// On this machine alone they are fixed: those who were named at the start. A team's come and go,
/// and are read from the store.
#[derive(Clone, Debug)]
pub(crate) struct People {
    shared: Arc<Shared>,
    networks: Networks,
}

#[derive(Debug)]
struct Shared {
    is_team: bool,
    /// Users, or addresses of a team's, who may use the machine.
    trusted: Vec<String>,
    known: RwLock<Known>,
    /// Counts when someone may do less than before.
    lost: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Known {
    /// Whose answers go on.
    served: Vec<UserId>,
    hosts: BTreeSet<UserId>,
    blocked: BTreeSet<UserId>,
}

impl People {
    /// These users, of whom the local one and those `trusted` may use the machine.
    pub(crate) fn fixed(users: Vec<UserId>, trusted: Vec<String>) -> Self {
        let may = |user: &&UserId| {
            **user == UserId::local() || trusted.iter().any(|name| name == user.as_str())
        };
        let mut hosts: BTreeSet<UserId> = users.iter().filter(may).cloned().collect();
        hosts.insert(UserId::local());
        Self::new(
            false,
            trusted,
            Known {
                served: users,
                hosts,
                ..Known::default()
            },
        )
    }

    /// A team: whoever the store has, once it was read.
    pub(crate) fn team(trusted: Vec<String>) -> Self {
        Self::new(true, trusted, Known::default())
    }

    fn new(is_team: bool, trusted: Vec<String>, known: Known) -> Self {
        let shared = Shared {
            is_team,
            trusted,
            known: RwLock::new(known),
            lost: watch::Sender::new(0),
        };
        Self {
            shared: Arc::new(shared),
            networks: Networks::default(),
        }
    }

    /// Their requests may go there.
    #[must_use]
    pub(crate) fn with_networks(mut self, networks: Networks) -> Self {
        self.networks = networks;
        self
    }

    pub(crate) fn networks(&self) -> &Networks {
        &self.networks
    }

    /// Where requests to a user's servers may go.
    pub(crate) fn network_of(&self, user: &UserId) -> NetworkOf {
        let (people, user) = (self.clone(), user.clone());
        NetworkOf::new(move |url| people.networks.of_server(people.host(&user), url))
    }

    pub(crate) fn is_team(&self) -> bool {
        self.shared.is_team
    }

    /// Takes over what the store says of a team.
    pub(crate) fn refresh(&self, users: &[User]) {
        if !self.shared.is_team {
            return;
        }
        let ids = |is: &dyn Fn(&User) -> bool| -> Vec<UserId> {
            let those = users.iter().filter(|user| is(user));
            those.map(|user| user.id.clone()).collect()
        };
        let now = Known {
            served: ids(&|user| !user.is_blocked),
            hosts: ids(&|user| self.may_use_host(user)).into_iter().collect(),
            blocked: ids(&|user| user.is_blocked).into_iter().collect(),
        };
        let mut known = self.shared.known.write();
        let lost = !known.hosts.is_subset(&now.hosts) || !now.blocked.is_subset(&known.blocked);
        *known = now;
        drop(known);
        if lost {
            self.shared.lost.send_modify(|count| *count += 1);
        }
    }

    /// Takes over what the store says of one user.
    pub(crate) fn note(&self, user: &User) {
        if !self.shared.is_team {
            return;
        }
        let (may, blocked) = (self.may_use_host(user), user.is_blocked);
        let is = |known: &Known| {
            let hosts = known.hosts.contains(&user.id);
            (hosts, known.blocked.contains(&user.id))
        };
        if is(&self.shared.known.read()) == (may, blocked) {
            return;
        }
        let mut known = self.shared.known.write();
        let before = is(&known);
        let set = |ids: &mut BTreeSet<UserId>, is: bool| match is {
            true => drop(ids.insert(user.id.clone())),
            false => drop(ids.remove(&user.id)),
        };
        set(&mut known.hosts, may);
        set(&mut known.blocked, blocked);
        drop(known);
        if (before.0 && !may) || (blocked && !before.1) {
            self.shared.lost.send_modify(|count| *count += 1);
        }
    }

    /// Changes whenever someone may do less than before.
    pub(crate) fn lost(&self) -> watch::Receiver<u64> {
        self.shared.lost.subscribe()
    }

    /// Who may not come in.
    pub(crate) fn blocked(&self) -> Vec<UserId> {
        let known = self.shared.known.read();
        known.blocked.iter().cloned().collect()
    }

    /// An owner may use the machine, and whom an owner allows it.
    fn may_use_host(&self, user: &User) -> bool {
        let named = |name: &String| {
            let same = |email: &String| email.eq_ignore_ascii_case(name);
            name == user.id.as_str() || user.email.as_ref().is_some_and(same)
        };
        !user.is_blocked
            && (user.role == TeamRole::Owner
                || user.uses_host
                || self.shared.trusted.iter().any(named))
    }

    /// Whether a user's servers may use the machine.
    pub(crate) fn host(&self, user: &UserId) -> Host {
        match self.shared.known.read().hosts.contains(user) {
            true => Host::Allowed,
            false => Host::Forbidden,
        }
    }

    /// Whether someone of this id is served.
    pub(crate) fn serves(&self, user: &UserId) -> bool {
        self.shared.is_team || self.shared.known.read().served.contains(user)
    }

    pub(crate) fn served(&self) -> Vec<UserId> {
        self.shared.known.read().served.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_and_those_they_allow_use_the_machine_until_they_may_not() {
        let people = People::team(vec!["Cid@Team.example".to_owned()]);
        let user = |id: &str, role| {
            let mut user = User::new(UserId::new(id), id);
            user.email = Some(format!("{id}@team.example"));
            user.role = role;
            user
        };
        let (owner, cid) = (user("ann", TeamRole::Owner), user("cid", TeamRole::Member));
        let mut bob = user("bob", TeamRole::Member);
        people.refresh(&[owner.clone(), bob.clone(), cid.clone()]);
        assert_eq!(people.host(&owner.id), Host::Allowed);
        assert_eq!(people.host(&cid.id), Host::Allowed);
        assert_eq!(people.host(&bob.id), Host::Forbidden);
        bob.uses_host = true;
        people.note(&bob);
        assert_eq!(people.host(&bob.id), Host::Allowed);
        let mut lost = people.lost();
        people.note(&bob);
        assert!(!lost.has_changed().unwrap(), "nothing is lost");
        bob.is_blocked = true;
        people.note(&bob);
        assert!(lost.has_changed().unwrap());
        lost.mark_unchanged();
        people.refresh(&[owner.clone(), bob.clone(), cid.clone()]);
        assert!(!lost.has_changed().unwrap(), "it is known");
        assert_eq!(people.blocked(), [bob.id.clone()]);
        assert!(!people.served().contains(&bob.id));
        people.refresh(&[owner, bob.clone(), User::new(cid.id, "cid")]);
        assert!(lost.has_changed().unwrap());
        assert_eq!(people.host(&bob.id), Host::Forbidden);
        assert_eq!(people.host(&UserId::local()), Host::Forbidden);
    }
}
