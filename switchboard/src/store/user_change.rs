//! Changes of users, column by column, so that none undoes another that is made at the same time.
//! Both back ends run these statements; their placeholders first appear in the order of the values.

use crate::store::id::UserId;
use crate::store::row::{Arrival, TeamRole, UserEdit};
use crate::store::table::Field;
use crate::store::timestamp::Timestamp;

/// A statement and its values.
type Statement<const N: usize> = (&'static str, [Field; N]);

/// What an owner changes.
pub(super) fn edit(id: &UserId, edit: &UserEdit) -> Statement<5> {
    let sql = "UPDATE users SET role = COALESCE($1, role), email = COALESCE($2, email),
             is_blocked = COALESCE($3, is_blocked), uses_host = COALESCE($4, uses_host)
         WHERE id = $5";
    let values = [
        edit.role.map(TeamRole::as_str).into(),
        edit.email.as_deref().into(),
        edit.is_blocked.map(i64::from).into(),
        edit.uses_host.map(i64::from).into(),
        id.as_str().into(),
    ];
    (sql, values)
}

/// A user comes in now: no row is changed if they are blocked, or are another subject's.
pub(super) fn come_in(arrival: &Arrival) -> Statement<7> {
    let sql = "INSERT INTO users (id, name, role, email, issuer, subject, seen_at)
         VALUES ($1, $2, COALESCE($3, 'member'), $4, $5, $6, $7)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, role = COALESCE($3, users.role),
             email = COALESCE(excluded.email, users.email), issuer = excluded.issuer,
             subject = excluded.subject, seen_at = excluded.seen_at
         WHERE users.is_blocked = 0 AND (users.subject IS NULL
             OR (users.issuer = excluded.issuer AND users.subject = excluded.subject))";
    let values = [
        arrival.id.as_str().into(),
        arrival.name.as_str().into(),
        arrival.role.map(TeamRole::as_str).into(),
        arrival.email.as_deref().into(),
        arrival.issuer.as_str().into(),
        arrival.subject.as_str().into(),
        (Timestamp::now().as_millis() as i64).into(),
    ];
    (sql, values)
}
