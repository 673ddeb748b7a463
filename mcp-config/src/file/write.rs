//! A file of servers, written in a dialect.

use std::collections::{BTreeMap, BTreeSet};

use mcp_transport::{EnvPolicy, Secret, ServerCommand};
use serde_json::{Map, Value};

use crate::dialect::keys::Keys;
use crate::dialect::{Dialect, Format, Unit};
use crate::file::input::Input;
use crate::file::loss::Loss;
use crate::file::time::{amount, whole};
use crate::file::{ConfigFile, bundle, registry};
use crate::server::endpoint::{Endpoint, RemoteEndpoint, RemoteKind};
use crate::server::{ServerConfig, Start};
#[cfg(feature = "yaml")]
use crate::variable::reference::env_names;
use crate::variable::reference::{Field, input_ids, lower, only_text, only_variable};

/// Writes the file; returns it and the losses.
pub(crate) fn write(file: &ConfigFile, dialect: Dialect) -> (String, Vec<Loss>) {
    match dialect {
        Dialect::Registry => return registry::write(file),
        Dialect::Bundle => return bundle::write(file),
        _ => {}
    }
    let keys = dialect.keys();
    let mut servers = file.unread.clone();
    let mut losses = Vec::new();
    for server in &file.servers {
        let (entry, lost) = entry(server, dialect);
        servers.insert(server.name.to_string(), entry);
        losses.extend(lost.into_iter().map(|message| Loss {
            server: server.name.clone(),
            message,
        }));
    }
    let mut root = file.extra.clone();
    if !file.inputs.is_empty() && matches!(dialect, Dialect::Plain | Dialect::VsCode) {
        let inputs = file.inputs.iter().map(Input::to_value).collect();
        root.insert("inputs".to_owned(), inputs);
    }
    for (name, value) in keys.preamble {
        root.entry(*name).or_insert_with(|| Value::from(*value));
    }
    let servers = match keys.is_list {
        true => servers
            .into_iter()
            .map(|(name, entry)| named(name, entry))
            .collect(),
        false => Value::Object(servers),
    };
    root.insert(keys.container.to_owned(), servers);
    let text = match dialect.format() {
        Format::Json => format!("{:#}\n", Value::Object(root)),
        #[cfg(feature = "toml")]
        Format::Toml => crate::file::toml_document::write(root),
        #[cfg(feature = "yaml")]
        Format::Yaml => crate::file::yaml_document::write(&root),
    };
    (text, losses)
}

/// An entry of a list, with its name first; an entry that is not a server has no name.
fn named(name: String, entry: Value) -> Value {
    match entry {
        Value::Object(members) if !members.contains_key("name") && !name.starts_with('#') => {
            let named = Map::from_iter([("name".to_owned(), Value::from(name))]);
            Value::Object(named.into_iter().chain(members).collect())
        }
        other => other,
    }
}

/// One entry, without default values.
struct Entry {
    dialect: Dialect,
    keys: &'static Keys,
    members: Map<String, Value>,
    lost: Vec<String>,
    /// The inputs its texts refer to.
    asked: BTreeSet<String>,
}

