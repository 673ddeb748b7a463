//! The error type of the API.

use std::borrow::Cow;
use std::fmt;

use agent_loop::AnswerError;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::conversation::{AttachmentError, ConversationError, LEASED_HINT};
use crate::exit::{Exit, Failure, chain};
use crate::servers::host_advice;
use crate::store::StoreError;

/// `Retry-After` of a busy store, in seconds.
const BUSY: u64 = 2;

/// Why a request was not done: `{"error": {"code", "message", "hint", "details"}}`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ApiError {
    #[serde(with = "status_number")]
    pub(crate) status: StatusCode,
    code: Cow<'static, str>,
    message: Box<str>,
    hint: Option<Box<str>>,
    details: Option<Box<Value>>,
    retry_after: Option<u64>,
}

impl ApiError {
    /// An error with a status, a code for programs and a message for users.
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code: Cow::Borrowed(code),
            message: message.into().into(),
            hint: None,
            details: None,
            retry_after: None,
        }
    }

    /// Not found, or owned by another user.
    pub(crate) fn not_found(what: &str) -> Self {
        let message = format!("there is no such {what}");
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// The request is malformed.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// The request conflicts with the current state.
    pub(crate) fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    /// The request is well-formed but invalid.
    pub(crate) fn unfit(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "unfit", message)
    }

    /// As [`unfit`](Self::unfit), with the failure's own words.
    pub(crate) fn unfit_for(failure: Failure) -> Self {
        Self::of_failure(StatusCode::UNPROCESSABLE_ENTITY, "unfit", &failure)
    }

    fn of_failure(status: StatusCode, code: &'static str, failure: &Failure) -> Self {
        let mut error = Self::new(status, code, failure.chain());
        error.hint = failure.hint().map(Into::into);
        error
    }

    /// Only the owner may do this, or users trusted by the owner.
    pub(crate) fn not_permitted(message: impl Into<String>, user: &str) -> Self {
        let message = format!("{}, and user {user:?} may not", message.into());
        let error = Self::new(StatusCode::FORBIDDEN, "not_permitted", message);
        error.with_hint(host_advice(user))
    }

    /// Too many requests; retry after `seconds`.
    pub(crate) fn rate_limited(seconds: u64) -> Self {
        let message = "too many requests";
        let mut error = Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message);
        error.retry_after = Some(seconds);
        error
    }

    /// The store cannot be used now; retry in a moment.
    fn away(code: &'static str, message: String) -> Self {
        let mut error = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message);
        error.retry_after = Some(BUSY);
        error
    }

    /// The error of a bare HTTP status.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        let code = match status {
            StatusCode::NOT_FOUND => "not_found",
            StatusCode::PAYLOAD_TOO_LARGE => "too_large",
            StatusCode::METHOD_NOT_ALLOWED => "method_not_allowed",
            StatusCode::UNSUPPORTED_MEDIA_TYPE => "not_json",
            status if status.is_server_error() => "internal",
            _ => "bad_request",
        };
        let message = status.canonical_reason().unwrap_or("it failed");
        Self::new(status, code, message.to_lowercase())
    }

    /// The code for programs.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// Whether another process drives or has driven the conversation.
    pub(crate) fn is_overtaken(&self) -> bool {
        matches!(&*self.code, "overtaken" | "running_elsewhere")
    }

    /// Whether another process has to do it.
    pub(crate) fn is_elsewhere(&self) -> bool {
        matches!(
            &*self.code,
            "running_elsewhere" | "asked_elsewhere" | "moved"
        )
    }

    /// Whether this process is being stopped.
    pub(crate) fn is_closing(&self) -> bool {
        self.code == "closing"
    }

    /// Adds a hint.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into().into());
        self
    }

    /// Names the member of the request at fault, so that a form can show the error there.
    #[must_use]
    pub(crate) fn at(self, field: &str) -> Self {
        self.with_details(json!({ "field": field }))
    }

    /// Adds details for programs.
    #[must_use]
    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(members) = error.as_object_mut() {
            let hint = self
                .hint
                .map(|hint| ("hint".to_owned(), Value::from(&*hint)));
            let details = self
                .details
                .map(|reported| ("details".to_owned(), *reported));
            members.extend(hint.into_iter().chain(details));
        }
        let mut response = (self.status, Json(json!({ "error": error }))).into_response();
        if let Some(seconds) = self.retry_after {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let message = chain(&error);
        match error {
            StoreError::Conflict { .. } => Self::conflict("conflict", message),
            StoreError::Leased => ConversationError::Leased.into(),
            StoreError::Missing { .. } => Self::new(StatusCode::NOT_FOUND, "not_found", message),
            StoreError::PlainSecret { .. } => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "plain_secret", message)
            }
            StoreError::TooBig { .. } => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
            }
            StoreError::Closed => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "closing",
                "switchboard is being stopped",
            ),
            StoreError::Busy => Self::away("busy", message),
            StoreError::Unavailable(_) => Self::away("database_away", message)
                .with_hint("Try again in a moment. If it was being stored just then, look first whether it was."),
            StoreError::ReadOnly => Self::away("read_only", message)
                .with_hint("Try again once the database takes changes. Nothing was changed."),
            StoreError::Full(_) => {
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "storage_full", message)
                    .with_hint("Make room, then try again. Nothing was changed.")
            }
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message),
        }
    }
}

