//! `switchboard config`: settings.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::cli::Global;
use crate::display::out::Out;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::models::Wanted;
use crate::servers::PlainSecrets;
use crate::setup::choice;
use crate::setup::settings::{check, forget_keys, hidden, keys_stay, model_stays, setting};
use crate::store::{Change, UserId};

/// Settings.
#[derive(Args, Debug)]
pub(crate) struct Config {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print a setting
    Get {
        /// Its name
        key: String,
    },
    /// Change a setting; without a value, remove it
    Set {
        /// Its name: model, approve, max_rounds, max_cost, on_limit, language, roots,
        /// scan.low, .medium, .high, providers.NAME.base_url, .key,
        /// endpoints.NAME.base_url, .wire, .key, models.NAME.context, .tools, .images, .reasoning, prices.NAME
        key: String,
        /// Its value: text, or JSON
        value: Option<String>,
        /// Allow a key in plain text
        #[arg(long)]
        plain: bool,
    },
    /// Print all settings (default)
    #[command(visible_alias = "ls")]
    List,
    /// Print the paths of the program's files
    Path,
}

impl Config {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let database = home::shown_database(global.database.as_deref());
        let verb = self.verb.unwrap_or(Verb::List);
        if let Verb::Path = verb {
            let value = json!({ "database": database, "folder": home::folder() });
            out.result(&value, &database);
            return Ok(Exit::Done);
        }
        let store = global.store().await?;
        let user = UserId::local();
        let settings = home::settings(&*store, &user).await?;
        match verb {
            Verb::Get { key } => {
                let value = settings.get(&key).map(|value| hidden(&key, value));
                let value = value.ok_or_else(|| {
                    Failure::new(Exit::Other, format!("the setting {key:?} is not set"))
                })?;
                out.result(&json!({ "key": key, "value": value }), text(&value));
            }
            Verb::Set { key, value, plain } => {
                let change = match value {
                    Some(value) => {
                        let plain = PlainSecrets::allowed_if(plain);
                        Change::PutSetting(setting(&user, &key, said(&value), plain)?)
                    }
                    None => {
                        // What is stored can be removed, whatever its name.
                        if !settings.contains_key(&key) {
                            check(&key)?;
                        }
                        Change::DeleteSetting(user.clone(), key.clone())
                    }
                };
                let mut after = settings.clone();
                match &change {
                    Change::PutSetting(setting) => {
                        after.insert(key.clone(), setting.value.clone());
                    }
                    _ => drop(after.remove(&key)),
                }
                keys_stay(&settings, &after)?;
                let chosen = async |settings| choice(&Wanted::default(), &settings).await;
                model_stays(&settings, &after, chosen).await?;
                store.commit(vec![change]).await?;
                forget_keys(&user, &settings, &after).await?;
                let settings = home::settings(&*store, &user).await?;
                let value = settings
                    .get(&key)
                    .map(|value| hidden(&key, value))
                    .unwrap_or_default();
                out.result(&json!({ "key": key, "value": value }), text(&value));
            }
            Verb::List => {
                let all: Map<String, Value> = settings
                    .iter()
                    .map(|(key, value)| (key.clone(), hidden(key, value)))
                    .collect();
                let lines = all
                    .iter()
                    .map(|(key, value)| format!("{key} = {}", text(value)));
                let lines: Vec<String> = match all.is_empty() {
                    true => vec![
                        "Nothing is set. `switchboard config set --help` names the settings."
                            .to_owned(),
                    ],
                    false => lines.collect(),
                };
                let lines = lines.join("\n");
                out.result(&json!({ "settings": all }), untrusted::text(&lines));
            }
            Verb::Path => {}
        }
        store.close().await?;
        Ok(Exit::Done)
    }
}

/// Parses a value: JSON that is neither a string nor `null`, or else text.
fn said(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::String(_) | Value::Null) | Err(_) => Value::from(text),
        Ok(value) => value,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
