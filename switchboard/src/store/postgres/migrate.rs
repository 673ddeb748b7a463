//! Brings a database's tables up to date.

use deadpool_postgres::{GenericClient as _, Object};

use crate::store::error::StoreError;
use crate::store::postgres::session::Failure;

/// What takes the tables from each version to the next. Never change one that was released.
const STEPS: &[&str] = &[
    include_str!("tables_1.sql"),
    include_str!("tables_2.sql"),
    include_str!("tables_3_login.sql"),
    include_str!("tables_4_sandbox.sql"),
    include_str!("tables_5_versions.sql"),
    include_str!("tables_6_revision.sql"),
    include_str!("tables_7_definition.sql"),
    include_str!("tables_8_installed.sql"),
    include_str!("tables_9_options.sql"),
];

/// The oldest server that can be used: it tells what became of a transaction.
const OLDEST: i64 = 130_000;

/// Takes every step that the database has not taken yet, each whole or not at all. Processes that
/// start at once wait for each other. No statement is prepared: a pool may be in between.
pub(super) async fn migrate(client: &mut Object, database: &str) -> Result<(), Failure> {
    let known = STEPS.len() as u32;
    let version = "SELECT current_setting('server_version_num')::BIGINT";
    let version: i64 = client.query_typed_one(version, &[]).await?.try_get(0)?;
    if version < OLDEST {
        let source = format!(
            "PostgreSQL {} or newer is needed, and this is version {}",
            OLDEST / 10_000,
            version / 10_000
        );
        return Err(StoreError::Failed(source.into()).into());
    }
    loop {
        let transaction = client.transaction().await?;
        transaction
            .query_typed("SELECT pg_advisory_xact_lock(7377626401)", &[])
            .await?;
        let exists = "SELECT to_regclass('switchboard_version') IS NOT NULL,
             to_regclass('mcp_servers') IS NOT NULL OR to_regclass('events') IS NOT NULL
                 OR to_regclass('users') IS NOT NULL";
        let row = transaction.query_typed_one(exists, &[]).await?;
        let (ours, taken): (bool, bool) = (row.try_get(0)?, row.try_get(1)?);
        let found = match ours {
            true => {
                let row = transaction
                    .query_typed_one("SELECT version FROM switchboard_version", &[])
                    .await?;
                row.try_get::<_, i64>(0)? as u32
            }
            false if taken => return Err(StoreError::Foreign(database.into()).into()),
            false => {
                let first = "CREATE TABLE switchboard_version (version BIGINT NOT NULL);
                     INSERT INTO switchboard_version VALUES (0)";
                transaction.batch_execute(first).await?;
                0
            }
        };
        if found > known {
            let path = database.into();
            return Err(StoreError::Newer { path, found, known }.into());
        }
        let Some(step) = STEPS.get(found as usize) else {
            transaction.commit().await?;
            return Ok(());
        };
        transaction.batch_execute(step).await?;
        let next = i64::from(found) + 1;
        let update = format!("UPDATE switchboard_version SET version = {next}");
        transaction.batch_execute(&update).await?;
        transaction.commit().await?;
    }
}
