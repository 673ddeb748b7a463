//! Decides which model to use.

use std::collections::BTreeMap;
use std::fmt;

use mcp_auth::PublicNetwork;
use provider_adapters::Wire;
use serde::Serialize;
use serde_json::Value;

use crate::models::capability::Capabilities;
use crate::models::endpoint::{AddressError, Endpoint, key_for, origin};
use crate::models::ollama;
use crate::models::provider::{self, Provider};
use crate::store::{McpMode, StoredValue};

/// What the user wants of the model, by flags.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Wanted {
    /// The model, as in `gpt-5`, `anthropic/claude-sonnet-5` or `demo`.
    pub model: Option<String>,
    /// Another address than the provider's own: an endpoint for this once. A provider's key is sent
    /// to its own address only.
    pub base_url: Option<String>,
    /// Another wire than the provider's own.
    pub wire: Option<Wire>,
    /// Where the key for this address is.
    pub key: Option<StoredValue>,
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

/// What is available on this machine.
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

impl Found<'_> {
    /// A setting that is text.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, ChoiceError> {
        match self.settings.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(ChoiceError::Setting {
                key: key.to_owned(),
                wants: "text",
            }),
        }
    }
}

/// A model to use, and how to reach it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Choice {
    /// Its provider, or the provider whose wire format its endpoint speaks.
    pub provider: &'static Provider,
    /// The endpoint, if it is not the provider's own.
    pub endpoint: Option<String>,
    /// The model's name there.
    pub model: String,
    /// The address, if it is not the provider's usual one.
    pub base_url: Option<String>,
    /// Where the key is.
    pub key: Option<StoredValue>,
    /// The wire to speak.
    pub wire: Wire,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Why it was chosen.
    pub origin: Origin,
    /// Whether the address is of a flag or the environment, so that no setting remembers it.
    pub(crate) ad_hoc: bool,
    /// Where its requests may go, if its address is of a user who may not use this machine.
    pub(crate) network: Option<PublicNetwork>,
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
        match (&self.endpoint, self.provider.is_demo()) {
            (Some(endpoint), _) => format!("{endpoint}/{}", self.model),
            (None, true) => "demo".to_owned(),
            (None, false) => format!("{}/{}", self.provider.name, self.model),
        }
    }

    /// Whether the model is asked where its provider is, and nowhere else that speaks the same wire.
    pub fn is_at_its_provider(&self) -> bool {
        self.base_url.is_none() && !self.provider.is_demo()
    }

    /// With tools called in this way, if an assistant has one.
    #[must_use]
    pub(crate) fn with_mcp_mode(mut self, mode: Option<McpMode>) -> Self {
        match mode {
            Some(McpMode::Prompt) => self.wire = Wire::Prompt,
            Some(McpMode::Function) if self.wire == Wire::Prompt => {
                self.wire = self.provider.wire(self.base_url.is_some());
            }
            _ => {}
        }
        self
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
    /// The provider requires a key.
    NoKey {
        /// The provider.
        provider: &'static str,
        /// The variables it could have been in.
        keys: &'static [&'static str],
    },
    /// An address cannot be used.
    Address(AddressError),
    /// A wire that the program cannot be given credentials for.
    Wire(Wire),
    /// A setting has an invalid value.
    Setting {
        /// The setting.
        key: String,
        /// The expected value.
        wants: &'static str,
    },
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownProvider { model } => write!(
                f,
                "no provider or endpoint is known for the model {model:?}: write it as \
                 provider/model, or give its address with --base-url"
            ),
            Self::Address(error) => error.fmt(f),
            Self::Wire(wire) => write!(
                f,
                "the wire {wire} is not supported: its requests are authenticated by a cloud \
                 provider's credentials instead of a key; use openai-chat, openai-responses, \
                 anthropic, gemini or prompt"
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

impl From<AddressError> for ChoiceError {
    fn from(error: AddressError) -> Self {
        Self::Address(error)
    }
}

/// Chooses a model: by flag, by setting, by what the environment has a key for, from a local
/// Ollama, or else the demo model.
///
/// # Errors
/// If what was asked for by name cannot be used. It never falls back silently.
pub fn choose(wanted: &Wanted, found: &Found<'_>) -> Result<Choice, ChoiceError> {
    let setting = found.text("model")?;
    let (name, why) = match (&wanted.model, setting) {
        (Some(name), _) => (Some(name.clone()), Origin::Flag),
        // A model of a setting is at the address of that setting.
        (None, Some(name)) if wanted.base_url.is_none() => (Some(name), Origin::Setting),
        _ => (None, Origin::Flag),
    };
    if let Some(url) = &wanted.base_url {
        return elsewhere(url, name.as_deref(), wanted, found);
    }
    if let Some(name) = name {
        let place = named(&name, found)?;
        return complete(place, why, wanted, found);
    }
    for provider in Provider::all() {
        let address = provider.base_url.and_then(|name| (found.environment)(name));
        if address.is_some() || provider.key(found)?.is_some() {
            return complete(Place::of(provider), Origin::Environment, wanted, found);
        }
    }
    if let Some(model) = found.ollama.first() {
        let place = Place::of(&provider::OLLAMA).with_model(model);
        return complete(place, Origin::Ollama, wanted, found);
    }
    complete(Place::of(&provider::DEMO), Origin::Demo, wanted, found)
}

/// Whether the program can be given credentials for a wire.
pub(crate) fn is_spoken(wire: Wire) -> bool {
    !matches!(wire, Wire::Vertex | Wire::Bedrock | Wire::Custom)
}

/// A model's location.
struct Place {
    provider: &'static Provider,
    endpoint: Option<Endpoint>,
    model: Option<String>,
    ad_hoc: bool,
}

impl Place {
    fn of(provider: &'static Provider) -> Self {
        Self {
            provider,
            endpoint: None,
            model: None,
            ad_hoc: false,
        }
    }

    fn with_model(mut self, model: &str) -> Self {
        self.model = Some(model.to_owned());
        self
    }
}

/// A model at an address that a flag gives.
fn elsewhere(
    url: &str,
    name: Option<&str>,
    wanted: &Wanted,
    found: &Found<'_>,
) -> Result<Choice, ChoiceError> {
    let origin = origin(url)?;
    let stored = Endpoint::stored(found.settings).into_iter();
    let mut stored = stored.filter(|it| self::origin(&it.base_url).is_ok_and(|it| it == origin));
    let mut endpoint = stored.next().map_or_else(|| Endpoint::at(url), Ok)?;
    url.clone_into(&mut endpoint.base_url);
    let owner = Provider::at(&origin);
    let prefixed = |name: &str| {
        let (before, model) = name.split_once('/')?;
        match Provider::named(before) {
            Some(provider) => Some((Some(provider), Some(model.to_owned()))),
            None if before == endpoint.name => Some((None, Some(model.to_owned()))),
            None => None,
        }
    };
    let (provider, model) = match name {
        None => (None, None),
        Some(name) => match Provider::named(name) {
            Some(provider) => (Some(provider), None),
            None => prefixed(name).unwrap_or_else(|| (None, Some(name.to_owned()))),
        },
    };
    let speaker = || Endpoint::speaker(wanted.wire.or(endpoint.wire));
    let provider = provider.or(owner).unwrap_or_else(speaker);
    let is_own = provider.owns(&origin);
    if is_own || provider.local {
        // It is the provider's own, under another path, or where a local one runs.
        endpoint.wire = None;
    }
    let place = Place {
        provider,
        endpoint: Some(endpoint),
        model,
        ad_hoc: true,
    };
    let mut choice = complete(place, Origin::Flag, wanted, found)?;
    if is_own || choice.provider.local {
        choice.endpoint = None;
    }
    Ok(choice)
}

/// The place and the model that a name means.
fn named(name: &str, found: &Found<'_>) -> Result<Place, ChoiceError> {
    if let Some(provider) = Provider::named(name) {
        return Ok(Place::of(provider));
    }
    if let Some((before, model)) = name.split_once('/') {
        if let Some(provider) = Provider::named(before) {
            return Ok(Place::of(provider).with_model(model));
        }
        let mut stored = Endpoint::stored(found.settings).into_iter();
        if let Some(endpoint) = stored.find(|endpoint| endpoint.name == before) {
            return Ok(Place {
                provider: Endpoint::speaker(endpoint.wire),
                endpoint: Some(endpoint),
                model: Some(model.to_owned()),
                ad_hoc: false,
            });
        }
    }
    let local = |model: &&String| *model == name || model.split(':').next() == Some(name);
    let provider = if let Some(provider) = Provider::of_model(name) {
        provider
    } else if found.ollama.iter().any(|model| local(&model)) {
        &provider::OLLAMA
    } else {
        return Err(ChoiceError::UnknownProvider {
            model: name.to_owned(),
        });
    };
    Ok(Place::of(provider).with_model(name))
}

fn complete(
    place: Place,
    origin: Origin,
    wanted: &Wanted,
    found: &Found<'_>,
) -> Result<Choice, ChoiceError> {
    let provider = place.provider;
    let usual = || provider.model.map(str::to_owned);
    let of_ollama = || match provider.name {
        "ollama" => found.ollama.first().cloned(),
        _ => None,
    };
    let model = place.model.or_else(usual).or_else(of_ollama);
    let model = model.ok_or(ChoiceError::NoModel {
        provider: provider.name,
    })?;
    let mut ad_hoc = place.ad_hoc;
    let base_url = match &place.endpoint {
        Some(endpoint) => Some(endpoint.base_url.clone()),
        None => moved(provider, found)?.or_else(|| {
            let url = match provider.name {
                "ollama" => (found.environment)("OLLAMA_HOST").map(|host| ollama::base_url(&host)),
                _ => provider.base_url.and_then(|name| (found.environment)(name)),
            };
            ad_hoc = url.is_some();
            url
        }),
    };
    let key = match (&wanted.key, &base_url) {
        (Some(key), _) => Some(key.clone()),
        (None, Some(url)) => key_for(url, found)?,
        (None, None) => provider.key(found)?,
    };
    if key.is_none() && !provider.local && base_url.is_none() {
        return Err(ChoiceError::NoKey {
            provider: provider.name,
            keys: provider.keys,
        });
    }
    let capabilities = Capabilities::of(provider, &model).overridden(&model, found.settings)?;
    let spoken = wanted
        .wire
        .or(place.endpoint.as_ref().and_then(|it| it.wire));
    if let Some(wire) = spoken.filter(|wire| !is_spoken(*wire)) {
        return Err(ChoiceError::Wire(wire));
    }
    let wire = spoken.unwrap_or_else(|| match capabilities.tools {
        false => Wire::Prompt,
        true => provider.wire(base_url.is_some()),
    });
    Ok(Choice {
        provider,
        endpoint: place.endpoint.map(|endpoint| endpoint.name),
        model,
        base_url,
        key,
        wire,
        capabilities,
        origin,
        ad_hoc,
        network: None,
    })
}

/// The address that a setting gives a provider. One that is not the provider's would get its key.
fn moved(provider: &Provider, found: &Found<'_>) -> Result<Option<String>, ChoiceError> {
    let key = format!("providers.{}.base_url", provider.name);
    let Some(url) = found.text(&key)? else {
        return Ok(None);
    };
    match provider.local || provider.owns(&origin(&url)?) {
        true => Ok(Some(url)),
        false => Err(ChoiceError::Setting {
            key,
            wants: "an address of the provider itself; any other is an endpoint of its own: \
                    `switchboard model set NAME --base-url URL`",
        }),
    }
}
