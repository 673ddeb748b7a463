//! The start of a connection: `initialize`, `server/discover`, `ping`.

use super::base::{CacheScope, EmptyParams, EmptyResult};
use super::capability::{ClientCapabilities, ServerCapabilities};
use super::icon::Icon;
use super::meta::Meta;
use crate::message::method::{methods, notifications};
use crate::message::result_body::{ResultType, results};
use crate::wire::object::object;

object! {
    /// Opens a session (up to 2025-11-25).
    pub struct InitializeParams {
        required {
            /// The revision the client prefers.
            protocol_version: String = "protocolVersion",
            /// What the client can do.
            capabilities: ClientCapabilities = "capabilities",
            /// The client's info.
            client_info: Implementation = "clientInfo",
        }
        optional {
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// The server's part of the handshake.
    pub struct InitializeResult {
        required {
            /// The revision the server will speak.
            protocol_version: String = "protocolVersion",
            /// The server's capabilities.
            capabilities: ServerCapabilities = "capabilities",
            /// The server's info.
            server_info: Implementation = "serverInfo",
        }
        optional {
            /// Instructions for a model.
            instructions: String = "instructions",
            /// The kind of result; not part of these revisions, but some servers send it.
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A modern server's description of itself (2026-07-28). Its name and version are in [`Meta::server_info`].
    pub struct DiscoverResult {
        required {
            /// The revisions that the server supports.
            supported_versions: Vec<String> = "supportedVersions",
            /// The server's capabilities.
            capabilities: ServerCapabilities = "capabilities",
        }
        optional {
            /// Instructions for a model.
            instructions: String = "instructions",
            /// How long the result stays fresh, in milliseconds.
            ttl_ms: i64 = "ttlMs",
            /// Whether a cache may share the result.
            cache_scope: CacheScope = "cacheScope",
            /// The kind of result.
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(InitializeResult, DiscoverResult);

object! {
    /// A program that speaks the protocol.
    pub struct Implementation {
        required {
            /// Its name.
            name: String = "name",
            /// Its version.
            version: String = "version",
        }
        optional {
            /// Its display name (2025-06-18 and later).
            title: String = "title",
            /// Its description (2025-11-25 and later).
            description: String = "description",
            /// Its website (2025-11-25 and later).
            website_url: String = "websiteUrl",
            /// Icons (2025-11-25 and later).
            icons: Vec<Icon> = "icons",
        }
    }
}

methods! {
    /// Opens a session (up to 2025-11-25).
    Initialize = "initialize": InitializeParams => InitializeResult;
    /// Asks a modern server about itself (2026-07-28).
    Discover = "server/discover": EmptyParams => DiscoverResult;
    /// Either side checks that the other is still there (up to 2025-11-25).
    Ping = "ping": EmptyParams => EmptyResult;
}

notifications! {
    /// The client confirms that the session is open (up to 2025-11-25).
    Initialized = "notifications/initialized": EmptyParams;
}
