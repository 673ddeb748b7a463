//! Statements, and rows to columns and back.

use std::error::Error as _;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut};
use tokio_postgres::{Error, Row};

use crate::store::error::{BoxError, StoreError};
use crate::store::id::UserId;
use crate::store::postgres::connection::{Connection, Statements};
use crate::store::table::{Field, Table};

/// Why an attempt failed.
pub(super) enum Failure {
    /// Another attempt would fail as well.
    Final(StoreError),
    /// The connection was lost, or another transaction was in the way: nothing was changed, unless
    /// a commit was under way.
    Transient(Error),
    /// The connection leads to a database that takes no changes, as a primary that has become a
    /// standby: another connection may lead to the new primary.
    ReadOnly,
    /// The database did not answer in time.
    Silent,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Final(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match is_transient(&error) {
            true => Self::Transient(error),
            false if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => Self::ReadOnly,
            false if error.code() == Some(&SqlState::DISK_FULL) => {
                Self::Final(StoreError::Full(error.into()))
            }
            false => Self::Final(StoreError::Failed(error.into())),
        }
    }
}

/// Whether the same statements may succeed on a new connection or a moment later.
fn is_transient(error: &Error) -> bool {
    match error.code() {
        Some(code) => {
            code.code().starts_with("08")
                || [
                    SqlState::T_R_SERIALIZATION_FAILURE,
                    SqlState::T_R_DEADLOCK_DETECTED,
                    SqlState::ADMIN_SHUTDOWN,
                    SqlState::CRASH_SHUTDOWN,
                    SqlState::CANNOT_CONNECT_NOW,
                    SqlState::TOO_MANY_CONNECTIONS,
                    SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                    SqlState::LOCK_NOT_AVAILABLE,
                ]
                .contains(code)
        }
        None => {
            let lost = |source: &(dyn std::error::Error + 'static)| source.is::<std::io::Error>();
            error.is_closed() || error.source().is_some_and(lost)
        }
    }
}

/// A connection, or a transaction on it.
pub(super) struct Session<'c, C> {
    pub(super) client: &'c C,
    pub(super) row_bytes: usize,
    pub(super) statements: Statements,
}

type Done<T> = Result<T, Failure>;

impl<C: Connection> Session<'_, C> {
    /// Executes a statement and returns the number of affected rows.
    pub(super) async fn execute(&self, sql: &str, params: &[Field]) -> Done<u64> {
        Ok(self.try_execute(sql, params).await?)
    }

    async fn try_execute(&self, sql: &str, params: &[Field]) -> Result<u64, Error> {
        self.client.count(sql, params, self.statements).await
    }

    /// The rows of a query.
    pub(super) async fn query(&self, sql: &str, params: &[Field]) -> Result<Vec<Row>, Error> {
        self.client.rows(sql, params, self.statements).await
    }

    /// Adds a row, or replaces the one with its key.
    pub(super) async fn put(&self, table: &Table, row: &(impl Serialize + Sync)) -> Done<()> {
        let columns = table.columns(row, self.row_bytes)?;
        let sql = table.put_sql(&columns, mark);
        let params: Vec<Field> = columns.into_iter().map(|(_, value)| value).collect();
        match self.write(table, &sql, &params).await? {
            0 => Err(StoreError::Conflict { what: table.what }.into()),
            _ => Ok(()),
        }
    }

    /// Adds a row whose key must be free.
    pub(super) async fn insert(&self, table: &Table, row: &(impl Serialize + Sync)) -> Done<()> {
        let columns = table.columns(row, self.row_bytes)?;
        let sql = table.insert_sql(&columns, mark);
        let params: Vec<Field> = columns.into_iter().map(|(_, value)| value).collect();
        self.write(table, &sql, &params).await.map(drop)
    }

    /// Adds a row and returns its number.
    pub(super) async fn append(&self, table: &Table, row: &(impl Serialize + Sync)) -> Done<u64> {
        let columns = table.columns(row, self.row_bytes)?;
        let sql = format!("{} RETURNING seq", table.insert_sql(&columns, mark));
        let params: Vec<Field> = columns.into_iter().map(|(_, value)| value).collect();
        let rows = self.query(&sql, &params).await;
        let rows = rows.map_err(|error| refused(table, error))?;
        let seq: Option<i64> = rows.first().map(|row| row.get(0));
        Ok(seq.unwrap_or_default() as u64)
    }

    /// Executes a statement that writes a row of this table.
    pub(super) async fn write(&self, table: &Table, sql: &str, params: &[Field]) -> Done<u64> {
        let written = self.try_execute(sql, params).await;
        written.map_err(|error| refused(table, error))
    }

    /// Removes a user's row and returns how many there were.
    pub(super) async fn delete(&self, table: &Table, user: &UserId, id: &str) -> Done<u64> {
        let sql = format!("DELETE FROM {} WHERE user_id = $1 AND id = $2", table.name);
        self.execute(&sql, &[user.as_str().into(), id.into()]).await
    }

    /// The first row of a query over a table.
    pub(super) async fn row<T: DeserializeOwned>(
        &self,
        table: &Table,
        sql: &str,
        params: &[Field],
    ) -> Done<Option<T>> {
        let rows = self.rows(table, sql, params).await?;
        Ok(rows.into_iter().next())
    }

    /// The rows of a query over a table.
    pub(super) async fn rows<T: DeserializeOwned>(
        &self,
        table: &Table,
        sql: &str,
        params: &[Field],
    ) -> Done<Vec<T>> {
        let found = self.fields(sql, params).await?.into_iter();
        let rows = found.map(|columns| table.row_of(columns.into_iter()));
        let rows: Result<Vec<T>, StoreError> = rows.collect();
        Ok(rows?)
    }

    /// The columns of the rows of a query.
    pub(super) async fn fields(
        &self,
        sql: &str,
        params: &[Field],
    ) -> Done<Vec<Vec<(String, Field)>>> {
        let found = self.query(sql, params).await?;
        let mut rows = Vec::with_capacity(found.len());
        for row in &found {
            let mut columns = Vec::with_capacity(row.len());
            for (place, column) in row.columns().iter().enumerate() {
                columns.push((column.name().to_owned(), field(row, place, column.type_())?));
            }
            rows.push(columns);
        }
        Ok(rows)
    }

    /// The texts, ids mostly, that a query finds.
    pub(super) async fn texts<T>(
        &self,
        sql: &str,
        params: &[Field],
        id: fn(String) -> T,
    ) -> Done<Vec<T>> {
        let rows = self.query(sql, params).await?;
        let texts = rows.iter().map(|row| row.try_get::<_, String>(0));
        let texts: Result<Vec<String>, Error> = texts.collect();
        Ok(texts?.iter().map(|text| id(plain(text))).collect())
    }
}

