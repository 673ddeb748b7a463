//! `server.json` of the MCP registry: one server, with alternative packages or URLs. The first usable one is read; the
//! others are kept.

mod package;
mod value;

use serde_json::{Map, Value, json};

use self::package::package;
use self::value::{Asked, template, variables};
use crate::file::document::{Kind, Node};
use crate::file::field::{self, Fault, Fields};
use crate::file::input::Input;
use crate::file::loss::Loss;
use crate::file::{ConfigFile, Reader, registry_write};
use crate::server::ServerConfig;
use crate::server::endpoint::{Endpoint, RemoteEndpoint, RemoteKind};
use crate::server::name::ServerName;

/// The lists of a file: packages to run, and servers to connect to.
pub(super) const LISTS: [&str; 2] = ["packages", "remotes"];

/// How one of the file's items is started or reached, with references to as many values of each input as `count` says,
/// and its inputs.
pub(super) fn endpoint(
    list: &str,
    item: &Node,
    count: &dyn Fn(&Input) -> usize,
) -> Result<(Endpoint, Vec<Input>), Fault> {
    let mut asked = Asked::new(count);
    let endpoint = match list {
        "packages" => Endpoint::Stdio(package(item, &mut asked)?),
        _ => Endpoint::Remote(remote(item, &mut asked)?),
    };
    Ok((endpoint, asked.inputs))
}

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
    'found: for list in LISTS {
        let Some(Kind::List(items)) = root.get(list).map(|node| &node.kind) else {
            continue;
        };
        for (at, item) in items.iter().enumerate() {
            match endpoint(list, item, &|input| usize::from(input.is_wanted())) {
                Ok((endpoint, mut asked)) => {
                    asked.retain(Input::is_wanted);
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

fn remote(node: &Node, asked: &mut Asked<'_>) -> Result<RemoteEndpoint, Fault> {
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
