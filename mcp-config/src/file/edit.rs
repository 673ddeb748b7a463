//! Single entries of a file, changed in its text.

use serde_json::Value;

use crate::dialect::Dialect;
use crate::file::document::{self, Node};
use crate::file::json_edit;
use crate::file::problem::{ConfigProblem, Place, step};
use crate::file::write;
use crate::server::ServerConfig;

/// The text of a program's file, in which single servers are put or removed. Everything else stays
/// byte for byte, comments included.
///
/// ```
/// use mcp_config::{ConfigEdit, Dialect, Endpoint, ServerCommand, ServerConfig};
///
/// let text = "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"} // mine\n  }\n}\n";
/// let mut edit = ConfigEdit::new(text, Dialect::Cursor)?;
/// let server = ServerConfig::new("b".parse()?, Endpoint::Stdio(ServerCommand::new("b")));
/// edit.put(&server)?;
/// assert_eq!(
///     edit.text(),
///     "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"}, // mine\n    \"b\": {\n      \
///      \"command\": \"b\"\n    }\n  }\n}\n"
/// );
/// edit.remove("b")?;
/// assert_eq!(edit.text(), text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConfigEdit {
    text: String,
    dialect: Dialect,
    has_mark: bool,
}

impl ConfigEdit {
    /// The text of a file of `dialect`; an empty one is a file without anything.
    ///
    /// # Errors
    ///
    /// If it is not JSON (or TOML, for Codex), or no object.
    pub fn new(text: &str, dialect: Dialect) -> Result<Self, ConfigProblem> {
        let bare = text.strip_prefix('\u{feff}');
        let edit = Self {
            text: bare.unwrap_or(text).to_owned(),
            dialect,
            has_mark: bare.is_some(),
        };
        edit.servers()?;
        Ok(edit)
    }

    /// The text as it is now.
    pub fn text(&self) -> String {
        match self.has_mark {
            true => format!("\u{feff}{}", self.text),
            false => self.text.clone(),
        }
    }

    /// The names of the entries, in their order.
    pub fn names(&self) -> Vec<String> {
        let servers = self.servers().ok().flatten();
        let members = servers.as_ref().and_then(Node::members).unwrap_or_default();
        members.iter().map(|member| member.name.clone()).collect()
    }

    /// An entry as the file has it.
    pub fn entry(&self, name: &str) -> Option<Value> {
        Some(self.servers().ok()??.get(name)?.to_value())
    }

    /// What [`put`](Self::put) writes for a server, as JSON.
    pub fn entry_of(&self, server: &ServerConfig) -> Value {
        write::entry(server, self.dialect).0
    }

    /// Adds a server, or replaces the entry of its name where the two differ.
    ///
    /// # Errors
    ///
    /// If the file's text allows no such change: say, its servers are no object.
    pub fn put(&mut self, server: &ServerConfig) -> Result<(), ConfigProblem> {
        let (name, entry) = (server.name().as_str(), self.entry_of(server));
        if self.entry(name).as_ref() == Some(&entry) {
            return Ok(());
        }
        let changed = self.change(|text, container| match container {
            Container::Json(container) => json_edit::put(text, container, name, &entry),
            #[cfg(feature = "toml")]
            Container::Toml(container) => {
                crate::file::toml_edit::put(text, container, name, &entry)
            }
        });
        self.accept(name, changed)
    }

    /// Removes the entry of a name; says whether there was one.
    ///
    /// # Errors
    ///
    /// If the file's text allows no such change.
    pub fn remove(&mut self, name: &str) -> Result<bool, ConfigProblem> {
        let mut found = false;
        // One that is there twice counts once, and goes twice.
        while self.entry(name).is_some() {
            let changed = self.change(|text, container| match container {
                Container::Json(container) => json_edit::remove(text, container, name),
                #[cfg(feature = "toml")]
                Container::Toml(container) => crate::file::toml_edit::remove(text, container, name),
            });
            self.accept(name, changed)?;
            found = true;
        }
        Ok(found)
    }

    /// Copies the entry of a name as it is written in another file of the same program, in place of
    /// the one here; says whether the other has one.
    ///
    /// # Errors
    ///
    /// If the file's text allows no such change.
    pub fn copy(&mut self, name: &str, from: &Self) -> Result<bool, ConfigProblem> {
        if from.dialect != self.dialect || from.entry(name).is_none() {
            return Ok(false);
        }
        let changed = self.change(|text, container| match container {
            Container::Json(container) => json_edit::copy(text, container, name, &from.text),
            #[cfg(feature = "toml")]
            Container::Toml(container) => {
                crate::file::toml_edit::copy(text, container, name, &from.text)
            }
        });
        self.accept(name, changed).map(|()| true)
    }

    fn change(&self, edit: impl Fn(&str, Container) -> Option<String>) -> Option<String> {
        let container = self.dialect.keys().container;
        #[cfg(feature = "toml")]
        if self.dialect.is_toml() {
            return edit(&self.text, Container::Toml(container));
        }
        edit(&self.text, Container::Json(container))
    }

    /// Takes a change over, if the text is still a file.
    fn accept(&mut self, name: &str, changed: Option<String>) -> Result<(), ConfigProblem> {
        let refused = || {
            let container = self.dialect.keys().container;
            let path = format!("${}{}", step(container), step(name));
            ConfigProblem {
                place: Place::new(&self.text, 0, path),
                server: Some(name.to_owned()),
                message: "the entry cannot be changed in this file: change it by hand".to_owned(),
            }
        };
        let text = changed.ok_or_else(refused)?;
        document::parse(&text, self.dialect).map_err(|_| refused())?;
        self.text = text;
        Ok(())
    }

    /// The object of servers, if the file has one.
    fn servers(&self) -> Result<Option<Node>, ConfigProblem> {
        let root = document::parse(&self.text, self.dialect)?;
        let container = self.dialect.keys().container;
        let servers = root.get(container).cloned();
        let broken = match (&servers, root.members()) {
            (_, None) => Some(("$".to_owned(), root)),
            (Some(node), _) if node.members().is_none() => {
                Some((format!("${}", step(container)), node.clone()))
            }
            _ => None,
        };
        match broken {
            None => Ok(servers),
            Some((path, node)) => Err(ConfigProblem {
                place: Place::new(&self.text, node.at, path),
                server: None,
                message: format!("expected an object, found {}", node.describe()),
            }),
        }
    }
}

/// The key of the servers, in the file's format.
enum Container {
    Json(&'static str),
    #[cfg(feature = "toml")]
    Toml(&'static str),
}
