//! Edits of single entries in a file's text.

use serde_json::Value;

use crate::dialect::{Dialect, Format};
use crate::file::document::{self, Kind, Member, Node};
use crate::file::json_edit;
use crate::file::problem::{ConfigProblem, Place, step};
use crate::file::write;
use crate::server::ServerConfig;

/// The text of a program's file, in which single servers are added or removed. Everything else, including comments, is
/// preserved byte for byte.
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
    /// Wraps the text of a file of `dialect`; an empty text is an empty file.
    ///
    /// # Errors
    ///
    /// If it is not JSON (or TOML or YAML, depending on the dialect), or not an object, or a file that describes one
    /// server ([`Dialect::is_single`]).
    pub fn new(text: &str, dialect: Dialect) -> Result<Self, ConfigProblem> {
        if dialect.is_single() {
            return Err(ConfigProblem {
                place: Place::new(text, 0, "$".to_owned()),
                server: None,
                message: "the file describes one server and lists none".to_owned(),
            });
        }
        let bare = text.strip_prefix('\u{feff}');
        let edit = Self {
            text: bare.unwrap_or(text).to_owned(),
            dialect,
            has_mark: bare.is_some(),
        };
        edit.servers()?;
        Ok(edit)
    }

    /// The current text.
    pub fn text(&self) -> String {
        match self.has_mark {
            true => format!("\u{feff}{}", self.text),
            false => self.text.clone(),
        }
    }

    /// The names of the entries, in order.
    pub fn names(&self) -> Vec<String> {
        let servers = self.servers().ok().flatten();
        let members = servers.as_ref().and_then(Node::members).unwrap_or_default();
        members.iter().map(|member| member.name.clone()).collect()
    }

    /// An entry as written in the file.
    pub fn entry(&self, name: &str) -> Option<Value> {
        Some(self.servers().ok()??.get(name)?.to_value())
    }

    /// The entry that [`put`](Self::put) writes for a server, as JSON.
    pub fn entry_of(&self, server: &ServerConfig) -> Value {
        write::entry(server, self.dialect).0
    }

    /// Adds a server, or replaces the entry of the same name if they differ.
    ///
    /// # Errors
    ///
    /// If the file's text does not allow the change: for instance, its servers are not an object.
    pub fn put(&mut self, server: &ServerConfig) -> Result<(), ConfigProblem> {
        let (name, entry) = (server.name().as_str(), self.entry_of(server));
        if self.entry(name).as_ref() == Some(&entry) {
            return Ok(());
        }
        let (text, keys) = (&self.text, self.dialect.keys());
        let changed = match self.dialect.format() {
            Format::Json => json_edit::put(text, keys.container, name, &entry),
            #[cfg(feature = "toml")]
            Format::Toml => crate::file::toml_edit::put(text, keys.container, name, &entry),
            #[cfg(feature = "yaml")]
            Format::Yaml => crate::file::yaml_edit::put(text, keys, name, &entry),
        };
        self.accept(name, changed)
    }

    /// Removes an entry by name; returns whether there was one.
    ///
    /// # Errors
    ///
    /// If the file's text does not allow the change.
    pub fn remove(&mut self, name: &str) -> Result<bool, ConfigProblem> {
        let mut found = false;
        // Of duplicate entries one counts, and all are removed.
        while self.entry(name).is_some() {
            let (text, keys) = (&self.text, self.dialect.keys());
            let changed = match self.dialect.format() {
                Format::Json => json_edit::remove(text, keys.container, name),
                #[cfg(feature = "toml")]
                Format::Toml => crate::file::toml_edit::remove(text, keys.container, name),
                #[cfg(feature = "yaml")]
                Format::Yaml => crate::file::yaml_edit::remove(text, keys, name),
            };
            self.accept(name, changed)?;
            found = true;
        }
        Ok(found)
    }

    /// Copies an entry by name, as written in another file of the same program, replacing the one here; returns whether
    /// the other file has it.
    ///
    /// # Errors
    ///
    /// If the file's text does not allow the change.
    pub fn copy(&mut self, name: &str, from: &Self) -> Result<bool, ConfigProblem> {
        if from.dialect != self.dialect || from.entry(name).is_none() {
            return Ok(false);
        }
        let (text, keys) = (&self.text, self.dialect.keys());
        let changed = match self.dialect.format() {
            Format::Json => json_edit::copy(text, keys.container, name, &from.text),
            #[cfg(feature = "toml")]
            Format::Toml => crate::file::toml_edit::copy(text, keys.container, name, &from.text),
            #[cfg(feature = "yaml")]
            Format::Yaml => crate::file::yaml_edit::copy(text, keys, name, &from.text),
        };
        self.accept(name, changed).map(|()| true)
    }

    /// Accepts a change if the text is still a valid file.
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
        let others = |text: &str| {
            let root = document::parse(text, self.dialect).ok()?;
            Some(self.without(root, name))
        };
        // Only the entry may have changed.
        if others(&text).is_none_or(|after| others(&self.text) != Some(after)) {
            return Err(refused());
        }
        self.text = text;
        Ok(())
    }

    /// Entries that contain their own name, as an object; `None` if there are none.
    fn by_name(&self, node: Node) -> Option<Node> {
        let at = node.at;
        match node.kind {
            Kind::Null if self.dialect.is_yaml() => None,
            Kind::List(items) if self.dialect.keys().is_list => {
                let members = items.into_iter().filter_map(|item| {
                    let Some(Kind::Text(name)) = item.get("name").map(|name| name.kind.clone())
                    else {
                        return None;
                    };
                    let (at, value) = (item.at, item);
                    Some(Member { at, name, value })
                });
                let kind = Kind::Object(members.collect());
                Some(Node { at, kind })
            }
            kind => Some(Node { at, kind }),
        }
    }

    /// The content of a file without an entry; an empty container counts as none.
    fn without(&self, root: Node, name: &str) -> (Value, Vec<Value>) {
        let keys = self.dialect.keys();
        let is_container = |member: &&Member| member.name == keys.container;
        let members = root.members().unwrap_or_default().iter();
        let preamble = |member: &&Member| keys.preamble.iter().any(|(key, _)| member.name == *key);
        let is_new = self.text.trim().is_empty();
        let rest = members
            .clone()
            .filter(|member| !(is_container(member) || is_new && preamble(member)))
            .map(|member| (member.name.clone(), member.value.to_value()));
        let entries = members
            .filter(is_container)
            .flat_map(|member| match &member.value.kind {
                Kind::Object(inner) => {
                    let others = inner.iter().filter(|it| it.name != name);
                    others.map(|it| it.value.to_value()).collect()
                }
                Kind::List(items) => {
                    let items = items.iter().map(Node::to_value);
                    items.filter(|it| it["name"] != name).collect()
                }
                _ => Vec::new(),
            });
        (Value::Object(rest.collect()), entries.collect())
    }

    /// The object of servers, if the file has one.
    fn servers(&self) -> Result<Option<Node>, ConfigProblem> {
        let root = document::parse(&self.text, self.dialect)?;
        let container = self.dialect.keys().container;
        let servers = root.get(container).cloned();
        let servers = servers.and_then(|node| self.by_name(node));
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
