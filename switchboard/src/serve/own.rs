//! What of the user's own the `{id}` of a path names.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::Deserialize;

use crate::serve::app::App;
use crate::serve::error::ApiError;
use crate::serve::fleet::Crew;
use crate::serve::input::User;
use crate::store::{
    Assistant, Conversation, ConversationId, Rule, Server, ServerId, StoreError, UserId,
};

/// The user's own row that the path names. There is no telling one that is somebody else's from
/// one that is not there.
#[derive(Debug)]
pub(crate) struct Own<T>(pub(crate) T);

/// One of the user's servers, and all of them at work.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) crew: Arc<Crew>,
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

impl<T: Row> Own<T> {
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

impl<T: Row> FromRequestParts<App> for Own<T> {
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

impl FromRequestParts<App> for Member {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Own::<Server>(row) = Own::from_request_parts(parts, app).await?;
        let crew = app.fleet.crew(&row.user_id);
        Ok(Self { crew, row })
    }
}

impl Row for Server {
    const KIND: &str = "server";

    async fn find(app: &App, user: &UserId, id: String) -> Result<Option<Self>, StoreError> {
        app.store.server(user, &ServerId::new(id)).await
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
