//! Statements on the tables of any back end. Placeholders are `$1`, `$2` and so on, in this order.

use std::path::Path;

use rusqlite::Connection;

use crate::store::error::StoreError;
use crate::store::sqlite;
use crate::store::table::Field;

/// A row: the names and values of its columns.
pub(super) type Columns = Vec<(String, Field)>;

/// A store whose tables are read and written as they are.
pub(super) enum Raw {
    Sqlite(Connection),
    #[cfg(feature = "postgres")]
    Postgres(Box<crate::store::postgres::Direct>),
}

impl Raw {
    /// Opens a store, and brings its tables up to date.
    pub(super) async fn open(named: &Path) -> Result<Self, StoreError> {
        match crate::home::postgres_url(named) {
            #[cfg(feature = "postgres")]
            Some(url) => {
                let direct = crate::store::postgres::Direct::open(url).await?;
                Ok(Self::Postgres(Box::new(direct)))
            }
            #[cfg(not(feature = "postgres"))]
            Some(url) => Err(crate::home::without_postgres(url)),
            None => sqlite::direct(named).await.map(Self::Sqlite),
        }
    }

    /// Begins a transaction that sees one moment.
    pub(super) async fn begin(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(connection) => batch(connection, "BEGIN"),
            #[cfg(feature = "postgres")]
            Self::Postgres(direct) => direct.batch("BEGIN ISOLATION LEVEL REPEATABLE READ").await,
        }
    }

    pub(super) async fn commit(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(connection) => batch(connection, "COMMIT"),
            #[cfg(feature = "postgres")]
            Self::Postgres(direct) => direct.batch("COMMIT").await,
        }
    }

    pub(super) async fn rows(
        &mut self,
        sql: &str,
        params: &[Field],
    ) -> Result<Vec<Columns>, StoreError> {
        match self {
            Self::Sqlite(connection) => {
                let params = rusqlite::params_from_iter(params);
                sqlite::fields(connection, sql, params)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(direct) => direct.rows(sql, params).await,
        }
    }

    pub(super) async fn execute(&mut self, sql: &str, params: &[Field]) -> Result<u64, StoreError> {
        match self {
            Self::Sqlite(connection) => {
                let params = rusqlite::params_from_iter(params);
                Ok(sqlite::execute(connection, sql, params)? as u64)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(direct) => direct.execute(sql, params).await,
        }
    }

    /// A number that a query finds.
    pub(super) async fn number(&mut self, sql: &str) -> Result<i64, StoreError> {
        let rows = self.rows(sql, &[]).await?;
        let first = rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().next());
        match first {
            Some((_, Field::Integer(number))) => Ok(number),
            Some((_, Field::Null)) => Ok(0),
            _ => Err(StoreError::Failed("a number was expected".into())),
        }
    }

    /// What the engine itself finds wrong.
    pub(super) async fn damage(&mut self) -> Result<Vec<String>, StoreError> {
        match self {
            Self::Sqlite(connection) => {
                let mut found = Vec::new();
                for pragma in ["PRAGMA integrity_check", "PRAGMA foreign_key_check"] {
                    for row in sqlite::fields(connection, pragma, [])? {
                        let text = |(_, field): &(String, Field)| match field {
                            Field::Text(text) => text.clone(),
                            Field::Integer(number) => number.to_string(),
                            _ => "-".to_owned(),
                        };
                        let line: Vec<String> = row.iter().map(text).collect();
                        if line != ["ok"] {
                            found.push(line.join(" "));
                        }
                    }
                }
                Ok(found)
            }
            // It enforces its references itself, and checks its pages by `pg_amcheck`.
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => Ok(Vec::new()),
        }
    }

    /// Makes the counters go on after the numbers that were written.
    pub(super) async fn count_on(&mut self) -> Result<(), StoreError> {
        match self {
            // Counted from the largest number that is there, except for events.
            Self::Sqlite(_) => Ok(()),
            #[cfg(feature = "postgres")]
            Self::Postgres(direct) => {
                for table in ["approval_rules", "pending_interactions", "runs", "events"] {
                    let sql = format!(
                        "SELECT setval(pg_get_serial_sequence('{table}', 'seq'),
                             (SELECT COALESCE(MAX(seq), 0) + 1 FROM {table}), false)"
                    );
                    direct.batch(&sql).await?;
                }
                // An event's number is never given out twice, not even after all were forgotten.
                direct
                    .batch(
                        "SELECT setval('conversation_uses',
                             (SELECT COALESCE(MAX(use_seq), 0) + 1 FROM conversations), false);
                         SELECT setval(pg_get_serial_sequence('events', 'seq'), GREATEST(
                             (SELECT COALESCE(MAX(seq), 0) + 1 FROM events),
                             (SELECT COALESCE(MAX(seq), 0) + 1 FROM forgotten_events)), false)",
                    )
                    .await
            }
        }
    }
}

fn batch(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    connection.execute_batch(sql).map_err(sqlite::failed)
}
