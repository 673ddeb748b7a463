//! Brings a file's tables up to date.

use std::path::Path;
use std::time::Duration;

use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::store::error::StoreError;
use crate::store::statements;

/// What takes the tables from each version to the next. Never change one that was released.
const STEPS: &[&str] = &[
    include_str!("tables_1.sql"),
    include_str!("tables_2.sql"),
    include_str!("tables_3.sql"),
    include_str!("tables_4.sql"),
    include_str!("tables_5.sql"),
    include_str!("tables_6.sql"),
    include_str!("tables_7_login.sql"),
    include_str!("tables_8_sandbox.sql"),
    include_str!("tables_9_versions.sql"),
    include_str!("tables_10_revision.sql"),
    include_str!("tables_11_definition.sql"),
    include_str!("tables_12_installed.sql"),
    include_str!("tables_13_options.sql"),
];

/// Marks our files, from the fifth version on: "swbd".
const APPLICATION_ID: i32 = 0x7377_6264;
/// The first version of the tables whose files are marked.
const FIRST_MARKED: u32 = 5;

/// Sets what holds for a connection rather than for the file.
pub(super) fn configure(connection: &Connection, busy: Duration) -> rusqlite::Result<()> {
    let count: fn(TraceEvent<'_>) = |_| statements::sent(1);
    connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(count));
    connection.busy_timeout(busy)?;
    connection.set_prepared_statement_cache_capacity(128);
    write_ahead(connection, busy)?;
    connection.execute_batch(
        "PRAGMA foreign_keys = ON;
         PRAGMA synchronous = FULL;
         PRAGMA trusted_schema = OFF;",
    )
}

/// Turns the write-ahead log on. SQLite does not wait for another process that is just doing the
/// same, so we do.
fn write_ahead(connection: &Connection, busy: Duration) -> rusqlite::Result<()> {
    let step = Duration::from_millis(10);
    let mut left = busy;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())) {
            Err(error) if is_busy(&error) && !left.is_zero() => {
                std::thread::sleep(step);
                left = left.saturating_sub(step);
            }
            other => return other,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Takes every step the file has not taken yet, each whole or not at all.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let open = |error: rusqlite::Error| StoreError::Open {
        path: path.to_owned(),
        source: error.into(),
    };
    let known = STEPS.len() as u32;
    loop {
        // Another process may be migrating the same file: look under the lock.
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(open)?;
        let found: u32 = transaction
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(open)?;
        if !is_ours(&transaction, found).map_err(open)? {
            return Err(StoreError::Foreign(path.to_owned()));
        }
        if found > known {
            let path = path.to_owned();
            return Err(StoreError::Newer { path, found, known });
        }
        let Some(step) = STEPS.get(found as usize) else {
            return Ok(());
        };
        transaction.execute_batch(step).map_err(open)?;
        transaction
            .pragma_update(None, "user_version", found + 1)
            .map_err(open)?;
        transaction.commit().map_err(open)?;
    }
}

/// Whether the tables are ours, or there are none yet.
fn is_ours(connection: &Connection, version: u32) -> rusqlite::Result<bool> {
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, u32>(0));
    Ok(match version {
        0 => id == 0 && count("SELECT COUNT(*) FROM sqlite_schema")? == 0,
        1..FIRST_MARKED => {
            let ours = "SELECT COUNT(*) FROM sqlite_schema
                 WHERE type = 'table' AND name IN ('mcp_servers', 'pending_interactions')";
            id == 0 && count(ours)? == 2
        }
        _ => id == APPLICATION_ID,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assistant_keeps_its_servers_when_its_mode_gets_another_name() {
        let mut connection = Connection::open_in_memory().unwrap();
        for step in &STEPS[..3] {
            connection.execute_batch(step).unwrap();
        }
        connection.pragma_update(None, "user_version", 3).unwrap();
        let row = "INSERT INTO assistants (id, user_id, name, mcp_mode, created_at)
            VALUES ('a', 'local', 'Coder', 'manual', 0)";
        connection.execute_batch(row).unwrap();
        migrate(&mut connection, Path::new("test")).unwrap();
        let sql = "SELECT tool_selection, mcp_mode FROM assistants";
        let found = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let found: (String, Option<String>) = found.unwrap();
        assert_eq!(found, ("manual".to_owned(), None));
    }
}
