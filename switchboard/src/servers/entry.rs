//! Conversion between stored servers and configuration entries.

use std::collections::BTreeMap;

use mcp_config::{ConfigFile, Dialect};
use mcp_manager::{RemoteKind, ServerConfig};
use serde_json::{Map, Value, json};

use super::sandbox;
use crate::store::{EnvPolicy, Server, ServerKind, StoredValue, Trust, UserId};

/// The answers to a file's questions, among what else a server's entry says.
const INPUTS: &str = "inputAnswers";
/// A server's sandbox.
const SANDBOX: &str = "sandboxProfile";
/// The tools an imported file calls approved: shown, not believed.
pub(crate) const CLAIMED: &str = "claimedAutoApprove";

/// The answers that were given to the questions of a server's file.
pub(crate) fn answers(row: &Server) -> impl Iterator<Item = (String, StoredValue)> {
    let inputs = row.extra.get(INPUTS).and_then(Value::as_object);
    inputs.into_iter().flatten().filter_map(|(id, value)| {
        let value: StoredValue = value.as_str()?.parse().ok()?;
        Some((id.clone(), value))
    })
}

/// Keeps the answer to a question of a server's file.
pub(crate) fn answer(row: &mut Server, id: &str, value: StoredValue) {
    if !row.extra.is_object() {
        row.extra = Value::Object(Map::new());
    }
    let inputs = row.extra.as_object_mut().map(|extra| {
        let inputs = extra.entry(INPUTS);
        inputs.or_insert_with(|| Value::Object(Map::new()))
    });
    if let Some(inputs) = inputs.and_then(Value::as_object_mut) {
        inputs.insert(id.to_owned(), String::from(value).into());
    }
}

/// A stored server as an entry of a file. Variables and references are written as `${…}`.
pub(crate) fn to_entry(row: &Server) -> Map<String, Value> {
    let mut entry = Map::new();
    let mut set = |name: &str, value: Value| {
        entry.insert(name.to_owned(), value);
    };
    match row.kind {
        ServerKind::Stdio => {
            set("type", json!("stdio"));
            set("command", json!(row.command.as_deref().unwrap_or_default()));
            if !row.args.is_empty() {
                set("args", json!(row.args));
            }
            if !row.env.is_empty() {
                set("env", templates(&row.env));
            }
            if let Some(folder) = &row.cwd {
                set("cwd", json!(folder));
            }
            match row.env_policy {
                EnvPolicy::Safe => {}
                EnvPolicy::Inherit => set("envPolicy", json!("inherit")),
                EnvPolicy::None => set("envPolicy", json!("none")),
            }
            if let Some(profile) = &row.sandbox {
                set(SANDBOX, Value::Object(sandbox::written(profile)));
            }
        }
        kind => {
            match kind {
                ServerKind::Sse => set("type", json!("sse")),
                ServerKind::StreamableHttp => set("type", json!("http")),
                _ => {}
            }
            set("url", json!(row.base_url.as_deref().unwrap_or_default()));
            if !row.headers.is_empty() {
                set("headers", templates(&row.headers));
            }
        }
    }
    if !row.is_active {
        set("disabled", json!(true));
    }
    if row.parallel {
        set("parallel", json!(true));
    }
    if row.always_load {
        set("alwaysLoad", json!(true));
    }
    if let Some(seconds) = row.timeout {
        set("tool_timeout_sec", json!(seconds));
    }
    if !row.tool_timeouts.is_empty() {
        let times = row.tool_timeouts.iter();
        let times = times.map(|(tool, seconds)| (tool.clone(), json!(seconds * 1000)));
        set("toolTimeoutsMs", Value::Object(times.collect()));
    }
    if !row.disabled_tools.is_empty() {
        set("disabledTools", json!(row.disabled_tools));
    }
    if !row.auto_approve_tools.is_empty() {
        set("autoApprove", json!(row.auto_approve_tools));
    }
    for (name, value) in row.extra.as_object().into_iter().flatten() {
        if name != INPUTS && name != CLAIMED && !entry.contains_key(name) {
            entry.insert(name.clone(), value.clone());
        }
    }
    entry
}

/// How a stored server is configured, with its variables as they are; or what is wrong with it.
pub(crate) fn to_config(row: &Server) -> Result<ServerConfig, String> {
    let file = json!({ "mcpServers": { row.name.as_str(): to_entry(row) } });
    let file = ConfigFile::read(&file.to_string(), Dialect::Plain);
    let file = file.map_err(|problem| problem.message)?;
    let config = match (file.servers(), file.problems()) {
        ([config, ..], _) => config.clone().with_id(row.id.as_str()),
        ([], [problem, ..]) => return Err(problem.message.clone()),
        ([], []) => return Err("it has no entry".to_owned()),
    };
    let config = match row.transport_seen.as_deref() {
        Some("sse") => config.with_last_kind(RemoteKind::Sse),
        Some("streamableHttp") => config.with_last_kind(RemoteKind::StreamableHttp),
        _ => config,
    };
    Ok(match row.trust {
        Trust::Trusted => config.trusted(),
        Trust::Allowed | Trust::Pending => config,
    })
}

