//! A command line for display: bounded, and without secrets.

use std::fmt;

use super::ServerCommand;
use crate::Secret;

/// The maximum length; longer lines are truncated.
const MAX_CHARS: usize = 200;
/// Words in the name of an option that make its value a secret.
const WORDS: [&str; 9] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "auth",
    "credential",
    "header",
];

impl ServerCommand {
    /// The arguments, with `…` in place of possible secrets: values of options with such names, passwords in URLs,
    /// headers.
    pub fn shown_args(&self) -> Vec<String> {
        let mut value_is_secret = false;
        let mut shown = Vec::new();
        for arg in self.args().iter().map(Secret::expose) {
            if value_is_secret && !arg.starts_with("--") {
                shown.push("…".to_owned());
                value_is_secret = false;
                continue;
            }
            shown.push(redact(arg));
            value_is_secret = arg.starts_with('-') && !arg.contains('=') && names_secret(arg);
        }
        shown
    }
}

/// Formats the command line, with the arguments of [`ServerCommand::shown_args`].
impl fmt::Display for ServerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = self.program.clone();
        for arg in self.shown_args() {
            line.push(' ');
            line += &arg;
        }
        let line = line.replace(char::is_control, " ");
        match line.char_indices().nth(MAX_CHARS) {
            Some((cut, _)) => write!(f, "{}…", line.get(..cut).unwrap_or_default()),
            None => f.write_str(&line),
        }
    }
}

/// Redacts one argument that does not follow the name of a secret.
fn redact(arg: &str) -> String {
    if let Some((before, url)) = arg.split_once("://") {
        // Everything before the host, and the query, may be a secret.
        let url = url
            .split_once('?')
            .map_or(url.to_owned(), |(place, _)| format!("{place}?…"));
        let url = url
            .split_once('@')
            .map_or(url.clone(), |(_, host)| format!("…@{host}"));
        return format!("{before}://{url}");
    }
    if let Some((name, _)) = arg.split_once('=').filter(|(name, _)| names_secret(name)) {
        return format!("{name}=…");
    }
    match arg.split_once(": ") {
        Some((name, _)) => format!("{name}: …"),
        None => arg.to_owned(),
    }
}

fn names_secret(option: &str) -> bool {
    let option = option.to_ascii_lowercase();
    WORDS.iter().any(|word| option.contains(word))
}
