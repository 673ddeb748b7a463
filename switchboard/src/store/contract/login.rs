//! Who may come in.

use crate::store::contract::{fails, other_user};
use crate::store::{
    AccessToken, Arrival, Change, LoginAttempt, LoginChange, LoginSession, Store, StoreError,
    TeamRole, Timestamp, TokenScope, User, UserEdit, UserId,
};

type Outcome = Result<(), StoreError>;

fn later() -> Timestamp {
    Timestamp::from_millis(Timestamp::now().as_millis() + 3_600_000)
}

fn session(hash: &str, user: &UserId) -> LoginSession {
    LoginSession::new(hash, user.clone(), later())
}

async fn change(store: &dyn Store, change: LoginChange) -> Outcome {
    store.commit(vec![Change::Login(change)]).await.map(drop)
}

pub(super) async fn a_session_and_a_token_are_found_by_their_hash_with_their_user(
    store: &dyn Store,
) -> Outcome {
    let other = other_user(store).await?;
    let mut user = User::new(other.clone(), "Ann");
    user.role = TeamRole::Viewer;
    user.email = Some("ann@team.example".to_owned());
    (user.is_blocked, user.uses_host) = (true, true);
    user.seen_at = Some(Timestamp::now());
    store.commit(vec![Change::PutUser(user.clone())]).await?;
    let mut held = session("s", &other);
    change(store, LoginChange::PutSession(held.clone())).await?;
    held.seen_at = later();
    change(store, LoginChange::PutSession(held.clone())).await?;
    assert_eq!(
        store.login_session("s").await?,
        Some((held.clone(), user.clone()))
    );
    assert_eq!(store.login_session("t").await?, None);
    let stolen = LoginSession {
        user_id: UserId::local(),
        ..held
    };
    let stolen = vec![Change::Login(LoginChange::PutSession(stolen))];
    fails!(store, stolen, StoreError::Conflict { .. });
    let mut token = AccessToken::new(other.clone(), "ci", "h", TokenScope::Chat, Some(later()));
    change(store, LoginChange::PutToken(token.clone())).await?;
    change(store, LoginChange::UsedToken(token.id.clone(), later())).await?;
    let listed = store.access_tokens(&other).await?;
    token.used_at = listed.first().and_then(|token| token.used_at);
    assert!(token.used_at.is_some());
    let found = store.access_token("h").await?;
    assert_eq!(found, Some((token.clone(), user)));
    let twin = AccessToken::new(other.clone(), "ci", "i", TokenScope::Read, None);
    let twin = vec![Change::Login(LoginChange::PutToken(twin))];
    fails!(store, twin, StoreError::Conflict { .. });
    let not_mine = LoginChange::DeleteToken(UserId::local(), token.id.clone());
    change(store, not_mine).await?;
    assert_eq!(store.access_tokens(&other).await?.len(), 1);
    change(store, LoginChange::DeleteToken(other, token.id)).await?;
    assert_eq!(store.access_token("h").await?, None);
    Ok(())
}

pub(super) async fn a_session_that_has_ended_is_not_begun_again_by_its_last_use(
    store: &dyn Store,
) -> Outcome {
    let held = session("s", &UserId::local());
    change(store, LoginChange::PutSession(held.clone())).await?;
    change(store, LoginChange::UsedSession("s".to_owned(), later())).await?;
    let found = store.login_session("s").await?.map(|(found, _)| found);
    assert!(found.is_some_and(|found| found.seen_at > held.seen_at));
    change(store, LoginChange::EndSession("s".to_owned())).await?;
    // A request that came before the logout was read is answered now.
    change(store, LoginChange::UsedSession("s".to_owned(), later())).await?;
    assert_eq!(store.login_session("s").await?, None);
    Ok(())
}

