//! The store in a file and in memory.

mod crash;
mod holders;
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