pub(crate) fn entry(server: &ServerConfig, dialect: Dialect) -> (Value, Vec<String>) {
    let keys = dialect.keys();
    let mut entry = Entry {
        dialect,
        keys,
        members: Map::new(),
        lost: Vec::new(),
        asked: BTreeSet::new(),
    };
    if keys.is_list {
        entry.set("name", server.name.as_str().into());
    }
    entry.first(server);
    match &server.endpoint {
        Endpoint::Stdio(command) => entry.stdio(command, server.env_file()),
        Endpoint::Remote(remote) => entry.remote(remote),
    }
    // With keys of the other kind present, only `type` decides.
    if crate::file::entry::looks_otherwise(server)
        && keys.others.is_none()
        && !entry.members.contains_key("type")
    {
        let kind = match &server.endpoint {
            Endpoint::Stdio(_) => "stdio",
            Endpoint::Remote(_) => "remote",
        };
        entry.set("type", kind.into());
    }
    match keys.off {
        Some((word, value)) if !server.enabled => entry.set(word, value.into()),
        None if !server.enabled => entry.lose("that it is switched off"),
        _ => {}
    }
    entry.flag(keys.required, server.required, "that it is required");
    let lazy = server.start == Start::Lazy;
    entry.flag(keys.lazy, lazy, "that it starts when it is first needed");
    let several = "that it takes several calls at once";
    entry.flag(keys.parallel, server.parallel, several);
    let always = "that its tools are always loaded";
    entry.flag(keys.always_load, server.always_load, always);
    entry.times(server);
    let tools = &server.tools;
    let only = tools.only.as_ref();
    // For goose an empty list means all tools, and Copilot has a keyword for that.
    let only = only.filter(|only| !(entry.is_goose() && only.is_empty()));
    if tools.only.is_some() && only.is_none() {
        entry.lose("that none of its tools are on");
    }
    let all = BTreeSet::from(["*".to_owned()]);
    let only = only.or((dialect == Dialect::CopilotCli).then_some(&all));
    entry.texts(keys.only, only, "which of its tools are on");
    let disabled = Some(&tools.disabled).filter(|tools| !tools.is_empty());
    entry.texts(keys.disabled, disabled, "which of its tools are off");
    let approved = Some(&tools.auto_approve).filter(|tools| !tools.is_empty());
    let message = "which of its tools run without a question";
    entry.texts(keys.auto_approve, approved, message);
    match (keys.sandbox, &server.sandbox) {
        (Some(word), Some(profile)) => entry.set(word, Value::Object(profile.clone())),
        (None, Some(_)) => entry.lose("how it is contained: there it runs without a sandbox"),
        (_, None) => {}
    }
    entry.others(&server.extra);
    entry.user_variables();
    (Value::Object(entry.members), entry.lost)
}

impl Entry {
    fn stdio(&mut self, stdio: &ServerCommand, env_file: Option<&str>) {
        if let Some(word) = self.keys.stdio_type {
            self.set("type", word.into());
        }
        let command = self.spell("its command", stdio.program(), Field::Command);
        let args = stdio.args().iter().enumerate();
        let args = args.map(|(at, arg)| {
            let place = format!("args[{at}]");
            self.spell(&place, arg.expose(), Field::Arg)
        });
        let args: Vec<Value> = args.collect();
        if self.dialect == Dialect::OpenCode {
            let line = std::iter::once(command).chain(args);
            self.set("command", line.collect());
        } else {
            self.set(self.keys.command, command);
            if !args.is_empty() || self.keys.needs_args {
                self.set("args", args.into());
            }
        }
        self.env(stdio);
        let policy = match stdio.env_policy() {
            EnvPolicy::Inherit => Some("inherit"),
            EnvPolicy::None => Some("none"),
            _ => None,
        };
        match (self.keys.env_policy, policy) {
            (Some(word), Some(policy)) => self.set(word, policy.into()),
            (None, Some(policy)) => {
                self.lose(&format!("that its environment is {policy:?}"));
            }
            _ => {}
        }
        let cwd = stdio.cwd().map(|cwd| cwd.to_string_lossy());
        for (word, path, message) in [
            (self.keys.env_file, env_file, "its file of variables"),
            (self.keys.cwd, cwd.as_deref(), "its working directory"),
        ] {
            match (word, path) {
                (Some(word), Some(path)) => {
                    let path = self.spell(word, path, Field::Path);
                    self.set(word, path);
                }
                (None, Some(path)) => self.lose(&format!("{message}, {path:?}")),
                _ => {}
            }
        }
    }

    /// The variables that are set, and those that are passed on by name.
    fn env(&mut self, stdio: &ServerCommand) {
        let mut set = stdio.env().clone();
        let mut inherited: BTreeSet<String> = stdio.inherited().map(str::to_owned).collect();
        if self.is_codex() || self.is_goose() {
            // They replace no variables, but pass them on under their own names.
            set.retain(|name, value| {
                let same = only_variable(value.expose()) == Some(name);
                if same {
                    inherited.insert(name.clone());
                }
                !same
            });
        } else if self.keys.inherited.is_none() {
            for name in std::mem::take(&mut inherited) {
                let reference = format!("${{env:{name}}}");
                match only_variable(&reference) == Some(&name) {
                    true => drop(set.entry(name).or_insert(Secret::new(reference))),
                    // The same applies to `}` in its name.
                    false => self.lose(&format!("that the variable {name:?} is passed on")),
                }
            }
        }
        self.secrets(self.keys.env, &set, Field::Env);
        if let Some(word) = self.keys.inherited.filter(|_| !inherited.is_empty()) {
            self.set(word, inherited.into_iter().collect());
        }
    }

