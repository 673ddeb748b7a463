//! Rows to columns and back: a row's fields are its table's columns.

use rusqlite::types::{ToSqlOutput, Value as Sql, ValueRef};
use rusqlite::{Connection, Params, ToSql};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::store::error::StoreError;
use crate::store::id::UserId;

/// Metadata of a table.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// What a row is called in an error.
    pub(super) what: &'static str,
    pub(super) key: &'static [&'static str],
    /// The column that says whose a row is, which never changes.
    owner: Option<&'static str>,
    /// Columns that hold JSON.
    json: &'static [&'static str],
    /// Columns that hold yes or no.
    flags: &'static [&'static str],
}

/// Declares the tables.
macro_rules! tables {
    ($($table:ident = $name:literal $what:literal key $key:tt owner $owner:expr,
        json $json:tt flags $flags:tt;)*) => {$(
        pub(super) static $table: Table = Table {
            name: $name, what: $what, key: &$key, owner: $owner, json: &$json, flags: &$flags,
        };
    )*};
}

tables! {
    USERS = "users" "user" key ["id"] owner None, json [] flags [];
    SERVERS = "mcp_servers" "server" key ["id"] owner Some("user_id"),
        json ["headers", "args", "env", "disabled_tools", "auto_approve_tools", "tool_timeouts",
            "extra"]
        flags ["is_active", "plain_values", "parallel", "always_load"];
    SERVER_TOOLS = "server_tools" "tool" key ["server_id", "name"] owner None,
        json ["definition"] flags [];
    TOKENS = "oauth_tokens" "token" key ["server_id", "issuer"] owner None, json [] flags [];
    ASSISTANTS = "assistants" "assistant" key ["id"] owner Some("user_id"), json [] flags [];
    CONVERSATIONS = "conversations" "conversation" key ["id"] owner Some("user_id"),
        json ["options"] flags [];
    MESSAGES = "messages" "message" key ["id"] owner Some("conversation_id"),
        json [] flags [];
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
    /// Adds a row, or replaces the one with its key.
    pub(super) fn put(
        &self,
        connection: &Connection,
        row: &impl Serialize,
        row_bytes: usize,
    ) -> Result<(), StoreError> {
        let (insert, columns) = self.insert(row, row_bytes)?;
        let names = columns.iter().map(|(name, _)| name.as_str());
        let sets: Vec<String> = names
            .filter(|name| !self.key.contains(name))
            .map(|name| format!("{name} = excluded.{name}"))
            .collect();
        let owner = self.owner.map_or_else(String::new, |owner| {
            format!(" WHERE {}.{owner} = excluded.{owner}", self.name)
        });
        let sql = format!(
            "{insert} ON CONFLICT ({}) DO UPDATE SET {}{owner}",
            self.key.join(", "),
            sets.join(", "),
        );
        let values = columns.iter().map(|(_, value)| value);
        let changed = connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.execute(rusqlite::params_from_iter(values)))
            .map_err(|error| self.failed(error))?;
        match changed {
            0 => Err(StoreError::Conflict { what: self.what }),
            _ => Ok(()),
        }
    }

    /// Inserts a row and returns its number.
    pub(super) fn append(
        &self,
        connection: &Connection,
        row: &impl Serialize,
        row_bytes: usize,
    ) -> Result<u64, StoreError> {
        let (insert, columns) = self.insert(row, row_bytes)?;
        let values = columns.iter().map(|(_, value)| value);
        connection
            .prepare_cached(&insert)
            .and_then(|mut statement| statement.insert(rusqlite::params_from_iter(values)))
            .map(|number| number as u64)
            .map_err(|error| self.failed(error))
    }

    /// The words that add a row, and its values.
    fn insert(
        &self,
        row: &impl Serialize,
        row_bytes: usize,
    ) -> Result<(String, Vec<(String, Column)>), StoreError> {
        let columns = self.columns(row, row_bytes)?;
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let marks = vec!["?"; names.len()].join(", ");
        let names = names.join(", ");
        let sql = format!("INSERT INTO {} ({names}) VALUES ({marks})", self.name);
        Ok((sql, columns))
    }

    /// Removes a user's row and returns how many there were.
    pub(super) fn delete(
        &self,
        connection: &Connection,
        user: &UserId,
        id: &str,
    ) -> Result<usize, StoreError> {
        let sql = format!("DELETE FROM {} WHERE user_id = ? AND id = ?", self.name);
        execute(connection, &sql, [user.as_str(), id])
    }

    /// The first row of a query over this table.
    pub(super) fn row<T: DeserializeOwned>(
        &self,
        connection: &Connection,
        sql: &str,
        params: impl Params,
    ) -> Result<Option<T>, StoreError> {
        let rows = self.rows(connection, sql, params)?;
        Ok(rows.into_iter().next())
    }

    /// The rows of a query over this table.
    pub(super) fn rows<T: DeserializeOwned>(
        &self,
        connection: &Connection,
        sql: &str,
        params: impl Params,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = connection.prepare_cached(sql).map_err(failed)?;
        let names: Vec<String> = statement
            .column_names()
            .into_iter()
            .map(str::to_owned)
            .collect();
        let mut found = statement.query(params).map_err(failed)?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(failed)? {
            let mut fields = Map::with_capacity(names.len());
            for (place, name) in names.iter().enumerate() {
                let value = row.get_ref(place).map_err(failed)?;
                fields.insert(name.clone(), self.field(name, value)?);
            }
            let row = serde_json::from_value(Value::Object(fields));
            rows.push(row.map_err(|error| StoreError::Failed(error.into()))?);
        }
        Ok(rows)
    }

    fn columns(
        &self,
        row: &impl Serialize,
        row_bytes: usize,
    ) -> Result<Vec<(String, Column)>, StoreError> {
        let too_big = || StoreError::TooBig { what: self.what };
        let row = serde_json::to_value(row).map_err(|error| StoreError::Failed(error.into()))?;
        let Value::Object(fields) = row else {
            return Err(StoreError::Failed("a row is an object".into()));
        };
        let mut columns = Vec::with_capacity(fields.len());
        let mut bytes = 0;
        for (name, value) in fields {
            let value = match value {
                Value::Null => Sql::Null,
                value if self.json.contains(&name.as_str()) => Sql::Text(self.json(&value)?),
                Value::Bool(flag) => Sql::Integer(i64::from(flag)),
                Value::Number(number) => Sql::Integer(number.as_i64().ok_or_else(too_big)?),
                Value::String(text) => Sql::Text(text),
                Value::Array(_) | Value::Object(_) => continue, // in a table of its own
            };
            if let Sql::Text(text) = &value {
                bytes += text.len();
            }
            columns.push((name, Column(value)));
        }
        match bytes <= row_bytes {
            true => Ok(columns),
            false => Err(too_big()),
        }
    }

    /// A value as a column of JSON holds it.
    pub(super) fn json(&self, value: &Value) -> Result<String, StoreError> {
        match shallower(value, DEPTH) {
            true => Ok(value.to_string()),
            false => Err(StoreError::TooBig { what: self.what }),
        }
    }

    fn field(&self, name: &str, value: ValueRef<'_>) -> Result<Value, StoreError> {
        let broken = |error: rusqlite::types::FromSqlError| StoreError::Failed(error.into());
        Ok(match value {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) if self.flags.contains(&name) => Value::Bool(number != 0),
            ValueRef::Integer(number) => Value::from(number),
            ValueRef::Text(_) if self.json.contains(&name) => {
                let text = value.as_str().map_err(broken)?;
                serde_json::from_str(text).map_err(|error| StoreError::Failed(error.into()))?
            }
            ValueRef::Text(_) => Value::from(value.as_str().map_err(broken)?),
            ValueRef::Real(number) => Value::from(number),
            ValueRef::Blob(_) => Value::Null,
        })
    }

    /// Maps the error of a write.
    pub(super) fn failed(&self, error: rusqlite::Error) -> StoreError {
        use rusqlite::ffi::{
            SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE,
        };
        match error.sqlite_error().map(|error| error.extended_code) {
            Some(SQLITE_CONSTRAINT_FOREIGNKEY) => StoreError::Missing { what: self.what },
            Some(SQLITE_CONSTRAINT_UNIQUE | SQLITE_CONSTRAINT_PRIMARYKEY) => {
                StoreError::Conflict { what: self.what }
            }
            _ => failed(error),
        }
    }
}

