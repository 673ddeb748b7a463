//! A configuration file: read in any dialect, written in a chosen one.

mod bundle;
pub(crate) mod document;
pub(crate) mod edit;
mod entry;
mod field;
pub(crate) mod input;
mod json_edit;
pub(crate) mod loss;
pub(crate) mod problem;
mod registry;
mod registry_write;
pub(crate) mod server_json;
mod time;
#[cfg(feature = "toml")]
mod toml_document;
#[cfg(feature = "toml")]
mod toml_edit;
mod write;
#[cfg(feature = "yaml")]
mod yaml_document;
#[cfg(feature = "yaml")]
mod yaml_edit;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use self::document::{Kind, Member, Node};
use self::field::Fault;
use self::input::Input;
use self::loss::Loss;
use self::problem::{ConfigProblem, Place, step};
use crate::dialect::Dialect;
use crate::server::ServerConfig;
use crate::server::endpoint::Endpoint;
use crate::variable::Variables;
use crate::variable::reference::input_ids;
use crate::variable::resolve::{self, Resolved};

/// The keys that may contain servers.
const CONTAINERS: [&str; 5] = [
    "mcpServers",
    "servers",
    "mcp_servers",
    "mcp.servers",
    "context_servers",
];

/// The number of problems that are reported one by one.
const MAX_PROBLEMS: usize = 100;

/// A configuration file of MCP servers.
///
/// In every dialect, comments, trailing commas and the keys of all dialects are accepted; variable references are read
/// by the rules of the file's dialect. An entry that cannot be read is reported in [`problems`](Self::problems) with
/// its place, and the others are loaded. Unknown keys are kept and written back; comments are not.
///
/// ```
/// use mcp_config::{ConfigFile, Dialect, Variable};
///
/// let file = ConfigFile::read(
///     r#"{"mcpServers": {
///         "web": {"url": "https://example.com/mcp", "headers": {"X-Key": "${KEY}"}}, // mine
///         "odd": {"args": []},
///     }}"#,
///     Dialect::ClaudeDesktop,
/// )?;
/// assert_eq!(
///     file.problems()[0].to_string(),
///     "line 3, column 16 ($.mcpServers.odd): server \"odd\": \
///      has neither \"command\" nor \"url\": nothing to connect to"
/// );
/// let resolved = file.resolve(&|variable: Variable<'_>| match variable {
///     Variable::Env("KEY") => Some("k-123".to_owned()),
///     _ => None,
/// });
/// assert_eq!(resolved.servers[0].endpoint().to_string(), "https://example.com/mcp");
/// # Ok::<(), mcp_config::ConfigProblem>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConfigFile {
    pub(crate) servers: Vec<ServerConfig>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) problems: Vec<ConfigProblem>,
    /// Entries that could not be read, unchanged.
    pub(crate) unread: Map<String, Value>,
    /// The other members of the file.
    pub(crate) extra: Map<String, Value>,
}

impl ConfigFile {
    /// A file without servers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it is not JSON (or TOML or YAML, depending on the dialect) at all, or not an object.
    pub fn read(text: &str, dialect: Dialect) -> Result<Self, ConfigProblem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root = document::parse(text, dialect)?;
        let mut reader = Reader::new(text, dialect);
        let Some(members) = root.members() else {
            return Err(reader.problem(None, "$", Fault::expected("an object", &root)));
        };
        match dialect {
            Dialect::Registry => registry::read(&mut reader, &root),
            Dialect::Bundle => bundle::read(&mut reader, &root),
            _ => reader.root(members),
        }
        Ok(reader.file)
    }

    /// Replaces every `${__dirname}` with the folder of the file. Only a bundle's `manifest.json` has it, because its
    /// program is beside it.
    #[must_use]
    pub fn in_folder(mut self, folder: &str) -> Self {
        for server in &mut self.servers {
            resolve::put_folder(server, folder);
        }
        self
    }

    /// Reads the part of `~/.claude.json` for one project folder: its servers, and nothing else of the file. `None` if
    /// it does not contain the project.
    ///
    /// # Errors
    ///
    /// If it is not JSON at all.
    pub fn read_project(text: &str, folder: &str) -> Result<Option<Self>, ConfigProblem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root = document::parse(text, Dialect::ClaudeCode)?;
        let projects = root.get("projects");
        let Some(project) = projects.and_then(|projects| projects.get(folder)) else {
            return Ok(None);
        };
        let mut reader = Reader::new(text, Dialect::ClaudeCode);
        if let Some(servers) = project.get("mcpServers") {
            let path = format!("$.projects{}.mcpServers", step(folder));
            reader.servers(&path, servers);
        }
        Ok(Some(reader.file))
    }

    /// Adds a server, replacing one with the same name.
    #[must_use]
    pub fn with_server(mut self, server: ServerConfig) -> Self {
        self.unread.remove(server.name.as_str());
        self.servers.retain(|other| other.name != server.name);
        self.servers.push(server);
        self
    }

    /// The servers as written, with unresolved references, in the order of the file.
    pub fn servers(&self) -> &[ServerConfig] {
        &self.servers
    }

    /// The inputs that the file requests from the user.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The problems of the file.
    pub fn problems(&self) -> &[ConfigProblem] {
        &self.problems
    }

    /// The servers with their variables replaced, and those that cannot be resolved, with their missing variables.
    pub fn resolve(&self, variables: &dyn Variables) -> Resolved {
        resolve::resolve(self, variables)
    }

    /// Writes the file in a dialect, with that dialect's keys and references. Reading it again in the same dialect
    /// gives the same servers, except for the [`losses`](Self::losses): settings the dialect does not support are not
    /// in the file.
    pub fn write(&self, dialect: Dialect) -> String {
        write::write(self, dialect).0
    }

    /// The settings that [`write`](Self::write) cannot express in a dialect.
    pub fn losses(&self, dialect: Dialect) -> Vec<Loss> {
        write::write(self, dialect).1
    }
}

