#![doc = include_str!("../README.md")]

/// Messages and types of the protocol.
pub use mcp_jsonrpc as protocol;

/// One server: connect, list, call.
pub use mcp_client as client;

/// Transports, and the plug points of credentials and sandboxes.
pub use mcp_transport as transport;

/// OAuth for remote servers.
#[cfg(feature = "auth")]
pub use mcp_auth as auth;

/// Configuration files of MCP servers.
#[cfg(feature = "manager")]
pub use mcp_config as config;

/// Many servers behind one catalogue.
#[cfg(feature = "manager")]
pub use mcp_manager as manager;

/// Model providers.
#[cfg(feature = "providers")]
pub use provider_adapters as providers;

/// JSON Schema compiled for model providers.
#[cfg(feature = "providers")]
pub use tool_schema as schema;

/// The agent loop.
#[cfg(feature = "agent")]
pub use agent_loop as agent;

/// Servers of your own.
#[cfg(feature = "server")]
pub use mcp_server as server;

/// Many servers behind one endpoint.
#[cfg(feature = "gateway")]
pub use mcp_gateway as gateway;

/// Which tool calls run, need approval or are denied.
#[cfg(any(feature = "agent", feature = "gateway"))]
pub use tool_policy as policy;

/// The types that most programs need: `use switchboard_sdk::prelude::*;`.
pub mod prelude {
    pub use mcp_client::{CallError, Client, ConnectError};
    pub use mcp_jsonrpc::model::{CallToolResult, ContentBlock, ElicitResult, Tool};

    #[cfg(feature = "http")]
    pub use mcp_transport::HttpConfig;
    #[cfg(feature = "stdio")]
    pub use mcp_transport::ServerCommand;

    #[cfg(feature = "auth")]
    pub use mcp_auth::OAuth;

    #[cfg(feature = "manager")]
    pub use mcp_manager::{Manager, ManagerError, ManagerEvent, ServerConfig, Wait};

    #[cfg(feature = "server")]
    pub use mcp_jsonrpc::model::Implementation;
    #[cfg(feature = "server")]
    pub use mcp_server::{Context, Json, Server};

    #[cfg(feature = "gateway")]
    pub use mcp_gateway::{Gateway, Upstream};

    #[cfg(feature = "providers")]
    pub use provider_adapters::{Conversation, Model};

    #[cfg(feature = "agent")]
    pub use agent_loop::{
        Agent, Answer, Approval, AskError, Compaction, LocalTools, ManagedTools, Mode, Policy, Run,
        RunEvent, RunLimits, ToolInfo, Toolbox,
    };
}