    fn remote(&mut self, remote: &RemoteEndpoint) {
        use Dialect::{ClaudeDesktop, OpenCode};
        let keys = self.keys;
        let kind = match (self.dialect, remote.kind) {
            (OpenCode, _) => Some("remote"),
            (_, RemoteKind::Sse) => {
                if !keys.has_sse {
                    let program = keys.program;
                    self.lose(&format!(
                        "that it speaks HTTP+SSE, which {program} does not"
                    ));
                }
                // Codex has no `type` for it; the others treat it as Streamable HTTP.
                keys.http_type
                    .map(|word| if keys.has_sse { "sse" } else { word })
            }
            (_, RemoteKind::StreamableHttp) => keys.http_type,
            (_, RemoteKind::Auto) => keys.http_type.filter(|_| keys.needs_type),
        };
        if let Some(kind) = kind {
            self.set("type", kind.into());
        }
        if self.dialect == ClaudeDesktop {
            self.lost.push(
                "Claude Desktop's file has programs only: add its address as a connector in the \
                 settings"
                    .to_owned(),
            );
        }
        let url = self.spell("its address", remote.url.expose(), Field::Url);
        self.set(self.keys.url, url);
        if !self.is_codex() {
            self.secrets("headers", &remote.headers, Field::Header);
            return self.headers_of_goose_and_continue(remote);
        }
        // Codex replaces no variables, but accepts their names.
        let (mut plain, mut from_env) = (BTreeMap::new(), Map::new());
        for (name, value) in &remote.headers {
            let text = value.expose();
            let bearer = text.strip_prefix("Bearer ").and_then(only_variable);
            match (name.as_str(), bearer, only_variable(text)) {
                ("Authorization", Some(variable), _) => {
                    self.set("bearer_token_env_var", variable.into());
                }
                (name, _, Some(variable)) => {
                    from_env.insert(name.to_owned(), variable.into());
                }
                (name, ..) => {
                    plain.insert(name.to_owned(), value.clone());
                }
            }
        }
        self.secrets("http_headers", &plain, Field::Header);
        if !from_env.is_empty() {
            self.set("env_http_headers", Value::Object(from_env));
        }
    }

    /// goose requires the variables of its headers, and Continue has the headers elsewhere.
    #[cfg(feature = "yaml")]
    fn headers_of_goose_and_continue(&mut self, remote: &RemoteEndpoint) {
        if self.is_goose() {
            let headers = remote.headers.iter();
            let written = self.members.get("headers").cloned().unwrap_or_default();
            let headers = headers.filter(|(name, _)| written.get(name.as_str()).is_some());
            let names = headers.flat_map(|(_, value)| env_names(value.expose()));
            let names: BTreeSet<&str> = names.collect();
            if !names.is_empty() {
                self.set("env_keys", names.into_iter().collect());
            }
        } else if self.dialect == Dialect::Continue
            && let Some(headers) = self.members.remove("headers")
        {
            let options = Map::from_iter([("headers".to_owned(), headers)]);
            self.set("requestOptions", Value::Object(options));
        }
    }

    #[cfg(not(feature = "yaml"))]
    fn headers_of_goose_and_continue(&mut self, _remote: &RemoteEndpoint) {}

    /// The first members of goose's entries.
    fn first(&mut self, server: &ServerConfig) {
        if self.is_goose() {
            self.set("enabled", server.enabled.into());
            for (name, usual) in [("name", server.name.as_str()), ("description", "")] {
                let own = server.extra.get(name).filter(|value| value.is_string());
                let own = own.cloned();
                self.set(name, own.unwrap_or_else(|| usual.into()));
            }
        }
    }

    /// LibreChat requests declared inputs only.
    fn user_variables(&mut self) {
        #[cfg(feature = "yaml")]
        if self.dialect == Dialect::LibreChat {
            let mut asked = match self.members.remove("customUserVars") {
                Some(Value::Object(asked)) => asked,
                _ => Map::new(),
            };
            for id in &self.asked {
                // Those are LibreChat's own.
                if !id.starts_with("LIBRECHAT_") {
                    let declared = serde_json::json!({"title": id, "description": id});
                    asked.entry(id).or_insert(declared);
                }
            }
            if !asked.is_empty() {
                self.set("customUserVars", Value::Object(asked));
            }
        }
    }

