//! A file of servers, written in a dialect.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp_transport::{EnvPolicy, Secret};
use serde_json::{Map, Value};

use super::dialect::{Dialect, Unit};
use super::endpoint::{Endpoint, RemoteEndpoint, RemoteKind, StdioEndpoint};
use super::file::ConfigFile;
use super::input::Input;
use super::server::{ServerConfig, Start};
use super::variable::respell;

pub(super) fn write(file: &ConfigFile, dialect: Dialect) -> String {
    let mut servers = file.unread.clone();
    for server in &file.servers {
        servers.insert(server.name.to_string(), entry(server, dialect));
    }
    let mut root = file.extra.clone();
    if !file.inputs.is_empty() {
        let inputs = file.inputs.iter().map(Input::to_value).collect();
        root.insert("inputs".to_owned(), inputs);
    }
    root.insert(dialect.container().to_owned(), Value::Object(servers));
    #[cfg(feature = "toml")]
    if dialect.is_toml() {
        return super::toml_document::write(root);
    }
    format!("{:#}\n", Value::Object(root))
}

/// One entry; what is as usual is left out.
struct Entry {
    dialect: Dialect,
    members: Map<String, Value>,
}

fn entry(server: &ServerConfig, dialect: Dialect) -> Value {
    let mut entry = Entry {
        dialect,
        members: Map::new(),
    };
    match &server.endpoint {
        Endpoint::Stdio(stdio) => entry.stdio(stdio),
        Endpoint::Remote(remote) => entry.remote(remote),
    }
    // With words of the other kind around, only `type` tells.
    if super::entry::looks_otherwise(server) && !entry.members.contains_key("type") {
        let kind = match &server.endpoint {
            Endpoint::Stdio(_) => "stdio",
            Endpoint::Remote(_) => "remote",
        };
        entry.set("type", kind.into());
    }
    match dialect.is_toml() {
        true => entry.flag("enabled", !server.enabled, false),
        false => entry.flag("disabled", !server.enabled, true),
    }
    entry.flag("required", server.required, true);
    entry.flag("lazy", server.start == Start::Lazy, true);
    let parallel = entry.either("parallel", "supports_parallel_tool_calls");
    entry.flag(parallel, server.parallel, true);
    entry.flag("alwaysLoad", server.always_load, true);
    entry.times(server);
    let tools = &server.tools;
    if let Some(only) = &tools.only {
        let key = entry.either("enabledTools", "enabled_tools");
        entry.set(key, only.iter().cloned().collect());
    }
    let key = entry.either("disabledTools", "disabled_tools");
    entry.texts(key, &tools.disabled);
    entry.texts("autoApprove", &tools.auto_approve);
    // Ours first: no unknown word may hide a known one.
    for (name, value) in &server.extra {
        let members = &mut entry.members;
        members.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Value::Object(entry.members)
}

impl Entry {
    fn stdio(&mut self, stdio: &StdioEndpoint) {
        if matches!(self.dialect, Dialect::VsCode | Dialect::ClaudeCode) {
            self.set("type", "stdio".into());
        }
        self.set("command", self.spell(&stdio.command));
        if !stdio.args.is_empty() {
            let args = stdio.args.iter().map(|arg| self.spell(arg.expose()));
            self.set("args", args.collect());
        }
        self.secrets("env", &stdio.env);
        let inherited = self.either("inheritEnv", "env_vars");
        self.texts(inherited, &stdio.inherited);
        let policy = match stdio.env_policy {
            EnvPolicy::Safe => Some("safe"),
            EnvPolicy::None => Some("none"),
            _ => None,
        };
        self.optional("envPolicy", policy);
        for (name, path) in [("envFile", &stdio.env_file), ("cwd", &stdio.cwd)] {
            if let Some(path) = path {
                self.set(name, self.spell(path));
            }
        }
    }

    fn remote(&mut self, remote: &RemoteEndpoint) {
        let kind = match remote.kind {
            RemoteKind::Auto => None,
            RemoteKind::StreamableHttp if self.dialect == Dialect::Cline => Some("streamableHttp"),
            RemoteKind::StreamableHttp => Some("http"),
            RemoteKind::Sse => Some("sse"),
        };
        self.optional("type", kind);
        self.set("url", self.spell(remote.url.expose()));
        if !self.dialect.is_toml() {
            return self.secrets("headers", &remote.headers);
        }
        // Codex replaces no variables, but takes their names.
        let (mut plain, mut from_env) = (BTreeMap::new(), Map::new());
        for (name, value) in &remote.headers {
            let bearer = value.expose().strip_prefix("Bearer ").and_then(variable);
            match (name.as_str(), bearer, variable(value.expose())) {
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
        self.secrets("http_headers", &plain);
        if !from_env.is_empty() {
            self.set("env_http_headers", Value::Object(from_env));
        }
    }

    fn times(&mut self, server: &ServerConfig) {
        let seconds = |time: Duration| Value::from(time.as_secs_f64());
        if let Some(time) = server.connect_timeout {
            match self.dialect.is_toml() {
                true => self.set("startup_timeout_sec", seconds(time)),
                false => self.set("connectTimeoutMs", milliseconds(time)),
            }
        }
        if let Some(time) = server.call_timeout {
            match self.dialect.unit() {
                _ if self.dialect.is_toml() => self.set("tool_timeout_sec", seconds(time)),
                Unit::Milliseconds => self.set("timeout", milliseconds(time)),
                Unit::Seconds => self.set("timeout", whole(time.as_secs_f64())),
                // What would be guessed wrong is said outright.
                Unit::Guess => self.set("tool_timeout_sec", whole(time.as_secs_f64())),
            }
        }
        if !server.tool_timeouts.is_empty() {
            let tools = server.tool_timeouts.iter();
            let times = tools.map(|(tool, time)| (tool.clone(), milliseconds(*time)));
            self.set("toolTimeoutsMs", Value::Object(times.collect()));
        }
    }

    fn either(&self, json: &'static str, toml: &'static str) -> &'static str {
        match self.dialect.is_toml() {
            true => toml,
            false => json,
        }
    }

    fn spell(&self, text: &str) -> Value {
        respell(text, self.dialect.spelling()).into()
    }

    fn set(&mut self, name: &str, value: Value) {
        self.members.insert(name.to_owned(), value);
    }

    fn optional(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.set(name, text.into());
        }
    }

    fn flag(&mut self, name: &str, unusual: bool, value: bool) {
        if unusual {
            self.set(name, value.into());
        }
    }

    fn texts(&mut self, name: &str, texts: &BTreeSet<String>) {
        if !texts.is_empty() {
            self.set(name, texts.iter().cloned().collect());
        }
    }

    fn secrets(&mut self, name: &str, secrets: &BTreeMap<String, Secret>) {
        if !secrets.is_empty() {
            let pair =
                |(name, value): (&String, &Secret)| (name.clone(), self.spell(value.expose()));
            self.set(name, Value::Object(secrets.iter().map(pair).collect()));
        }
    }
}

fn milliseconds(time: Duration) -> Value {
    match u64::try_from(time.as_millis()) {
        Ok(whole) if Duration::from_millis(whole) == time => Value::from(whole),
        _ => Value::from(time.as_secs_f64() * 1000.0),
    }
}

/// A number without `.0` where it has none.
fn whole(number: f64) -> Value {
    let rounded = number.round();
    if rounded == number && rounded < 9e15 {
        Value::from(rounded as u64)
    } else {
        Value::from(number)
    }
}

/// The variable that `${env:NAME}` names, if `text` is just that.
fn variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${env:")?.strip_suffix('}')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}
