//! Secrets in files that are encrypted with a key from the operating system's keyring.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use keyring_core::{Entry, Error};
use mcp_transport::{BoxError, Secret};
use parking_lot::Mutex;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::store::file::FileStore;
use crate::store::{StoreLock, TokenStore};

/// The name of our entry in the keyring, and of its lock file.
const ENTRY: &str = "token encryption key";

/// Keeps each value in a file like [`FileStore`], encrypted with a key that only the operating system's keyring has:
/// macOS Keychain, Windows Credential Manager, or the Secret Service of a Linux desktop.
///
/// The keyring holds the key and not the tokens, because keyrings have narrow size limits, cannot be locked across
/// processes, and may prompt the user once per entry. A value that cannot be decrypted, because the keyring was reset,
/// counts as absent: the user logs in again.
///
/// A default store of the `keyring-core` crate that the host has set is respected.
#[derive(Clone, Debug)]
pub struct KeyringStore {
    files: FileStore,
    service: String,
    key: Arc<Mutex<Option<Arc<LessSafeKey>>>>,
}

impl KeyringStore {
    /// Creates a store. `service` names the program in the keyring; the files are in `directory`.
    pub fn new(service: impl Into<String>, directory: impl Into<PathBuf>) -> Self {
        Self {
            files: FileStore::new(directory),
            service: service.into(),
            key: Arc::default(),
        }
    }

    /// The key, created on first use. Concurrent processes agree on one.
    async fn key(&self) -> Result<Arc<LessSafeKey>, BoxError> {
        if let Some(key) = self.key.lock().clone() {
            return Ok(key);
        }
        let _alone = self.files.lock(ENTRY).await?;
        let service = self.service.clone();
        let bytes = tokio::task::spawn_blocking(move || key_bytes(&service)).await??;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes)
            .map_err(|_| "the entry in the keyring is not ours")?;
        let key = Arc::new(LessSafeKey::new(key));
        *self.key.lock() = Some(key.clone());
        Ok(key)
    }
}

#[async_trait]
impl TokenStore for KeyringStore {
    async fn load(&self, name: &str) -> Result<Option<Secret>, BoxError> {
        let Some(sealed) = self.files.load(name).await? else {
            return Ok(None);
        };
        let key = self.key().await?;
        Ok(open(&key, name, &sealed))
    }

    async fn save(&self, name: &str, value: &Secret) -> Result<(), BoxError> {
        let key = self.key().await?;
        self.files.save(name, &seal(&key, name, value)?).await
    }

    async fn remove(&self, name: &str) -> Result<(), BoxError> {
        self.files.remove(name).await
    }

    async fn lock(&self, name: &str) -> Result<StoreLock, BoxError> {
        self.files.lock(name).await
    }
}

fn key_bytes(service: &str) -> Result<Vec<u8>, BoxError> {
    if keyring_core::get_default_store().is_none() {
        // Sets the platform's store as the default.
        keyring::Entry::new(service, ENTRY)?;
    }
    let entry = Entry::new(service, ENTRY)?;
    match entry.get_secret() {
        Ok(bytes) => Ok(bytes),
        Err(Error::NoEntry) => {
            let mut bytes = vec![0; CHACHA20_POLY1305.key_len()];
            random(&mut bytes)?;
            entry.set_secret(&bytes)?;
            Ok(bytes)
        }
        Err(error) => Err(error.into()),
    }
}

/// Encrypts a value. Its name is authenticated, too: files cannot be swapped.
fn seal(key: &LessSafeKey, name: &str, value: &Secret) -> Result<Secret, BoxError> {
    let mut nonce = [0; NONCE_LEN];
    random(&mut nonce)?;
    let mut sealed = value.expose().as_bytes().to_vec();
    let seal = Nonce::assume_unique_for_key(nonce);
    key.seal_in_place_append_tag(seal, Aad::from(name), &mut sealed)
        .map_err(|_| "the value could not be encrypted")?;
    let whole = [nonce.as_slice(), &sealed].concat();
    Ok(Secret::new(STANDARD_NO_PAD.encode(whole)))
}

/// Decrypts the output of [`seal`]; `None` for anything else.
fn open(key: &LessSafeKey, name: &str, sealed: &Secret) -> Option<Secret> {
    let mut whole = STANDARD_NO_PAD.decode(sealed.expose()).ok()?;
    let (nonce, sealed) = whole.split_at_mut_checked(NONCE_LEN)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let opened = key.open_in_place(nonce, Aad::from(name), sealed).ok()?;
    String::from_utf8(opened.to_vec()).ok().map(Secret::new)
}

fn random(bytes: &mut [u8]) -> Result<(), BoxError> {
    SystemRandom::new()
        .fill(bytes)
        .map_err(|_| "the operating system gives no random numbers".into())
}