    fn times(&mut self, server: &ServerConfig) {
        let times = [
            (
                self.keys.connect_time,
                server.connect_timeout,
                "how long connecting may take",
            ),
            (
                self.keys.call_idle_timeout,
                server.call_idle_timeout,
                "how long a call may take",
            ),
        ];
        for (word, time, message) in times {
            match (word, time) {
                (Some((word, unit)), Some(time)) => {
                    let whole = whole(time, unit);
                    if self.keys.whole_times && whole != time {
                        self.lose(&format!("{message} as a fraction ({time:?})"));
                    }
                    let time = if self.keys.whole_times { whole } else { time };
                    self.set(word, amount(time, unit));
                }
                (None, Some(time)) => self.lose(&format!("{message} ({time:?})")),
                _ => {}
            }
        }
        match self.keys.tool_times {
            _ if server.tool_idle_timeouts.is_empty() => {}
            Some(word) => {
                let tools = server.tool_idle_timeouts.iter();
                let times =
                    tools.map(|(tool, time)| (tool.clone(), amount(*time, Unit::Milliseconds)));
                self.set(word, Value::Object(times.collect()));
            }
            None => self.lose("how long calls of single tools may take"),
        }
    }

    /// Unknown keys.
    fn others(&mut self, extra: &Map<String, Value>) {
        let takes = |name: &str| self.keys.others.is_none_or(|known| known.contains(&name));
        let (taken, left): (Vec<_>, Vec<_>) = extra.iter().partition(|(name, _)| takes(name));
        for (name, value) in taken {
            // Ours first: no unknown key may hide a known one.
            match (self.members.get_mut(name), value) {
                (None, value) => self.set(name, value.clone()),
                (Some(Value::Object(ours)), Value::Object(more)) => {
                    for (name, value) in more {
                        ours.entry(name).or_insert_with(|| value.clone());
                    }
                }
                _ => {}
            }
        }
        for (name, _) in left {
            self.lose(&format!("{name:?}"));
        }
    }

    fn is_codex(&self) -> bool {
        self.dialect.is_toml()
    }

    fn is_goose(&self) -> bool {
        self.dialect.is_goose()
    }

    /// Writes a required text. References the dialect cannot express are written in our form.
    fn spell(&mut self, place: &str, text: &str, field: Field) -> Value {
        self.note(text);
        lower(text, self.dialect, field).map_or_else(
            || {
                self.lose_reference(place, text);
                only_text(text).unwrap_or_else(|| text.to_owned()).into()
            },
            Value::from,
        )
    }

    /// Texts by name. A text that cannot be expressed is omitted: the server would take it literally.
    fn secrets(&mut self, name: &str, secrets: &BTreeMap<String, Secret>, field: Field) {
        let mut members = Map::new();
        for (key, value) in secrets {
            self.note(value.expose());
            match lower(value.expose(), self.dialect, field) {
                Some(text) => {
                    members.insert(key.clone(), text.into());
                }
                None => self.lose_reference(&format!("{name}.{key}"), value.expose()),
            }
        }
        if !members.is_empty() {
            self.set(name, Value::Object(members));
        }
    }

    /// Records the inputs of a text.
    fn note(&mut self, text: &str) {
        self.asked.extend(input_ids(text).map(str::to_owned));
    }

    /// Reports the lost reference, without the text around it.
    fn lose_reference(&mut self, place: &str, text: &str) {
        let program = self.keys.program;
        let references = crate::variable::parts(text).into_iter();
        let references: Vec<&str> = references
            .filter_map(|part| match part {
                crate::variable::Part::Variable { written, .. } => Some(written),
                crate::variable::Part::Text(_) => None,
            })
            .collect();
        self.lost.push(match references.as_slice() {
            [] => format!("{place} has a text that {program} would take for a reference"),
            some => format!(
                "{place} needs {}, which {program} does not look up there: put the value in by hand",
                some.join(", ")
            ),
        });
    }

    fn lose(&mut self, what: &str) {
        let program = self.keys.program;
        self.lost.push(format!("{program} cannot express {what}"));
    }

    fn set(&mut self, name: &str, value: Value) {
        self.members.insert(name.to_owned(), value);
    }

    fn flag(&mut self, word: Option<&str>, said: bool, message: &str) {
        match word {
            Some(word) if said => self.set(word, true.into()),
            None if said => self.lose(message),
            _ => {}
        }
    }

    fn texts(&mut self, word: Option<&str>, texts: Option<&BTreeSet<String>>, message: &str) {
        match (word, texts) {
            (Some(word), Some(texts)) => self.set(word, texts.iter().cloned().collect()),
            (None, Some(_)) => self.lose(message),
            _ => {}
        }
    }
}