pub(super) async fn a_login_undoes_nothing_that_an_owner_decides_meanwhile(
    store: &dyn Store,
) -> Outcome {
    let (id, issuer) = (UserId::new("ann"), "https://id.example");
    let mut arrival = Arrival::new(id.clone(), "Ann", (issuer, "1"));
    arrival.email = Some("ann@team.example".to_owned());
    let come = |arrival: &Arrival, hash: &str| {
        let came = LoginChange::CameIn(arrival.clone());
        let begun = LoginChange::PutSession(session(hash, &arrival.id));
        vec![Change::Login(came), Change::Login(begun)]
    };
    let edit = async |edit: UserEdit| store.commit(vec![Change::EditUser(id.clone(), edit)]).await;
    let found = async || {
        let users = store.users().await?;
        Ok::<Option<User>, StoreError>(users.into_iter().find(|user| user.id == id))
    };
    store.commit(come(&arrival, "a")).await?;
    let new = found().await?.ok_or(StoreError::Closed)?;
    assert_eq!((new.role, new.is_blocked), (TeamRole::Member, false));
    assert!(new.seen_at.is_some());
    // An owner blocks them while they log in once more.
    let blocked = UserEdit {
        is_blocked: Some(true),
        ..UserEdit::default()
    };
    edit(blocked).await?;
    assert_eq!(store.login_session("a").await?, None, "their sessions end");
    fails!(
        store,
        come(&arrival, "b"),
        StoreError::Conflict { what: "user" }
    );
    assert_eq!(store.login_session("b").await?, None);
    let demoted = UserEdit {
        role: Some(TeamRole::Viewer),
        is_blocked: Some(false),
        uses_host: Some(true),
        ..UserEdit::default()
    };
    edit(demoted).await?;
    (arrival.name, arrival.email) = ("Anna".to_owned(), None);
    store.commit(come(&arrival, "c")).await?;
    let user = found().await?.ok_or(StoreError::Closed)?;
    assert_eq!((user.role, user.uses_host), (TeamRole::Viewer, true));
    assert_eq!(user.name, "Anna");
    assert_eq!(user.email.as_deref(), Some("ann@team.example"));
    // What the issuer's groups give counts.
    arrival.role = Some(TeamRole::Owner);
    store.commit(come(&arrival, "d")).await?;
    assert_eq!(found().await?.map(|user| user.role), Some(TeamRole::Owner));
    let other = Arrival::new(id.clone(), "Eve", (issuer, "2"));
    fails!(store, come(&other, "e"), StoreError::Conflict { .. });
    let unknown = Change::EditUser(UserId::new("none"), UserEdit::default());
    fails!(store, vec![unknown], StoreError::Missing { what: "user" });
    Ok(())
}

pub(super) async fn a_login_is_taken_once(store: &dyn Store) -> Outcome {
    let pair = |one: &str, two: &str| (one.to_owned(), two.to_owned());
    let attempt = LoginAttempt::new(pair("state", "browser"), pair("n", "v"), "#/tools", later());
    change(store, LoginChange::PutAttempt(attempt.clone())).await?;
    assert_eq!(store.login_attempt("state").await?, Some(attempt));
    let take = || vec![Change::Login(LoginChange::TakeAttempt("state".to_owned()))];
    store.commit(take()).await?;
    fails!(store, take(), StoreError::Conflict { .. });
    assert_eq!(store.login_attempt("state").await?, None);
    Ok(())
}

pub(super) async fn sessions_end_by_one_by_user_and_by_time(store: &dyn Store) -> Outcome {
    let (local, other) = (UserId::local(), other_user(store).await?);
    for (hash, user) in [("a", &local), ("b", &local), ("c", &other), ("d", &other)] {
        change(store, LoginChange::PutSession(session(hash, user))).await?;
    }
    let left = async || {
        let mut left = String::new();
        for hash in ["a", "b", "c", "d"] {
            if store.login_session(hash).await?.is_some() {
                left.push_str(hash);
            }
        }
        Ok::<String, StoreError>(left)
    };
    change(store, LoginChange::EndSession("a".to_owned())).await?;
    assert_eq!(left().await?, "bcd");
    change(store, LoginChange::EndSessions(other)).await?;
    assert_eq!(left().await?, "b");
    let now = Timestamp::now();
    change(store, LoginChange::Prune(now)).await?;
    assert_eq!(left().await?, "b");
    let much_later = Timestamp::from_millis(later().as_millis() + 1000);
    change(store, LoginChange::Prune(much_later)).await?;
    assert_eq!(left().await?, "");
    Ok(())
}

pub(super) async fn one_subject_is_one_user(store: &dyn Store) -> Outcome {
    let user = |id: &str, subject: &str| {
        let mut user = User::new(UserId::new(id), id);
        user.issuer = Some("https://id.example".to_owned());
        user.subject = Some(subject.to_owned());
        vec![Change::PutUser(user)]
    };
    store.commit(user("ann", "1")).await?;
    store.commit(user("ann", "1")).await?;
    fails!(store, user("eve", "1"), StoreError::Conflict { .. });
    store.commit(user("bob", "2")).await?;
    Ok(())
}
