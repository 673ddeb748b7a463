//! Processes that share a file.

use std::path::Path;

use switchboard::store::{
    Change, Conversation, ConversationId, HolderId, LEASE_TIMEOUT, LeaseId, Limits, SqliteStore,
    Store, StoreError, UserId,
};

async fn open(folder: &Path) -> SqliteStore {
    let path = folder.join("switchboard.db");
    SqliteStore::open(path, Limits::default()).await.unwrap()
}

fn acquire(talk: &ConversationId, holder: &HolderId) -> Vec<Change> {
    vec![Change::AcquireLease {
        conversation: talk.clone(),
        id: LeaseId::fresh(),
        holder: holder.clone(),
        timeout: LEASE_TIMEOUT,
        known: None,
    }]
}

fn files(folder: &Path) -> usize {
    let files = std::fs::read_dir(folder.join("switchboard.db.holders"));
    files.map_or(0, Iterator::count)
}

#[tokio::test]
async fn the_lease_of_a_process_that_is_gone_is_free_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (open(folder.path()).await, open(folder.path()).await);
    let talk = Conversation::new(UserId::local(), "talk");
    let id = talk.id.clone();
    let put = vec![Change::PutConversation(talk)];
    first.commit(put).await.unwrap();
    first.commit(acquire(&id, first.holder())).await.unwrap();
    let refused = second.commit(acquire(&id, second.holder())).await;
    assert!(matches!(refused, Err(StoreError::Leased)), "{refused:?}");
    // As the end of its process: without a word, but for the lock that the system frees.
    drop(first);
    second.commit(acquire(&id, second.holder())).await.unwrap();
    let third = open(folder.path()).await;
    let refused = third.commit(acquire(&id, third.holder())).await;
    assert!(matches!(refused, Err(StoreError::Leased)), "{refused:?}");
    assert_eq!(files(folder.path()), 2, "the file of the first is gone");
    second.close().await.unwrap();
    third.commit(acquire(&id, third.holder())).await.unwrap();
    third.close().await.unwrap();
    assert_eq!(files(folder.path()), 0);
}
