//! One entry of a file, read in any dialect.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use mcp_transport::{EnvPolicy, Secret, ServerCommand};
use serde_json::{Map, Value};

use crate::dialect::{Dialect, Unit};
use crate::file::document::{Kind, Member, Node};
use crate::file::field::{self, Fault, Fields};
use crate::server::endpoint::{Endpoint, RemoteEndpoint, RemoteKind};
use crate::server::name::ServerName;
use crate::server::tools::ToolSettings;
use crate::server::{ServerConfig, Start};
use crate::variable::reference::{Field, env_names, lift};

const TYPE: [&str; 3] = ["type", "transport", "transportType"];
const COMMAND: [&str; 2] = ["command", "cmd"];
const URL: [&str; 5] = ["url", "serverUrl", "httpUrl", "baseUrl", "uri"];

/// The type that an entry declares.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Said {
    Stdio,
    Remote(RemoteKind),
}

/// Whether a value is a map of entries: it contains one, or does not look like one itself.
pub(crate) fn is_map(node: &Node) -> bool {
    let mut members = node.members().unwrap_or_default().iter();
    !is_entry(node) || members.any(|member| is_entry(&member.value))
}

/// Whether a value looks like an entry.
pub(crate) fn is_entry(node: &Node) -> bool {
    let text = |name: &str| {
        node.get(name)
            .is_some_and(|value| matches!(value.kind, Kind::Text(_)))
    };
    let list = |name: &str| {
        node.get(name)
            .is_some_and(|value| matches!(value.kind, Kind::List(_)))
    };
    list("command") || COMMAND.into_iter().chain(URL).chain(TYPE).any(text)
}

