//! Who may come in.

use rusqlite::{Connection, params};

use crate::store::change::LoginChange;
use crate::store::error::StoreError;
use crate::store::id::UserId;
use crate::store::row::{AccessToken, LoginAttempt, LoginSession, User, UserEdit};
use crate::store::sqlite::table::{self, execute};
use crate::store::user_change;

type Found<T> = Result<T, StoreError>;

pub(super) fn session(connection: &Connection, hash: &str) -> Found<Option<(LoginSession, User)>> {
    let sql = "SELECT * FROM login_sessions WHERE hash = ?";
    let session: Option<LoginSession> = table::SESSIONS.row(connection, sql, [hash])?;
    with_user(connection, session, |session| &session.user_id)
}

pub(super) fn attempt(connection: &Connection, hash: &str) -> Found<Option<LoginAttempt>> {
    let sql = "SELECT * FROM login_attempts WHERE hash = ?";
    table::ATTEMPTS.row(connection, sql, [hash])
}

pub(super) fn access_token(
    connection: &Connection,
    hash: &str,
) -> Found<Option<(AccessToken, User)>> {
    let sql = "SELECT * FROM access_tokens WHERE hash = ?";
    let token: Option<AccessToken> = table::ACCESS_TOKENS.row(connection, sql, [hash])?;
    with_user(connection, token, |token| &token.user_id)
}

pub(super) fn access_tokens(connection: &Connection, user: &UserId) -> Found<Vec<AccessToken>> {
    let sql = "SELECT * FROM access_tokens WHERE user_id = ? ORDER BY name";
    table::ACCESS_TOKENS.rows(connection, sql, [user.as_str()])
}

fn with_user<T>(
    connection: &Connection,
    row: Option<T>,
    of: fn(&T) -> &UserId,
) -> Found<Option<(T, User)>> {
    let Some(row) = row else {
        return Ok(None);
    };
    let sql = "SELECT * FROM users WHERE id = ?";
    let user = table::USERS.row(connection, sql, [of(&row).as_str()])?;
    Ok(user.map(|user| (row, user)))
}

pub(super) fn edit_user(
    connection: &Connection,
    id: &UserId,
    edit: &UserEdit,
) -> Result<(), StoreError> {
    let (sql, values) = user_change::edit(id, edit);
    if table::USERS.execute(connection, sql, &values)? == 0 {
        return Err(StoreError::Missing { what: "user" });
    }
    match edit.is_blocked {
        Some(true) => end_sessions(connection, id),
        _ => Ok(()),
    }
}

fn end_sessions(connection: &Connection, user: &UserId) -> Result<(), StoreError> {
    let sql = "DELETE FROM login_sessions WHERE user_id = ?";
    execute(connection, sql, [user.as_str()]).map(drop)
}

pub(super) fn apply(
    connection: &Connection,
    change: &LoginChange,
    row_bytes: usize,
) -> Result<(), StoreError> {
    match change {
        LoginChange::CameIn(arrival) => {
            let (sql, values) = user_change::come_in(arrival);
            if table::USERS.execute(connection, sql, &values)? == 0 {
                return Err(StoreError::Conflict { what: "user" });
            }
        }
        LoginChange::PutSession(row) => table::SESSIONS.put(connection, row, row_bytes)?,
        LoginChange::UsedSession(hash, at) => {
            let sql = "UPDATE login_sessions SET seen_at = ?2 WHERE hash = ?1";
            execute(connection, sql, params![hash, at.as_millis() as i64])?;
        }
        LoginChange::EndSession(hash) => {
            execute(
                connection,
                "DELETE FROM login_sessions WHERE hash = ?",
                [hash],
            )?;
        }
        LoginChange::EndSessions(user) => {
            end_sessions(connection, user)?;
        }
        LoginChange::PutAttempt(row) => {
            table::ATTEMPTS.append(connection, row, row_bytes)?;
        }
        LoginChange::TakeAttempt(hash) => {
            let sql = "DELETE FROM login_attempts WHERE hash = ?";
            if execute(connection, sql, [hash])? == 0 {
                return Err(StoreError::Conflict { what: "login" });
            }
        }
        LoginChange::Prune(moment) => {
            for sql in [
                "DELETE FROM login_sessions WHERE expires_at < ?",
                "DELETE FROM login_attempts WHERE expires_at < ?",
            ] {
                execute(connection, sql, [moment.as_millis() as i64])?;
            }
        }
        LoginChange::PutToken(row) => table::ACCESS_TOKENS.put(connection, row, row_bytes)?,
        LoginChange::UsedToken(id, at) => {
            let sql = "UPDATE access_tokens SET used_at = ?2 WHERE id = ?1";
            execute(connection, sql, params![id.as_str(), at.as_millis() as i64])?;
        }
        LoginChange::DeleteToken(user, id) => {
            table::ACCESS_TOKENS.delete(connection, user, id.as_str())?;
        }
    }
    Ok(())
}
