//! Diagnosis of connection errors.

use std::error::Error;

use mcp_auth::Violation;
use mcp_client::{CallError, ConnectError};
use mcp_manager::{Endpoint, ManagerError, RemoteKind, ServerConfig};
use mcp_transport::{HttpFailure, ProcessExit, TransportError};

use super::finding::{Finding, Problem};
use crate::exit::chain;
use crate::servers::{PRIVATE_NETWORK, sandbox};

/// Diagnoses an error of a server.
pub(crate) fn diagnose(config: &ServerConfig, error: &ManagerError) -> Finding {
    match error {
        ManagerError::ToolDisabled { tool, .. } => {
            return Finding::new(
                Problem::Disabled,
                format!("tool {tool:?} is switched off"),
                format!(
                    "Switch it on with `switchboard tool enable {} {tool}`.",
                    config.name()
                ),
            );
        }
        ManagerError::Call(error) => {
            if let Some(finding) = call(error) {
                return finding;
            }
        }
        _ => {}
    }
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<ConnectError>()
            && let Some(finding) = connect(config, error)
        {
            return finding;
        }
        if let Some(violation) = error.downcast_ref::<Violation>() {
            let message = violation.to_string();
            return Finding::new(Problem::NotPermitted, message, PRIVATE_NETWORK);
        }
        if let Some(error) = error.downcast_ref::<TransportError>() {
            return transport(config, error);
        }
        cause = error.source();
    }
    Finding::new(
        Problem::Refused,
        chain(error),
        "See `switchboard doctor`, and the server's own documentation.",
    )
}

/// What the server itself said to a call, or did not.
fn call(error: &CallError) -> Option<Finding> {
    match error {
        CallError::Peer { .. }
        | CallError::InputRefused { .. }
        | CallError::TooManyRounds { .. } => {
            let advice = "The server refused the call: look at its arguments.";
            Some(Finding::new(Problem::Refused, chain(error), advice))
        }
        CallError::Unsupported { capability, .. } => Some(Finding::new(
            Problem::Refused,
            chain(error),
            format!(
                "The server has no {capability}; `switchboard servers show` lists what it has."
            ),
        )),
        CallError::OutcomeUnknown { .. } => Some(Finding::new(
            Problem::NoAnswer,
            chain(error),
            "The server may have acted on the call, or not: find out before you call again.",
        )),
        CallError::Timeout { .. } => Some(Finding::new(
            Problem::NoAnswer,
            chain(error),
            "Give it more time with --timeout SECONDS (in total) or --idle-timeout SECONDS (without \
             progress), or for good with `switchboard servers edit NAME --idle-timeout SECONDS`.",
        )),
        CallError::InvalidReply { .. } => Some(Finding::new(
            Problem::Protocol,
            chain(error),
            "This is a fault of the server: report it to its makers.",
        )),
        _ => None,
    }
}

fn connect(config: &ServerConfig, error: &ConnectError) -> Option<Finding> {
    let server = config.name();
    match error {
        ConnectError::Timeout { limit, phase, .. } => Some(Finding::new(
            Problem::NoAnswer,
            format!("it did not get ready within {limit:?}: still {phase}"),
            match config.endpoint() {
                Endpoint::Stdio(_) => format!(
                    "Run its command by hand to see what it waits for; `switchboard servers logs \
                     {server}` has what it wrote. Is it an MCP server at all?"
                ),
                _ => "Is the address right, and the server up?".to_owned(),
            },
        )),
        ConnectError::Version { .. } => Some(Finding::new(
            Problem::Protocol,
            error.to_string(),
            "Update the server, or this program: they have no revision of the protocol in common.",
        )),
        ConnectError::Refused { .. } | ConnectError::InvalidReply { .. } => Some(Finding::new(
            Problem::Protocol,
            error.to_string(),
            "The server answers, but not as MCP servers do: is this its MCP endpoint? If so, \
             report it to its makers.",
        )),
        ConnectError::Neither { first, second } => {
            let describe = |error: &ConnectError| chain(error);
            match first.as_ref() {
                // What says more than that the door was the wrong one.
                ConnectError::Unauthorized { .. } => connect(config, first),
                ConnectError::Transport { source, .. }
                    if !matches!(source.as_ref(), TransportError::Http(_)) =>
                {
                    Some(transport(config, source))
                }
                _ => Some(Finding::new(
                    Problem::WrongTransport,
                    format!(
                        "it speaks neither Streamable HTTP ({}) nor HTTP+SSE ({})",
                        describe(first),
                        describe(second)
                    ),
                    "Check the path of the URL: MCP endpoints often end in /mcp or /sse.",
                )),
            }
        }
        ConnectError::NeitherEra { second, .. } => connect(config, second),
        ConnectError::Unauthorized { source, .. } => Some(transport(config, source)),
        _ => None,
    }
}