/// Whether an entry is not a server, but part of the program that the file belongs to.
pub(crate) fn is_foreign(node: &Node, dialect: Dialect) -> bool {
    let word = |name: &str| match node.get(name).map(|value| &value.kind) {
        Some(Kind::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    match dialect {
        Dialect::Zed => {
            let known = ["settings", "command", "url"].map(|name| node.get(name).is_some());
            word("source") == Some("extension") || known == [true, false, false]
        }
        #[cfg(feature = "yaml")]
        Dialect::Goose => matches!(
            word("type"),
            Some("builtin" | "platform" | "frontend" | "inline_python")
        ),
        // A block from Continue's hub.
        #[cfg(feature = "yaml")]
        Dialect::Continue => word("uses").is_some(),
        _ => false,
    }
}

/// Whether an entry's unused keys include keys of the other kind.
pub(crate) fn looks_otherwise(server: &ServerConfig) -> bool {
    let mut words = server.extra.keys().map(String::as_str);
    match &server.endpoint {
        Endpoint::Stdio(_) => words.any(|word| URL.contains(&word)),
        Endpoint::Remote(_) => words.any(|word| COMMAND.contains(&word)),
    }
}

/// Reads one entry. Unknown keys are kept.
pub(crate) fn read(name: &str, node: &Node, dialect: Dialect) -> Result<ServerConfig, Fault> {
    let name = ServerName::new(name).map_err(|error| Fault::new(node.at, error.to_string()))?;
    let node = &flat(node);
    let mut fields = Fields::of(node)?;
    let endpoint = match endpoint_kind(node, &mut fields)? {
        Said::Stdio => Endpoint::Stdio(stdio(&mut fields, dialect)?),
        Said::Remote(kind) => Endpoint::Remote(remote(&mut fields, kind, dialect)?),
    };
    // Entries of a list, and goose's entries, contain their own name.
    fields.take_if(
        &["name"],
        |node| matches!(&node.kind, Kind::Text(text) if name.as_str() == text),
    );
    if dialect.is_goose() {
        // goose requires one, even if it is empty.
        fields.take_if(
            &["description"],
            |node| matches!(&node.kind, Kind::Text(text) if text.is_empty()),
        );
    }
    let mut config = ServerConfig::new(name, endpoint);
    if matches!(config.endpoint, Endpoint::Stdio(_)) {
        let file = fields.take(&["envFile"], field::text)?;
        config.env_file = file.map(|path| lift(&path, dialect, Field::Path));
    }
    config.enabled = enabled(&mut fields)?;
    config.required = flag(&mut fields, &["required"])?;
    config.parallel = flag(&mut fields, &["parallel", "supports_parallel_tool_calls"])?;
    config.always_load = flag(&mut fields, &["alwaysLoad", "always_load"])?;
    if flag(&mut fields, &["lazy"])? {
        config.start = Start::Lazy;
    }
    times(&mut fields, &mut config, dialect)?;
    config.tools = ToolSettings {
        only: only(&mut fields, dialect)?,
        disabled: set(
            &mut fields,
            &["disabledTools", "disabled_tools", "excludeTools"],
        )?,
        auto_approve: set(
            &mut fields,
            &["autoApprove", "alwaysAllow", "auto_approve_tools"],
        )?,
    };
    config.sandbox = fields.take(&["sandboxProfile"], object)?;
    config.extra = fields.rest();
    Ok(config)
}

fn object(node: &Node) -> Result<Map<String, Value>, Fault> {
    match node.to_value() {
        Value::Object(members) => Ok(members),
        _ => Err(Fault::expected("a profile", node)),
    }
}

/// An entry with the members of two inner objects as its own: `command` in older files of Zed, and the headers in
/// Continue's `requestOptions`.
fn flat(node: &Node) -> Cow<'_, Node> {
    let is = |name: &str| node.get(name).is_some_and(|node| node.members().is_some());
    if !is("command") && !is("requestOptions") {
        return Cow::Borrowed(node);
    }
    let mut flat = Vec::new();
    for member in node.members().unwrap_or_default() {
        let inner = member.value.members();
        match (member.name.as_str(), inner) {
            ("command", Some(inner)) => flat.extend(inner.iter().cloned().map(|mut member| {
                if member.name == "path" {
                    member.name = "command".to_owned();
                }
                member
            })),
            ("requestOptions", Some(inner)) => {
                let is_headers = |member: &&Member| member.name == "headers";
                flat.extend(inner.iter().find(is_headers).cloned());
                let rest = inner.iter().filter(|it| !is_headers(it)).cloned();
                let rest: Vec<Member> = rest.collect();
                if !rest.is_empty() {
                    let kind = Kind::Object(rest);
                    let (at, name) = (member.at, member.name.clone());
                    let value = Node { at, kind };
                    flat.push(Member { at, name, value });
                }
            }
            _ => flat.push(member.clone()),
        }
    }
    let (at, kind) = (node.at, Kind::Object(flat));
    Cow::Owned(Node { at, kind })
}

/// The value of `type`, else derived from `command` or a URL.
fn endpoint_kind(node: &Node, fields: &mut Fields<'_>) -> Result<Said, Fault> {
    let said = fields.take(&TYPE, |node| {
        let text = field::text(node)?;
        let word: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
        match word.to_ascii_lowercase().as_str() {
            "" => Ok(None),
            "stdio" | "local" => Ok(Some(Said::Stdio)),
            "remote" => Ok(Some(Said::Remote(RemoteKind::Auto))),
            "http" | "streamablehttp" => Ok(Some(Said::Remote(RemoteKind::StreamableHttp))),
            "sse" => Ok(Some(Said::Remote(RemoteKind::Sse))),
            _ => Err(Fault::new(
                node.at,
                format!("unknown transport {text:?}: expected \"stdio\", \"http\" or \"sse\""),
            )),
        }
    })?;
    let fault = |message| Err(Fault::new(node.at, message));
    match (said.flatten(), fields.has(&COMMAND), fields.has(&URL)) {
        (Some(Said::Stdio), false, _) => fault("its \"type\" needs \"command\", which is missing"),
        (Some(Said::Remote(_)), _, false) => fault("its \"type\" needs \"url\", which is missing"),
        (Some(said), ..) => Ok(said),
        (None, true, false) => Ok(Said::Stdio),
        (None, false, true) => Ok(Said::Remote(RemoteKind::Auto)),
        (None, true, true) => fault("has both \"command\" and a URL: say which by \"type\""),
        (None, false, false) => fault("has neither \"command\" nor \"url\": nothing to connect to"),
    }
}

fn stdio(fields: &mut Fields<'_>, dialect: Dialect) -> Result<ServerCommand, Fault> {
    let (program, mut args) = fields.take(&COMMAND, field::command)?.unwrap_or_default();
    args.extend(fields.take(&["args"], field::texts)?.unwrap_or_default());
    let args = args.into_iter().map(|arg| lift(&arg, dialect, Field::Arg));
    // The entry itself defines which other variables of our environment the server gets.
    let policy = fields.take(&["envPolicy"], env_policy)?;
    let mut command = ServerCommand::new(lift(&program, dialect, Field::Command))
        .with_args(args)
        .with_env_policy(policy.unwrap_or(EnvPolicy::Safe));
    for (name, value) in secrets(fields, &["env", "environment", "envs"], dialect, Field::Env)? {
        command = command.with_env(name, value.expose());
    }
    for name in fields
        .take(&["env_vars", "inheritEnv", "env_keys"], field::names)?
        .unwrap_or_default()
    {
        command = command.with_inherited(name);
    }
    Ok(match fields.take(&["cwd"], field::text)? {
        Some(cwd) => command.with_cwd(lift(&cwd, dialect, Field::Path)),
        None => command,
    })
}

fn env_policy(node: &Node) -> Result<EnvPolicy, Fault> {
    match field::text(node)?.as_str() {
        "inherit" => Ok(EnvPolicy::Inherit),
        "safe" => Ok(EnvPolicy::Safe),
        "none" => Ok(EnvPolicy::None),
        _ => Err(Fault::new(
            node.at,
            "expected \"inherit\", \"safe\" or \"none\"",
        )),
    }
}

fn remote(
    fields: &mut Fields<'_>,
    kind: RemoteKind,
    dialect: Dialect,
) -> Result<RemoteEndpoint, Fault> {
    let url = fields.take(&URL, |node| {
        let url = lift(&field::text(node)?, dialect, Field::Url);
        let scheme = url
            .split_once("://")
            .map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme.as_deref() {
            Some("http" | "https") => Ok(url),
            _ if url.contains("${") => Ok(url),
            _ => Err(Fault::new(
                node.at,
                "the URL must begin with http:// or https://",
            )),
        }
    })?;
    let mut endpoint = RemoteEndpoint::new(url.unwrap_or_default()).with_kind(kind);
    endpoint.headers = secrets(fields, &["headers", "http_headers"], dialect, Field::Header)?;
    // goose lists the variables of its headers again.
    if let Some(keys) = fields.peek("env_keys").map(field::names) {
        let used = |name: &String| {
            let mut headers = endpoint.headers.values();
            headers.any(|value| env_names(value.expose()).any(|used| used == name))
        };
        if keys.is_ok_and(|keys| keys.iter().all(used)) {
            fields.take(&["env_keys"], field::names)?;
        }
    }
    // Codex names the variable, the others write a reference.
    let from_env = fields.take(&["env_http_headers"], |node| field::map(node, field::text))?;
    for (header, variable) in from_env.unwrap_or_default() {
        endpoint = endpoint.with_header(header, format!("${{env:{variable}}}"));
    }
    if let Some(variable) = fields.take(&["bearer_token_env_var"], field::text)? {
        endpoint = endpoint.with_header("Authorization", format!("Bearer ${{env:{variable}}}"));
    }
    Ok(endpoint)
}

fn enabled(fields: &mut Fields<'_>) -> Result<bool, Fault> {
    let disabled = flag(fields, &["disabled"])?;
    let enabled = fields.take(&["enabled", "isActive"], field::flag)?;
    Ok(!disabled && enabled.unwrap_or(true))
}

fn times(
    fields: &mut Fields<'_>,
    config: &mut ServerConfig,
    dialect: Dialect,
) -> Result<(), Fault> {
    // opencode may set two times with one key.
    let both = fields.take_if(&["timeout"], |node| node.members().is_some());
    let part = |name: &str| {
        let time = both.and_then(|node| node.get(name));
        time.map(|node| field::time(node, Unit::Milliseconds))
            .transpose()
            .map_err(|fault| fault.within(name).within("timeout"))
    };
    let (startup, request) = (part("startup")?, part("request")?);
    let mut take = |names: &[&str], unit| fields.take(names, |node| field::time(node, unit));
    let connect = take(&["startup_timeout_sec"], Unit::Seconds)?;
    let connect_ms = &[
        "connectTimeoutMs",
        "startup_timeout_ms",
        "initTimeout",
        "connectionTimeout",
    ];
    config.connect_timeout = connect
        .or(take(connect_ms, Unit::Milliseconds)?)
        .or(startup);
    let call = take(&["tool_timeout_sec"], Unit::Seconds)?;
    config.call_idle_timeout = call.or(take(&["timeout"], dialect.unit())?).or(request);
    let tools = fields.take(&["toolTimeoutsMs"], |node| {
        field::map(node, |node| field::time(node, Unit::Milliseconds))
    })?;
    config.tool_idle_timeouts = tools.unwrap_or_default();
    Ok(())
}

/// The enabled tools, if not all are.
fn only(fields: &mut Fields<'_>, dialect: Dialect) -> Result<Option<BTreeSet<String>>, Fault> {
    let names = ["enabledTools", "enabled_tools", "includeTools"];
    if let Some(only) = fields.take(&names, field::text_set)? {
        return Ok(Some(only));
    }
    match dialect {
        Dialect::CopilotCli => {
            let tools = fields.take(&["tools"], field::text_set)?;
            Ok(tools.filter(|tools| !tools.contains("*")))
        }
        #[cfg(feature = "yaml")]
        Dialect::Goose => {
            let tools = fields.take(&["available_tools"], field::text_set)?;
            Ok(tools.filter(|tools| !tools.is_empty()))
        }
        _ => Ok(None),
    }
}

fn flag(fields: &mut Fields<'_>, names: &[&str]) -> Result<bool, Fault> {
    Ok(fields.take(names, field::flag)?.unwrap_or(false))
}

fn set(fields: &mut Fields<'_>, names: &[&str]) -> Result<BTreeSet<String>, Fault> {
    Ok(fields.take(names, field::text_set)?.unwrap_or_default())
}

fn secrets(
    fields: &mut Fields<'_>,
    names: &[&str],
    dialect: Dialect,
    field: Field,
) -> Result<BTreeMap<String, Secret>, Fault> {
    let lifted = |text: String| Secret::new(lift(&text, dialect, field));
    let secret = |node: &Node| field::text(node).map(lifted);
    Ok(fields
        .take(names, |node| field::map(node, secret))?
        .unwrap_or_default())
}
