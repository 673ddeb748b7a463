//! Ad hoc servers: a command or a URL in place of a stored server.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mcp_client::EraMode;
use mcp_jsonrpc::Revision;
use mcp_manager::{EnvPolicy, RemoteEndpoint, RemoteKind, ServerCommand, ServerConfig, ServerName};

use super::connector::Reaching;
use super::login::LOGIN_TIMEOUT;
use super::oauth_flags::OAuthFlags;
use crate::exit::{Exit, Failure};

/// An ad hoc server.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct AdHoc {
    /// Send this header to a server given by its URL, as in `X-Key: 1`; may be repeated
    #[arg(
        long = "header",
        short = 'H',
        value_name = "NAME: VALUE",
        help_heading = "Server for this once"
    )]
    pub(crate) headers: Vec<String>,
    /// Set this environment variable for a server given by its command; may be repeated
    #[arg(
        long = "env",
        short = 'e',
        value_name = "NAME=VALUE",
        help_heading = "Server for this once"
    )]
    pub(crate) env: Vec<String>,
    /// Transport of a server given by its URL
    #[arg(
        long = "type",
        value_enum,
        value_name = "TYPE",
        help_heading = "Server for this once"
    )]
    pub(crate) kind: Option<Kind>,
    /// Run a server given by its command in this folder
    #[arg(long, value_name = "FOLDER", help_heading = "Server for this once")]
    pub(crate) cwd: Option<PathBuf>,
    /// Generation of the protocol to speak
    #[arg(
        long,
        alias = "protocol-era",
        value_enum,
        value_name = "ERA",
        default_value_t,
        help_heading = "Server for this once"
    )]
    pub(crate) era: Era,
    #[command(flatten)]
    pub(crate) oauth: OAuthFlags,
    /// Use this command as the server
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// Generation of the protocol.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum Era {
    /// Negotiated
    #[default]
    Auto,
    /// 2024-11-05 to 2025-11-25: initialize
    Legacy,
    /// 2026-07-28: stateless
    Modern,
}

impl Era {
    pub(super) fn mode(self) -> EraMode {
        match self {
            Self::Auto => EraMode::Auto,
            Self::Legacy => EraMode::Legacy,
            Self::Modern => EraMode::Pinned(Revision::V2026_07_28),
        }
    }
}

/// Transport of a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Kind {
    /// Streamable HTTP
    Http,
    /// HTTP+SSE, of 2024
    Sse,
    /// Detected
    Auto,
}

impl Kind {
    fn remote(self) -> RemoteKind {
        match self {
            Self::Http => RemoteKind::StreamableHttp,
            Self::Sse => RemoteKind::Sse,
            Self::Auto => RemoteKind::Auto,
        }
    }
}

/// Whether a server is named by its address.
pub(crate) fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// An address for people: without user, password and query.
pub(crate) fn shown_url(url: &str) -> String {
    match url.contains("://") {
        true => RemoteEndpoint::new(url).to_string(),
        // A variable stands for it, or a part of it.
        false => url.to_owned(),
    }
}

impl AdHoc {
    /// Whether a program is given.
    pub(crate) fn has_command(&self) -> bool {
        !self.command.is_empty()
    }

    /// How servers are reached in this run.
    pub(crate) async fn reaching(&self) -> Result<Reaching, Failure> {
        Ok(Reaching {
            era: self.era.mode(),
            oauth: self.oauth.client().await?,
            ..Reaching::default()
        })
    }

    /// Refuses what would be ignored: flags of a program or of a URL where there is none.
    pub(crate) fn check(&self, has_url: bool) -> Result<(), Failure> {
        let of_url = (!self.headers.is_empty()).then_some("--header");
        let of_url = of_url.or(self.kind.is_some().then_some("--type"));
        let of_url = of_url.or(self.oauth.first());
        let refused = |flag: &str, what: &str| {
            let failure = Failure::new(
                Exit::Other,
                format!("{flag} is for a server given by {what}"),
            );
            failure.with_hint("`switchboard servers edit NAME` changes a stored server for good.")
        };
        match of_url {
            Some(flag) if !has_url => Err(refused(flag, "its URL")),
            _ if self.cwd.is_some() && !self.has_command() => Err(refused("--cwd", "its command")),
            _ if !self.env.is_empty() && !self.has_command() => {
                Err(refused("--env", "its command"))
            }
            _ => Ok(()),
        }
    }

    /// The server that is the given program.
    pub(crate) fn program(&self) -> Result<ServerConfig, Failure> {
        let (program, args) = self
            .command
            .split_first()
            .ok_or_else(|| Failure::new(Exit::Other, "no command is given after `--`"))?;
        let mut endpoint = ServerCommand::new(program)
            .with_args(args)
            .with_env_policy(EnvPolicy::Safe);
        for pair in &self.env {
            let (name, value) = pair
                .split_once('=')
                .filter(|(name, _)| !name.is_empty())
                .ok_or_else(|| {
                    Failure::new(Exit::Other, format!("--env {pair:?} is not NAME=VALUE"))
                })?;
            endpoint = endpoint.with_env(name, value);
        }
        if let Some(folder) = &self.cwd {
            endpoint = endpoint.with_cwd(folder);
        }
        let stem = std::path::Path::new(program).file_stem();
        let stem = stem.map(|stem| stem.to_string_lossy().into_owned());
        Ok(ServerConfig::stdio(name(stem.as_deref())?, endpoint))
    }

    /// The server at the given address.
    pub(crate) fn remote(&self, url: &str) -> Result<ServerConfig, Failure> {
        let mut endpoint = RemoteEndpoint::new(url);
        if let Some(kind) = self.kind {
            endpoint = endpoint.with_kind(kind.remote());
        }
        for header in &self.headers {
            let (name, value) = split_header(header)?;
            endpoint = endpoint.with_header(name, value);
        }
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = rest.split(['/', ':', '?', '#']).next();
        let config = ServerConfig::remote(name(host)?, endpoint);
        Ok(match self.oauth.login {
            true => config.with_connect_timeout(LOGIN_TIMEOUT),
            false => config,
        })
    }
}

/// `Name: value` in its two parts.
pub(crate) fn split_header(header: &str) -> Result<(&str, &str), Failure> {
    let parts = header.split_once(':').or_else(|| header.split_once('='));
    let parts = parts.map(|(name, value)| (name.trim(), value.trim()));
    parts.filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
        Failure::new(Exit::Other, format!("{header:?} is not a header"))
            .with_hint("Write it as in -H 'X-Key: value'.")
    })
}

/// A name made of a program's or a host's.
fn name(text: Option<&str>) -> Result<ServerName, Failure> {
    let legal = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' => c,
        _ => '-',
    };
    let text: String = text
        .unwrap_or_default()
        .chars()
        .map(legal)
        .take(40)
        .collect();
    let name = ServerName::new(text).or_else(|_| ServerName::new("server"));
    name.map_err(|error| Failure::new(Exit::Other, "the server has no name").caused_by(error))
}
