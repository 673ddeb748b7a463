//! Processes that share a PostgreSQL database: what dead ones leave behind, and what they ask of
//! each other.

use std::time::Duration;

use switchboard::store::{
    Change, Cluster, Conversation, ConversationId, LeaseId, Orphan, PostgresLimits, PostgresStore,
    RemoteCommand, Run, Setting, Store, StoreError, UserId,
};
use tokio_postgres::NoTls;

use super::postgres::Server;

/// The shortest lease there is.
const LEASE: Duration = Duration::from_secs(1);

async fn open(url: &str) -> PostgresStore {
    let limits = PostgresLimits::default().with_connections(4);
    let limits = limits.with_lease_timeout(LEASE);
    PostgresStore::open(url, limits).await.unwrap()
}

/// A conversation whose answer a process drives.
async fn driven(store: &PostgresStore) -> (ConversationId, LeaseId) {
    let talk = Conversation::new(UserId::local(), "talk");
    let (id, lease) = (talk.id.clone(), LeaseId::fresh());
    let changes = vec![
        Change::PutConversation(talk),
        Change::AcquireLease {
            conversation: id.clone(),
            id: lease.clone(),
            holder: store.holder().clone(),
            timeout: LEASE,
            known: None,
        },
        Change::PutRun(Box::new(Run::new(id.clone(), "{}"))),
    ];
    store.commit(changes).await.unwrap();
    (id, lease)
}

fn ids(claimed: Vec<Orphan>) -> Vec<ConversationId> {
    claimed.into_iter().map(|it| it.conversation).collect()
}

async fn claim(store: &PostgresStore, driven: &[ConversationId]) -> Vec<Orphan> {
    let users = [UserId::local()];
    store.claim(&users, driven, 10).await.unwrap()
}

