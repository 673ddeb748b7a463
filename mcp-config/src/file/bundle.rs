//! `manifest.json` of an MCP bundle: one server, whose program is beside the file.

mod spread;

use serde_json::{Map, Value, json};

use crate::dialect::Dialect;
use crate::file::document::{Kind, Member, Node};
use crate::file::entry;
use crate::file::field::{self, Fault, Fields};
use crate::file::input::{Input, InputKind};
use crate::file::loss::Loss;
use crate::file::{ConfigFile, Reader, write};
use crate::server::ServerConfig;
use crate::server::endpoint::Endpoint;

/// The version of the format that is written.
const VERSION: &str = "0.3";

/// Reads the server and its inputs. Everything else in the file is kept.
pub(super) fn read(reader: &mut Reader<'_>, root: &Node) {
    let fault = |what: &str, at: usize| Fault::new(at, format!("expected {what}"));
    let Some(Kind::Text(name)) = root.get("name").map(|name| &name.kind) else {
        return reader.report(None, "$.name", fault("the name of the bundle", root.at));
    };
    let server = root.get("server");
    let config = match (server.and_then(|it| it.get("mcp_config")), server) {
        (Some(config), _) => for_this_platform(config),
        (None, Some(server)) if is_uv(server) => by_uv(server),
        _ => {
            let fault = fault("\"mcp_config\": how the program is started", root.at);
            return reader.report(Some(name), "$.server", fault);
        }
    };
    match entry::read(name, &config, Dialect::Bundle) {
        Ok(server) => reader.file.servers.push(server),
        Err(fault) => return reader.report(Some(name), "$.server.mcp_config", fault),
    }
    let asked = root.get("user_config").and_then(Node::members);
    for member in asked.unwrap_or_default() {
        match option(member) {
            Ok(input) => reader.file.inputs.push(input),
            Err(fault) => reader.report(None, "$.user_config", fault),
        }
    }
    let rest = root.members().unwrap_or_default().iter();
    rest.filter(|member| member.name != "user_config")
        .for_each(|member| reader.keep(member));
}

fn is_uv(server: &Node) -> bool {
    matches!(server.get("type").map(|it| &it.kind), Some(Kind::Text(kind)) if kind == "uv")
}

/// The configuration of a Python program whose dependencies `uv` installs.
fn by_uv(server: &Node) -> Node {
    let node = |kind| Node {
        at: server.at,
        kind,
    };
    let text = |text: &str| node(Kind::Text(text.to_owned()));
    let script = match server.get("entry_point").map(|it| &it.kind) {
        Some(Kind::Text(script)) => format!("${{__dirname}}/{script}"),
        _ => String::new(),
    };
    let args = ["run", "--directory", "${__dirname}", &script].map(text);
    let member = |name: &str, value| Member {
        at: server.at,
        name: name.to_owned(),
        value,
    };
    node(Kind::Object(vec![
        member("command", text("uv")),
        member("args", node(Kind::List(args.into()))),
    ]))
}

/// The program's configuration on this platform.
fn for_this_platform(config: &Node) -> Node {
    let name = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let overrides = config.get("platform_overrides").and_then(|it| it.get(name));
    let overridden = overrides.and_then(Node::members).unwrap_or_default();
    let own = config.members().unwrap_or_default().iter();
    let own = own.filter(|member| {
        let known = member.name != "platform_overrides";
        known && overridden.iter().all(|other| other.name != member.name)
    });
    Node {
        at: config.at,
        kind: Kind::Object(own.chain(overridden).cloned().collect()),
    }
}

fn option(member: &Member) -> Result<Input, Fault> {
    let mut fields = Fields::of(&member.value)?;
    let mut input = Input::new(&member.name);
    let title = fields.take(&["title"], field::text)?;
    input.description = fields.take(&["description"], field::text)?.or(title);
    input.password = fields.take(&["sensitive"], field::flag)?.unwrap_or(false);
    input.required = fields.take(&["required"], field::flag)?.unwrap_or(false);
    input.multiple = fields.take(&["multiple"], field::flag)?.unwrap_or(false);
    input.kind = match fields.take(&["type"], field::text)?.as_deref() {
        Some("number") => InputKind::Number,
        Some("boolean") => InputKind::Boolean,
        Some("directory") => InputKind::Folder,
        Some("file") => InputKind::File,
        _ => InputKind::Text,
    };
    let number = |node: &Node| match &node.kind {
        Kind::Number(number) => Ok(number.as_f64()),
        _ => Err(Fault::expected("a number", node)),
    };
    input.min = fields.take(&["min"], number)?.flatten();
    input.max = fields.take(&["max"], number)?.flatten();
    match member.value.get("default") {
        Some(list) if matches!(list.kind, Kind::List(_)) => input.defaults = field::texts(list)?,
        Some(default) if !matches!(default.kind, Kind::Null) => {
            input.default = Some(field::text(default)?);
        }
        _ => {}
    }
    Ok(input)
}

