//! `switchboard model`: which one.

use std::io::IsTerminal as _;

use clap::{Args, Subcommand};
use provider_adapters::Secret;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::models::{PriceTable, Provider, Wanted, described, keep_key, ollama_models, overview};
use crate::out::Out;
use crate::store::{Change, Setting, Store, StoredValue, UserId};
use crate::workbench::choice;

/// Which model is used.
#[derive(Args, Debug)]
pub(crate) struct Model {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List providers, whether there is a key, and local models
    List,
    /// Show the model that is used, and why
    Show {
        /// Or this one
        name: Option<String>,
    },
    /// Use this model from here on
    Set(Set),
}

#[derive(Args, Debug)]
struct Set {
    /// The model, as in openai/gpt-5, or a provider, for its usual model
    name: String,
    /// Where the key is: env:NAME or keyring:ID
    #[arg(long, value_name = "REFERENCE", conflicts_with = "ask_key")]
    key: Option<StoredValue>,
    /// Read the key from standard input and keep it in the system's keyring
    #[arg(long)]
    ask_key: bool,
    /// With --ask-key: keep it in plain text in the store instead
    #[arg(long, requires = "ask_key")]
    plain: bool,
    /// Ask the provider's models at this address
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
}

impl Model {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let store = global.store().await?;
        match self.verb {
            Verb::List => list(&*store, out).await?,
            Verb::Show { name } => show(&*store, name, out).await?,
            Verb::Set(set) => set.run(&*store, out).await?,
        }
        store.close().await?;
        Ok(Exit::Done)
    }
}

async fn list(store: &dyn Store, out: &Out) -> Result<(), Failure> {
    let settings = home::settings(store, &UserId::local()).await?;
    let used = choice(&Wanted::default(), &settings).await.ok();
    let host = home::environment("OLLAMA_HOST");
    let ollama = ollama_models(host.as_deref()).await;
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for standing in overview(&settings, home::environment, used.as_ref()) {
        let (provider, found) = (standing.provider, standing.found);
        let key = match (standing.stored, found) {
            (true, _) => "key stored".to_owned(),
            (false, Some(name)) => format!("key in {name}"),
            (false, None) if provider.is_demo() => "built in, not an AI".to_owned(),
            (false, None) if provider.local => "local".to_owned(),
            (false, None) => format!("no key ({})", provider.keys.join(", ")),
        };
        let mark = if standing.used { "*" } else { " " };
        let shown = standing.model.as_deref().unwrap_or("-");
        lines.push(format!("{mark} {:<12} {shown:<26} {key}", provider.name));
        rows.push(json!({
            "provider": provider.name,
            "model": standing.model,
            "key": standing.stored || found.is_some(),
            "local": provider.local,
            "used": standing.used,
        }));
    }
    lines.extend(ollama.iter().map(|model| format!("  ollama/{model}")));
    out.result(
        &json!({ "providers": rows, "ollama": ollama }),
        lines.join("\n"),
    );
    Ok(())
}

async fn show(store: &dyn Store, name: Option<String>, out: &Out) -> Result<(), Failure> {
    let settings = home::settings(store, &UserId::local()).await?;
    let choice = choice(&Wanted::model(name), &settings).await?;
    let table = PriceTable::new(&settings)?;
    let value = described(&choice, &table);
    let text = serde_json::to_string_pretty(&value).unwrap_or_default();
    out.result(&value, text);
    Ok(())
}

impl Set {
    async fn run(self, store: &dyn Store, out: &Out) -> Result<(), Failure> {
        let user = UserId::local();
        let mut settings = home::settings(store, &user).await?;
        let mut wanted = Wanted::model(Some(self.name.clone()));
        wanted.base_url.clone_from(&self.base_url);
        let mut promised = settings.clone();
        if self.key.is_some() || self.ask_key {
            // Whoever it is, there will be a key.
            let keys = Provider::all()
                .iter()
                .map(|it| format!("providers.{}.key", it.name));
            promised.extend(keys.map(|key| (key, Value::from("env:KEY"))));
        }
        let named = choice(&wanted, &promised).await?;
        let provider = named.provider.name;
        let mut changes = Vec::new();
        let mut set = |key: String, value: Value, plain: bool| {
            let mut setting = Setting::new(user.clone(), key.clone(), value.clone());
            setting.plain_secret = plain;
            settings.insert(key, value);
            changes.push(Change::PutSetting(setting));
        };
        set("model".to_owned(), Value::from(named.name()), false);
        if let Some(url) = &self.base_url {
            set(
                format!("providers.{provider}.base_url"),
                Value::from(url.as_str()),
                false,
            );
        }
        let key = match (self.key, self.ask_key) {
            (Some(key), _) => Some(key),
            (None, true) => Some(read_key(out, provider, self.plain).await?),
            (None, false) => None,
        };
        if let Some(key) = key {
            let plain = key.is_plain();
            if plain && !self.plain {
                let failure = Failure::new(Exit::Other, "a key in plain text is not stored");
                return Err(failure.with_hint("Use --ask-key, with --plain if you insist."));
            }
            let text = String::from(key);
            set(
                format!("providers.{provider}.key"),
                Value::from(text),
                plain,
            );
        }
        // What is stored can be used, or is not stored.
        let choice = choice(&Wanted::default(), &settings).await?;
        store.commit(changes).await?;
        let table = PriceTable::new(&settings)?;
        let text = format!("Model: {}", choice.name());
        out.result(&described(&choice, &table), text);
        Ok(())
    }
}

/// Reads a key from standard input, and keeps it.
async fn read_key(out: &Out, provider: &str, plain: bool) -> Result<StoredValue, Failure> {
    out.note(format!("The key of {provider}, then Enter:"));
    let read = match std::io::stdin().is_terminal() {
        true => rpassword::read_password(),
        false => std::io::stdin().lines().next().unwrap_or(Ok(String::new())),
    };
    let read =
        read.map_err(|error| Failure::new(Exit::Other, "the key cannot be read").caused_by(error))?;
    let key = read.trim().to_owned();
    if key.is_empty() {
        return Err(Failure::new(Exit::Other, "no key was given"));
    }
    match plain {
        true => Ok(StoredValue::Plain(key)),
        false => Ok(keep_key(&format!("model/{provider}"), Secret::new(key)).await?),
    }
}
