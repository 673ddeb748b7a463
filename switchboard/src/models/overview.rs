//! Overview of providers and their keys.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::models::choice::Choice;
use crate::models::prices::PriceTable;
use crate::models::provider::Provider;
use crate::servers::shown_url;

/// A provider, as it stands on this machine.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) provider: &'static Provider,
    /// Whether a setting says where its key is.
    pub(crate) stored: bool,
    /// The variable that has its key.
    pub(crate) found: Option<&'static str>,
    /// The model that would be used.
    pub(crate) model: Option<String>,
    /// Whether it is the one that is used.
    pub(crate) used: bool,
}

/// Every provider.
pub(crate) fn overview(
    settings: &BTreeMap<String, Value>,
    environment: impl Fn(&str) -> Option<String>,
    used: Option<&Choice>,
) -> Vec<Standing> {
    let standing = |provider: &'static Provider| {
        let used = used.filter(|used| used.endpoint.is_none());
        let used = used.filter(|used| used.provider.name == provider.name);
        let model = used.map(|used| used.model.clone());
        let mut keys = provider.keys.iter().copied();
        Standing {
            provider,
            stored: settings.contains_key(&format!("providers.{}.key", provider.name)),
            found: keys.find(|name| environment(name).is_some()),
            model: model.or_else(|| provider.model.map(str::to_owned)),
            used: used.is_some(),
        }
    };
    Provider::all().iter().map(standing).collect()
}

/// A model, for programs.
pub(crate) fn described(choice: &Choice, table: &PriceTable) -> Value {
    let price = table.find(&choice.model);
    json!({
        "name": choice.name(),
        "provider": choice.provider.name,
        "endpoint": choice.endpoint,
        "model": choice.model,
        "wire": choice.wire,
        "baseUrl": choice.base_url.as_deref().map(shown_url),
        "key": choice.key.as_ref().map(ToString::to_string),
        "capabilities": choice.capabilities,
        "why": choice.origin,
        "price": price,
        "pricesAsOf": price.map(|_| table.as_of()),
    })
}
