//! `_meta`: metadata of a message or an object.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

use super::capability::ClientCapabilities;
use super::experimental_task::RelatedTask;
use super::lifecycle::Implementation;
use super::logging::LoggingLevel;
use crate::json::ordered_map::RawMap;
use crate::json::read_error::ReadError;
use crate::json::reader::Reader;
use crate::message::id::{ProgressToken, RequestId};
use crate::wire::field::{Field, serialize_plainly};

/// The members of a `_meta` object, raw, with accessors for the keys the protocol reserves.
///
/// A getter also returns `None` if the member is present but invalid.
///
/// ```
/// use mcp_jsonrpc::model::Meta;
///
/// let mut meta = Meta::default();
/// meta.set_progress_token(&7.into())?;
/// assert_eq!(meta.progress_token(), Some(7.into()));
/// assert_eq!(serde_json::to_string(&meta)?, r#"{"progressToken":7}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Meta(RawMap);

impl Field for Meta {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        Field::read(reader).map(Self)
    }

    serialize_plainly!();
}

/// The keys of `_meta` the protocol reserves.
pub mod meta_key {
    /// On requests: the token for progress notifications.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// On modern requests: the protocol revision.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// On modern requests: the client's capabilities.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// On modern requests: the client's info.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// On modern requests: the minimum level of log messages.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// On modern results: the server's info.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// On messages of a subscription: the id of the request that opened it.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// On messages that belong to a task (2025-11-25).
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// On the first response of a task: what to tell the model meanwhile (2025-11-25).
    pub const MODEL_IMMEDIATE_RESPONSE: &str = "io.modelcontextprotocol/model-immediate-response";
    /// W3C Trace Context.
    pub const TRACEPARENT: &str = "traceparent";
    /// W3C Trace Context.
    pub const TRACESTATE: &str = "tracestate";
    /// W3C Baggage.
    pub const BAGGAGE: &str = "baggage";
}

macro_rules! accessors {
    ($($(#[$meta:meta])* $get:ident $set:ident $KEY:ident: $Owned:ty as $Borrowed:ty;)*) => {
        impl Meta {$(
            $(#[$meta])*
            pub fn $get(&self) -> Option<$Owned> {
                self.0.read_as(meta_key::$KEY)
            }

            #[doc = concat!("Sets what [`", stringify!($get), "`](Self::", stringify!($get), ") gets.")]
            pub fn $set(&mut self, value: &$Borrowed) -> Result<(), serde_json::Error> {
                self.0.set(meta_key::$KEY, value)
            }
        )*}
    };
}

accessors! {
    /// The token for progress notifications.
    progress_token set_progress_token PROGRESS_TOKEN: ProgressToken as ProgressToken;
    /// The revision of a modern request.
    protocol_version set_protocol_version PROTOCOL_VERSION: String as str;
    /// The client capabilities of a modern request.
    client_capabilities set_client_capabilities CLIENT_CAPABILITIES: ClientCapabilities as ClientCapabilities;
    /// The client's info of a modern request.
    client_info set_client_info CLIENT_INFO: Implementation as Implementation;
    /// The minimum level of log messages a modern request asks for.
    log_level set_log_level LOG_LEVEL: LoggingLevel as LoggingLevel;
    /// The server's info, for display: it is not verified.
    server_info set_server_info SERVER_INFO: Implementation as Implementation;
    /// The subscription a message belongs to.
    subscription_id set_subscription_id SUBSCRIPTION_ID: RequestId as RequestId;
    /// The task a message belongs to (2025-11-25).
    related_task set_related_task RELATED_TASK: RelatedTask as RelatedTask;
    /// What to tell the model while a task runs (2025-11-25).
    model_immediate_response set_model_immediate_response MODEL_IMMEDIATE_RESPONSE: String as str;
    /// W3C trace parent.
    traceparent set_traceparent TRACEPARENT: String as str;
    /// W3C trace state.
    tracestate set_tracestate TRACESTATE: String as str;
    /// W3C baggage.
    baggage set_baggage BAGGAGE: String as str;
}

impl Deref for Meta {
    type Target = RawMap;

    fn deref(&self) -> &RawMap {
        &self.0
    }
}

impl DerefMut for Meta {
    fn deref_mut(&mut self) -> &mut RawMap {
        &mut self.0
    }
}

impl From<RawMap> for Meta {
    fn from(members: RawMap) -> Self {
        Self(members)
    }
}
