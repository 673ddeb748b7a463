//! Servers that a team shares: one entry, made by an owner, that each user's list follows. Where it
//! is comes from the entry; credentials, approvals and switches are each user's own.

use std::collections::BTreeSet;

use crate::store::{Change, Server, ServerId, Store, StoreError, StoredValue, UserId};

/// Brings a user's servers in line with the team's entries.
pub(crate) async fn follow(store: &dyn Store, user: &UserId) -> Result<(), StoreError> {
    if *user == UserId::team() {
        return Ok(());
    }
    let entries = store.servers(&UserId::team()).await?;
    let own = store.servers(user).await?;
    let changes = plan(user, &entries, &own);
    match changes.is_empty() {
        true => Ok(()),
        false => match store.commit(changes).await {
            // Another request was faster; the next one sees.
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error),
        },
    }
}

/// What a user's servers lack, have otherwise, or have too many of.
fn plan(user: &UserId, entries: &[Server], own: &[Server]) -> Vec<Change> {
    let mut changes = Vec::new();
    let ids: BTreeSet<&ServerId> = entries.iter().map(|entry| &entry.id).collect();
    for row in own {
        if row.shared_id.as_ref().is_some_and(|id| !ids.contains(id)) {
            changes.push(Change::DeleteServer(user.clone(), row.id.clone()));
        }
    }
    let mut names: BTreeSet<String> = own.iter().map(|row| row.name.clone()).collect();
    for entry in entries {
        let there = own
            .iter()
            .find(|row| row.shared_id.as_ref() == Some(&entry.id));
        match there {
            Some(row) => {
                let mut wanted = row.clone();
                endpoint(&mut wanted, entry);
                wanted.changed_from(row);
                if wanted != *row {
                    changes.push(Change::PutServer(Box::new(wanted)));
                }
            }
            None => {
                let free = |name: &String| !names.contains(name);
                let mut tries = std::iter::once(entry.name.clone())
                    .chain((2..100).map(|n| format!("{}-{n}", entry.name)));
                let Some(name) = tries.find(free) else {
                    continue;
                };
                names.insert(name.clone());
                let mut row = Server::new(user.clone(), name, entry.kind);
                row.shared_id = Some(entry.id.clone());
                row.source = Some("team".to_owned());
                row.trust = entry.trust;
                row.sort = entry.sort;
                row.plain_values = true;
                endpoint(&mut row, entry);
                changes.push(Change::PutServer(Box::new(row)));
            }
        }
    }
    changes
}

/// Takes over where the entry is. Headers of the user's own stay, and references to what is the
/// machine's are not passed on.
fn endpoint(row: &mut Server, entry: &Server) {
    row.kind = entry.kind;
    row.base_url.clone_from(&entry.base_url);
    for (name, value) in &entry.headers {
        if matches!(value, StoredValue::Plain(_)) && !row.headers.contains_key(name) {
            row.headers.insert(name.clone(), value.clone());
            row.plain_values = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ServerKind;

    fn entry(name: &str, url: &str) -> Server {
        let mut row = Server::new(UserId::team(), name, ServerKind::StreamableHttp);
        row.base_url = Some(url.to_owned());
        row
    }

    fn applied(own: &[Server], changes: Vec<Change>) -> Vec<Server> {
        let mut rows = own.to_vec();
        for change in changes {
            match change {
                Change::PutServer(row) => {
                    rows.retain(|other| other.id != row.id);
                    rows.push(*row);
                }
                Change::DeleteServer(_, id) => rows.retain(|row| row.id != id),
                other => panic!("{other:?}"),
            }
        }
        rows
    }

    #[test]
    fn a_users_list_follows_the_teams_and_keeps_what_is_the_users_own() {
        let bob = UserId::new("bob");
        let mut mine = Server::new(bob.clone(), "wiki", ServerKind::Auto);
        mine.base_url = Some("https://mine.example".to_owned());
        let mut wiki = entry("wiki", "https://wiki.example/mcp");
        let own = [mine.clone()];
        let changes = plan(&bob, std::slice::from_ref(&wiki), &own);
        let mut own = applied(&own, changes);
        assert_eq!(own.len(), 2);
        assert_eq!(own[0], mine, "a server of the same name stays the user's");
        assert_eq!(
            (own[1].name.as_str(), own[1].shared_id.as_ref()),
            ("wiki-2", Some(&wiki.id))
        );
        assert!(
            plan(&bob, std::slice::from_ref(&wiki), &own).is_empty(),
            "once is enough"
        );
        let secret = StoredValue::Keyring("server/x/header-a".to_owned());
        own[1]
            .headers
            .insert("Authorization".to_owned(), secret.clone());
        own[1].disabled_tools = vec!["delete".to_owned()];
        wiki.base_url = Some("https://new.example/mcp".to_owned());
        let changes = plan(&bob, std::slice::from_ref(&wiki), &own);
        let own = applied(&own, changes);
        let followed = own.iter().find(|row| row.shared_id.is_some()).unwrap();
        assert_eq!(followed.base_url, wiki.base_url);
        assert_eq!(followed.headers.get("Authorization"), Some(&secret));
        assert_eq!(followed.disabled_tools, ["delete"]);
        let own = applied(&own, plan(&bob, &[], &own));
        assert_eq!(own, [mine]);
    }

    #[test]
    fn a_credential_of_the_owners_is_not_passed_on() {
        let mut wiki = entry("wiki", "https://wiki.example/mcp");
        let key = StoredValue::Env("WIKI_KEY".to_owned());
        wiki.headers.insert("Authorization".to_owned(), key);
        let team = StoredValue::Plain("docs".to_owned());
        wiki.headers.insert("X-Space".to_owned(), team.clone());
        let own = applied(&[], plan(&UserId::new("bob"), &[wiki], &[]));
        let headers: Vec<_> = own[0].headers.iter().collect();
        assert_eq!(headers, [(&"X-Space".to_owned(), &team)]);
    }
}
