//! Rows of a table in an SQLite file.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Params, ToSql};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::error::StoreError;
use crate::store::id::UserId;
pub(super) use crate::store::table::*;

fn mark(_: usize) -> String {
    "?".to_owned()
}

impl Table {
    /// Adds a row, or replaces the one with its key.
    pub(super) fn put(
        &self,
        connection: &Connection,
        row: &impl Serialize,
        row_bytes: usize,
    ) -> Result<(), StoreError> {
        let columns = self.columns(row, row_bytes)?;
        let sql = self.put_sql(&columns, mark);
        let values = columns.iter().map(|(_, value)| value);
        match self.execute(connection, &sql, values)? {
            0 => Err(StoreError::Conflict { what: self.what }),
            _ => Ok(()),
        }
    }

    /// Adds a row whose key must be free.
    pub(super) fn insert(
        &self,
        connection: &Connection,
        row: &impl Serialize,
        row_bytes: usize,
    ) -> Result<(), StoreError> {
        let columns = self.columns(row, row_bytes)?;
        let sql = self.insert_sql(&columns, mark);
        let values = columns.iter().map(|(_, value)| value);
        self.execute(connection, &sql, values).map(drop)
    }

    /// Executes a statement that writes a row of this table; how many were changed.
    pub(super) fn execute<'v>(
        &self,
        connection: &Connection,
        sql: &str,
        values: impl IntoIterator<Item = &'v Field>,
    ) -> Result<usize, StoreError> {
        connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(rusqlite::params_from_iter(values)))
            .map_err(|error| self.failed(error))
    }

    /// Inserts a row and returns its number.
    pub(super) fn append(
        &self,
        connection: &Connection,
        row: &impl Serialize,
        row_bytes: usize,
    ) -> Result<u64, StoreError> {
        let columns = self.columns(row, row_bytes)?;
        let sql = self.insert_sql(&columns, mark);
        let values = columns.iter().map(|(_, value)| value);
        connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.insert(rusqlite::params_from_iter(values)))
            .map(|number| number as u64)
            .map_err(|error| self.failed(error))
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
        let found = fields(connection, sql, params)?.into_iter();
        found
            .map(|columns| self.row_of(columns.into_iter()))
            .collect()
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

/// The columns of the rows of a query.
pub(in crate::store) fn fields(
    connection: &Connection,
    sql: &str,
    params: impl Params,
) -> Result<Vec<Vec<(String, Field)>>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let names: Vec<String> = statement
        .column_names()
        .into_iter()
        .map(str::to_owned)
        .collect();
    let mut found = statement.query(params).map_err(failed)?;
    let mut rows = Vec::new();
    while let Some(row) = found.next().map_err(failed)? {
        let mut columns = Vec::with_capacity(names.len());
        for (place, name) in names.iter().enumerate() {
            let value = row.get_ref(place).map_err(failed)?;
            columns.push((name.clone(), field(value)?));
        }
        rows.push(columns);
    }
    Ok(rows)
}

fn field(value: ValueRef<'_>) -> Result<Field, StoreError> {
    Ok(match value {
        ValueRef::Null => Field::Null,
        ValueRef::Integer(number) => Field::Integer(number),
        ValueRef::Text(_) => {
            let text = value.as_str();
            Field::from(text.map_err(|error| StoreError::Failed(error.into()))?)
        }
        ValueRef::Blob(bytes) => Field::Bytes(bytes.to_vec()),
        ValueRef::Real(_) => return Err(StoreError::Failed("no column holds fractions".into())),
    })
}

impl ToSql for Field {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Executes a statement and returns the number of affected rows.
pub(in crate::store) fn execute(
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
pub(in crate::store) fn failed(error: rusqlite::Error) -> StoreError {
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