/// The inputs that a server's texts refer to, each once.
fn asked_for(server: &ServerConfig) -> BTreeSet<String> {
    let mut texts: Vec<&str> = Vec::new();
    match &server.endpoint {
        Endpoint::Stdio(command) => {
            texts.push(command.program());
            texts.extend(command.args().iter().map(|arg| arg.expose()));
            texts.extend(command.env().values().map(|value| value.expose()));
        }
        Endpoint::Remote(remote) => {
            texts.push(remote.url.expose());
            texts.extend(remote.headers.values().map(|value| value.expose()));
        }
    }
    let ids = texts.into_iter().flat_map(input_ids);
    ids.map(str::to_owned).collect()
}

/// Reads the tree of a file.
struct Reader<'a> {
    text: &'a str,
    dialect: Dialect,
    /// The names of the entries so far.
    names: BTreeSet<String>,
    file: ConfigFile,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, dialect: Dialect) -> Self {
        Self {
            text,
            dialect,
            names: BTreeSet::new(),
            file: ConfigFile::new(),
        }
    }

    fn root(&mut self, members: &[Member]) {
        let mut found = false;
        for member in members {
            let path = format!("${}", step(&member.name));
            match member.name.as_str() {
                "mcp" if self.is_mcp(&member.value) => {
                    found = true;
                    self.mcp(&path, &member.value);
                }
                "mcp" => self.keep(member),
                name if self.is_container(name) && entry::is_map(&member.value) => {
                    found = true;
                    self.servers(&path, &member.value);
                }
                "inputs" => {
                    self.inputs(&path, &member.value);
                    if !matches!(member.value.kind, Kind::List(_)) {
                        self.keep(member);
                    }
                }
                _ => self.keep(member),
            }
        }
        // Members that every file of the program must have carry no information.
        for (name, value) in self.dialect.keys().preamble {
            if self.file.extra.get(*name) == Some(&Value::from(*value)) {
                self.file.extra.remove(*name);
            }
        }
        if !found && members.iter().any(|member| entry::is_entry(&member.value)) {
            self.bare(members);
        } else if !found && !members.is_empty() {
            let names: Vec<_> = members
                .iter()
                .map(|m| format!("{:?}", m.name))
                .take(5)
                .collect();
            let message = format!(
                "no servers found: expected \"mcpServers\" or \"servers\", found {}",
                names.join(", ")
            );
            self.report(None, "$", Fault::new(0, message));
        }
    }

    fn keep(&mut self, member: &Member) {
        self.file
            .extra
            .insert(member.name.clone(), member.value.to_value());
    }

    /// `mcp: {servers, inputs}` of VS Code's settings, or a map of servers.
    fn mcp(&mut self, path: &str, node: &Node) {
        let Some(servers) = node.get("servers").filter(|node| entry::is_map(node)) else {
            return self.servers(path, node);
        };
        self.servers(&format!("{path}.servers"), servers);
        if let Some(inputs) = node.get("inputs") {
            self.inputs(&format!("{path}.inputs"), inputs);
        }
        let rest = node.members().unwrap_or_default().iter();
        let rest = rest.filter(|member| !matches!(&*member.name, "servers" | "inputs"));
        let rest: Map<_, _> = rest.map(|m| (m.name.clone(), m.value.to_value())).collect();
        if !rest.is_empty() {
            self.file
                .extra
                .insert("mcp".to_owned(), Value::Object(rest));
        }
    }

    /// A map of servers at the top level.
    fn bare(&mut self, members: &[Member]) {
        self.file.extra.clear();
        for member in members {
            match member.value.kind {
                Kind::Object(_) => self.server("$", member),
                _ => self.keep(member),
            }
        }
    }

    fn servers(&mut self, path: &str, node: &Node) {
        match &node.kind {
            Kind::Object(members) => members.iter().for_each(|member| self.server(path, member)),
            Kind::List(items) => self.list(path, items),
            // A key without a value, as in YAML.
            Kind::Null => {}
            _ => self.report(None, path, Fault::expected("an object", node)),
        }
    }

    /// Entries that contain their own name.
    fn list(&mut self, path: &str, items: &[Node]) {
        for (at, item) in items.iter().enumerate() {
            let name = match item.get("name").map(|name| &name.kind) {
                Some(Kind::Text(name)) => name.clone(),
                _ if entry::is_foreign(item, self.dialect) => {
                    self.file.unread.insert(format!("#{at}"), item.to_value());
                    continue;
                }
                _ => {
                    let fault = Fault::new(item.at, "an entry without a \"name\"");
                    self.report(None, &format!("{path}[{at}]"), fault);
                    continue;
                }
            };
            let members = item.members().unwrap_or_default().iter();
            let members = members.filter(|member| member.name != "name").cloned();
            let (at, kind) = (item.at, Kind::Object(members.collect()));
            let value = Node { at, kind };
            self.server(path, &Member { at, name, value });
        }
    }

    fn is_container(&self, name: &str) -> bool {
        CONTAINERS.contains(&name) || name == self.dialect.keys().container
    }

    fn server(&mut self, path: &str, member: &Member) {
        let name = member.name.as_str();
        let path = format!("{path}{}", step(name));
        if !self.names.insert(name.to_owned()) {
            let fault = Fault::new(member.at, "duplicate name; this entry is used");
            self.report(Some(name), &path, fault);
            self.file
                .servers
                .retain(|server| server.name.as_str() != name);
            self.file.unread.remove(name);
        }
        if entry::is_foreign(&member.value, self.dialect) {
            self.file
                .unread
                .insert(name.to_owned(), member.value.to_value());
            return;
        }
        match entry::read(name, &member.value, self.dialect) {
            Ok(server) => {
                self.user_variables(&server);
                self.file.servers.push(server);
            }
            Err(fault) => {
                self.report(Some(name), &path, fault);
                let value = member.value.to_value();
                self.file.unread.insert(name.to_owned(), value);
            }
        }
    }

    /// The inputs that LibreChat requests from each user.
    fn user_variables(&mut self, server: &ServerConfig) {
        let asked = server
            .extra
            .get("customUserVars")
            .and_then(Value::as_object);
        for (id, asked) in asked.into_iter().flatten() {
            if self.file.inputs.iter().all(|input| input.id != *id) {
                let text = |name: &str| asked.get(name).and_then(Value::as_str);
                let mut input = Input::new(id);
                input.description = text("description").or(text("title")).map(str::to_owned);
                input.password = asked.get("sensitive") != Some(&Value::Bool(false));
                self.file.inputs.push(input);
            }
        }
    }

    fn inputs(&mut self, path: &str, node: &Node) {
        let Kind::List(items) = &node.kind else {
            return self.report(None, path, Fault::expected("a list", node));
        };
        for (at, item) in items.iter().enumerate() {
            match Input::read(item) {
                Ok(input) => self.file.inputs.push(input),
                Err(fault) => self.report(None, &format!("{path}[{at}]"), fault),
            }
        }
    }

    /// Whether `mcp` contains servers: it does in opencode, not in every program.
    fn is_mcp(&self, node: &Node) -> bool {
        let is_object = |node: &Node| node.members().is_some();
        let mut members = node.members().unwrap_or_default().iter();
        self.dialect == Dialect::OpenCode && is_object(node)
            || node.get("servers").is_some_and(is_object)
            || members.any(|member| entry::is_entry(&member.value))
    }

    fn report(&mut self, server: Option<&str>, path: &str, fault: Fault) {
        let problem = match self.file.problems.len() {
            0..MAX_PROBLEMS => self.problem(server, path, fault),
            MAX_PROBLEMS => {
                let message = "there are more problems after this one";
                self.problem(None, path, Fault::new(fault.at, message))
            }
            _ => return,
        };
        self.file.problems.push(problem);
    }

    fn problem(&self, server: Option<&str>, path: &str, fault: Fault) -> ConfigProblem {
        ConfigProblem {
            place: Place::new(self.text, fault.at, format!("{path}{}", fault.path)),
            server: server.map(str::to_owned),
            message: fault.message,
        }
    }
}