fn transport(config: &ServerConfig, error: &TransportError) -> Finding {
    let server = config.name();
    match error {
        TransportError::NotFound { program, searched } => Finding::new(
            Problem::NotFound,
            format!(
                "its program {program:?} was not found; looked in: {}",
                searched.join(", ")
            ),
            install(program),
        ),
        TransportError::Spawn { source, .. } if cannot_contain(source.as_ref()) => Finding::new(
            Problem::CannotStart,
            chain(error),
            format!(
                "Accept that with `switchboard servers edit {server} --weaker`, or run it with all \
                 your rights: `--sandbox off`."
            ),
        ),
        TransportError::Spawn { program, .. } => Finding::new(
            Problem::CannotStart,
            chain(error),
            format!("Is {program:?} executable, its folder there, and made for this machine?"),
        ),
        TransportError::Exited(exit) => exited(config, exit),
        TransportError::Http(failure) => http(config, failure),
        TransportError::Unauthorized { .. } | TransportError::Credentials { .. } => {
            unauthorized(config, error)
        }
        TransportError::Io { .. } => Finding::new(
            Problem::Unreachable,
            chain(error),
            match config.endpoint() {
                Endpoint::Remote(_) => {
                    "Is the server up, and are host and port right? A proxy or \
                                        a firewall may be in between."
                }
                _ => "Try again; `switchboard servers logs` has what the server wrote.",
            },
        ),
        TransportError::Timeout { .. } => Finding::new(
            Problem::NoAnswer,
            chain(error),
            "Is the server up? It may be overloaded, or a proxy holds its answers back.",
        ),
        TransportError::Malformed { .. } | TransportError::TooLarge { .. } => Finding::new(
            Problem::Protocol,
            chain(error),
            match config.endpoint() {
                Endpoint::Stdio(_) => {
                    "A stdio server may write nothing but MCP messages to its \
                                       standard output: is it an MCP server, and are its logs on \
                                       standard error?"
                }
                _ => "Is this the server's MCP endpoint, and not a web page?",
            },
        ),
        _ => Finding::new(
            Problem::NoAnswer,
            chain(error),
            format!("Try again; if it stays so, look at `switchboard servers logs {server}`."),
        ),
    }
}

/// Whether a sandbox refused to start a server that it cannot contain.
fn cannot_contain(source: &(dyn Error + Send + Sync + 'static)) -> bool {
    let error = source.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::Unsupported)
}

fn exited(config: &ServerConfig, exit: &ProcessExit) -> Finding {
    let said = format!(
        "{}\n{}",
        exit.stderr,
        exit.stray.as_deref().unwrap_or_default()
    );
    if config.sandbox().is_some()
        && let Some(denial) = sandbox::denied_in(&said).first()
    {
        let advice = sandbox::advice(config.name().as_str(), denial);
        let message = format!(
            "it {}, which its sandbox denies, and ended: {exit}",
            denial.wanted
        );
        return Finding::new(Problem::SandboxEnded, message, advice);
    }
    let said = said.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let advice = if has(&[
        "api key",
        "api_key",
        "apikey",
        "token",
        "environment variable",
    ]) {
        format!(
            "It seems to want a key: give it one with `switchboard servers edit {} -e NAME=env:NAME`.",
            config.name()
        )
    } else if has(&[
        "cannot find module",
        "module not found",
        "modulenotfounderror",
        "e404",
        "not found in the npm",
    ]) {
        "A package it needs is not installed, or its name is wrong.".to_owned()
    } else if has(&[
        "usage:",
        "unrecognized",
        "unexpected argument",
        "invalid option",
        "unknown option",
    ]) {
        "Its arguments seem wrong: compare them with its documentation.".to_owned()
    } else {
        "Run its command by hand: it should wait for input and write nothing to standard output."
            .to_owned()
    };
    Finding::new(Problem::Exited, exit.to_string(), advice)
}

