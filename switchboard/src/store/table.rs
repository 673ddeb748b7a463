//! Rows to columns and back, for every back end: a row's fields are its table's columns.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::store::error::StoreError;

/// A column's value.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::store) enum Field {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&str> for Field {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Field {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Field {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Metadata of a table.
pub(in crate::store) struct Table {
    pub(in crate::store) name: &'static str,
    /// What a row is called in an error.
    pub(in crate::store) what: &'static str,
    pub(in crate::store) key: &'static [&'static str],
    /// The column that says whose a row is, which never changes.
    pub(in crate::store) owner: Option<&'static str>,
    /// Columns that hold JSON.
    json: &'static [&'static str],
    /// Columns that hold yes or no.
    flags: &'static [&'static str],
}

/// Declares the tables.
macro_rules! tables {
    ($($table:ident = $name:literal $what:literal key $key:tt owner $owner:expr,
        json $json:tt flags $flags:tt;)*) => {$(
        pub(in crate::store) static $table: Table = Table {
            name: $name, what: $what, key: &$key, owner: $owner, json: &$json, flags: &$flags,
        };
    )*};
}

tables! {
    USERS = "users" "user" key ["id"] owner None, json [] flags ["is_blocked", "uses_host"];
    SESSIONS = "login_sessions" "session" key ["hash"] owner Some("user_id"), json [] flags [];
    ATTEMPTS = "login_attempts" "login" key ["hash"] owner None, json [] flags [];
    ACCESS_TOKENS = "access_tokens" "access token" key ["id"] owner Some("user_id"),
        json [] flags [];
    SERVERS = "mcp_servers" "server" key ["id"] owner Some("user_id"),
        json ["headers", "args", "env", "disabled_tools", "auto_approve_tools", "tool_timeouts",
            "extra", "sandbox", "installed"]
        flags ["is_active", "plain_values", "parallel", "always_load"];
    SERVER_TOOLS = "server_tools" "tool" key ["server_id", "name"] owner None,
        json ["definition"] flags [];
    TOKENS = "oauth_tokens" "token" key ["server_id", "issuer"] owner None, json [] flags [];
    ASSISTANTS = "assistants" "assistant" key ["id"] owner Some("user_id"),
        json ["model_options"] flags [];
    CONVERSATIONS = "conversations" "conversation" key ["id"] owner Some("user_id"),
        json ["options"] flags [];
    MESSAGES = "messages" "message" key ["id"] owner Some("conversation_id"),
        json [] flags ["is_aside"];
    BLOBS = "blobs" "blob" key ["id"] owner Some("conversation_id"), json [] flags [];
    TOOL_CALLS = "tool_calls" "tool call" key ["message_id", "position"] owner None,
        json ["arguments", "response"] flags ["is_error"];
    RULES = "approval_rules" "rule" key ["id"] owner Some("user_id"),
        json ["read_only_hashes"] flags [];
    DEFINITIONS = "approved_definitions" "definition" key ["server_id", "tool", "kind"] owner None,
        json [] flags [];
    PENDING = "pending_interactions" "question" key ["id"] owner Some("conversation_id"),
        json ["payload", "answer"] flags [];
    RUNS = "runs" "run" key ["id"] owner Some("conversation_id"), json [] flags [];
    LEASES = "leases" "lease" key ["conversation_id"] owner None, json [] flags [];
    USAGE = "usage" "usage" key ["run_id", "round"] owner Some("user_id"), json [] flags [];
    EVENTS = "events" "event" key ["seq"] owner None, json ["data"] flags [];
    SETTINGS = "settings" "setting" key ["user_id", "key"] owner None,
        json ["value"] flags ["plain_secret"];
}

/// JSON nested deeper than this would be written but not read again.
const DEPTH: usize = 127;

