//! A stored server, as the manager reaches it.

use std::time::Duration;

use mcp_manager::{
    RemoteEndpoint, RemoteKind, ServerConfig, ServerName, StdioEndpoint, ToolPolicy,
};

use crate::home;
use crate::models::find_key;
use crate::store::{EnvPolicy, Server, ServerKind, Trust};

/// How a stored server is reached, or what is wrong with it.
pub(super) async fn config(row: &Server) -> Result<ServerConfig, String> {
    let name: ServerName = row
        .name
        .parse()
        .map_err(|_| "its name is none".to_owned())?;
    let mut config = match row.kind {
        ServerKind::Stdio => ServerConfig::stdio(name, local(row).await?),
        _ => ServerConfig::remote(name, remote(row).await?),
    };
    if !row.is_active {
        config = config.disabled();
    }
    if row.parallel {
        config = config.parallel();
    }
    if row.always_load {
        config = config.always_load();
    }
    if row.trust == Trust::Trusted {
        config = config.trusted();
    }
    if let Some(seconds) = row.timeout {
        config = config.with_call_timeout(Duration::from_secs(seconds));
    }
    for (tool, seconds) in &row.tool_timeouts {
        config = config.with_tool_timeout(tool, Duration::from_secs(*seconds));
    }
    let disabled = row.disabled_tools.iter();
    let policy = disabled.fold(ToolPolicy::default(), ToolPolicy::with_disabled);
    let approved = row.auto_approve_tools.iter();
    Ok(config.with_tools(approved.fold(policy, ToolPolicy::with_auto_approve)))
}

async fn local(row: &Server) -> Result<StdioEndpoint, String> {
    let command = row.command.as_deref().ok_or("it has no command")?;
    let mut endpoint = StdioEndpoint::new(command).with_args(row.args.iter().cloned());
    for (name, value) in &row.env {
        let value = find_key(value, &home::environment).await;
        let value = value.map_err(|error| format!("{name}: {error}"))?;
        endpoint = endpoint.with_env(name, value.expose());
    }
    if let Some(folder) = &row.cwd {
        endpoint = endpoint.with_cwd(folder);
    }
    Ok(endpoint.with_env_policy(match row.env_policy {
        EnvPolicy::Inherit => mcp_transport::EnvPolicy::Inherit,
        EnvPolicy::Safe => mcp_transport::EnvPolicy::Safe,
        EnvPolicy::None => mcp_transport::EnvPolicy::None,
    }))
}

async fn remote(row: &Server) -> Result<RemoteEndpoint, String> {
    let url = row.base_url.as_deref().ok_or("it has no URL")?;
    let mut endpoint = RemoteEndpoint::new(url).with_kind(match row.kind {
        ServerKind::Sse => RemoteKind::Sse,
        ServerKind::StreamableHttp => RemoteKind::StreamableHttp,
        _ => RemoteKind::Auto,
    });
    for (name, value) in &row.headers {
        let value = find_key(value, &home::environment).await;
        let value = value.map_err(|error| format!("{name}: {error}"))?;
        endpoint = endpoint.with_header(name, value.expose());
    }
    Ok(endpoint)
}
