//! What a server is, for people: the whole command line or the address, without secrets.

use mcp_config::ServerConfig;
use mcp_manager::Endpoint;
use mcp_transport::ServerCommand;

use super::shown_url;
use crate::store::{EnvPolicy, Server};

/// The complete command line, quoted so that the boundaries of its words are visible, or the address.
pub(crate) fn shown_endpoint(config: &ServerConfig) -> String {
    match config.endpoint() {
        Endpoint::Stdio(command) => command_line(command),
        remote => remote.to_string(),
    }
}

/// The same of a stored server, whether or not it can be used.
pub(crate) fn shown_endpoint_of(row: &Server) -> String {
    match (&row.command, &row.base_url) {
        (Some(program), _) => command_line(&ServerCommand::new(program).with_args(&row.args)),
        (None, url) => url.as_deref().map(shown_url).unwrap_or_default(),
    }
}

/// All that a server's approval lets happen, as names and what they are.
pub(crate) fn review(row: &Server) -> Vec<(&'static str, String)> {
    let names = |names: Vec<&String>| {
        let names: Vec<String> = names.into_iter().map(|name| quoted(name)).collect();
        Some(names.join(", ")).filter(|text| !text.is_empty())
    };
    let is_program = row.command.is_some();
    let inherits = (is_program && row.env_policy == EnvPolicy::Inherit)
        .then(|| "every variable of yours".to_owned());
    let lines = [
        (
            if is_program { "runs" } else { "connects to" },
            Some(shown_endpoint_of(row)),
        ),
        ("in folder", row.cwd.as_deref().map(quoted)),
        ("sets", names(row.env.keys().collect())),
        ("gets", inherits),
        ("sends headers", names(row.headers.keys().collect())),
        ("from", row.source.clone()),
    ];
    let said = |(name, text): (&'static str, Option<String>)| text.map(|text| (name, text));
    lines.into_iter().filter_map(said).collect()
}

fn command_line(command: &ServerCommand) -> String {
    let words = std::iter::once(command.program().to_owned()).chain(command.shown_args());
    let words: Vec<String> = words.map(|word| quoted(&word)).collect();
    words.join(" ")
}

/// A word as it is, or in quotes where it would not be seen to be one, with what cannot be seen
/// spelt out.
fn quoted(word: &str) -> String {
    let escaped = format!("{word:?}");
    let plain = !word.is_empty() && !word.contains(char::is_whitespace);
    match plain && escaped.len() == word.len() + 2 {
        true => word.to_owned(),
        false => escaped,
    }
}
