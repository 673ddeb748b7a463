//! A whole store, table by table: copied to another back end, and checked.

mod check;
mod copy;
mod raw;

use std::path::Path;

pub use check::Finding;
pub use copy::Copied;
use raw::Raw;

use crate::store::error::StoreError;

/// The tables, each after those that it refers to, with the columns of its key. Leases and what
/// processes ask of each other are left out: they belong to processes that run; so are logins, which
/// belong to browsers.
const TABLES: &[(&str, &[&str])] = &[
    ("users", &["id"]),
    ("access_tokens", &["id"]),
    ("mcp_servers", &["id"]),
    ("server_tools", &["server_id", "name"]),
    ("oauth_tokens", &["server_id", "issuer"]),
    ("assistants", &["id"]),
    ("assistant_mcp_servers", &["assistant_id", "mcp_server_id"]),
    ("conversations", &["id"]),
    ("messages", &["id"]),
    ("message_chunks", &["message_id", "number"]),
    ("blobs", &["id"]),
    ("tool_calls", &["message_id", "position"]),
    ("approval_rules", &["id"]),
    ("approved_definitions", &["server_id", "tool", "kind"]),
    ("pending_interactions", &["id"]),
    ("runs", &["id"]),
    ("usage", &["run_id", "round"]),
    ("events", &["seq"]),
    ("forgotten_events", &["user_id"]),
    ("settings", &["user_id", "key"]),
];

/// Copies everything from one store to another, which must be empty: an SQLite file or the address
/// of a PostgreSQL database each. The source is read as it is at one moment; the target is written
/// whole or not at all, read again and compared.
///
/// # Errors
/// If one cannot be opened, read or written, if the target is not empty, or if what was written is
/// not what was read.
pub async fn copy(from: &Path, to: &Path) -> Result<Copied, StoreError> {
    let (mut from, mut to) = (Raw::open(from).await?, Raw::open(to).await?);
    copy::copy(&mut from, &mut to).await
}

/// Checks a store, an SQLite file or the address of a PostgreSQL database: what its rows refer to is
/// there, and they do not contradict each other.
///
/// # Errors
/// If it cannot be opened or read.
pub async fn check(store: &Path) -> Result<Vec<Finding>, StoreError> {
    check::check(&mut Raw::open(store).await?).await
}