impl Table {
    /// A row's columns. Fields that are rows of another table are left out.
    pub(in crate::store) fn columns(
        &self,
        row: &impl Serialize,
        row_bytes: usize,
    ) -> Result<Vec<(String, Field)>, StoreError> {
        let too_big = || StoreError::TooBig { what: self.what };
        let row = serde_json::to_value(row).map_err(|error| StoreError::Failed(error.into()))?;
        let Value::Object(fields) = row else {
            return Err(StoreError::Failed("a row is an object".into()));
        };
        let mut columns = Vec::with_capacity(fields.len());
        let mut bytes = 0;
        for (name, value) in fields {
            let value = match value {
                Value::Null => Field::Null,
                value if self.json.contains(&name.as_str()) => Field::Text(self.json(&value)?),
                Value::Bool(flag) => Field::Integer(i64::from(flag)),
                Value::Number(number) => Field::Integer(number.as_i64().ok_or_else(too_big)?),
                Value::String(text) => Field::Text(text),
                Value::Array(_) | Value::Object(_) => continue,
            };
            if let Field::Text(text) = &value {
                bytes += text.len();
            }
            columns.push((name, value));
        }
        match bytes <= row_bytes {
            true => Ok(columns),
            false => Err(too_big()),
        }
    }

    /// The row that has these columns.
    pub(in crate::store) fn row_of<T: DeserializeOwned>(
        &self,
        columns: impl Iterator<Item = (String, Field)>,
    ) -> Result<T, StoreError> {
        let broken = |error: serde_json::Error| StoreError::Failed(error.into());
        let mut fields = Map::new();
        for (name, field) in columns {
            let value = match field {
                Field::Null | Field::Bytes(_) => Value::Null,
                Field::Integer(number) if self.flags.contains(&name.as_str()) => {
                    Value::Bool(number != 0)
                }
                Field::Integer(number) => Value::from(number),
                Field::Text(text) if self.json.contains(&name.as_str()) => {
                    serde_json::from_str(&text).map_err(broken)?
                }
                Field::Text(text) => Value::from(text),
            };
            fields.insert(name, value);
        }
        serde_json::from_value(Value::Object(fields)).map_err(broken)
    }

    /// A value as a column of JSON holds it.
    pub(in crate::store) fn json(&self, value: &Value) -> Result<String, StoreError> {
        match shallower(value, DEPTH) {
            true => Ok(value.to_string()),
            false => Err(StoreError::TooBig { what: self.what }),
        }
    }

    /// The statement that adds a row; `mark` writes the placeholder of a column.
    pub(in crate::store) fn insert_sql(
        &self,
        columns: &[(String, Field)],
        mark: fn(usize) -> String,
    ) -> String {
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let marks: Vec<String> = (1..=names.len()).map(mark).collect();
        let (names, marks) = (names.join(", "), marks.join(", "));
        format!("INSERT INTO {} ({names}) VALUES ({marks})", self.name)
    }

    /// The statement that adds a row or replaces the one with its key, if it has the same owner.
    pub(in crate::store) fn put_sql(
        &self,
        columns: &[(String, Field)],
        mark: fn(usize) -> String,
    ) -> String {
        let names = columns.iter().map(|(name, _)| name.as_str());
        let sets: Vec<String> = names
            .filter(|name| !self.key.contains(name))
            .map(|name| format!("{name} = excluded.{name}"))
            .collect();
        let owner = self.owner.map_or_else(String::new, |owner| {
            format!(" WHERE {}.{owner} = excluded.{owner}", self.name)
        });
        format!(
            "{} ON CONFLICT ({}) DO UPDATE SET {}{owner}",
            self.insert_sql(columns, mark),
            self.key.join(", "),
            sets.join(", "),
        )
    }
}

/// Whether a value is nested less than `depth` deep.
fn shallower(value: &Value, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else {
        return false;
    };
    match value {
        Value::Array(items) => items.iter().all(|item| shallower(item, below)),
        Value::Object(fields) => fields.values().all(|field| shallower(field, below)),
        _ => true,
    }
}
