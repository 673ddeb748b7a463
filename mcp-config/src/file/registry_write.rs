//! A server as an item of `server.json`.

use std::time::Duration;

use mcp_transport::{EnvPolicy, ServerCommand};
use serde_json::{Map, Value, json};

use crate::file::ConfigFile;
use crate::file::input::InputKind;
use crate::server::endpoint::{Endpoint, RemoteEndpoint, RemoteKind};
use crate::server::name::ServerName;
use crate::server::{ServerConfig, Start};
use crate::variable::{Part, Variable, parts};

/// A name in the registry's format.
pub(super) fn whole_name(name: &ServerName) -> String {
    let word = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "._-".contains(c) => c,
        _ => '-',
    };
    let name: String = name.as_str().chars().map(word).collect();
    format!("com.example/{name}")
}

/// The list for the item, the item if there can be one, and the losses.
pub(super) fn item(
    file: &ConfigFile,
    server: &ServerConfig,
) -> (&'static str, Option<Value>, Vec<String>) {
    let mut lost = settings(server);
    let mut work = Work {
        file,
        lost: &mut lost,
    };
    let (list, item) = match &server.endpoint {
        Endpoint::Stdio(command) => ("packages", work.package(command)),
        Endpoint::Remote(remote) => ("remotes", Some(work.remote(remote))),
    };
    (list, item, lost)
}

/// Settings that a server.json cannot express for any server.
fn settings(server: &ServerConfig) -> Vec<String> {
    let tools = &server.tools;
    let times: [Option<Duration>; 2] = [server.connect_timeout, server.call_idle_timeout];
    let said = [
        (!server.enabled, "that it is switched off"),
        (server.required, "that it is required"),
        (
            server.start == Start::Lazy,
            "that it starts when it is first needed",
        ),
        (server.parallel, "that it takes several calls at once"),
        (server.always_load, "that its tools are always loaded"),
        (times.iter().any(Option::is_some), "how long it may take"),
        (
            !server.tool_idle_timeouts.is_empty(),
            "how long calls of single tools may take",
        ),
        (
            tools.only.is_some() || !tools.disabled.is_empty(),
            "which of its tools are on",
        ),
        (
            !tools.auto_approve.is_empty(),
            "which of its tools run without a question",
        ),
        (
            server.sandbox.is_some(),
            "how it is contained: where it is installed from this, it runs without a sandbox",
        ),
        (server.env_file.is_some(), "its file of variables"),
        (
            !server.extra.is_empty(),
            "members of its entry that are not known",
        ),
    ];
    let lost = said.into_iter().filter(|(said, _)| *said);
    lost.map(|(_, what)| format!("server.json cannot express {what}"))
        .collect()
}

struct Work<'a> {
    file: &'a ConfigFile,
    lost: &'a mut Vec<String>,
}