fn http(config: &ServerConfig, failure: &HttpFailure) -> Finding {
    let kind = match config.endpoint() {
        Endpoint::Remote(remote) => remote.kind(),
        _ => RemoteKind::Auto,
    };
    let (problem, advice) = match (failure.status, kind) {
        (401 | 403, _) => return refused_key(config, &failure.to_string()),
        (400 | 404 | 405 | 406 | 410 | 415, RemoteKind::StreamableHttp) => (
            Problem::WrongTransport,
            "Check the path of the URL (often /mcp). If the server is an old one, try --type sse, \
             or --type auto.",
        ),
        (400 | 404 | 405 | 406 | 410 | 415, RemoteKind::Sse) => (
            Problem::WrongTransport,
            "Check the path of the URL (often /sse). If the server is a newer one, try --type \
             http, or --type auto.",
        ),
        (400 | 404 | 405 | 406 | 410 | 415, _) => (
            Problem::WrongTransport,
            "Check the path of the URL: MCP endpoints often end in /mcp or /sse.",
        ),
        (429, _) => (
            Problem::NoAnswer,
            "The server has too much to do: wait, then try again.",
        ),
        (500.., _) => (
            Problem::NoAnswer,
            "The server, or a proxy before it, failed: try again later, or report it to the author of the server.",
        ),
        _ => (
            Problem::WrongTransport,
            "Is this the address of an MCP endpoint?",
        ),
    };
    Finding::new(problem, failure.to_string(), advice)
}

fn unauthorized(config: &ServerConfig, error: &TransportError) -> Finding {
    refused_key(config, &chain(error))
}

/// A server that wants another key, or a login.
fn refused_key(config: &ServerConfig, message: &str) -> Finding {
    let Endpoint::Remote(remote) = config.endpoint() else {
        return Finding::new(
            Problem::AuthNeeded,
            message,
            "See the server's documentation.",
        );
    };
    let mut names = remote.headers().keys();
    match names.find(|name| is_key(name)) {
        Some(header) => Finding::new(
            Problem::WrongKey,
            format!("it refuses the key in the header {header:?}: {message}"),
            format!(
                "Check the key, or set another: `switchboard servers edit {} -H '{header}: …'`.",
                config.name()
            ),
        ),
        None => Finding::new(
            Problem::AuthNeeded,
            message,
            format!(
                "Log in with `switchboard servers login {0}`, or give it a key: `switchboard \
                 servers edit {0} -H 'Authorization: Bearer …'`.",
                config.name()
            ),
        ),
    }
}

fn is_key(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    ["auth", "key", "token"]
        .iter()
        .any(|word| header.contains(word))
}

fn install(program: &str) -> String {
    match program {
        "npx" | "npm" | "node" => {
            "Install Node.js (it brings npx), or give the full path.".to_owned()
        }
        "uvx" | "uv" => "Install uv (it brings uvx), or give the full path.".to_owned(),
        "python" | "python3" => "Install Python, or give the full path.".to_owned(),
        "docker" => "Install Docker, or give the full path.".to_owned(),
        program if program.contains(' ') => format!(
            "A command and its arguments are separate: put {:?} in \"command\" and the rest in \
             \"args\".",
            program.split(' ').next().unwrap_or_default()
        ),
        _ => "Check how it is spelt, install it, or give the full path.".to_owned(),
    }
}
