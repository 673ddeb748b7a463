//! What the gateway keeps in the store: small records by kind and name, as settings that no list of
//! settings shows.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::store::{Change, Setting, Store, StoreError, UserId};

/// What the keys of all records begin with.
const PREFIX: &str = "gateway.";

/// A kind of record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// An entry in a client's file.
    Install,
    /// A named bearer token.
    Token,
    /// The last line of a file of the audit log.
    Anchor,
    /// A running gateway.
    Process,
    /// A call that waits for its approval.
    Question,
    /// The answer to such a call.
    Answer,
    /// What seals the handles that clients keep.
    Key,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Token => "token",
            Self::Anchor => "anchor",
            Self::Process => "process",
            Self::Question => "question",
            Self::Answer => "answer",
            Self::Key => "key",
        }
    }

    fn key(self, name: &str) -> String {
        format!("{PREFIX}{}.{name}", self.as_str())
    }
}

/// Whether a setting is a record of the gateway.
pub(crate) fn is_record(key: &str) -> bool {
    key.starts_with(PREFIX)
}

/// All records, read at one moment.
#[derive(Debug, Default)]
pub(crate) struct Records(Vec<Setting>);

impl Records {
    pub(crate) async fn read(store: &dyn Store) -> Result<Self, StoreError> {
        let mut settings = store.settings(&UserId::local()).await?;
        settings.retain(|setting| is_record(&setting.key));
        Ok(Self(settings))
    }

    /// The records of a kind, by name. One that cannot be read, as one of a later version, is left
    /// out.
    pub(crate) fn all<T: DeserializeOwned>(&self, kind: Kind) -> BTreeMap<String, T> {
        let prefix = kind.key("");
        let records = self.0.iter().filter_map(|setting| {
            let name = setting.key.strip_prefix(&prefix)?;
            let record = serde_json::from_value(setting.value.clone()).ok()?;
            Some((name.to_owned(), record))
        });
        records.collect()
    }

    /// One record.
    pub(crate) fn get<T: DeserializeOwned>(&self, kind: Kind, name: &str) -> Option<T> {
        let key = kind.key(name);
        let found = self.0.iter().find(|setting| setting.key == key)?;
        serde_json::from_value(found.value.clone()).ok()
    }
}

/// Adds or replaces a record.
pub(crate) fn put(kind: Kind, name: &str, record: &impl Serialize) -> Change {
    let value = serde_json::to_value(record).unwrap_or(Value::Null);
    Change::PutSetting(Setting::new(UserId::local(), kind.key(name), value))
}

/// Adds a record; if there is one of this name, that is a conflict.
pub(crate) fn add(kind: Kind, name: &str, record: &impl Serialize) -> Change {
    let value = serde_json::to_value(record).unwrap_or(Value::Null);
    Change::AddSetting(Setting::new(UserId::local(), kind.key(name), value))
}

/// Forgets a record.
pub(crate) fn delete(kind: Kind, name: &str) -> Change {
    Change::DeleteSetting(UserId::local(), kind.key(name))
}
