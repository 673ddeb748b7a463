//! The key that seals what clients of the gateway keep: handles of tasks, and the state of calls that
//! asked a question. It is in the store, so that they outlive the process, and every gateway of the
//! store opens them.

use super::records::{self, Kind, Records};
use crate::exit::{Exit, Failure};
use crate::store::{Store, StoreError};
use crate::token;

/// The name of its record.
const NAME: &str = "state";

/// The key, made with the first gateway.
pub(crate) async fn state_key(store: &dyn Store) -> Result<[u8; 32], Failure> {
    if let Some(key) = stored(store).await? {
        return Ok(key);
    }
    let fresh = token::fresh().map_err(|error| {
        Failure::new(Exit::Other, "the system gives no random numbers").caused_by(error)
    })?;
    let add = records::add(Kind::Key, NAME, &token::hash(&fresh));
    match store.commit(vec![add]).await {
        // Another gateway began at the same time: its key is that of both.
        Ok(_) | Err(StoreError::Conflict { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let missing = || Failure::new(Exit::Other, "the gateway's key was not stored");
    stored(store).await?.ok_or_else(missing)
}

async fn stored(store: &dyn Store) -> Result<Option<[u8; 32]>, Failure> {
    let text: Option<String> = Records::read(store).await?.get(Kind::Key, NAME);
    Ok(text.as_deref().and_then(read))
}

/// A key in hexadecimal digits.
fn read(text: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    let pairs = text.as_bytes().chunks_exact(2);
    if text.len() != 2 * key.len() {
        return None;
    }
    for (byte, pair) in key.iter_mut().zip(pairs) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Limits, SqliteStore};

    #[tokio::test]
    async fn every_gateway_of_a_store_has_its_key_and_no_other_store_has() {
        let open = async || SqliteStore::in_memory(Limits::default()).await.unwrap();
        let (store, other) = (open().await, open().await);
        let first = state_key(&store).await.unwrap();
        assert_eq!(state_key(&store).await.unwrap(), first);
        assert_ne!(state_key(&other).await.unwrap(), first);
        let user = crate::store::UserId::local();
        let settings = crate::home::settings(&store, &user).await.unwrap();
        assert!(settings.is_empty(), "no list shows it");
    }

    #[test]
    fn what_is_no_key_is_not_read() {
        for text in ["", "ab", &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&"0f".repeat(32)), Some([15; 32]));
    }
}
