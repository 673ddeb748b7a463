//! `switchboard config`: settings.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::chat::clean;
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::out::Out;
use crate::store::{Change, Setting, StoredValue, UserId};

/// Settings.
#[derive(Args, Debug)]
pub(crate) struct Config {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print a setting
    Get {
        /// Its name
        key: String,
    },
    /// Change a setting; without a value it is forgotten
    Set {
        /// Its name: model, approve, max_rounds, max_cost, providers.NAME.key,
        /// providers.NAME.base_url, models.NAME.context, .tools, .images, .reasoning, prices.NAME
        key: String,
        /// Its value: text, or JSON
        value: Option<String>,
        /// Agree to a key in plain text
        #[arg(long)]
        plain: bool,
    },
    /// Print all settings
    List,
    /// Print where everything is kept
    Path,
}

impl Config {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let database = home::database(global.database.as_deref());
        if let Verb::Path = self.verb {
            let text = database.display().to_string();
            let value = json!({ "database": text, "folder": home::folder() });
            out.result(&value, &text);
            return Ok(Exit::Done);
        }
        let store = home::store(global.database.as_deref()).await?;
        let user = UserId::local();
        let settings = home::settings(&*store, &user).await?;
        match self.verb {
            Verb::Get { key } => {
                let value = settings.get(&key).map(hidden);
                let value = value.ok_or_else(|| {
                    Failure::new(Exit::Other, format!("the setting {key:?} is not set"))
                })?;
                out.result(&json!({ "key": key, "value": value }), text(&value));
            }
            Verb::Set { key, value, plain } => {
                check(&key)?;
                let change = match value {
                    Some(value) => Change::PutSetting(setting(&user, &key, &value, plain)?),
                    None => Change::DeleteSetting(user.clone(), key.clone()),
                };
                store.commit(vec![change]).await?;
                let settings = home::settings(&*store, &user).await?;
                let value = settings.get(&key).map(hidden).unwrap_or_default();
                out.result(&json!({ "key": key, "value": value }), text(&value));
            }
            Verb::List => {
                let all: Map<String, Value> = settings
                    .iter()
                    .map(|(key, value)| (key.clone(), hidden(value)))
                    .collect();
                let lines = all
                    .iter()
                    .map(|(key, value)| format!("{key} = {}", text(value)));
                let lines = lines.collect::<Vec<_>>().join("\n");
                out.result(&json!({ "settings": all }), clean(&lines));
            }
            Verb::Path => {}
        }
        store.close().await?;
        Ok(Exit::Done)
    }
}

/// Whether there is such a setting.
fn check(key: &str) -> Result<(), Failure> {
    let parts: Vec<&str> = key.splitn(2, '.').collect();
    let ends = |rest: &str, ends: &[&str]| {
        let end = rest.rsplit_once('.').map(|(_, end)| end);
        end.is_some_and(|end| ends.contains(&end))
    };
    let known = match parts.as_slice() {
        ["model" | "approve" | "max_rounds" | "max_cost"] => true,
        ["providers", rest] => ends(rest, &["key", "base_url"]),
        ["models", rest] => ends(rest, &["context", "tools", "images", "reasoning"]),
        ["prices", _] => true,
        _ => false,
    };
    match known {
        true => Ok(()),
        false => Err(
            Failure::new(Exit::Other, format!("there is no setting {key:?}"))
                .with_hint("`switchboard config set --help` names them."),
        ),
    }
}

fn setting(user: &UserId, key: &str, text: &str, plain: bool) -> Result<Setting, Failure> {
    let value = match serde_json::from_str(text) {
        Ok(value @ (Value::Bool(_) | Value::Number(_) | Value::Object(_))) => value,
        _ => Value::from(text),
    };
    let mut setting = Setting::new(user.clone(), key, value);
    if key.ends_with(".key") {
        if text.parse::<StoredValue>().is_err() {
            let failure = Failure::new(Exit::Other, "a key is not stored like that");
            return Err(failure.with_hint("Write env:NAME or keyring:ID."));
        }
        setting.plain_secret = plain;
    }
    Ok(setting)
}

/// A value without the secret it may hold.
fn hidden(value: &Value) -> Value {
    let stored: Option<StoredValue> = value.as_str().and_then(|text| text.parse().ok());
    match stored {
        Some(stored) => Value::from(stored.to_string()),
        None => value.clone(),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
