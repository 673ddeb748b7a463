//! What a gateway offers of its servers, and how much of it at a time.

use clap::Args;
use mcp_gateway::{CallLimits, ConnectionLimits, GatewayBuilder};

use crate::gateway::source::Tools;

/// Help heading of the options about lists and results.
const SIZES: &str = "Long lists and results";
/// Help heading of the limits.
const LIMITS: &str = "Limits";

/// What is offered.
#[derive(Args, Debug, Default)]
pub(super) struct Offer {
    /// Put this before the names of a server's tools and prompts; nothing after the = leaves them as they are; may be
    /// given several times
    #[arg(long = "prefix", value_name = "SERVER=PREFIX", value_parser = prefix)]
    prefixes: Vec<(String, String)>,
    /// Of this server, serve this tool and others named so, and no more; may be given several times
    #[arg(long = "tool", value_name = "SERVER/TOOL", value_parser = server_tool)]
    tools: Vec<(String, String)>,
    /// List tool_search and tool_call instead of tools that exceed this many bytes of JSON
    #[arg(long, value_name = "BYTES", help_heading = SIZES)]
    lazy_tools: Option<usize>,
    /// Shorten results that exceed this many bytes of JSON; the tool read_output reads the rest
    #[arg(long, value_name = "BYTES", help_heading = SIZES)]
    result_cap: Option<usize>,
    /// Run this many calls of one client at a time [default: 256]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    limit_caller: Option<usize>,
    /// Run this many calls of one tool at a time [default: 64]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    limit_tool: Option<usize>,
    /// Run this many calls at one server at a time [default: 256]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    limit_server: Option<usize>,
    /// Keep this many connections that are one client's own, to servers that ask questions [default: 64]
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    limit_connections: Option<usize>,
}

impl Offer {
    pub(super) fn prefixes(&self) -> std::collections::BTreeMap<String, String> {
        self.prefixes.iter().cloned().collect()
    }

    pub(super) fn tools(&self) -> Tools {
        by_server(&self.tools)
    }

    /// Sets what was asked for.
    pub(super) fn apply(&self, mut builder: GatewayBuilder) -> GatewayBuilder {
        if let Some(bytes) = self.lazy_tools {
            builder = builder.lazy_tools(bytes);
        }
        if let Some(bytes) = self.result_cap {
            builder = builder.result_cap(bytes);
        }
        let mut calls = CallLimits::default();
        calls.per_caller = self.limit_caller.unwrap_or(calls.per_caller);
        calls.per_tool = self.limit_tool.unwrap_or(calls.per_tool);
        calls.per_server = self.limit_server.unwrap_or(calls.per_server);
        let mut connections = ConnectionLimits::default();
        connections.open = self.limit_connections.unwrap_or(connections.open);
        builder.call_limits(calls).connection_limits(connections)
    }
}

/// Tools by server.
pub(super) fn by_server(tools: &[(String, String)]) -> Tools {
    let mut all = Tools::new();
    for (server, tool) in tools {
        all.entry(server.clone()).or_default().insert(tool.clone());
    }
    all
}

/// Reads `SERVER=PREFIX`.
fn prefix(text: &str) -> Result<(String, String), String> {
    let (server, prefix) = text
        .split_once('=')
        .filter(|(server, _)| !server.is_empty())
        .ok_or_else(|| format!("{text:?} is not SERVER=PREFIX"))?;
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    match prefix.chars().all(legal) {
        true => Ok((server.to_owned(), prefix.to_owned())),
        false => Err(format!(
            "{prefix:?} has characters that names of tools may not have"
        )),
    }
}

/// Reads `SERVER/TOOL`.
pub(super) fn server_tool(text: &str) -> Result<(String, String), String> {
    let named = text
        .split_once('/')
        .filter(|(server, tool)| !server.is_empty() && !tool.is_empty());
    let (server, tool) = named.ok_or_else(|| format!("{text:?} is not SERVER/TOOL"))?;
    Ok((server.to_owned(), tool.to_owned()))
}