/// The same, until there is something: a process is not known to be dead before its time is over.
async fn claim_some(store: &PostgresStore, driven: &[ConversationId]) -> Vec<Orphan> {
    let mut mail = store.mail();
    loop {
        let claimed = claim(store, driven).await;
        if !claimed.is_empty() {
            return claimed;
        }
        let _ = tokio::time::timeout(LEASE / 10, mail.changed()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_dead_process_drove_is_claimed_once_and_it_writes_nothing_more() {
    let Some(server) = Server::find().await else {
        return;
    };
    let url = server.database().await;
    let (alive, other) = (open(&url).await, open(&url).await);
    let (own, _) = driven(&alive).await;
    let (left, lease) = {
        let dying = open(&url).await;
        driven(&dying).await
    };
    let claimed = claim_some(&alive, std::slice::from_ref(&own)).await;
    assert_eq!((&claimed[0].conversation, claimed[0].deaths), (&left, 1));
    assert_eq!(claimed.len(), 1, "what is driven here is left alone");
    assert_eq!(claim(&other, &[]).await, [], "no two get the same");
    let late = vec![
        Change::RenewLease(left.clone(), lease),
        Change::PutSetting(Setting::new(UserId::local(), "model", "late")),
    ];
    let refused = alive.commit(late).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::Conflict { what: "lease" }),
        "{refused:?}"
    );
    assert_eq!(
        alive.driver(&left).await.unwrap().as_ref(),
        Some(alive.holder())
    );
    // A process that ends properly hands over at once.
    alive.close().await.unwrap();
    let claimed = claim(&other, &[]).await;
    assert_eq!(claimed.len(), 2, "{claimed:?}");
    assert!(claimed.iter().all(|orphan| orphan.deaths == 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_waits_for_no_other_transaction_and_finds_later_what_it_passed_over() {
    let Some(server) = Server::find().await else {
        return;
    };
    let url = server.database().await;
    let alive = open(&url).await;
    let ((busy, _), (free, _)) = {
        let dying = open(&url).await;
        (driven(&dying).await, driven(&dying).await)
    };
    // As a commit that is about to move the run on.
    let (mut client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let commit = client.transaction().await.unwrap();
    let sql = "SELECT holder FROM leases WHERE conversation_id = $1 FOR UPDATE";
    commit.query_one(sql, &[&busy.as_str()]).await.unwrap();
    let first = claim_some(&alive, &[]).await;
    assert_eq!(ids(first), [free.clone()]);
    commit.rollback().await.unwrap();
    assert_eq!(ids(claim(&alive, &[free]).await), [busy]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_does_not_take_from_itself_what_it_has_begun_to_drive_meanwhile() {
    let Some(server) = Server::find().await else {
        return;
    };
    let store = open(&server.database().await).await;
    let (talk, lease) = driven(&store).await;
    // As one that began between the look at what is driven and the claim.
    let claimed = claim(&store, &[]).await;
    assert_eq!((claimed.len(), claimed[0].deaths), (1, 0));
    let renew = Change::RenewLease(talk, lease);
    store.commit(vec![renew]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_reaches_the_process_it_is_for_once_and_its_answer_comes_back() {
    let Some(server) = Server::find().await else {
        return;
    };
    let url = server.database().await;
    let (asks, drives) = (open(&url).await, open(&url).await);
    let (talk, _) = driven(&drives).await;
    let driver = asks.driver(&talk).await.unwrap().unwrap();
    assert_eq!(&driver, drives.holder());
    let (from, to) = (asks.holder().clone(), driver);
    let of = (UserId::local(), talk);
    let command = RemoteCommand::new(of, (from, to), "{\"stop\":\"\0\"}".to_owned());
    asks.send(&command).await.unwrap();
    assert_eq!(asks.take().await.unwrap(), []);
    let taken = drives.take().await.unwrap();
    assert_eq!(taken, std::slice::from_ref(&command));
    assert_eq!(drives.take().await.unwrap(), [], "taken once");
    assert_eq!(asks.answer_to(&command.id).await.unwrap(), None);
    drives.answer(&command, "done").await.unwrap();
    let answer = asks.answer_to(&command.id).await.unwrap();
    assert_eq!(answer.as_deref(), Some("done"));
    asks.forget(&command.id).await.unwrap();
    assert_eq!(asks.answer_to(&command.id).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_is_taken_or_withdrawn_and_a_dead_process_is_known_to_be_over() {
    let Some(server) = Server::find().await else {
        return;
    };
    let url = server.database().await;
    let (sender, receiver) = (open(&url).await, open(&url).await);
    let (conversation, _) = driven(&receiver).await;
    let command = || {
        let of = (UserId::local(), conversation.clone());
        let ends = (sender.holder().clone(), receiver.holder().clone());
        RemoteCommand::new(of, ends, "{}".to_owned())
    };
    let (one, two) = (command(), command());
    sender.send(&one).await.unwrap();
    assert!(sender.withdraw(&one.id).await.unwrap());
    assert!(!sender.withdraw(&one.id).await.unwrap(), "it is gone");
    sender.send(&two).await.unwrap();
    assert_eq!(receiver.take().await.unwrap(), std::slice::from_ref(&two));
    assert!(!sender.withdraw(&two.id).await.unwrap(), "it was taken");
    assert!(!sender.is_over(receiver.holder()).await.unwrap());
    let gone = receiver.holder().clone();
    receiver.close().await.unwrap();
    assert!(sender.is_over(&gone).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_of_dead_processes_that_no_one_is_to_take_over_are_removed() {
    let Some(server) = Server::find().await else {
        return;
    };
    let url = server.database().await;
    let alive = open(&url).await;
    let (open_one, _) = driven(&alive).await;
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let (left, _) = driven(&alive).await;
    // As a process leaves it that died between its answer's end and the lease's.
    for sql in [
        "UPDATE leases SET holder = 'dead' WHERE conversation_id = $1",
        "UPDATE runs SET finish = 'stop' WHERE conversation_id = $1",
    ] {
        client.execute(sql, &[&left.as_str()]).await.unwrap();
    }
    // Another process looks when it begins.
    let _next = open(&url).await;
    loop {
        let driver = alive.driver(&left).await.unwrap();
        if driver.is_none() {
            break;
        }
        tokio::task::yield_now().await;
    }
    let kept = alive.driver(&open_one).await.unwrap();
    assert_eq!(kept.as_ref(), Some(alive.holder()));
}
