//! What can be said about a server: all of it when it is added, some of it later.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::serve::error::ApiError;
use crate::serve::fleet::{HIDDEN, args, value_shown};
use crate::serve::input::present;
use crate::servers::{
    Keeping, answer, answers, check_name, keep, shown_url, stored_value, to_config,
};
use crate::store::{EnvPolicy, Server, ServerId, ServerKind, StoredValue, Timestamp, Trust};

/// What is said about a server. What is not said stays. A value that is sent back as it was shown
/// stays, too: a server as it was read can be sent back with a change in it.
#[derive(Debug, Default, Deserialize)]
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
    /// Whether values that are no references may be kept readable in the store.
    plain_values: Option<bool>,
    /// Answers to the questions of the file it came from.
    inputs: Option<BTreeMap<String, String>>,
    sort: Option<i64>,
    // Shown, and read-only: accepted unchanged or not, and without effect.
    #[serde(rename = "id")]
    _id: IgnoredAny,
    #[serde(rename = "source")]
    _source: IgnoredAny,
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
    #[serde(rename = "problem")]
    _problem: IgnoredAny,
}

impl Draft {
    /// Makes a server what is said about it.
    pub(super) async fn apply(self, row: &mut Server) -> Result<(), ApiError> {
        let (before, trusts) = (row.clone(), self.trust.is_some());
        let keeping = match self.plain_values {
            Some(true) => Keeping::Plain,
            _ => Keeping::Keyring,
        };
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
        set(&mut row.auto_approve_tools, self.auto_approve_tools);
        set(&mut row.trust, self.trust);
        set(&mut row.tool_timeouts, self.tool_timeouts);
        set(&mut row.parallel, self.parallel);
        set(&mut row.always_load, self.always_load);
        set(&mut row.env_policy, self.env_policy);
        set(&mut row.sort, self.sort);
        if let Some(said) = self.headers {
            row.headers = values(&row.id, "header", said, &row.headers, keeping).await?;
        }
        if let Some(said) = self.env {
            row.env = values(&row.id, "env", said, &row.env, keeping).await?;
        }
        if let Some(said) = self.inputs {
            answer_all(row, said, keeping).await?;
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
        let mut all = row.env.values().chain(row.headers.values());
        row.plain_values = all.any(StoredValue::is_plain);
        to_config(row).map_err(ApiError::unfit)?;
        if !trusts {
            row.changed_from(&before);
        }
        row.last_error = None;
        row.updated_at = Timestamp::now();
        Ok(())
    }

    /// The type that is said; else what follows from a new command or address.
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

/// Values, each kept where it belongs; those that came back as they were shown stay.
async fn values(
    server: &ServerId,
    what: &str,
    said: BTreeMap<String, String>,
    stored: &BTreeMap<String, StoredValue>,
    keeping: Keeping,
) -> Result<BTreeMap<String, StoredValue>, ApiError> {
    let mut values = BTreeMap::new();
    for (name, text) in said {
        let same = stored.get(&name).filter(|it| value_shown(it) == text);
        let value = match same {
            Some(value) => value.clone(),
            None => safe(server, &format!("{what}/{name}"), &text, keeping).await?,
        };
        values.insert(name, value);
    }
    Ok(values)
}

async fn safe(
    server: &ServerId,
    place: &str,
    text: &str,
    keeping: Keeping,
) -> Result<StoredValue, ApiError> {
    let kept = keep(server, place, stored_value(text), keeping).await;
    kept.map_err(|failure| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        let error = ApiError::new(status, "plain_secret", failure.chain()).at(place);
        error.with_hint(
            "Refer to a variable (env:NAME), or agree that the value is kept readable in the \
             store (plainValues).",
        )
    })
}

/// Keeps answers to the questions of a server's file.
async fn answer_all(
    row: &mut Server,
    said: BTreeMap<String, String>,
    keeping: Keeping,
) -> Result<(), ApiError> {
    for (id, text) in said {
        let mut known = answers(row);
        if known.any(|(other, value)| other == id && value_shown(&value) == text) {
            continue;
        }
        drop(known);
        let value = safe(&row.id, &format!("input/{id}"), &text, keeping).await?;
        answer(row, &id, value);
    }
    Ok(())
}
