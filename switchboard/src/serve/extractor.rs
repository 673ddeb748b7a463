//! Extractors of the user's own rows by the `{id}` of a path.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::Deserialize;

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::input::User;
use crate::serve::server_pool::UserServers;
use crate::store::{
    Assistant, Conversation, ConversationId, Rule, Server, ServerId, StoreError, UserId,
};

/// The user's own row that the path names. A row of another user is indistinguishable from a
/// missing one.
#[derive(Debug)]
pub(crate) struct Owned<T>(pub(crate) T);

/// One of the user's servers, with the user's connections.
#[derive(Debug)]
pub(crate) struct OwnedServer {
    pub(crate) user_servers: Arc<UserServers>,
    pub(crate) row: Server,
}

/// A row that belongs to a user.
pub(crate) trait Row: Sized {
    /// What people call it.
    const KIND: &str;

    /// The one of this id among the user's.
    fn find(
        app: &App,
        user: &UserId,
        id: String,
    ) -> impl Future<Output = Result<Option<Self>, StoreError>> + Send;
}

impl<T: Row> Owned<T> {
    /// The user's row of this id.
    pub(crate) async fn find(app: &App, user: &UserId, id: String) -> Result<Self, ApiError> {
        let found = T::find(app, user, id).await?;
        let row = found.ok_or_else(|| ApiError::not_found(T::KIND))?;
        Ok(Self(row))
    }

    /// The user's row of this id, if one is named.
    pub(crate) async fn maybe(
        app: &App,
        user: &UserId,
        id: Option<String>,
    ) -> Result<Option<T>, ApiError> {
        match id {
            Some(id) => Ok(Some(Self::find(app, user, id).await?.0)),
            None => Ok(None),
        }
    }
}

impl<T: Row> FromRequestParts<App> for Owned<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        #[derive(Deserialize)]
        struct Named {
            id: String,
        }
        let User(user) = User::from_request_parts(parts, app).await?;
        let named = Path::from_request_parts(parts, app).await;
        let Path(Named { id }) = named.map_err(|error| ApiError::of_status(error.status()))?;
        Self::find(app, &user, id).await
    }
}

impl FromRequestParts<App> for OwnedServer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Owned::<Server>(row) = Owned::from_request_parts(parts, app).await?;
        let user_servers = app.server_pool.user_servers(&row.user_id);
        Ok(Self { user_servers, row })
    }
}

impl Row for Server {
    const KIND: &str = "server";

    async fn find(app: &App, user: &UserId, id: String) -> Result<Option<Self>, StoreError> {
        app.server_pool.server(user, &ServerId::new(id)).await
    }
}

impl Row for Conversation {
    const KIND: &str = "conversation";

    async fn find(app: &App, user: &UserId, id: String) -> Result<Option<Self>, StoreError> {
        let id = ConversationId::new(id);
        app.store.conversation(user, &id).await
    }
}

impl Row for Assistant {
    const KIND: &str = "assistant";

    async fn find(app: &App, user: &UserId, id: String) -> Result<Option<Self>, StoreError> {
        let rows = app.store.assistants(user).await?;
        Ok(rows.into_iter().find(|row| row.id.as_str() == id))
    }
}

impl Row for Rule {
    const KIND: &str = "approval";

    async fn find(app: &App, user: &UserId, id: String) -> Result<Option<Self>, StoreError> {
        let rows = app.store.rules(user).await?;
        Ok(rows.into_iter().find(|row| row.id.as_str() == id))
    }
}