impl From<ConversationError> for ApiError {
    fn from(error: ConversationError) -> Self {
        let message = error.to_string();
        match error {
            ConversationError::NotFound(_) => Self::not_found("conversation"),
            ConversationError::NoMessage(_) => Self::not_found("message"),
            ConversationError::TooManyVersions => Self::conflict("too_many_versions", message),
            ConversationError::Overtaken => Self::conflict("overtaken", message),
            ConversationError::Leased => {
                Self::conflict("running_elsewhere", message).with_hint(LEASED_HINT)
            }
            ConversationError::Answer(AnswerError::NotAsked(_)) => {
                Self::conflict("already_answered", message)
            }
            ConversationError::Answer(AnswerError::Arguments(why)) => {
                let message = format!("the arguments do not fit the tool's schema: {why}");
                Self::unfit(message).with_details(json!({ "arguments": why }))
            }
            ConversationError::Answer(AnswerError::Superseded(_)) => {
                Self::conflict("stale", message)
            }
            ConversationError::Answer(AnswerError::NotReadOnly(_) | AnswerError::OneCall(_)) => {
                Self::unfit(message)
            }
            ConversationError::Answer(_) => Self::rate_limited(1),
            ConversationError::Store(error) => error.into(),
            ConversationError::Unreadable(_) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
            }
        }
    }
}

impl From<AttachmentError> for ApiError {
    fn from(error: AttachmentError) -> Self {
        Self::unfit(error.to_string()).at(&format!("attachments[{}]", error.index))
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        let (status, code) = match failure.exit() {
            Exit::Model => (StatusCode::BAD_GATEWAY, "model"),
            Exit::Auth => (StatusCode::CONFLICT, "needs_auth"),
            Exit::Unreachable => (StatusCode::BAD_GATEWAY, "unreachable"),
            Exit::Tool => (StatusCode::BAD_GATEWAY, "tool"),
            _ => (StatusCode::BAD_REQUEST, "bad_request"),
        };
        Self::of_failure(status, code, &failure)
    }
}

/// An HTTP status as its number.
mod status_number {
    use axum::http::StatusCode;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(status: &StatusCode, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u16(status.as_u16())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<StatusCode, D::Error> {
        StatusCode::from_u16(u16::deserialize(from)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_store_cannot_do_now_has_a_code_and_says_that_it_may_be_tried_again() {
        let errors = [
            (
                StoreError::Unavailable("refused".into()),
                503,
                "database_away",
            ),
            (StoreError::ReadOnly, 503, "read_only"),
            (StoreError::Busy, 503, "busy"),
            (StoreError::Closed, 503, "closing"),
            (StoreError::Full("no space".into()), 507, "storage_full"),
        ];
        for (error, status, code) in errors {
            let shown = ApiError::from(error);
            assert_eq!((shown.status.as_u16(), shown.code.as_ref()), (status, code));
            let response = shown.into_response();
            let again = response.headers().contains_key(header::RETRY_AFTER);
            assert_eq!(
                again,
                ["database_away", "read_only", "busy"].contains(&code),
                "{code}"
            );
        }
    }
}