impl ConfigFile {
    /// Refers to as many values of each input as `count` says: in arguments one after the other, elsewhere separated
    /// by commas. An argument or a variable that is nothing but an input without a value is left out, and so is the
    /// option before it.
    #[must_use]
    pub fn with_values(mut self, count: &dyn Fn(&Input) -> usize) -> Self {
        let inputs = std::mem::take(&mut self.inputs);
        for server in &mut self.servers {
            spread::spread(server, &inputs, count);
        }
        self.inputs = inputs;
        self
    }
}

/// Writes the manifest of the first server; returns the losses.
pub(super) fn write(file: &ConfigFile) -> (String, Vec<Loss>) {
    let mut losses = Vec::new();
    let mut root = file.extra.clone();
    let Some(server) = file.servers.first() else {
        return (format!("{:#}\n", Value::Object(root)), losses);
    };
    let mut lose = |server: &ServerConfig, message: String| {
        losses.push(Loss {
            server: server.name.clone(),
            message,
        });
    };
    for other in file.servers.iter().skip(1) {
        lose(
            other,
            "a bundle has one server: this one is left out".to_owned(),
        );
    }
    let (entry, lost) = write::entry(server, Dialect::Bundle);
    lost.into_iter().for_each(|message| lose(server, message));
    let mut config = Map::new();
    for name in ["command", "args", "env"] {
        if let Some(value) = entry.get(name) {
            config.insert(name.to_owned(), value.clone());
        }
    }
    let name = server.name.as_str();
    let members = entry.as_object().into_iter().flatten();
    for (member, _) in
        members.filter(|(name, _)| !["command", "args", "env", "type"].contains(&name.as_str()))
    {
        lose(server, format!("MCPB cannot express {member:?}"));
    }
    let (kind, entry_point) = match &server.endpoint {
        Endpoint::Stdio(command) => program(
            command.program(),
            command.args().iter().map(|arg| arg.expose()),
        ),
        Endpoint::Remote(_) => {
            lose(
                server,
                "a bundle has a program: an address cannot be in one".to_owned(),
            );
            return (String::new(), losses);
        }
    };
    for (key, value) in [
        ("manifest_version", VERSION),
        ("name", name),
        ("version", "0.0.0"),
        ("description", name),
    ] {
        root.entry(key).or_insert_with(|| value.into());
    }
    root.entry("author")
        .or_insert_with(|| json!({"name": "unknown"}));
    let server_of = root
        .entry("server")
        .or_insert_with(|| json!({"type": kind, "entry_point": entry_point}));
    if let Some(members) = server_of.as_object_mut() {
        let before = members
            .get("mcp_config")
            .and_then(|it| it.get("platform_overrides"))
            .cloned();
        if let Some(overrides) = before {
            config.insert("platform_overrides".to_owned(), overrides);
        }
        members.insert("mcp_config".to_owned(), Value::Object(config));
    }
    let asked = asked(file, server);
    if !asked.is_empty() {
        root.insert("user_config".to_owned(), Value::Object(asked));
    }
    (format!("{:#}\n", Value::Object(root)), losses)
}

/// The kind of a program, and the file to start.
fn program<'a>(
    command: &'a str,
    mut args: impl Iterator<Item = &'a str>,
) -> (&'static str, String) {
    let stem = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let kind = match stem {
        "node" | "npx" | "bun" | "deno" => "node",
        "uv" | "uvx" => "python",
        other if other.starts_with("python") => "python",
        _ => return ("binary", command.to_owned()),
    };
    let file =
        args.find(|arg| arg.ends_with(".js") || arg.ends_with(".mjs") || arg.ends_with(".py"));
    let file = file.unwrap_or(command).trim_start_matches("${__dirname}/");
    (kind, file.to_owned())
}

/// The inputs of the server's texts, in a bundle's form.
fn asked(file: &ConfigFile, server: &ServerConfig) -> Map<String, Value> {
    let mut asked = Map::new();
    for id in super::asked_for(server) {
        let known = file.inputs.iter().find(|input| input.id == id);
        let text = known
            .and_then(|input| input.description.clone())
            .unwrap_or_else(|| id.clone());
        let kind = match known.map(|input| input.kind) {
            Some(InputKind::Number) => "number",
            Some(InputKind::Boolean) => "boolean",
            Some(InputKind::Folder) => "directory",
            Some(InputKind::File) => "file",
            Some(InputKind::Text) | None => "string",
        };
        let required = known.is_none_or(|input| input.required);
        let mut option =
            json!({"type": kind, "title": id, "description": text, "required": required});
        if let Some(members) = option.as_object_mut() {
            if known.is_some_and(|input| input.password) {
                members.insert("sensitive".to_owned(), true.into());
            }
            if let Some(default) = known.and_then(|input| input.default.clone()) {
                members.insert("default".to_owned(), default.into());
            }
        }
        asked.insert(id, option);
    }
    asked
}