impl Work<'_> {
    fn package(&mut self, command: &ServerCommand) -> Option<Value> {
        if command.cwd().is_some() {
            self.lost
                .push("server.json cannot express its working directory".to_owned());
        }
        if command.env_policy() != EnvPolicy::Safe {
            self.lost
                .push("server.json cannot express which variables it gets".to_owned());
        }
        let args: Vec<&str> = command.args().iter().map(|arg| arg.expose()).collect();
        let Some(mut package) = known_package(command.program(), &args) else {
            self.lost.push(
                "server.json names packages of a registry: `npx -y NAME` and `uvx NAME` are such, \
                 this command is none"
                    .to_owned(),
            );
            return None;
        };
        if package.value.get("version").is_none() {
            self.lost.push(
                "server.json names one version of a package, and this command none: put it in by hand"
                    .to_owned(),
            );
        }
        let members = package.value.as_object_mut()?;
        members.insert("transport".to_owned(), json!({"type": "stdio"}));
        let mut arguments = Vec::new();
        for (at, arg) in package.args.iter().enumerate() {
            let mut argument = json!({"type": "positional"});
            self.put_value(&mut argument, &format!("args[{at}]"), arg);
            arguments.push(argument);
        }
        let mut env: Vec<(String, String)> = Vec::new();
        for (name, value) in command.env() {
            env.push((name.clone(), value.expose().to_owned()));
        }
        let inherited = command.inherited().map(str::to_owned);
        env.extend(inherited.map(|name| (name.clone(), format!("${{env:{name}}}"))));
        if !arguments.is_empty() {
            members.insert("packageArguments".to_owned(), Value::Array(arguments));
        }
        if !env.is_empty() {
            let env = self.pairs("env", env.into_iter());
            members.insert("environmentVariables".to_owned(), env);
        }
        Some(package.value)
    }

    fn remote(&mut self, remote: &RemoteEndpoint) -> Value {
        let kind = match remote.kind {
            RemoteKind::Sse => "sse",
            _ => "streamable-http",
        };
        let mut item = json!({"type": kind});
        self.put_text(&mut item, "its address", "url", remote.url.expose());
        let headers = remote.headers.iter();
        let headers = headers.map(|(name, value)| (name.clone(), value.expose().to_owned()));
        let headers: Vec<_> = headers.collect();
        if !headers.is_empty() {
            let headers = self.pairs("headers", headers.into_iter());
            set(&mut item, "headers", headers);
        }
        item
    }

    fn pairs(&mut self, place: &str, pairs: impl Iterator<Item = (String, String)>) -> Value {
        let items = pairs.map(|(name, value)| {
            let mut item = json!({"name": name});
            // A text that is just the user's value needs no template.
            match parts(&value).as_slice() {
                [
                    Part::Text(""),
                    Part::Variable {
                        variable: Variable::Input(id),
                        default: None,
                        ..
                    },
                    Part::Text(""),
                ] if *id == name => {
                    self.describe(&mut item, id);
                }
                _ => self.put_value(&mut item, &format!("{place}.{name}"), &value),
            }
            item
        });
        items.collect()
    }

    fn put_value(&mut self, item: &mut Value, place: &str, text: &str) {
        self.put_text(item, place, "value", text);
    }

    /// A text whose references are `{name}`.
    fn put_text(&mut self, item: &mut Value, place: &str, key: &str, text: &str) {
        let (mut out, mut names) = (String::new(), Map::new());
        for part in parts(text) {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Variable {
                    variable,
                    default,
                    written,
                } => match variable {
                    Variable::Input(id) | Variable::Env(id)
                        if default.is_none() && !id.contains('{') =>
                    {
                        if matches!(variable, Variable::Env(_)) {
                            self.lost.push(format!(
                                "{place} needs {written}: server.json has the user asked for it"
                            ));
                        }
                        let mut asked = json!({});
                        self.describe(&mut asked, id);
                        names.insert(id.to_owned(), asked);
                        out.push_str(&format!("{{{id}}}"));
                    }
                    _ => {
                        self.lost.push(format!(
                            "{place} needs {written}, which server.json cannot express: put the value in by hand"
                        ));
                        out.push_str(written);
                    }
                },
            }
        }
        set(item, key, out.into());
        if !names.is_empty() {
            set(item, "variables", Value::Object(names));
        }
    }

    /// Describes the requested input.
    fn describe(&self, item: &mut Value, id: &str) {
        let Some(input) = self.file.inputs.iter().find(|input| input.id == id) else {
            set(item, "isRequired", true.into());
            return set(item, "isSecret", true.into());
        };
        if input.required || !input.is_wanted() {
            set(item, "isRequired", true.into());
        }
        if let Some(text) = &input.description {
            set(item, "description", text.as_str().into());
        }
        if input.password {
            set(item, "isSecret", true.into());
        }
        let format = match input.kind {
            InputKind::Number => Some("number"),
            InputKind::Boolean => Some("boolean"),
            InputKind::File | InputKind::Folder => Some("filepath"),
            InputKind::Text => None,
        };
        if let Some(format) = format {
            set(item, "format", format.into());
        }
        if let Some(default) = &input.default {
            set(item, "default", default.as_str().into());
        }
        if let Some(options) = &input.options {
            set(item, "choices", options.clone().into());
        }
    }
}

struct Package<'a> {
    value: Value,
    args: Vec<&'a str>,
}

/// The package that a command runs.
fn known_package<'a>(program: &str, args: &[&'a str]) -> Option<Package<'a>> {
    let (kind, marks, args): (_, &[&str], _) = match (program, args) {
        ("npx", ["-y" | "--yes", rest @ ..]) => ("npm", &["@"], rest),
        ("uvx", rest) => ("pypi", &["==", "@"], rest),
        _ => return None,
    };
    let (name, args) = args.split_first()?;
    if name.is_empty() || name.starts_with('-') || name.contains("${") {
        return None;
    }
    // A scope starts with the same character.
    let scope = usize::from(name.starts_with('@'));
    let split = marks.iter().find_map(|mark| {
        let at = name.get(scope..)?.find(mark)? + scope;
        Some((name.get(..at)?, name.get(at + mark.len()..)?))
    });
    let mut value = json!({"registryType": kind, "identifier": name});
    if let Some((name, version)) = split {
        set(&mut value, "identifier", name.into());
        if version != "latest" {
            set(&mut value, "version", version.into());
        }
    }
    Some(Package {
        value,
        args: args.to_vec(),
    })
}

fn set(item: &mut Value, name: &str, value: Value) {
    if let Some(members) = item.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}
