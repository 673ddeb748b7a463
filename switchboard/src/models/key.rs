//! Keys: found in the environment, in the operating system's keyring or, where there is none, in
//! private files.

use std::fmt;

use mcp_auth::{FileStore, TokenStore as _};
use provider_adapters::Secret;

use crate::home;
use crate::store::{StoredValue, UserId};

/// The program's name in the keyring.
const SERVICE: &str = "switchboard";

/// Resolves a reference to a key.
///
/// # Errors
/// If there is none, or no keyring.
pub async fn find_key(
    reference: &StoredValue,
    environment: &(dyn Fn(&str) -> Option<String> + Sync),
) -> Result<Secret, KeyError> {
    match reference {
        StoredValue::Env(name) => match environment(name) {
            Some(value) => Ok(Secret::new(value)),
            None => Err(KeyError::NotSet(name.clone())),
        },
        StoredValue::Plain(value) => Ok(Secret::new(value.clone())),
        StoredValue::Keyring(id) => {
            let id = id.clone();
            blocking(move || read(&id)).await
        }
        StoredValue::PrivateFile(id) => {
            let found = private_files().load(id).await.map_err(KeyError::File)?;
            found.ok_or_else(|| KeyError::NotInFile(id.clone()))
        }
    }
}

/// Where keys are if there is no keyring: a file each, which only its owner can read.
fn private_files() -> FileStore {
    FileStore::new(home::folder().join("keys"))
}

/// Stores a key in the keyring or, where there is none, in a private file; never in the store.
///
/// # Errors
/// If the file cannot be written.
pub(crate) async fn keep_model_key(id: &str, value: Secret) -> Result<StoredValue, KeyError> {
    if let Ok(kept) = keep_key(id, value.clone()).await {
        // One that an earlier run had to leave in a file is not needed any more.
        private_files().remove(id).await.map_err(KeyError::File)?;
        return Ok(kept);
    }
    let saved = private_files().save(id, &value).await;
    saved.map_err(KeyError::File)?;
    Ok(StoredValue::PrivateFile(id.to_owned()))
}

/// How the ids of a user's keys begin, in the keyring and among the private files.
pub(crate) fn key_prefix(user: &UserId) -> String {
    match *user == UserId::local() {
        true => "model/".to_owned(),
        false => format!("user/{user}/model/"),
    }
}

/// Removes a key that [`keep_model_key`] stored under an id that begins so.
///
/// # Errors
/// If it is there and cannot be removed.
pub(crate) async fn forget_model_key(kept: &StoredValue, prefix: &str) -> Result<(), KeyError> {
    match kept {
        StoredValue::Keyring(id) if id.starts_with(prefix) => forget_key(id).await,
        StoredValue::PrivateFile(id) if id.starts_with(prefix) => {
            private_files().remove(id).await.map_err(KeyError::File)
        }
        _ => Ok(()),
    }
}

/// Stores a value in the keyring and returns a reference to it.
///
/// # Errors
/// If there is no keyring, or it is locked.
pub async fn keep_key(id: &str, value: Secret) -> Result<StoredValue, KeyError> {
    let name = id.to_owned();
    blocking(move || write(&name, &value)).await?;
    Ok(StoredValue::Keyring(id.to_owned()))
}

/// Removes a value from the keyring, if it is there.
///
/// # Errors
/// If there is no keyring, or it is locked.
pub(crate) async fn forget_key(id: &str) -> Result<(), KeyError> {
    let id = id.to_owned();
    blocking(move || remove(&id)).await
}

/// Checks whether the keyring can be used, by reading an entry that may exist.
///
/// # Errors
/// If there is no keyring, or it is locked.
pub(crate) async fn keyring_works(id: &str) -> Result<(), KeyError> {
    let id = id.to_owned();
    match blocking(move || read(&id)).await {
        Ok(_) | Err(KeyError::NotKept(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

async fn blocking<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, KeyError> + Send + 'static,
) -> Result<T, KeyError> {
    let done = tokio::task::spawn_blocking(job).await;
    done.map_err(|error| KeyError::Keyring(error.into()))?
}

#[cfg(feature = "keyring")]
fn entry(id: &str) -> Result<keyring_core::Entry, KeyError> {
    if crate::home::environment("SWITCHBOARD_KEYRING").as_deref() == Some("off") {
        return Err(KeyError::Keyring("SWITCHBOARD_KEYRING is off".into()));
    }
    if keyring_core::get_default_store().is_none() {
        // Sets the platform's store as the default one.
        keyring::Entry::new(SERVICE, id).map_err(|error| KeyError::Keyring(error.into()))?;
    }
    keyring_core::Entry::new(SERVICE, id).map_err(|error| KeyError::Keyring(error.into()))
}

#[cfg(feature = "keyring")]
fn read(id: &str) -> Result<Secret, KeyError> {
    match entry(id)?.get_password() {
        Ok(value) => Ok(Secret::new(value)),
        Err(keyring_core::Error::NoEntry) => Err(KeyError::NotKept(id.to_owned())),
        Err(error) => Err(KeyError::Keyring(error.into())),
    }
}

#[cfg(feature = "keyring")]
fn write(id: &str, value: &Secret) -> Result<(), KeyError> {
    entry(id)?
        .set_password(value.expose())
        .map_err(|error| KeyError::Keyring(error.into()))
}

#[cfg(feature = "keyring")]
fn remove(id: &str) -> Result<(), KeyError> {
    match entry(id)?.delete_credential() {
        Ok(()) | Err(keyring_core::Error::NoEntry) => Ok(()),
        Err(error) => Err(KeyError::Keyring(error.into())),
    }
}

#[cfg(not(feature = "keyring"))]
fn remove(id: &str) -> Result<(), KeyError> {
    write(id, &Secret::new(""))
}

#[cfg(not(feature = "keyring"))]
fn read(id: &str) -> Result<Secret, KeyError> {
    write(id, &Secret::new("")).map(|()| Secret::new(""))
}

#[cfg(not(feature = "keyring"))]
fn write(_id: &str, _value: &Secret) -> Result<(), KeyError> {
    let why = format!("this build of {SERVICE} has no keyring");
    Err(KeyError::Keyring(why.into()))
}

/// Why there is no key.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyError {
    /// The environment variable is not set.
    NotSet(String),
    /// The keyring has no such entry.
    NotKept(String),
    /// There is no such private file.
    NotInFile(String),
    /// A private file cannot be read or written.
    File(Box<dyn std::error::Error + Send + Sync>),
    /// The keyring cannot be used.
    Keyring(Box<dyn std::error::Error + Send + Sync>),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSet(name) => write!(f, "the environment variable {name} is not set"),
            Self::NotKept(id) => write!(f, "the keyring has no entry {id:?} of {SERVICE}"),
            Self::NotInFile(id) => write!(f, "there is no key {id:?} in the private files"),
            Self::File(_) => f.write_str("the file of a key cannot be read or written"),
            Self::Keyring(_) => f.write_str(
                "the system's keyring cannot be used; put the key into an environment variable",
            ),
        }
    }
}

impl std::error::Error for KeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Keyring(error) | Self::File(error) => Some(error.as_ref()),
            _ => None,
        }
    }
}
