//! `server.json` of the MCP registry: one server, with alternative packages or URLs. The first usable one is read; the
//! others are kept.

use mcp_transport::{EnvPolicy, ServerCommand};
use serde_json::{Map, Value, json};

use crate::file::document::{Kind, Member, Node};
use crate::file::field::{self, Fault, Fields};
use crate::file::input::Input;
use crate::file::loss::Loss;
use crate::file::{ConfigFile, Reader, registry_write};
use crate::server::ServerConfig;
use crate::server::endpoint::{Endpoint, RemoteEndpoint, RemoteKind};
use crate::server::name::ServerName;

/// Reads the server and its inputs. Everything else in the file is kept.
pub(super) fn read(reader: &mut Reader<'_>, root: &Node) {
    let Some(Kind::Text(whole)) = root.get("name").map(|name| &name.kind) else {
        let fault = Fault::new(root.at, "expected the name of the server");
        return reader.report(None, "$.name", fault);
    };
    // The part before the slash is the owner.
    let name = whole.rsplit('/').next().unwrap_or(whole);
    let mut faults = Vec::new();
    let mut chosen = None;
    'found: for list in ["packages", "remotes"] {
        let Some(Kind::List(items)) = root.get(list).map(|node| &node.kind) else {
            continue;
        };
        for (at, item) in items.iter().enumerate() {
            let mut asked = Vec::new();
            let endpoint = match list {
                "packages" => package(item, &mut asked).map(Endpoint::Stdio),
                _ => remote(item, &mut asked).map(Endpoint::Remote),
            };
            match endpoint {
                Ok(endpoint) => {
                    chosen = Some((list, at, endpoint, asked));
                    break 'found;
                }
                Err(fault) => faults.push((format!("$.{list}[{at}]"), fault)),
            }
        }
    }
    let Some((list, at, endpoint, asked)) = chosen else {
        if faults.is_empty() {
            let fault = Fault::new(root.at, "has neither \"packages\" nor \"remotes\"");
            faults.push(("$".to_owned(), fault));
        }
        let report = |(path, fault): (String, Fault)| reader.report(Some(name), &path, fault);
        return faults.into_iter().for_each(report);
    };
    match ServerName::new(name) {
        Ok(name) => reader.file.servers.push(ServerConfig::new(name, endpoint)),
        Err(error) => {
            let fault = Fault::new(root.at, error.to_string());
            return reader.report(Some(name), "$.name", fault);
        }
    }
    for input in asked {
        if reader.file.inputs.iter().all(|other| other.id != input.id) {
            reader.file.inputs.push(input);
        }
    }
    for member in root.members().unwrap_or_default() {
        reader.keep(member);
        // The item that was read is written anew.
        if let (true, Some(Value::Array(items))) =
            (member.name == list, reader.file.extra.get_mut(list))
        {
            items.remove(at);
        }
    }
}

