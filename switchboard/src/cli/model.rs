//! `switchboard model`: model selection.

use std::io::IsTerminal as _;

use clap::{Args, Subcommand};
use provider_adapters::{Secret, Wire};
use serde_json::{Value, json};

use crate::chat::{Input, Line};
use crate::cli::Global;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::models::{Endpoint, PriceTable, Wanted};
use crate::models::{described, keep_key, keyring_works, ollama_models, overview};
use crate::setup::settings::{forget_keys, is_endpoint_name};
use crate::setup::{adopt, choice};
use crate::store::{Change, Setting, Store, StoredValue, UserId};

/// Model selection.
#[derive(Args, Debug)]
pub(crate) struct Model {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List providers, whether there is a key, and local models (default)
    #[command(visible_alias = "ls")]
    List,
    /// Show the model that is used, and why
    Show {
        /// A model to show instead of the current one
        name: Option<String>,
    },
    /// Set the default model; without a name, choose from a list
    #[command(visible_alias = "use")]
    Set(Set),
}

#[derive(Args, Debug)]
struct Set {
    /// The model, as in openai/gpt-5, or a provider, for its usual model
    name: Option<String>,
    /// Where the key is: env:NAME or keyring:ID
    #[arg(long, value_name = "REFERENCE", conflicts_with = "ask_key")]
    key: Option<StoredValue>,
    /// Read the key from standard input and store it in the system's keyring
    #[arg(long)]
    ask_key: bool,
    /// With --ask-key: store it as plain text instead
    #[arg(long, requires = "ask_key")]
    plain: bool,
    /// Use the model at this URL: an endpoint of its own, which gets no provider's key
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Name of the endpoint; its host by default
    #[arg(long, value_name = "NAME", requires = "base_url")]
    endpoint: Option<String>,
    /// Wire format: openai-chat, openai-responses, anthropic, gemini or prompt
    #[arg(long, value_name = "WIRE", requires = "base_url")]
    wire: Option<Wire>,
}

impl Model {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let store = global.store().await?;
        match self.verb.unwrap_or(Verb::List) {
            Verb::List => list(&*store, out).await?,
            Verb::Show { name } => show(&*store, name, out).await?,
            Verb::Set(set) => set.choose(&*store, out).await?,
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
    let endpoints = Endpoint::stored(&settings);
    for endpoint in &endpoints {
        let used = used.as_ref().and_then(|it| it.endpoint.as_ref());
        let mark = if used == Some(&endpoint.name) {
            "*"
        } else {
            " "
        };
        let key = endpoint.key.as_ref().map_or("no key", |_| "key stored");
        let Endpoint { name, base_url, .. } = endpoint;
        lines.push(format!("{mark} {name:<12} {base_url:<26} {key}"));
    }
    let endpoints: Vec<Value> = endpoints.iter().map(Endpoint::described).collect();
    lines.extend(ollama.iter().map(|model| format!("  ollama/{model}")));
    out.result(
        &json!({ "providers": rows, "endpoints": endpoints, "ollama": ollama }),
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
    /// Sets the model that is named, or lets the user name one of the list.
    async fn choose(self, store: &dyn Store, out: &Out) -> Result<(), Failure> {
        if let Some(name) = self.name.clone() {
            return self.run(store, &name, out).await;
        }
        if self.base_url.is_some() || self.key.is_some() || self.ask_key {
            let failure = Failure::new(Exit::Other, "which model? No name is given");
            return Err(failure.with_hint("As in `switchboard model set openai/gpt-5 …`."));
        }
        list(store, out).await?;
        if !out.is_interactive() {
            out.note("`switchboard model set NAME` uses one, as in openai/gpt-5 or ollama/qwen3.");
            return Ok(());
        }
        let prompt = "Use which, as in openai or openai/gpt-5 (Enter: no change)? ";
        let name = match Input::answers(*out).answer(prompt, "").await {
            Line::Text(line) => line.trim().to_owned(),
            Line::Interrupted => return Err(Failure::new(Exit::Cancelled, "cancelled")),
            Line::End => String::new(),
        };
        match name.is_empty() {
            true => Ok(()),
            false => self.run(store, &name, out).await,
        }
    }

    async fn run(self, store: &dyn Store, name: &str, out: &Out) -> Result<(), Failure> {
        let user = UserId::local();
        let before = home::settings(store, &user).await?;
        let mut wanted = Wanted::model(Some(name.to_owned()));
        wanted.base_url.clone_from(&self.base_url);
        wanted.wire = self.wire;
        // Wherever it is, there will be a key.
        let promised = || StoredValue::Env("KEY".to_owned());
        wanted.key = self.key.clone().or_else(|| self.ask_key.then(promised));
        let mut named = choice(&wanted, &before).await?;
        if let (Some(endpoint), Some(name)) = (&mut named.endpoint, &self.endpoint) {
            if !is_endpoint_name(name) {
                let text = format!("{name:?} cannot be an endpoint's name");
                let failure = Failure::new(Exit::Other, text);
                return Err(failure.with_hint("It has no / and is not a provider's name."));
            }
            endpoint.clone_from(name);
        }
        let key = match (self.key, self.ask_key) {
            (Some(key), _) => Some(key),
            (None, true) => {
                let whose = named.endpoint.as_deref().unwrap_or(named.provider.name);
                Some(read_key(out, whose, self.plain).await?)
            }
            (None, false) => None,
        };
        let plain = key.as_ref().is_some_and(StoredValue::is_plain);
        if plain && !self.plain {
            let failure = Failure::new(Exit::Other, "a key in plain text is not stored");
            return Err(failure.with_hint("Use --ask-key, with --plain if you insist."));
        }
        let after = adopt(&before, &named, self.base_url.as_deref(), key);
        // What is stored can be used, or is not stored.
        let choice = choice(&Wanted::default(), &after).await?;
        let gone = before.keys().filter(|key| !after.contains_key(*key));
        let gone = gone.map(|key| Change::DeleteSetting(user.clone(), key.clone()));
        let set = after
            .iter()
            .filter(|(key, value)| before.get(*key) != Some(*value));
        let set = set.map(|(key, value)| {
            let mut setting = Setting::new(user.clone(), key.clone(), value.clone());
            setting.plain_secret = plain && key.ends_with(".key");
            Change::PutSetting(setting)
        });
        store.commit(gone.chain(set).collect()).await?;
        forget_keys(&user, &before, &after).await?;
        let table = PriceTable::new(&after)?;
        let text = format!("Model: {}", choice.name());
        out.result(&described(&choice, &table), text);
        Ok(())
    }
}

/// Reads a key from standard input, and keeps it.
async fn read_key(out: &Out, provider: &str, plain: bool) -> Result<StoredValue, Failure> {
    let place = format!("model/{provider}");
    if !plain {
        // Checked before the key is typed.
        keyring_works(&place).await.map_err(|error| {
            Failure::from(error).with_hint(
                "--plain keeps the key readable in the store; --key env:NAME refers to a variable.",
            )
        })?;
    }
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
        false => Ok(keep_key(&place, Secret::new(key)).await?),
    }
}
