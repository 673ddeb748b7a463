//! Use of this machine by servers, and whether their user may.
//!
//! A program that a server starts runs as the owner of this process, and reads what the owner can
//! read; variables and the keyring hold the owner's keys. So other users may use none of it unless
//! the owner allows it. Their servers are remote ones, with values of their own.

use mcp_config::{ConfigFile, Missing, Variable, Variables};
use mcp_manager::Endpoint;

use super::entry::{answers, to_config};
use crate::servers::doctor::{Finding, Problem};
use crate::store::{Server, ServerId, StoredValue};

/// Whether a user's servers may use this machine: its programs, variables, keyring and files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Host {
    Allowed,
    Forbidden,
}

impl Host {
    /// Why a server may not be used; nothing if it may.
    pub(crate) fn objection(self, row: &Server) -> Option<Finding> {
        match self {
            Self::Allowed => None,
            Self::Forbidden => uses(row).map(|what| {
                let user = &row.user_id;
                let message = format!(
                    "it uses {what} of this machine, and user {:?} may not",
                    user.as_str()
                );
                Finding::new(Problem::NotPermitted, message, advice(user.as_str()))
            }),
        }
    }
}

/// Who can open a private network, and how.
pub(crate) const PRIVATE_NETWORK: &str = "The owner of this machine can allow it: \
    `switchboard serve --allow-private-network CIDR`.";

/// Who can allow it, and how.
pub(crate) fn advice(user: &str) -> String {
    format!("The owner of this machine can allow it: `switchboard serve --trust-user {user}`.")
}

/// Whether an entry of the keyring was made for this server.
pub(super) fn is_own(server: &ServerId, entry: &str) -> bool {
    entry.starts_with(&format!("server/{server}/"))
}

/// The first thing of this machine that a server uses.
fn uses(row: &Server) -> Option<String> {
    let values = row.env.values().chain(row.headers.values()).cloned();
    let mut values = values.chain(answers(row).map(|(_, value)| value));
    let reference = values.find_map(|value| match value {
        StoredValue::Env(name) => Some(format!("the variable {name}")),
        StoredValue::Keyring(id) if !is_own(&row.id, &id) => {
            Some(format!("the keyring's entry {id:?}"))
        }
        StoredValue::PrivateFile(id) => Some(format!("the private file {id:?}")),
        _ => None,
    });
    let Ok(config) = to_config(row) else {
        // It can be used for nothing, but it is not said to be harmless.
        let program = row
            .command
            .as_ref()
            .map(|command| format!("the program {command:?}"));
        return program.or(reference);
    };
    match config.endpoint() {
        Endpoint::Remote(_) => {}
        _ => {
            let command = row.command.as_deref().unwrap_or_default();
            return Some(format!("the program {command:?}"));
        }
    }
    let resolved = ConfigFile::new()
        .with_server(config)
        .resolve(&Owned(&row.id));
    let mut missing = resolved.unresolved.iter().flat_map(|it| &it.missing);
    let variable = missing.find_map(|missing| match missing {
        Missing::Variable { name } => Some(format!("the variable {name}")),
        Missing::File { path } | Missing::EnvFile { path } => Some(format!("the file {path:?}")),
        _ => None,
    });
    reference.or(variable)
}

/// Has all that is the user's own, and nothing else.
struct Owned<'a>(&'a ServerId);

impl Variables for Owned<'_> {
    fn get(&self, variable: Variable<'_>) -> Option<String> {
        match variable {
            Variable::Input(_) => Some(String::new()),
            Variable::Other(name) => {
                let entry = name.strip_prefix("keyring:")?;
                is_own(self.0, entry).then(String::new)
            }
            _ => None,
        }
    }

    fn env_file(&self, _path: &str) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{ServerKind, UserId};

    fn remote() -> Server {
        let mut row = Server::new(UserId::new("bob"), "far", ServerKind::StreamableHttp);
        row.base_url = Some("https://example.com/mcp".to_owned());
        row
    }

    fn objection(row: &Server) -> Option<String> {
        let finding = Host::Forbidden.objection(row)?;
        assert_eq!(finding.problem, Problem::NotPermitted);
        assert!(
            finding.advice.contains("--trust-user bob"),
            "{}",
            finding.advice
        );
        assert!(Host::Allowed.objection(row).is_none());
        Some(finding.message)
    }

    #[test]
    fn a_remote_server_with_values_of_its_own_uses_nothing_of_the_host() {
        let mut row = remote();
        let own = format!("server/{}/header-x", row.id);
        row.headers
            .insert("X-A".to_owned(), StoredValue::Plain("a".to_owned()));
        row.headers
            .insert("X-B".to_owned(), StoredValue::Keyring(own));
        row.headers.insert(
            "X-C".to_owned(),
            StoredValue::Plain("${input:c}".to_owned()),
        );
        row.headers.insert(
            "X-D".to_owned(),
            StoredValue::Plain("${NONE:-d}".to_owned()),
        );
        assert_eq!(objection(&row), None);
    }

    #[test]
    fn programs_variables_files_and_foreign_secrets_are_of_the_host() {
        type Change = fn(&mut Server);
        let cases: [(&str, Change); 8] = [
            ("the file \"/etc/passwd\"", |row| {
                let text = StoredValue::Plain("${file:/etc/passwd}".to_owned());
                row.headers.insert("X".to_owned(), text);
            }),
            ("the program \"sh\"", |row| {
                row.kind = ServerKind::Stdio;
                row.command = Some("sh".to_owned());
            }),
            ("the variable KEY", |row| {
                row.headers
                    .insert("X".to_owned(), StoredValue::Env("KEY".to_owned()));
            }),
            ("the keyring's entry \"providers/openai\"", |row| {
                let entry = StoredValue::Keyring("providers/openai".to_owned());
                row.headers.insert("X".to_owned(), entry);
            }),
            ("KEY", |row| {
                let text = StoredValue::Plain("Bearer ${KEY}".to_owned());
                row.headers.insert("X".to_owned(), text);
            }),
            ("KEY", |row| {
                row.base_url = Some("https://example.com/${env:KEY}".to_owned())
            }),
            ("userHome", |row| {
                row.base_url = Some("https://a.example/${userHome}".to_owned())
            }),
            ("the variable KEY", |row| {
                super::super::entry::answer(row, "x", StoredValue::Env("KEY".to_owned()));
            }),
        ];
        for (what, change) in cases {
            let mut row = remote();
            change(&mut row);
            let message = objection(&row).unwrap_or_else(|| panic!("{what} is allowed"));
            assert!(message.contains(what), "{what}: {message}");
        }
    }
}