/// Executes a statement and returns the number of affected rows.
pub(super) fn execute(
    connection: &Connection,
    sql: &str,
    params: impl Params,
) -> Result<usize, StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(params))
        .map_err(failed)
}

/// Maps an error that is not the caller's fault.
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    use rusqlite::ffi::{ErrorCode, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE};
    let Some(cause) = error.sqlite_error() else {
        return StoreError::Failed(error.into());
    };
    match (cause.code, cause.extended_code) {
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => StoreError::Busy,
        // A file at its size limit fails differently from a full disk.
        (ErrorCode::DiskFull, _) | (_, SQLITE_IOERR_WRITE | SQLITE_IOERR_TRUNCATE) => {
            StoreError::Full(error.into())
        }
        _ => StoreError::Failed(error.into()),
    }
}

struct Column(Sql);

impl ToSql for Column {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_called_by_its_name() {
        let connection = Connection::open_in_memory().unwrap();
        let pages = "PRAGMA max_page_count = 2; CREATE TABLE t (text TEXT)";
        connection.execute_batch(pages).unwrap();
        let sql = "INSERT INTO t VALUES (?)";
        let full = execute(&connection, sql, ["x".repeat(1 << 20)]).unwrap_err();
        assert!(matches!(full, StoreError::Full(_)), "{full:?}");
        assert!(full.to_string().contains("the disk is full"), "{full}");
    }
}