/// A server to be stored, as it is configured. What has no column of its own is kept beside.
pub(crate) fn from_config(user: &UserId, config: &ServerConfig) -> Server {
    let file = ConfigFile::new().with_server(config.clone());
    let text = file.write(Dialect::Plain);
    let mut file: Value = serde_json::from_str(&text).unwrap_or_default();
    let entry = file
        .get_mut("mcpServers")
        .and_then(|servers| servers.get_mut(config.name().as_str()))
        .and_then(Value::as_object_mut)
        .map(std::mem::take)
        .unwrap_or_default();
    from_entry(user, config.name().as_str(), entry)
}

fn from_entry(user: &UserId, name: &str, mut entry: Map<String, Value>) -> Server {
    let kind = entry.get("type").and_then(Value::as_str);
    let kind = match kind {
        _ if entry.contains_key("command") => ServerKind::Stdio,
        Some("sse") => ServerKind::Sse,
        Some("http") => ServerKind::StreamableHttp,
        _ => ServerKind::Auto,
    };
    let mut row = Server::new(user.clone(), name, kind);
    entry.remove("type");
    row.command = take(&mut entry, "command");
    row.base_url = take(&mut entry, "url");
    row.args = take(&mut entry, "args").unwrap_or_default();
    row.env = values(take(&mut entry, "env"));
    row.headers = values(take(&mut entry, "headers"));
    row.cwd = take(&mut entry, "cwd");
    row.is_active = !take::<bool>(&mut entry, "disabled").unwrap_or_default();
    row.parallel = take(&mut entry, "parallel").unwrap_or_default();
    row.always_load = take(&mut entry, "alwaysLoad").unwrap_or_default();
    row.timeout = take(&mut entry, "tool_timeout_sec");
    let times: Option<BTreeMap<String, u64>> = peek(&entry, "toolTimeoutsMs");
    if let Some(times) = times.filter(|times| times.values().all(|time| time % 1000 == 0)) {
        entry.remove("toolTimeoutsMs");
        let seconds = times.into_iter().map(|(tool, time)| (tool, time / 1000));
        row.tool_timeouts = seconds.collect();
    }
    row.disabled_tools = take(&mut entry, "disabledTools").unwrap_or_default();
    row.auto_approve_tools = take(&mut entry, "autoApprove").unwrap_or_default();
    row.env_policy = match take::<String>(&mut entry, "envPolicy").as_deref() {
        Some("inherit") => EnvPolicy::Inherit,
        Some("none") => EnvPolicy::None,
        _ => EnvPolicy::Safe,
    };
    // One that makes no sense stays beside, and the server is not started.
    if row.kind == ServerKind::Stdio {
        row.sandbox = take(&mut entry, SANDBOX);
    }
    let mut all = row.env.values().chain(row.headers.values());
    row.plain_values = all.any(StoredValue::is_plain);
    if !entry.is_empty() {
        row.extra = Value::Object(entry);
    }
    row
}

fn peek<T: serde::de::DeserializeOwned>(entry: &Map<String, Value>, name: &str) -> Option<T> {
    serde_json::from_value(entry.get(name)?.clone()).ok()
}

/// Takes a member out if it is of the type a column has.
fn take<T: serde::de::DeserializeOwned>(entry: &mut Map<String, Value>, name: &str) -> Option<T> {
    let value = peek(entry, name)?;
    entry.remove(name);
    Some(value)
}

fn templates(values: &BTreeMap<String, StoredValue>) -> Value {
    let members = values
        .iter()
        .map(|(name, value)| (name.clone(), template(value).into()));
    Value::Object(members.collect())
}

fn values(texts: Option<BTreeMap<String, String>>) -> BTreeMap<String, StoredValue> {
    let texts = texts.unwrap_or_default().into_iter();
    texts.map(|(name, text)| (name, reference(text))).collect()
}

/// A stored value as an entry writes it.
fn template(value: &StoredValue) -> String {
    match value {
        StoredValue::Env(name) => format!("${{env:{name}}}"),
        StoredValue::Keyring(id) => format!("${{keyring:{id}}}"),
        StoredValue::PrivateFile(id) => format!("${{private-file:{id}}}"),
        StoredValue::Plain(text) => text.clone(),
    }
}

/// What an entry writes as a stored value: a reference if it is nothing but one.
pub(super) fn reference(text: String) -> StoredValue {
    let inside = text
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'));
    let plain = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    match inside.map(|inside| inside.split_once(':').unwrap_or(("env", inside))) {
        Some(("env", name)) if plain(name) => StoredValue::Env(name.to_owned()),
        Some(("keyring", id)) if !id.contains(['$', '{', '}']) => {
            StoredValue::Keyring(id.to_owned())
        }
        _ => StoredValue::Plain(text),
    }
}

#[cfg(test)]
mod tests {
    use mcp_sandbox::{Network, Profile};
    use proptest::prelude::*;

    use super::*;

    fn word() -> impl Strategy<Value = String> {
        "[a-zA-Z][a-zA-Z0-9_]{0,8}"
    }

