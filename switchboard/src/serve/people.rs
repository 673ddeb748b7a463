//! Who is served, and whose servers may use the machine.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::servers::Host;
use crate::store::{TeamRole, User, UserId};

/// The people who are served. A cheap clone.
///
/// On this machine alone they are fixed: those who were named at the start. A team's come and go,
/// and are read from the store.
#[derive(Clone, Debug)]
pub(crate) struct People {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    is_team: bool,
    /// Users, or addresses of a team's, who may use the machine.
    trusted: Vec<String>,
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    served: Vec<UserId>,
    hosts: BTreeSet<UserId>,
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
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    pub(crate) fn is_team(&self) -> bool {
        self.shared.is_team
    }

    /// Takes over what the store says of a team.
    pub(crate) fn refresh(&self, users: &[User]) {
        if !self.shared.is_team {
            return;
        }
        let served = users.iter().map(|user| user.id.clone()).collect();
        let hosts = users.iter().filter(|user| self.may_use_host(user));
        let hosts = hosts.map(|user| user.id.clone()).collect();
        *self.shared.known.write() = Known { served, hosts };
    }

    /// Takes over what the store says of one user.
    pub(crate) fn note(&self, user: &User) {
        if !self.shared.is_team {
            return;
        }
        let may = self.may_use_host(user);
        if self.shared.known.read().hosts.contains(&user.id) == may {
            return;
        }
        let mut known = self.shared.known.write();
        match may {
            true => drop(known.hosts.insert(user.id.clone())),
            false => drop(known.hosts.remove(&user.id)),
        }
    }

    /// An owner may use the machine, and whom an owner allows it.
    fn may_use_host(&self, user: &User) -> bool {
        let named = |name: &String| {
            name == user.id.as_str() || user.email.as_ref().is_some_and(|email| email == name)
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
        let people = People::team(vec!["cid@team.example".to_owned()]);
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
        bob.is_blocked = true;
        people.note(&bob);
        assert_eq!(people.host(&bob.id), Host::Forbidden);
        assert_eq!(people.host(&UserId::local()), Host::Forbidden);
    }
}
