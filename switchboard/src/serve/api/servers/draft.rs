//! A partial update of a server.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::exit::Failure;
use crate::serve::error::ApiError;
use crate::serve::input::present;
use crate::serve::server_pool::{HIDDEN, args, value_shown};
use crate::servers::sandbox::{self, Wish};
use crate::servers::{
    PlainSecrets, Unstorable, answer, answers, check_name, keep_all, keep_answer, shown_url,
    stored_value, to_config,
};
use crate::store::{EnvPolicy, Server, ServerKind, StoredValue, Timestamp, Trust};

/// A partial update of a server. Absent fields stay, and so do values sent back as they were shown:
/// a server can be sent back as it was read with one change in it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct Draft {
    name: Option<String>,
    r#type: Option<ServerKind>,
    is_active: Option<bool>,
    #[serde(deserialize_with = "present")]
    base_url: Option<Option<String>>,
    headers: Option<BTreeMap<String, String>>,
    #[serde(deserialize_with = "present")]
    timeout: Option<Option<u64>>,
    #[serde(deserialize_with = "present")]
    command: Option<Option<String>>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    disabled_tools: Option<Vec<String>>,
    auto_approve_tools: Option<Vec<String>>,
    trust: Option<Trust>,
    #[serde(deserialize_with = "present")]
    cwd: Option<Option<String>>,
    tool_timeouts: Option<BTreeMap<String, u64>>,
    parallel: Option<bool>,
    always_load: Option<bool>,
    env_policy: Option<EnvPolicy>,
    /// `null`, a profile, `"strict"` or `"suggested"`.
    #[serde(deserialize_with = "present")]
    sandbox: Option<Option<Value>>,
    /// Whether secrets may be stored as plain text.
    plain_values: Option<bool>,
    /// Answers to the questions of the file it came from.
    inputs: Option<BTreeMap<String, String>>,
    sort: Option<i64>,
    // Read-only fields: accepted, so that a row can be sent back as it was read, and ignored.
    #[serde(rename = "id")]
    _id: IgnoredAny,
    #[serde(rename = "endpoint")]
    _endpoint: IgnoredAny,
    #[serde(rename = "source")]
    _source: IgnoredAny,
    #[serde(rename = "installed")]
    _installed: IgnoredAny,
    #[serde(rename = "notContained")]
    _not_contained: IgnoredAny,
    #[serde(rename = "transportSeen")]
    _transport_seen: IgnoredAny,
    #[serde(rename = "lastError")]
    _last_error: IgnoredAny,
    #[serde(rename = "status")]
    _status: IgnoredAny,
    #[serde(rename = "coarseStatus")]
    _coarse_status: IgnoredAny,
    #[serde(rename = "toolCount")]
    _tool_count: IgnoredAny,
    #[serde(rename = "tokens")]
    _tokens: IgnoredAny,
    #[serde(rename = "createdAt")]
    _created_at: IgnoredAny,
    #[serde(rename = "updatedAt")]
    _updated_at: IgnoredAny,
    #[serde(rename = "hint")]
    _hint: IgnoredAny,
    #[serde(rename = "builtIn")]
    _built_in: IgnoredAny,
    #[serde(rename = "problem")]
    _problem: IgnoredAny,
}

impl Draft {
    /// Applies the update to a row.
    pub(super) async fn apply(self, row: &mut Server) -> Result<(), ApiError> {
        let (before, trusts) = (row.clone(), self.trust.is_some());
        let plain = PlainSecrets::allowed_if(self.plain_values == Some(true));
        self.settle_kind(row);
        if let Some(name) = self.name {
            check_name(&name).map_err(|failure| ApiError::from(failure).at("name"))?;
            row.name = name;
        }
        if let Some(url) = self.base_url {
            let kept = row.base_url.take();
            row.base_url = match (url, kept) {
                (Some(url), Some(kept)) if url == shown_url(&kept) => Some(kept),
                (url, _) => url.filter(|url| !url.is_empty()),
            };
        }
        if let Some(said) = self.args {
            row.args = unhidden(said, row);
        }
        set(&mut row.command, self.command);
        set(&mut row.cwd, self.cwd);
        set(&mut row.timeout, self.timeout);
        set(&mut row.is_active, self.is_active);
        set(&mut row.disabled_tools, self.disabled_tools);
        if let Some(named) = self.auto_approve_tools {
            // A name says nothing of the definition that was looked at.
            if let Some(new) = named.iter().find(|it| !row.auto_approve_tools.contains(it)) {
                let message = format!("tool {new:?} cannot be approved by its name");
                let error = ApiError::unfit(message).at("autoApproveTools");
                return Err(error.with_hint(
                    "PATCH …/tools/NAME with approval auto and the hash of the tool that was shown.",
                ));
            }
            row.auto_approve_tools = named;
        }
        set(&mut row.trust, self.trust);
        set(&mut row.tool_timeouts, self.tool_timeouts);
        set(&mut row.parallel, self.parallel);
        set(&mut row.always_load, self.always_load);
        set(&mut row.env_policy, self.env_policy);
        set(&mut row.sort, self.sort);
        if let Some(said) = self.headers {
            row.headers = values(said, &row.headers);
        }
        if let Some(said) = self.env {
            row.env = values(said, &row.env);
        }
        if let Some(said) = self.inputs {
            answer_all(row, said, plain).await?;
        }
        match row.kind {
            ServerKind::Stdio => {
                row.base_url = None;
                row.headers.clear();
            }
            _ => {
                (row.command, row.cwd) = (None, None);
                row.args.clear();
                row.env.clear();
            }
        }
        if row.command.is_none() && row.base_url.is_none() {
            let message = "a server needs a program (command) or an address (baseUrl)";
            let field = match row.kind {
                ServerKind::Stdio => "command",
                _ => "baseUrl",
            };
            return Err(ApiError::unfit(message).at(field));
        }
        if row.kind != ServerKind::Stdio {
            row.sandbox = None;
        }
        if let Some(said) = self.sandbox {
            contain(row, said).map_err(|why| ApiError::unfit(why).at("sandbox"))?;
        }
        if row.shared_id.is_some() && !row.has_endpoint_of(&before) {
            let message = "the team's owners decide where a shared server is";
            return Err(ApiError::unfit(message).at("baseUrl"));
        }
        to_config(row).map_err(ApiError::unfit)?;
        let kept = keep_all(row, Some(&before), plain).await;
        kept.map_err(plain_secret)?;
        if !trusts {
            row.changed_from(&before);
        }
        row.last_error = None;
        row.updated_at = Timestamp::now();
        Ok(())
    }

