//! Endpoints: base URLs of models, and the keys that belong to them.
//!
//! A key belongs to an origin: a provider's key to the provider's own, an endpoint's key to the one
//! it was given for. [`key_for`] is the one place that pairs them.

use std::collections::BTreeMap;
use std::fmt;

use provider_adapters::Wire;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use crate::models::choice::{ChoiceError, Found};
use crate::models::ollama;
use crate::models::provider::{self, Provider, Speaks};
use crate::servers::shown_url;
use crate::store::StoredValue;

/// A named endpoint: base URL, wire format and key.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Endpoint {
    /// Its name, as in `llm.example.com/my-model`.
    pub name: String,
    /// Its address.
    pub base_url: String,
    /// The wire it speaks; Chat Completions if none is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// Where its key is, if it wants one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<StoredValue>,
}

impl Endpoint {
    /// The endpoint at an address, named for its host.
    pub(crate) fn at(base_url: &str) -> Result<Self, AddressError> {
        let url = parse(base_url)?;
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        let name = match url.port() {
            None if Provider::named(host).is_none() => host.to_owned(),
            _ => format!("{host}:{port}"),
        };
        Ok(Self {
            name,
            base_url: base_url.to_owned(),
            wire: None,
            key: None,
        })
    }

    /// The stored endpoints, by name.
    pub(crate) fn stored(settings: &BTreeMap<String, Value>) -> Vec<Self> {
        let text = |key: String| settings.get(&key).and_then(Value::as_str);
        let names = settings.keys().filter_map(|key| {
            let rest = key.strip_prefix("endpoints.")?;
            rest.strip_suffix(".base_url")
        });
        let stored = names.filter_map(|name| {
            let wire = text(format!("endpoints.{name}.wire"));
            let key = text(format!("endpoints.{name}.key"));
            Some(Self {
                name: name.to_owned(),
                base_url: text(format!("endpoints.{name}.base_url"))?.to_owned(),
                wire: wire.and_then(|wire| wire.parse().ok()),
                key: key.and_then(|key| key.parse().ok()),
            })
        });
        stored.collect()
    }

    /// The endpoint for programs, without the key itself.
    pub(crate) fn described(&self) -> Value {
        json!({
            "name": self.name,
            "baseUrl": shown_url(&self.base_url),
            "wire": self.wire,
            "key": self.key.as_ref().map(ToString::to_string),
        })
    }

    /// The provider whose wire format this is.
    pub(crate) fn speaker(wire: Option<Wire>) -> &'static Provider {
        let name = match wire {
            Some(Wire::Anthropic) => "anthropic",
            Some(Wire::Gemini) => "gemini",
            _ => "openai",
        };
        Provider::named(name).unwrap_or(&provider::OPENAI)
    }
}

/// The scheme, host and port of an address.
pub(crate) fn origin(base_url: &str) -> Result<String, AddressError> {
    Ok(parse(base_url)?.origin().ascii_serialization())
}

/// Whether the environment names this address, and so the owner of the machine.
pub(crate) fn is_of_environment(
    base_url: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> bool {
    let Ok(origin) = origin(base_url) else {
        return false;
    };
    let ollama = environment("OLLAMA_HOST").map(|host| ollama::base_url(&host));
    let all = Provider::all().iter();
    let mut named = all
        .filter_map(|provider| environment(provider.base_url?))
        .chain(ollama);
    named.any(|url| self::origin(&url).is_ok_and(|it| it == origin))
}

fn parse(base_url: &str) -> Result<Url, AddressError> {
    let unfit = |why| AddressError {
        why,
        base_url: base_url
            .split(['?', '#'])
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    // What may hold a secret is not repeated.
    let hidden = |why| AddressError {
        why,
        base_url: String::new(),
    };
    let url = Url::parse(base_url).map_err(|_| hidden("it is not a URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(hidden(
            "it has a user name or password: give a key with --key instead",
        ));
    }
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(unfit("it begins with neither http:// nor https://"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(unfit("it has a query or a fragment"));
    }
    Ok(url)
}

/// Why an address cannot be used.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AddressError {
    why: &'static str,
    base_url: String,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.base_url.as_str() {
            "" => write!(f, "the base URL cannot be used: {}", self.why),
            url => write!(f, "the base URL {url:?} cannot be used: {}", self.why),
        }
    }
}

impl std::error::Error for AddressError {}

impl Provider {
    /// Its own address, if it has one.
    pub(crate) fn own_url(&self) -> Option<String> {
        use provider_adapters::{Adapter as _, Anthropic, Dialect, Gemini};
        match self.speaks {
            Speaks::OpenAi => Some(Dialect::OPENAI.base_url.to_owned()),
            Speaks::Chat(dialect) => Some(dialect.base_url.to_owned()),
            Speaks::Anthropic => Some(Anthropic::default().base_url()),
            Speaks::Gemini => Some(Gemini::developer().base_url()),
            Speaks::Demo => None,
        }
    }

    /// Whether it runs what is at this origin. Azure runs a host for every customer.
    pub(crate) fn owns(&self, origin: &str) -> bool {
        if self.name == "azure" {
            return origin.starts_with("https://") && origin.ends_with(".openai.azure.com");
        }
        let own = self.own_url().and_then(|url| self::origin(&url).ok());
        own.is_some_and(|own| own == origin)
    }

    /// The provider on the network that runs what is at this origin.
    pub(crate) fn at(origin: &str) -> Option<&'static Self> {
        let mut all = Self::all().iter();
        all.find(|provider| !provider.local && provider.owns(origin))
    }
}

/// The key for an address: the one of the provider or endpoint whose origin it is, and no other.
///
/// The key of a provider's environment variable goes to the address of its environment variable as
/// well: the two were set together.
pub(crate) fn key_for(
    base_url: &str,
    found: &Found<'_>,
) -> Result<Option<StoredValue>, ChoiceError> {
    let origin = origin(base_url)?;
    let is_there = |url: &str| self::origin(url).is_ok_and(|it| it == origin);
    for endpoint in Endpoint::stored(found.settings) {
        if endpoint.key.is_some() && is_there(&endpoint.base_url) {
            return Ok(endpoint.key);
        }
    }
    for provider in Provider::all() {
        let moved = found.text(&format!("providers.{}.base_url", provider.name))?;
        let own = match (provider.local, moved) {
            // A provider on this machine is where the user says.
            (true, Some(url)) => is_there(&url),
            _ => provider.owns(&origin),
        };
        if own && let Some(key) = provider.key(found)? {
            return Ok(Some(key));
        }
        let elsewhere = provider.base_url.and_then(|name| (found.environment)(name));
        if elsewhere.is_some_and(|url| is_there(&url))
            && let Some(key) = provider.key_of_environment(found)
        {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

impl Provider {
    /// Where its own key is: in a setting, or in the environment.
    pub(super) fn key(&self, found: &Found<'_>) -> Result<Option<StoredValue>, ChoiceError> {
        let name = format!("providers.{}.key", self.name);
        match found.text(&name)? {
            Some(stored) => match stored.parse() {
                Ok(key) => Ok(Some(key)),
                Err(_) => Err(ChoiceError::Setting {
                    key: name,
                    wants: "env:NAME, keyring:ID or plain:VALUE",
                }),
            },
            None => Ok(self.key_of_environment(found)),
        }
    }

    fn key_of_environment(&self, found: &Found<'_>) -> Option<StoredValue> {
        let mut names = self.keys.iter();
        let there = names.find(|name| (found.environment)(name).is_some());
        there.map(|name| StoredValue::Env((*name).to_owned()))
    }
}
