//! The error a handler returns, encoded according to the client's era.

use std::error::Error as StdError;
use std::fmt;

use mcp_jsonrpc::model::{CallToolResult, ClientCapabilities, ContentBlock, MissingCapabilityData};
use mcp_jsonrpc::{ErrorCode, ErrorObject, Revision};

use crate::handler::ask::AskError;

/// The reason why a request failed.
///
/// Any [`std::error::Error`] converts into it, so that `?` works in handlers. A tool that fails with such an error
/// returns a result with `isError` set, which the model can read. For every other request, and with every constructor
/// below except [`failed`](Self::failed), it becomes a JSON-RPC error.
///
/// ```
/// use mcp_server::Error;
///
/// fn parse(text: &str) -> Result<u16, Error> {
///     Ok(text.parse::<u16>()?)
/// }
/// assert_eq!(parse("x").unwrap_err().to_string(), "invalid digit found in string");
/// ```
pub struct Error(Box<Repr>);

enum Repr {
    Failed(String),
    Object(ErrorObject),
    /// Its URI, and what follows the message.
    ResourceNotFound(String, String),
    MissingCapability(Box<ClientCapabilities>),
    InsufficientScope(Vec<String>),
}

impl Error {
    /// The operation itself failed. For a tool: a result with `isError`, for the model to read.
    pub fn failed(message: impl Into<String>) -> Self {
        Self(Box::new(Repr::Failed(message.into())))
    }

    /// The parameters are invalid.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::code(ErrorCode::INVALID_PARAMS, message)
    }

    /// The request is invalid in this state.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::code(ErrorCode::INVALID_REQUEST, message)
    }

    /// The server does not implement the method.
    pub fn method_not_found(method: &str) -> Self {
        Self::code(
            ErrorCode::METHOD_NOT_FOUND,
            format!("method not found: {method}"),
        )
    }

    /// The server failed.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::code(ErrorCode::INTERNAL_ERROR, message)
    }

    /// The server has no tool of this name.
    pub fn unknown_tool(name: &str) -> Self {
        Self::invalid_params(format!("unknown tool: {name}"))
    }

    /// The server has no task of this id, or not for this caller.
    pub fn unknown_task(id: &str) -> Self {
        Self::invalid_params(format!("unknown task: {id}"))
    }

    /// The server has no resource with this URI.
    pub fn resource_not_found(uri: impl Into<String>) -> Self {
        Self::resource_not_found_with(uri, "")
    }

    /// The server has no resource with this URI; `note` says what may be the reason.
    pub fn resource_not_found_with(uri: impl Into<String>, note: impl Into<String>) -> Self {
        Self(Box::new(Repr::ResourceNotFound(uri.into(), note.into())))
    }

    /// The client does not declare a capability the request requires.
    pub fn missing_capability(required: ClientCapabilities) -> Self {
        Self(Box::new(Repr::MissingCapability(Box::new(required))))
    }

    /// The caller's token does not have the scopes that the request requires. Over HTTP the status is 403, with a
    /// challenge that names them, so that the client can ask for a token that has them.
    ///
    /// ```
    /// use mcp_server::{Context, Error};
    ///
    /// fn check(cx: &Context) -> Result<(), Error> {
    ///     match cx.caller().is_some_and(|caller| caller.has_scope("notes:write")) {
    ///         true => Ok(()),
    ///         false => Err(Error::insufficient_scope(["notes:write"])),
    ///     }
    /// }
    /// ```
    pub fn insufficient_scope<S: Into<String>>(scopes: impl IntoIterator<Item = S>) -> Self {
        let scopes = scopes.into_iter().map(Into::into).collect();
        Self(Box::new(Repr::InsufficientScope(scopes)))
    }

    /// The scopes that are missing.
    pub(crate) fn scopes(&self) -> Vec<String> {
        match &*self.0 {
            Repr::InsufficientScope(scopes) => scopes.clone(),
            _ => Vec::new(),
        }
    }

    /// A JSON-RPC error with this code.
    pub fn code(code: ErrorCode, message: impl Into<String>) -> Self {
        ErrorObject::new(code, message).into()
    }

    /// The JSON-RPC error for a client of this revision.
    pub(crate) fn object(&self, revision: Revision) -> ErrorObject {
        match &*self.0 {
            Repr::Failed(message) => ErrorObject::new(ErrorCode::INTERNAL_ERROR, message.clone()),
            Repr::Object(object) => object.clone(),
            Repr::ResourceNotFound(uri, _) => with_data(
                ErrorObject::new(revision.resource_not_found(), self.to_string()),
                &serde_json::json!({ "uri": uri }),
            ),
            Repr::InsufficientScope(_) => {
                ErrorObject::new(ErrorCode::INVALID_REQUEST, self.to_string())
            }
            Repr::MissingCapability(required) => {
                // Only the modern era has a code for it.
                let code = if revision.is_modern() {
                    ErrorCode::MISSING_CLIENT_CAPABILITY
                } else {
                    ErrorCode::INVALID_REQUEST
                };
                with_data(
                    ErrorObject::new(code, self.to_string()),
                    &MissingCapabilityData::new(ClientCapabilities::clone(required)),
                )
            }
        }
    }

    /// For a tool that failed: the result with `isError`. `Err` for what is an error of the protocol.
    pub(crate) fn into_tool_result(self) -> Result<CallToolResult, Self> {
        match *self.0 {
            Repr::Failed(message) => {
                let mut result = CallToolResult::new(vec![ContentBlock::text(message)]);
                result.is_error = Some(true);
                Ok(result)
            }
            other => Err(Self(Box::new(other))),
        }
    }
}

fn with_data(object: ErrorObject, data: &impl serde::Serialize) -> ErrorObject {
    object.clone().with_data(data).unwrap_or(object)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Repr::Failed(message) => f.write_str(message),
            Repr::Object(object) => f.write_str(&object.message),
            Repr::ResourceNotFound(uri, note) => {
                let separator = if note.is_empty() { "" } else { "; " };
                write!(f, "resource not found: {uri}{separator}{note}")
            }
            Repr::InsufficientScope(scopes) => {
                write!(f, "insufficient scope: this requires {}", scopes.join(" "))
            }
            Repr::MissingCapability(required) => {
                let names = serde_json::to_string(required).unwrap_or_default();
                write!(
                    f,
                    "the client does not declare a required capability: {names}"
                )
            }
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

/// An [`ErrorObject`] stays one, an [`AskError`] becomes the error that the protocol defines for it; the messages of
/// any other error and its sources are joined.
impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let boxed: Box<dyn StdError + Send + Sync> = Box::new(error);
        let boxed = match boxed.downcast::<ErrorObject>() {
            Ok(object) => return Self(Box::new(Repr::Object(*object))),
            Err(other) => other,
        };
        match boxed.downcast::<AskError>() {
            Ok(error) => match *error {
                AskError::Unsupported { required } => Self::missing_capability(*required),
                other => Self::failed(other.to_string()),
            },
            Err(other) => {
                let mut message = other.to_string();
                let mut source = other.source();
                while let Some(cause) = source {
                    message = format!("{message}: {cause}");
                    source = cause.source();
                }
                Self::failed(message)
            }
        }
    }
}
