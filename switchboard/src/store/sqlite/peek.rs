//! One setting, read without opening the store.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::store::id::UserId;

/// A user's setting that is text, if the file has it. Nothing is made or changed, and a file that
/// cannot be read has none.
pub(crate) fn peek_setting(file: &Path, user: &UserId, key: &str) -> Option<String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).ok()?;
    let sql = "SELECT value FROM settings WHERE user_id = ? AND key = ?";
    let value: String = connection
        .query_row(sql, [user.as_str(), key], |row| row.get(0))
        .ok()?;
    let value: Value = serde_json::from_str(&value).ok()?;
    value.as_str().map(str::to_owned)
}
