//! Stores keep secrets whole, private and one at a time.

use std::path::PathBuf;
use std::sync::Arc;

use mcp_auth::{FileStore, MemoryStore, TokenStore};
use mcp_transport::Secret;

use crate::realm::poll_once;

/// A directory that is gone when the test is.
#[derive(Debug)]
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    pub(crate) fn new(name: &str) -> Self {
        let directory =
            std::env::temp_dir().join(format!("mcp-auth-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        Self(directory)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What every store must do.
async fn keeps_the_contract(store: Arc<dyn TokenStore>) {
    let (name, other) = ("token https://h/mcp?x=1", "client https://h");
    assert_eq!(store.load(name).await.unwrap(), None);
    store.remove(name).await.unwrap();
    for value in ["first", "second, which is longer", ""] {
        store.save(name, &Secret::new(value)).await.unwrap();
        assert_eq!(store.load(name).await.unwrap(), Some(Secret::new(value)));
    }
    assert_eq!(store.load(other).await.unwrap(), None);

    let held = store.lock(name).await.unwrap();
    let free = store.lock(other).await.unwrap();
    let mut waiting = Box::pin(store.lock(name));
    assert!(poll_once(&mut waiting).await.is_none());
    drop((held, free));
    waiting.await.unwrap();

    store.remove(name).await.unwrap();
    assert_eq!(store.load(name).await.unwrap(), None);
}

#[tokio::test]
async fn memory_keeps_the_contract() {
    keeps_the_contract(Arc::new(MemoryStore::new())).await;
}

#[tokio::test]
async fn files_keep_the_contract() {
    let directory = Directory::new("contract");
    keeps_the_contract(Arc::new(FileStore::new(&directory.0))).await;
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_their_owners_only_and_nothing_is_left_beside_them() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = Directory::new("private");
    let store = FileStore::new(directory.0.join("below"));
    store.save("name", &Secret::new("one")).await.unwrap();
    store.save("name", &Secret::new("two")).await.unwrap();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory.0.join("below")), 0o700);
    let files: Vec<_> = std::fs::read_dir(directory.0.join("below"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(mode(&files[0]), 0o600);
}

#[tokio::test]
async fn a_damaged_file_counts_for_nothing() {
    let directory = Directory::new("damaged");
    let store = FileStore::new(&directory.0);
    store.save("name", &Secret::new("value")).await.unwrap();
    for file in std::fs::read_dir(&directory.0).unwrap() {
        std::fs::write(file.unwrap().path(), [0xff, 0xfe]).unwrap();
    }
    assert_eq!(store.load("name").await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_never_sees_half_a_value() {
    let directory = Directory::new("atomic");
    let store = FileStore::new(&directory.0);
    let values = ["a".repeat(10), "b".repeat(100_000)].map(Secret::new);
    store.save("name", &values[0]).await.unwrap();
    let writer = tokio::spawn({
        let (store, values) = (store.clone(), values.clone());
        async move {
            for round in 0..100 {
                store.save("name", &values[round % 2]).await.unwrap();
            }
        }
    });
    while !writer.is_finished() {
        let value = store.load("name").await.unwrap().unwrap();
        assert!(values.contains(&value));
    }
    writer.await.unwrap();
}

#[cfg(feature = "keyring")]
mod keyring {
    use mcp_auth::KeyringStore;

    use super::*;

    #[tokio::test]
    async fn the_keyring_store_keeps_the_contract_and_shows_nothing() {
        keyring_core::set_default_store(keyring_core::mock::Store::new().unwrap());
        let directory = Directory::new("keyring");
        keeps_the_contract(Arc::new(KeyringStore::new(
            "switchboard tests",
            &directory.0,
        )))
        .await;

        let store = KeyringStore::new("switchboard tests", &directory.0);
        store.save("a", &Secret::new("MARKER")).await.unwrap();
        for file in std::fs::read_dir(&directory.0).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains("MARKER"));
        }
        let again = KeyringStore::new("switchboard tests", &directory.0);
        assert_eq!(again.load("a").await.unwrap(), Some(Secret::new("MARKER")));
        // A value under another name, or a keyring that was reset, is no value.
        let files = FileStore::new(&directory.0);
        let sealed = files.load("a").await.unwrap().unwrap();
        files.save("b", &sealed).await.unwrap();
        assert_eq!(again.load("b").await.unwrap(), None);
        let stranger = KeyringStore::new("another program", &directory.0);
        assert_eq!(stranger.load("a").await.unwrap(), None);
    }
}
