//! Who may come in.

use crate::store::change::LoginChange;
use crate::store::error::StoreError;
use crate::store::id::UserId;
use crate::store::postgres::connection::Connection;
use crate::store::postgres::session::{Failure, Session};
use crate::store::row::{AccessToken, LoginAttempt, LoginSession, User, UserEdit};
use crate::store::{table, user_change};

type Found<T> = Result<T, Failure>;

impl<C: Connection> Session<'_, C> {
    pub(super) async fn login_session(&self, hash: &str) -> Found<Option<(LoginSession, User)>> {
        let sql = "SELECT * FROM login_sessions WHERE hash = $1";
        let row: Option<LoginSession> = self.row(&table::SESSIONS, sql, &[hash.into()]).await?;
        self.with_user(row, |session| &session.user_id).await
    }

    pub(super) async fn login_attempt(&self, hash: &str) -> Found<Option<LoginAttempt>> {
        let sql = "SELECT * FROM login_attempts WHERE hash = $1";
        self.row(&table::ATTEMPTS, sql, &[hash.into()]).await
    }

    pub(super) async fn access_token(&self, hash: &str) -> Found<Option<(AccessToken, User)>> {
        let sql = "SELECT * FROM access_tokens WHERE hash = $1";
        let of = [hash.into()];
        let row: Option<AccessToken> = self.row(&table::ACCESS_TOKENS, sql, &of).await?;
        self.with_user(row, |token| &token.user_id).await
    }

    pub(super) async fn access_tokens(&self, user: &UserId) -> Found<Vec<AccessToken>> {
        let sql = r#"SELECT * FROM access_tokens WHERE user_id = $1 ORDER BY name COLLATE "C""#;
        let of = [user.as_str().into()];
        self.rows(&table::ACCESS_TOKENS, sql, &of).await
    }

    async fn with_user<T>(
        &self,
        row: Option<T>,
        of: fn(&T) -> &UserId,
    ) -> Found<Option<(T, User)>> {
        let Some(row) = row else {
            return Ok(None);
        };
        let sql = "SELECT * FROM users WHERE id = $1";
        let id = [of(&row).as_str().into()];
        let user: Option<User> = self.row(&table::USERS, sql, &id).await?;
        Ok(user.map(|user| (row, user)))
    }

    pub(super) async fn edit_user(&self, id: &UserId, edit: &UserEdit) -> Found<()> {
        let (sql, values) = user_change::edit(id, edit);
        if self.write(&table::USERS, sql, &values).await? == 0 {
            return Err(StoreError::Missing { what: "user" }.into());
        }
        match edit.is_blocked {
            // A login that was just being made has ended: it locked the user's row.
            Some(true) => self.end_sessions(id).await,
            _ => Ok(()),
        }
    }

    async fn end_sessions(&self, user: &UserId) -> Found<()> {
        let sql = "DELETE FROM login_sessions WHERE user_id = $1";
        self.execute(sql, &[user.as_str().into()]).await.map(drop)
    }

    pub(super) async fn change_login(&self, change: &LoginChange) -> Found<()> {
        match change {
            LoginChange::CameIn(arrival) => {
                let (sql, values) = user_change::come_in(arrival);
                if self.write(&table::USERS, sql, &values).await? == 0 {
                    return Err(StoreError::Conflict { what: "user" }.into());
                }
            }
            LoginChange::PutSession(row) => self.put(&table::SESSIONS, row).await?,
            LoginChange::UsedSession(hash, at) => {
                let sql = "UPDATE login_sessions SET seen_at = $2 WHERE hash = $1";
                let of = [hash.as_str().into(), (at.as_millis() as i64).into()];
                self.execute(sql, &of).await?;
            }
            LoginChange::EndSession(hash) => {
                let sql = "DELETE FROM login_sessions WHERE hash = $1";
                self.execute(sql, &[hash.as_str().into()]).await?;
            }
            LoginChange::EndSessions(user) => {
                self.end_sessions(user).await?;
            }
            LoginChange::PutAttempt(row) => self.insert(&table::ATTEMPTS, row).await?,
            LoginChange::TakeAttempt(hash) => {
                let sql = "DELETE FROM login_attempts WHERE hash = $1";
                if self.execute(sql, &[hash.as_str().into()]).await? == 0 {
                    return Err(StoreError::Conflict { what: "login" }.into());
                }
            }
            LoginChange::Prune(moment) => {
                for sql in [
                    "DELETE FROM login_sessions WHERE expires_at < $1",
                    "DELETE FROM login_attempts WHERE expires_at < $1",
                ] {
                    let of = [(moment.as_millis() as i64).into()];
                    self.execute(sql, &of).await?;
                }
            }
            LoginChange::PutToken(row) => self.put(&table::ACCESS_TOKENS, row).await?,
            LoginChange::UsedToken(id, at) => {
                let sql = "UPDATE access_tokens SET used_at = $2 WHERE id = $1";
                let of = [id.as_str().into(), (at.as_millis() as i64).into()];
                self.execute(sql, &of).await?;
            }
            LoginChange::DeleteToken(user, id) => {
                self.delete(&table::ACCESS_TOKENS, user, id.as_str())
                    .await?;
            }
        }
        Ok(())
    }
}
