//! The store in a PostgreSQL database, and processes that share it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;
use switchboard::store::{
    Change, Conversation, ConversationId, LEASE_TIMEOUT, LeaseId, Message, NewEvent,
    PostgresLimits, PostgresStore, Role, Span, Store, StoreError, UserId, contract,
};
use tokio_postgres::{Client, NoTls};

use super::meddler::{Passed, error, meddle};
use crate::database::{self, Database};

/// A server for tests, and the databases that were made on it.
pub(super) struct Server {
    client: Client,
    url: String,
    made: Mutex<Vec<Database>>,
}

impl Server {
    pub(super) async fn find() -> Option<Self> {
        let url = database::server()?;
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        Some(Self {
            client,
            url,
            made: Mutex::default(),
        })
    }

    /// The address of a new, empty database.
    pub(super) async fn database(&self) -> String {
        let database = Database::make(&self.url);
        let url = database.url();
        self.made.lock().push(database);
        url
    }
}

async fn open(url: &str) -> PostgresStore {
    let limits = PostgresLimits::default().with_connections(4);
    PostgresStore::open(url, limits).await.unwrap()
}

async fn talk(store: &dyn Store) -> ConversationId {
    let talk = Conversation::new(UserId::local(), "talk");
    let id = talk.id.clone();
    let put = vec![Change::PutConversation(talk)];
    store.commit(put).await.unwrap();
    id
}