    /// The given type, or the one that follows from a new command or URL.
    fn settle_kind(&self, row: &mut Server) {
        let given =
            |field: &Option<Option<String>>| matches!(field, Some(Some(text)) if !text.is_empty());
        row.kind = match (self.r#type, row.kind) {
            (Some(kind), _) => kind,
            _ if given(&self.command) => ServerKind::Stdio,
            (None, ServerKind::Stdio) if given(&self.base_url) => ServerKind::Auto,
            (None, kind) => kind,
        };
    }
}

/// Sets what the program may do.
pub(in crate::serve::api) fn contain(row: &mut Server, said: Option<Value>) -> Result<(), String> {
    let wish = match said {
        None => Wish::Off,
        Some(Value::String(word)) if word == "strict" => Wish::Strict,
        Some(Value::String(word)) if word == "suggested" => Wish::Suggested,
        Some(Value::Object(members)) => Wish::Own(Box::new(sandbox::parse(&members)?)),
        Some(other) => {
            return Err(format!(
                "sandbox is {other}: expected null, \"strict\", \"suggested\" or a profile"
            ));
        }
    };
    wish.apply(row)
}

fn set<T>(field: &mut T, said: Option<T>) {
    if let Some(said) = said {
        *field = said;
    }
}

/// Arguments, with those that came back hidden as they are stored.
fn unhidden(said: Vec<String>, row: &Server) -> Vec<String> {
    let shown = args(row);
    let stored = |at: usize, arg: &String| {
        let same = |known: &usize| shown.get(*known) == Some(arg);
        let known = Some(at)
            .filter(same)
            .or_else(|| (0..shown.len()).find(same));
        known.and_then(|known| row.args.get(known)).cloned()
    };
    let args = said.into_iter().enumerate();
    let args = args.map(|(at, arg)| match arg.contains(HIDDEN) {
        true => stored(at, &arg).unwrap_or(arg),
        false => arg,
    });
    args.collect()
}

/// Values; those that came back as they were shown stay.
fn values(
    said: BTreeMap<String, String>,
    stored: &BTreeMap<String, StoredValue>,
) -> BTreeMap<String, StoredValue> {
    let value = |(name, text): (String, String)| {
        let same = stored.get(&name).filter(|it| value_shown(it) == text);
        let value = same.cloned().unwrap_or_else(|| stored_value(&text));
        (name, value)
    };
    said.into_iter().map(value).collect()
}

fn plain_secret(error: Unstorable) -> ApiError {
    let field = error.field.clone();
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    let error = ApiError::new(status, "plain_secret", Failure::from(error).chain()).at(&field);
    error.with_hint(
        "Refer to a variable (env:NAME; ${NAME} in arguments and addresses), or allow plain \
         text in the store (plainValues).",
    )
}

/// Keeps answers to the questions of a server's file.
async fn answer_all(
    row: &mut Server,
    said: BTreeMap<String, String>,
    plain: PlainSecrets,
) -> Result<(), ApiError> {
    for (id, text) in said {
        let mut known = answers(row);
        if known.any(|(other, value)| other == id && value_shown(&value) == text) {
            continue;
        }
        drop(known);
        let value = keep_answer(row, &id, stored_value(&text), false, plain).await;
        answer(row, &id, value.map_err(plain_secret)?);
    }
    Ok(())
}
