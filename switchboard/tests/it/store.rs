//! The store in a file and in memory.

mod archive;
#[cfg(feature = "postgres")]
mod cluster;
mod crash;
mod holders;
#[cfg(feature = "postgres")]
mod meddler;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod refused;
mod upgrade;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use switchboard::store::{
    Change, Conversation, Limits, Message, Role, Setting, Span, SqliteStore, Store, StoreError,
    UserId, contract,
};

#[tokio::test]
async fn sqlite_in_a_file_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let count = AtomicU32::new(0);
    let fresh = async || {
        let file = format!("{}.db", count.fetch_add(1, Ordering::Relaxed));
        let path = folder.path().join(file);
        let store = SqliteStore::open(path, Limits::default()).await;
        Arc::new(store.unwrap()) as Arc<dyn Store>
    };
    contract::check(fresh).await.unwrap();
}

#[tokio::test]
async fn sqlite_in_memory_keeps_the_contract() {
    let fresh = async || {
        let store = SqliteStore::in_memory(Limits::default()).await;
        Arc::new(store.unwrap()) as Arc<dyn Store>
    };
    contract::check(fresh).await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_its_log_and_its_folder_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/switchboard.db");
    let store = SqliteStore::open(&path, Limits::default()).await.unwrap();
    let setting = Setting::new(UserId::local(), "model", "demo");
    store
        .commit(vec![Change::PutSetting(setting)])
        .await
        .unwrap();
    let mode = |name: &str| {
        let metadata = std::fs::metadata(folder.path().join(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode("a"), 0o700);
    assert_eq!(mode("a/b"), 0o700);
    for file in ["switchboard.db", "switchboard.db-wal", "switchboard.db-shm"] {
        assert_eq!(mode(&format!("a/b/{file}")), 0o600, "{file}");
    }
    store.close().await.unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    SqliteStore::open(&path, Limits::default()).await.unwrap();
    assert_eq!(mode("a/b/switchboard.db"), 0o600);
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switchboard.db");
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.pragma_update(None, "user_version", 999).unwrap();
    raw.pragma_update(None, "application_id", 0x7377_6264)
        .unwrap();
    drop(raw);
    let error = SqliteStore::open(&path, Limits::default())
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { found: 999, .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("update switchboard"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_store_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(
        &path,
        "These are my notes, and no database at all.".repeat(9),
    )
    .unwrap();
    let error = SqliteStore::open(&path, Limits::default())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("notes.txt"), "{error}");
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    for (version, id) in [(0, 0), (0, 7), (2, 0), (2, 7), (5, 0), (99, 7)] {
        let _ = std::fs::remove_file(&path);
        let raw = rusqlite::Connection::open(&path).unwrap();
        raw.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
        raw.pragma_update(None, "user_version", version).unwrap();
        raw.pragma_update(None, "application_id", id).unwrap();
        let error = SqliteStore::open(&path, Limits::default())
            .await
            .unwrap_err();
        assert!(matches!(error, StoreError::Foreign(_)), "{error:?}");
        let tables = "SELECT COUNT(*) FROM sqlite_schema";
        let tables: u32 = raw.query_row(tables, [], |row| row.get(0)).unwrap();
        assert_eq!(tables, 1, "version {version}, id {id}");
    }
}

#[tokio::test]
async fn who_reads_does_not_wait_for_another_process_that_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switchboard.db");
    let limits = Limits::default().with_busy(std::time::Duration::from_millis(1));
    let store = SqliteStore::open(&path, limits).await.unwrap();
    let setting = |value| {
        vec![Change::PutSetting(Setting::new(
            UserId::local(),
            "k",
            value,
        ))]
    };
    store.commit(setting(1)).await.unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.commit(setting(2)).await.unwrap_err();
    assert!(matches!(error, StoreError::Busy), "{error:?}");
    let read = store.settings(&UserId::local()).await.unwrap();
    assert_eq!(read[0].value, 1);
    other.execute_batch("COMMIT").unwrap();
    store.commit(setting(3)).await.unwrap();
    let patient = SqliteStore::open(&path, Limits::default()).await.unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting = tokio::spawn({
        let patient = patient.clone();
        async move { patient.commit(setting(4)).await }
    });
    // The write waits, and reads come through all the same.
    for _ in 0..20 {
        let read = patient.settings(&UserId::local()).await.unwrap();
        assert_eq!(read[0].value, 3);
    }
    other.execute_batch("COMMIT").unwrap();
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn stores_opened_at_once_share_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switchboard.db");
    let opening = (0..8).map(|number| {
        let path = path.clone();
        tokio::spawn(async move {
            let store = SqliteStore::open(path, Limits::default()).await?;
            let setting = Setting::new(UserId::local(), format!("k{number}"), number);
            store.commit(vec![Change::PutSetting(setting)]).await?;
            Ok::<_, StoreError>(store)
        })
    });
    let mut stores = Vec::new();
    for task in opening.collect::<Vec<_>>() {
        stores.push(task.await.unwrap().unwrap());
    }
    for store in stores {
        assert_eq!(store.settings(&UserId::local()).await.unwrap().len(), 8);
    }
}

#[tokio::test]
async fn a_conversation_of_ten_thousand_messages_is_read_by_its_end() {
    let store = SqliteStore::in_memory(Limits::default()).await.unwrap();
    let talk = Conversation::new(UserId::local(), "long");
    let mut changes = vec![Change::PutConversation(talk.clone())];
    changes.extend((1..=10_000).map(|seq| {
        let mut message = Message::new(talk.id.clone(), seq, Role::User);
        message.content = format!("message {seq}");
        message.provider_raw = Some(format!("[{seq}]"));
        Change::PutMessage(Box::new(message))
    }));
    store.commit(changes).await.unwrap();
    let page = store.messages(&talk.id, Span::Last(50)).await.unwrap();
    assert_eq!((page.len(), page[49].seq), (50, 10_000));
    let all = store
        .messages(&talk.id, Span::From(0, u32::MAX))
        .await
        .unwrap();
    assert_eq!(all.len(), 1000, "a page has a bound");
}