fn event(number: usize) -> Change {
    let data = serde_json::json!({ "number": number });
    Change::AppendEvent(NewEvent::new(UserId::local(), None, "test", data))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_keeps_the_contract() {
    let Some(server) = Server::find().await else {
        return;
    };
    let fresh = async || Arc::new(open(&server.database().await).await) as Arc<dyn Store>;
    contract::check(fresh).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_finds_every_event_of_two_processes_in_order() {
    let Some(server) = Server::find().await else {
        return;
    };
    const EACH: usize = 150;
    let url = server.database().await;
    let stores = [open(&url).await, open(&url).await];
    let reader = open(&url).await;
    let mut writers = tokio::task::JoinSet::new();
    for (place, store) in stores.iter().enumerate() {
        for lane in 0..3 {
            let store = store.clone();
            writers.spawn(async move {
                for number in 0..EACH / 3 {
                    let number = (place * 3 + lane) * EACH + number;
                    store.commit(vec![event(number)]).await.unwrap();
                }
            });
        }
    }
    // Reads on from the last number that it has seen, while the others write.
    let (user, mut seen, mut found) = (UserId::local(), 0, Vec::new());
    while found.len() < EACH * 2 {
        let new = reader.events(&user, None, seen, 50).await.unwrap();
        let done = writers.is_empty();
        for event in &new {
            assert!(event.seq > seen);
            seen = event.seq;
            found.push(event.data["number"].as_u64().unwrap());
        }
        assert!(!(done && new.is_empty()), "only {} were found", found.len());
        while let Some(written) = writers.try_join_next() {
            written.unwrap();
        }
    }
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), EACH * 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_hears_of_what_another_one_appends() {
    let Some(server) = Server::find().await else {
        return;
    };
    let url = server.database().await;
    let (first, second) = (open(&url).await, open(&url).await);
    let mut cursor = second.event_cursor();
    let user = UserId::local();
    // The other process may not listen yet: it hears of one of these.
    let appended = async {
        loop {
            first.commit(vec![event(1)]).await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        heard = cursor.appended(&user, None) => assert!(heard),
        () = appended => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_is_made_once_even_if_connections_are_cut() {
    let Some(server) = Server::find().await else {
        return;
    };
    const EACH: usize = 60;
    let url = server.database().await;
    let store = open(&url).await;
    let mut writers = tokio::task::JoinSet::new();
    for lane in 0..4 {
        let store = store.clone();
        writers.spawn(async move {
            for number in 0..EACH {
                store
                    .commit(vec![event(lane * EACH + number)])
                    .await
                    .unwrap();
            }
        });
    }
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'switchboard' AND datname = $1";
    let name = url.rsplit('/').next().unwrap();
    while !writers.is_empty() {
        server.client.query(cut, &[&name]).await.unwrap();
        for _ in 0..20 {
            if let Some(written) = writers.try_join_next() {
                written.unwrap();
            }
            store.users().await.unwrap();
        }
    }
    let events = store.events(&UserId::local(), None, 0, 1000).await.unwrap();
    let mut numbers: Vec<u64> = events
        .iter()
        .map(|event| event.data["number"].as_u64().unwrap())
        .collect();
    numbers.sort_unstable();
    let expected: Vec<u64> = (0..4 * EACH as u64).collect();
    assert_eq!(numbers, expected, "lost or doubled");
}

/// As a pool does whose server dies once it has committed: the answer to a commit is an error with the
/// code of a lost connection. Returns the port, and how many answers are still to be lost.
async fn losing_pool(server: &str) -> (u16, Arc<AtomicUsize>) {
    let left = Arc::new(AtomicUsize::new(0));
    let shared = Arc::clone(&left);
    let port = meddle(server, move |kind, body| {
        let less = |left: usize| left.checked_sub(1);
        if (*kind, &**body) != (b'C', b"COMMIT\0")
            || shared.fetch_update(Relaxed, Relaxed, less).is_err()
        {
            return Passed::On;
        }
        (*kind, *body) = error("08P01", "server conn crashed?");
        Passed::Last
    });
    (port.await, left)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_is_made_once_even_if_a_pool_reports_its_servers_loss_by_a_code() {
    let Some(server) = Server::find().await else {
        return;
    };
    let url = server.database().await;
    let name = url.rsplit('/').next().unwrap();
    let (port, left) = losing_pool(&url).await;
    let url = format!("postgres://postgres@127.0.0.1:{port}/{name}?sslmode=disable");
    let store = open(&url).await;
    for number in 0..5 {
        left.store(1, Relaxed);
        store.commit(vec![event(number)]).await.unwrap();
        assert_eq!(left.load(Relaxed), 0, "the answer was lost");
    }
    let events = store.events(&UserId::local(), None, 0, 100).await.unwrap();
    let numbers: Vec<_> = events.iter().map(|it| it.data["number"].clone()).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_pool_the_contract_holds_and_nothing_is_made_twice() {
    let (Some(server), Some(pool)) = (Server::find().await, database::pool()) else {
        return;
    };
    let behind = async || {
        let url = server.database().await;
        let name = url.rsplit('/').next().unwrap();
        let (pool, _) = pool.rsplit_once('/').unwrap();
        format!("{pool}/{name}")
    };
    // Each finds out first that it hears nothing, which takes a second.
    let opened = futures_util::future::join_all(
        (0..50).map(|_| async { Arc::new(open(&behind().await).await) as Arc<dyn Store> }),
    );
    let opened = Mutex::new(opened.await);
    let fresh = async || {
        let next = opened.lock().pop();
        next.expect("more claims than stores: open more")
    };
    contract::check(fresh).await.unwrap();
    let url = behind().await;
    let store = open(&url).await;
    let warning = store.cluster().unwrap().silence().await;
    assert!(
        warning.is_some_and(|it| it.contains("PgBouncer")),
        "{warning:?}"
    );
    // Its servers are lost, whatever they do.
    let (mut events, name) = (0..40, url.rsplit('/').next().unwrap());
    let mut commits = tokio::task::JoinSet::new();
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1";
    loop {
        for number in events.by_ref().take(4) {
            let store = store.clone();
            commits.spawn(async move { store.commit(vec![event(number)]).await });
        }
        server.client.query(cut, &[&name]).await.unwrap();
        match commits.join_next().await {
            Some(made) => drop(made.unwrap().unwrap()),
            None => break,
        }
    }
    let found = store.events(&UserId::local(), None, 0, 100).await.unwrap();
    let mut numbers: Vec<_> = found.iter().map(|it| it.data["number"].as_u64()).collect();
    numbers.sort_unstable();
    let expected: Vec<_> = (0..40).map(Some).collect();
    assert_eq!(numbers, expected, "lost or doubled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stores_opened_at_once_make_the_tables_once() {
    let Some(server) = Server::find().await else {
        return;
    };
    let url = server.database().await;
    let opened = futures_util::future::join_all((0..5).map(|_| open(&url))).await;
    for store in &opened {
        assert_eq!(store.users().await.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_processes_that_want_a_lease_at_once_one_gets_it_and_others_write_nothing() {
    let Some(server) = Server::find().await else {
        return;
    };
    let url = server.database().await;
    let stores = [open(&url).await, open(&url).await, open(&url).await];
    for _ in 0..20 {
        let id = talk(&stores[0]).await;
        let acquired = stores.iter().map(|store| {
            let (id, store) = (id.clone(), store.clone());
            async move {
                let lease = LeaseId::fresh();
                let holder = store.holder().clone();
                let acquire = Change::AcquireLease {
                    conversation: id.clone(),
                    id: lease.clone(),
                    holder,
                    timeout: LEASE_TIMEOUT,
                    known: None,
                };
                let acquired = store.commit(vec![acquire]).await;
                let message = Message::new(id.clone(), 1, Role::User);
                let write = vec![
                    Change::RenewLease(id, lease),
                    Change::PutMessage(Box::new(message)),
                ];
                let written = store.commit(write).await;
                match (&acquired, &written) {
                    (Ok(_), Ok(_)) => 1,
                    (Err(StoreError::Leased), Err(StoreError::Conflict { what: "lease" })) => 0,
                    other => panic!("{other:?}"),
                }
            }
        });
        let winners: usize = futures_util::future::join_all(acquired).await.iter().sum();
        assert_eq!(winners, 1);
        let messages = stores[1].messages(&id, Span::Last(9)).await.unwrap();
        assert_eq!(messages.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_text_is_kept() {
    let Some(server) = Server::find().await else {
        return;
    };
    let store = open(&server.database().await).await;
    let id = talk(&store).await;
    let mut message = Message::new(id.clone(), 1, Role::User);
    message.content = "NUL \0, escape \u{e000}0, emoji 🦀, 中文".to_owned();
    let put = vec![Change::PutMessage(Box::new(message.clone()))];
    store.commit(put).await.unwrap();
    let append = Change::AppendContent(message.id.clone(), "\0more".to_owned());
    store.commit(vec![append]).await.unwrap();
    let read = store.message(&message.id).await.unwrap().unwrap();
    assert_eq!(read.content, format!("{}\0more", message.content));
    let nothing = store
        .conversation(&UserId::local(), &ConversationId::new("a\0b"))
        .await;
    assert!(nothing.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_not_ours_newer_or_out_of_reach_is_left_alone() {
    let Some(server) = Server::find().await else {
        return;
    };
    let limits = PostgresLimits::default;
    let url = server.database().await;
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("CREATE TABLE users (id INT)")
        .await
        .unwrap();
    let error = PostgresStore::open(&url, limits()).await.unwrap_err();
    assert!(matches!(error, StoreError::Foreign(_)), "{error:?}");

    let url = server.database().await;
    open(&url).await.close().await.unwrap();
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("UPDATE switchboard_version SET version = 999")
        .await
        .unwrap();
    let error = PostgresStore::open(&url, limits()).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { found: 999, .. }),
        "{error:?}"
    );

    let url = "postgres://me:secret@127.0.0.1:9/none";
    let error = PostgresStore::open(url, limits()).await.unwrap_err();
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
    assert!(
        !format!("{error} {error:?}").contains("secret"),
        "{error:?}"
    );
    assert!(error.to_string().contains("127.0.0.1:9/none"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_goes_on_once_a_connection_leads_to_a_database_that_takes_changes() {
    let Some(server) = Server::find().await else {
        return;
    };
    let url = server.database().await;
    let name = url.rsplit('/').next().unwrap();
    // As after a fail-over: connections that are open lead to a standby, and stay so.
    let read_only = async |state: &str| {
        let sql = format!("ALTER DATABASE {name} SET default_transaction_read_only = {state}");
        server.client.batch_execute(&sql).await.unwrap();
    };
    let limits = PostgresLimits::default().with_connections(2);
    let brief = limits.with_patience(std::time::Duration::from_millis(50));
    let (patient, brief) = {
        open(&url).await.close().await.unwrap();
        read_only("on").await;
        let patient = PostgresStore::open(&url, limits).await.unwrap();
        (patient, PostgresStore::open(&url, brief).await.unwrap())
    };
    let error = brief.commit(vec![event(1)]).await.unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly), "{error:?}");
    let cluster = brief.cluster().unwrap();
    assert!(!cluster.takes_changes().await.unwrap());
    let waiting = tokio::spawn(async move { patient.commit(vec![event(2)]).await });
    tokio::task::yield_now().await;
    read_only("off").await;
    waiting.await.unwrap().unwrap();
    assert!(cluster.takes_changes().await.unwrap());
    brief.commit(vec![event(3)]).await.unwrap();
}