    fn stored() -> impl Strategy<Value = StoredValue> {
        prop_oneof![
            word().prop_map(StoredValue::Env),
            "[a-z]{1,5}/[a-z]{1,5}".prop_map(StoredValue::Keyring),
            "[ -#%-~]{0,12}".prop_map(StoredValue::Plain),
        ]
    }

    fn rows() -> impl Strategy<Value = Server> {
        let maps = (
            prop::collection::btree_map(word(), stored(), 0..3),
            prop::collection::vec("[ -~]{0,8}", 0..3),
            prop::collection::btree_map(word(), 1..1000_u64, 0..3),
            prop::collection::btree_set(word(), 0..3),
        );
        let flags = (
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            0..4_u8,
            0..3_u8,
        );
        (word(), maps, flags, prop::option::of(1..9999_u64)).prop_map(
            |(name, (values, args, times, tools), (active, parallel, load, kind, policy), time)| {
                let kind = match kind {
                    0 => ServerKind::Stdio,
                    1 => ServerKind::Sse,
                    2 => ServerKind::StreamableHttp,
                    _ => ServerKind::Auto,
                };
                let mut row = Server::new(UserId::local(), name, kind);
                row.plain_values = values.values().any(StoredValue::is_plain);
                row.env_policy = EnvPolicy::Safe;
                if kind == ServerKind::Stdio {
                    row.command = Some("run".to_owned());
                    row.env = values;
                    row.args = args;
                    row.cwd = Some("/tmp".to_owned());
                    row.env_policy = match policy {
                        0 => EnvPolicy::Inherit,
                        1 => EnvPolicy::Safe,
                        _ => EnvPolicy::None,
                    };
                } else {
                    row.base_url = Some("https://example.com/mcp".to_owned());
                    row.headers = values;
                }
                row.is_active = active;
                row.parallel = parallel;
                row.always_load = load;
                row.timeout = time;
                row.tool_timeouts = times;
                row.disabled_tools = tools.iter().cloned().collect();
                row.auto_approve_tools = tools.into_iter().collect();
                if kind == ServerKind::Stdio && load {
                    let profile = Profile::new()
                        .with_read("~/notes")
                        .with_network(Network::All);
                    row.sandbox = Some(profile);
                }
                row.extra = json!({"required": true, "icon": "x"});
                row
            },
        )
    }

    proptest! {
        /// Nothing of a server's row is lost on the way to a configuration and back.
        #[test]
        fn from_config_inverts_to_config(row in rows()) {
            let config = to_config(&row).unwrap();
            let mut back = from_config(&row.user_id, &config);
            back.id = row.id.clone();
            back.created_at = row.created_at;
            back.updated_at = row.updated_at;
            prop_assert_eq!(back, row);
        }
    }

    #[test]
    fn a_value_with_more_than_a_variable_stays_as_it_is() {
        let value = |text: &str| reference(text.to_owned());
        assert_eq!(value("${KEY}"), StoredValue::Env("KEY".to_owned()));
        assert_eq!(value("${env:KEY}"), StoredValue::Env("KEY".to_owned()));
        for text in [
            "Bearer ${KEY}",
            "${KEY:-none}",
            "${input:key}",
            "${workspaceFolder}/x",
        ] {
            assert!(value(text).is_plain(), "{text}");
        }
    }

    #[test]
    fn a_profile_that_makes_no_sense_is_kept_and_refused_at_the_start() {
        let entry = json!({"command": "run", "sandboxProfile": {"red": ["/"]}});
        let entry = entry.as_object().unwrap().clone();
        let row = from_entry(&UserId::local(), "odd", entry);
        assert_eq!(row.sandbox, None);
        let config = to_config(&row).unwrap();
        let refused = sandbox::parse(config.sandbox().unwrap()).unwrap_err();
        assert!(refused.contains("red"), "{refused}");
    }

    #[test]
    fn what_a_server_spoke_last_orders_the_tries() {
        let mut row = Server::new(UserId::local(), "far", ServerKind::Auto);
        row.base_url = Some("https://h.example/mcp".to_owned());
        let first = |row: &Server| {
            let config = to_config(row).unwrap();
            let mcp_manager::Endpoint::Remote(remote) = config.endpoint() else {
                panic!("{config:?}");
            };
            remote.to_http().unwrap().into_connect().unwrap().kind()
        };
        assert_eq!(first(&row), mcp_transport::TransportKind::Http);
        row.transport_seen = Some("sse".to_owned());
        assert_eq!(first(&row), mcp_transport::TransportKind::LegacySse);
        row.transport_seen = Some("streamableHttp".to_owned());
        assert_eq!(first(&row), mcp_transport::TransportKind::Http);
    }

    #[test]
    fn a_server_without_program_and_address_is_rejected() {
        let nothing = Server::new(UserId::local(), "odd", ServerKind::Stdio);
        assert!(to_config(&nothing).is_err());
        let nowhere = Server::new(UserId::local(), "odd", ServerKind::Auto);
        assert!(to_config(&nowhere).is_err());
        let mut nameless = nothing;
        nameless.name = String::new();
        nameless.command = Some("run".to_owned());
        assert!(to_config(&nameless).is_err());
    }
}