/// Converts a package to the command that runs it.
fn package(node: &Node, asked: &mut Vec<Input>) -> Result<ServerCommand, Fault> {
    let mut fields = Fields::of(node)?;
    let text = |fields: &mut Fields<'_>, name| fields.take(&[name], field::text);
    let kind = text(&mut fields, "registryType")?.unwrap_or_default();
    let identifier = text(&mut fields, "identifier")?;
    let identifier = identifier.ok_or_else(|| Fault::new(node.at, "has no \"identifier\""))?;
    if identifier.starts_with('-') {
        return Err(Fault::new(
            node.at,
            "its \"identifier\" is not a package name",
        ));
    }
    let version = text(&mut fields, "version")?.filter(|version| !version.is_empty());
    let runtime = text(&mut fields, "runtimeHint")?;
    let transport = node.get("transport").and_then(|it| it.get("type"));
    if !matches!(transport.map(|kind| &kind.kind), Some(Kind::Text(kind)) if kind == "stdio") {
        return Err(Fault::new(node.at, "its transport is not \"stdio\""));
    }
    let env = variables(node.get("environmentVariables"), asked)?;
    let before = arguments(node.get("runtimeArguments"), asked)?;
    let after = arguments(node.get("packageArguments"), asked)?;
    let joined = |mark: &str| match &version {
        Some(version) => format!("{identifier}{mark}{version}"),
        None => identifier.clone(),
    };
    let mut args = Vec::new();
    let program = match kind.as_str() {
        "npm" => {
            let program = runtime.unwrap_or_else(|| "npx".to_owned());
            if program == "npx" && !before.iter().any(|arg| arg == "-y" || arg == "--yes") {
                args.push("-y".to_owned());
            }
            args.extend(before);
            args.push(joined("@"));
            args.extend(after);
            program
        }
        "pypi" => {
            args.extend(before);
            args.push(joined("=="));
            args.extend(after);
            runtime.unwrap_or_else(|| "uvx".to_owned())
        }
        "oci" => {
            args.extend(["run", "-i", "--rm"].map(str::to_owned));
            for (name, _) in &env {
                args.extend(["-e".to_owned(), name.clone()]);
            }
            args.extend(before);
            args.push(match identifier.rsplit('/').next() {
                Some(last) if last.contains([':', '@']) => identifier.clone(),
                _ => joined(":"),
            });
            args.extend(after);
            runtime.unwrap_or_else(|| "docker".to_owned())
        }
        "nuget" => {
            args.extend(before);
            args.extend([joined("@"), "--yes".to_owned()]);
            if !after.is_empty() {
                args.push("--".to_owned());
            }
            args.extend(after);
            runtime.unwrap_or_else(|| "dnx".to_owned())
        }
        "mcpb" => {
            let message = "is a bundle: download it and import its manifest.json";
            return Err(Fault::new(node.at, message));
        }
        other => {
            let message = format!("a package of {other:?} cannot be started");
            return Err(Fault::new(node.at, message));
        }
    };
    // As in every entry, the program gets only the variables it needs.
    let mut command = ServerCommand::new(program)
        .with_args(args)
        .with_env_policy(EnvPolicy::Safe);
    for (name, value) in env {
        command = command.with_env(name, value);
    }
    Ok(command)
}

fn remote(node: &Node, asked: &mut Vec<Input>) -> Result<RemoteEndpoint, Fault> {
    let mut fields = Fields::of(node)?;
    let kind = match fields.take(&["type"], field::text)?.as_deref() {
        Some("streamable-http") => RemoteKind::StreamableHttp,
        Some("sse") => RemoteKind::Sse,
        _ => return Err(Fault::new(node.at, "its \"type\" is no transport")),
    };
    let url = fields.take(&["url"], field::text)?.unwrap_or_default();
    let url = template(&url, node.get("variables"), asked)?;
    if !(url.starts_with("http://") || url.starts_with("https://") || url.starts_with("${")) {
        let message = "the URL must begin with http:// or https://";
        return Err(Fault::new(node.at, message).within("url"));
    }
    let mut remote = RemoteEndpoint::new(url).with_kind(kind);
    for (name, value) in variables(node.get("headers"), asked)? {
        remote = remote.with_header(name, value);
    }
    Ok(remote)
}

/// Headers or environment variables: those with a value, and required ones.
fn variables(node: Option<&Node>, asked: &mut Vec<Input>) -> Result<Vec<(String, String)>, Fault> {
    let mut pairs = Vec::new();
    for item in list(node)? {
        let name = item.get("name").map(field::text).transpose()?;
        let name = name.ok_or_else(|| Fault::new(item.at, "has no \"name\""))?;
        if let Some(value) = value(item, &name, asked)? {
            pairs.push((name, value));
        }
    }
    Ok(pairs)
}

fn arguments(node: Option<&Node>, asked: &mut Vec<Input>) -> Result<Vec<String>, Fault> {
    let mut words = Vec::new();
    for item in list(node)? {
        let text = |name: &str| item.get(name).map(field::text).transpose();
        let name = text("name")?;
        let hint = text("valueHint")?
            .or_else(|| name.clone())
            .unwrap_or_default();
        let id = hint.trim_start_matches('-').to_owned();
        let value = value(item, &id, asked)?;
        match (text("type")?.as_deref(), name) {
            (Some("named"), Some(name)) => {
                let is_flag = value.is_none() && flagged(item, "isRequired")?;
                if value.is_some() || is_flag {
                    words.push(name);
                    words.extend(value);
                }
            }
            _ => words.extend(value),
        }
    }
    Ok(words)
}

