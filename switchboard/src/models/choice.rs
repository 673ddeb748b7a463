//! Decides which model to use.

use std::collections::BTreeMap;
use std::fmt;

use provider_adapters::Wire;
use serde::Serialize;
use serde_json::Value;

use crate::models::capability::Capabilities;
use crate::models::provider::{self, Provider};
use crate::store::StoredValue;

/// What the user wants of the model, by flags.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Wanted {
    /// The model, as in `gpt-5`, `anthropic/claude-sonnet-5` or `demo`.
    pub model: Option<String>,
    /// Another address than the provider's own.
    pub base_url: Option<String>,
    /// Another wire than the provider's own.
    pub wire: Option<Wire>,
}

impl Wanted {
    /// This model, if one is named.
    pub fn model(name: Option<String>) -> Self {
        Self {
            model: name,
            ..Self::default()
        }
    }
}

/// What was found on this machine.
pub struct Found<'a> {
    /// The user's settings.
    pub settings: &'a BTreeMap<String, Value>,
    /// Looks up an environment variable; one that is empty is not there.
    pub environment: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// The models of a local Ollama, if one answered.
    pub ollama: &'a [String],
}

impl fmt::Debug for Found<'_> {
    /// Without what the environment says.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found")
            .field("ollama", &self.ollama)
            .finish_non_exhaustive()
    }
}

/// A model to use, and how to reach it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Choice {
    /// Who runs it.
    pub provider: &'static Provider,
    /// Its name with them.
    pub model: String,
    /// Their address, if it is not the usual one.
    pub base_url: Option<String>,
    /// Where the key is.
    pub key: Option<StoredValue>,
    /// The wire to speak.
    pub wire: Wire,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Why this one.
    pub origin: Origin,
}

/// Why a model was chosen.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// A flag names it.
    Flag,
    /// A setting names it.
    Setting,
    /// The environment has a key or an address for it.
    Environment,
    /// A local Ollama runs it.
    Ollama,
    /// Nothing else was found.
    Demo,
}

impl Choice {
    /// Its full name, as in `openai/gpt-5`.
    pub fn name(&self) -> String {
        match self.provider.is_demo() {
            true => "demo".to_owned(),
            false => format!("{}/{}", self.provider.name, self.model),
        }
    }
}

/// Why no model could be chosen.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ChoiceError {
    /// No provider is known to have such a model.
    UnknownProvider {
        /// The model's name.
        model: String,
    },
    /// The provider has no usual model: name one.
    NoModel {
        /// The provider.
        provider: &'static str,
    },
    /// The provider wants a key.
    NoKey {
        /// The provider.
        provider: &'static str,
        /// The variables it could have been in.
        keys: &'static [&'static str],
    },
    /// A setting does not say what it should.
    Setting {
        /// The setting.
        key: String,
        /// What it should say.
        wants: &'static str,
    },
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownProvider { model } => write!(
                f,
                "no provider is known for the model {model:?}: write it as provider/model"
            ),
            Self::NoModel { provider } => {
                write!(
                    f,
                    "name a model of {provider}: write it as {provider}/model"
                )
            }
            Self::NoKey { provider, keys } => write!(
                f,
                "{provider} wants a key: set {}, or run `switchboard model set {provider} \
                 --ask-key`",
                keys.join(" or ")
            ),
            Self::Setting { key, wants } => write!(f, "the setting {key:?} should be {wants}"),
        }
    }
}

impl std::error::Error for ChoiceError {}

