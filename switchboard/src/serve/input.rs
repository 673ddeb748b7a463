//! Extractors of request input.

use std::net::IpAddr;
use std::time::Duration;

use axum::RequestExt as _;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::serve::error::ApiError;
use crate::store::UserId;

/// The authenticated user, set by the guard.
#[derive(Clone, Debug)]
pub(crate) struct User(pub(crate) UserId);

impl<S: Sync> FromRequestParts<S> for User {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let user = parts.extensions.get::<Self>().cloned();
        let message = "this needs a token";
        user.ok_or_else(|| ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message))
    }
}

/// The address that a request comes from, set by the guard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client(pub(crate) IpAddr);

impl<S: Sync> FromRequestParts<S> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let client = parts.extensions.get::<Self>().copied();
        client.ok_or_else(|| ApiError::bad_request("it comes from nowhere"))
    }
}

/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A JSON body. Like [`Params`], it rejects unknown members.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let message = "the body must be application/json";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(ApiError::new(status, "not_json", message));
        }
        let bytes = tokio::time::timeout(BODY_TIMEOUT, request.extract::<Bytes, _>()).await;
        let late = |_| ApiError::of_status(StatusCode::REQUEST_TIMEOUT);
        let bytes: Result<Bytes, BytesRejection> = bytes.map_err(late)?;
        let bytes = bytes.map_err(|error| ApiError::of_status(error.status()))?;
        // serde would read a list as the members in order, which is never intended.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(ApiError::bad_request("the body must be a JSON object"));
        }
        let value = serde_json::from_slice(&bytes);
        value
            .map(Self)
            .map_err(|error| ApiError::bad_request(format!("the body cannot be read: {error}")))
    }
}

/// Distinguishes an absent member from `null`.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// The parameters after `?`.
#[derive(Debug)]
pub(crate) struct Params<T>(pub(crate) T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let read = Query::try_from_uri(&parts.uri);
        let unreadable = |error| ApiError::bad_request(format!("{error}"));
        read.map(|Query(value)| Self(value)).map_err(unreadable)
    }
}