fn mark(number: usize) -> String {
    format!("${number}")
}

fn field(row: &Row, place: usize, kind: &Type) -> Result<Field, Error> {
    Ok(match *kind {
        Type::INT8 => row.try_get::<_, Option<i64>>(place)?.into(),
        Type::BYTEA => row
            .try_get::<_, Option<Vec<u8>>>(place)?
            .map_or(Field::Null, Field::Bytes),
        _ => {
            let text: Option<&str> = row.try_get(place)?;
            text.map_or(Field::Null, |text| Field::Text(plain(text)))
        }
    })
}

/// Maps the error of a write.
fn refused(table: &Table, error: Error) -> Failure {
    match error.code() {
        Some(code) if *code == SqlState::FOREIGN_KEY_VIOLATION => {
            StoreError::Missing { what: table.what }.into()
        }
        Some(code) if *code == SqlState::UNIQUE_VIOLATION => {
            StoreError::Conflict { what: table.what }.into()
        }
        _ => error.into(),
    }
}

impl ToSql for Field {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => number.to_sql(kind, out),
            Self::Text(text) => escaped(text).to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn to_sql_checked(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        let fits = match self {
            Self::Null => true,
            Self::Integer(_) => *kind == Type::INT8,
            Self::Text(_) => *kind == Type::TEXT,
            Self::Bytes(_) => *kind == Type::BYTEA,
        };
        match fits {
            true => self.to_sql(kind, out),
            false => Err(format!("a parameter is no {kind}").into()),
        }
    }
}

/// The character that begins an escape. PostgreSQL's texts hold every character but NUL, which
/// messages and results may contain.
const ESCAPE: char = '\u{e000}';

/// A text as a column holds it.
pub(super) fn escaped(text: &str) -> String {
    if !text.contains(['\0', ESCAPE]) {
        return text.to_owned();
    }
    let mut held = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => held.extend([ESCAPE, '0']),
            ESCAPE => held.extend([ESCAPE, '1']),
            other => held.push(other),
        }
    }
    held
}

/// What a column's text says.
pub(super) fn plain(held: &str) -> String {
    if !held.contains(ESCAPE) {
        return held.to_owned();
    }
    let mut text = String::with_capacity(held.len());
    let mut characters = held.chars();
    while let Some(character) = characters.next() {
        match (character, character == ESCAPE) {
            (_, true) => match characters.next() {
                Some('0') => text.push('\0'),
                _ => text.push(ESCAPE),
            },
            (other, false) => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_text_is_kept_without_nul(text in "[\0\u{e000}01aé]*") {
            let held = escaped(&text);
            prop_assert!(!held.contains('\0'));
            prop_assert_eq!(plain(&held), text);
        }
    }
}