/// Chooses a model: by flag, by setting, by what the environment has a key for, from a local
/// Ollama, or else the demo model.
///
/// # Errors
/// If what was asked for by name cannot be used. It never falls back silently.
pub fn choose(wanted: &Wanted, found: &Found<'_>) -> Result<Choice, ChoiceError> {
    let setting = text(found, "model")?;
    let (name, origin) = match (&wanted.model, setting) {
        (Some(name), _) => (Some(name.clone()), Origin::Flag),
        (None, Some(name)) => (Some(name), Origin::Setting),
        (None, None) => (None, Origin::Flag),
    };
    if let Some(name) = name {
        let (provider, model) = named(&name, wanted, found)?;
        return complete(provider, model, origin, wanted, found);
    }
    if wanted.base_url.is_some() {
        return complete(&provider::OPENAI, None, Origin::Flag, wanted, found);
    }
    for provider in Provider::all() {
        let address = provider.base_url.and_then(|name| (found.environment)(name));
        if address.is_some() || key(provider, found)?.is_some() {
            return complete(provider, None, Origin::Environment, wanted, found);
        }
    }
    if let Some(model) = found.ollama.first() {
        let model = Some(model.clone());
        return complete(&provider::OLLAMA, model, Origin::Ollama, wanted, found);
    }
    complete(&provider::DEMO, None, Origin::Demo, wanted, found)
}

/// The provider and the model that a name means.
fn named(
    name: &str,
    wanted: &Wanted,
    found: &Found<'_>,
) -> Result<(&'static Provider, Option<String>), ChoiceError> {
    if let Some(provider) = Provider::named(name) {
        return Ok((provider, None));
    }
    if let Some((provider, model)) = name.split_once('/')
        && let Some(provider) = Provider::named(provider)
    {
        return Ok((provider, Some(model.to_owned())));
    }
    let local = |model: &&String| *model == name || model.split(':').next() == Some(name);
    let provider = if wanted.base_url.is_some() {
        Some(&provider::OPENAI)
    } else if let Some(provider) = Provider::of_model(name) {
        Some(provider)
    } else if found.ollama.iter().any(|model| local(&model)) {
        Some(&provider::OLLAMA)
    } else {
        None
    };
    match provider {
        Some(provider) => Ok((provider, Some(name.to_owned()))),
        None => Err(ChoiceError::UnknownProvider {
            model: name.to_owned(),
        }),
    }
}

fn complete(
    provider: &'static Provider,
    model: Option<String>,
    origin: Origin,
    wanted: &Wanted,
    found: &Found<'_>,
) -> Result<Choice, ChoiceError> {
    let usual = || provider.model.map(str::to_owned);
    let of_ollama = || match provider.name {
        "ollama" => found.ollama.first().cloned(),
        _ => None,
    };
    let model = model.or_else(usual).or_else(of_ollama);
    let model = model.ok_or(ChoiceError::NoModel {
        provider: provider.name,
    })?;
    let stored = text(found, &format!("providers.{}.base_url", provider.name))?;
    let environment = || provider.base_url.and_then(|name| (found.environment)(name));
    let base_url = wanted.base_url.clone().or(stored).or_else(environment);
    let key = key(provider, found)?;
    if key.is_none() && !provider.local && base_url.is_none() {
        return Err(ChoiceError::NoKey {
            provider: provider.name,
            keys: provider.keys,
        });
    }
    let capabilities = Capabilities::of(provider, &model).overridden(&model, found.settings)?;
    let wire = wanted.wire.unwrap_or_else(|| match capabilities.tools {
        false => Wire::Prompt,
        true => provider.wire(base_url.is_some()),
    });
    Ok(Choice {
        provider,
        model,
        base_url,
        key,
        wire,
        capabilities,
        origin,
    })
}

/// Where the provider's key is: in a setting, or in the environment.
fn key(provider: &Provider, found: &Found<'_>) -> Result<Option<StoredValue>, ChoiceError> {
    let name = format!("providers.{}.key", provider.name);
    if let Some(stored) = text(found, &name)? {
        let key = stored.parse().map_err(|_| ChoiceError::Setting {
            key: name,
            wants: "env:NAME, keyring:ID or plain:VALUE",
        })?;
        return Ok(Some(key));
    }
    let mut names = provider.keys.iter();
    let there = names.find(|name| (found.environment)(name).is_some());
    Ok(there.map(|name| StoredValue::Env((*name).to_owned())))
}

fn text(found: &Found<'_>, key: &str) -> Result<Option<String>, ChoiceError> {
    match found.settings.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(ChoiceError::Setting {
            key: key.to_owned(),
            wants: "text",
        }),
    }
}