fn list(node: Option<&Node>) -> Result<&[Node], Fault> {
    match node.map(|node| (node, &node.kind)) {
        None | Some((_, Kind::Null)) => Ok(&[]),
        Some((_, Kind::List(items))) => Ok(items),
        Some((node, _)) => Err(Fault::expected("a list", node)),
    }
}

fn flagged(node: &Node, name: &str) -> Result<bool, Fault> {
    Ok(node
        .get(name)
        .map(field::flag)
        .transpose()?
        .unwrap_or(false))
}

/// The value of an input: its own, else the user's. An optional input without a value has none.
fn value(node: &Node, id: &str, asked: &mut Vec<Input>) -> Result<Option<String>, Fault> {
    if let Some(value) = node.get("value").map(field::text).transpose()? {
        return template(&value, node.get("variables"), asked).map(Some);
    }
    let input = input(node, id)?;
    let wanted = flagged(node, "isRequired")? || input.password || input.default.is_some();
    if !wanted || id.is_empty() || id.contains(['}', '{']) {
        return Ok(None);
    }
    asked.push(input);
    Ok(Some(format!("${{input:{id}}}")))
}

fn input(node: &Node, id: &str) -> Result<Input, Fault> {
    let text = |name: &str| node.get(name).map(field::text).transpose();
    let mut input = Input::new(id);
    input.description = text("description")?;
    input.default = text("default")?;
    input.password = flagged(node, "isSecret")?;
    input.options = node.get("choices").map(field::texts).transpose()?;
    Ok(input)
}

/// A text in which `{name}` of the variables stands for the user's values.
fn template(text: &str, names: Option<&Node>, asked: &mut Vec<Input>) -> Result<String, Fault> {
    let names = names.and_then(Node::members).unwrap_or_default();
    let mut out = String::with_capacity(text.len());
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        let end = after.find(['{', '}']);
        let inside = end.and_then(|end| after.get(..end)).unwrap_or_default();
        let behind = end.and_then(|end| after.get(end..)?.strip_prefix('}'));
        let known = |member: &&Member| member.name == inside;
        match (names.iter().find(known), behind) {
            (Some(member), Some(behind)) => {
                out.push_str(&std::mem::take(&mut plain).replace("${", "${:-$}{"));
                match member.value.get("value").map(field::text).transpose()? {
                    Some(value) => out.push_str(&value.replace("${", "${:-$}{")),
                    None => {
                        asked.push(input(&member.value, inside)?);
                        out.push_str(&format!("${{input:{inside}}}"));
                    }
                }
                rest = behind;
            }
            _ => {
                plain.push('{');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    out.push_str(&plain.replace("${", "${:-$}{"));
    Ok(out)
}

/// Writes the first server; returns the losses.
pub(super) fn write(file: &ConfigFile) -> (String, Vec<Loss>) {
    let mut root: Map<String, Value> = file.extra.clone();
    let mut losses = Vec::new();
    let mut lose = |server: &ServerConfig, message: &str| {
        losses.push(Loss {
            server: server.name.clone(),
            message: message.to_owned(),
        });
    };
    if let Some(server) = file.servers.first() {
        let (list, item, lost) = registry_write::item(file, server);
        lost.iter().for_each(|message| lose(server, message));
        if !root.contains_key("name") {
            root.insert(
                "name".to_owned(),
                registry_write::whole_name(&server.name).into(),
            );
            lose(
                server,
                "its name, version and description are made up: put your own in",
            );
        }
        for (name, value) in [("description", server.name.as_str()), ("version", "0.0.0")] {
            root.entry(name).or_insert_with(|| value.into());
        }
        if let Some(item) = item {
            let items = root.entry(list).or_insert_with(|| json!([]));
            if let Some(items) = items.as_array_mut() {
                items.insert(0, item);
            }
        }
    }
    for other in file.servers.iter().skip(1) {
        lose(other, "a server.json has one server: this one is left out");
    }
    (format!("{:#}\n", Value::Object(root)), losses)
}
