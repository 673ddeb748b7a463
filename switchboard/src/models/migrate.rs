//! Migration of settings from before endpoints had names.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::models::endpoint::{Endpoint, origin};
use crate::models::provider::Provider;

/// What becomes of settings.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Migration {
    /// What is set, or forgotten.
    pub(crate) changes: BTreeMap<String, Option<Value>>,
    /// Notices for the user.
    pub(crate) notices: Vec<String>,
}

/// Makes an endpoint of every address that a provider was given and that is not the provider's: its
/// key was sent there.
pub(crate) fn migrate(settings: &BTreeMap<String, Value>) -> Migration {
    let mut migration = Migration::default();
    for provider in Provider::all().iter().filter(|it| !it.local) {
        let key = format!("providers.{}.base_url", provider.name);
        let Some(url) = settings.get(&key).and_then(Value::as_str) else {
            continue;
        };
        if origin(url).is_ok_and(|origin| provider.owns(&origin)) {
            continue;
        }
        migration.changes.insert(key, None);
        let name = provider.name;
        let Ok(mut endpoint) = Endpoint::at(url) else {
            migration.notices.push(format!(
                "The address that was set for {name} cannot be used, and is forgotten."
            ));
            continue;
        };
        let taken = |name: &str| {
            let key = format!("endpoints.{name}.base_url");
            settings.contains_key(&key) || migration.changes.contains_key(&key)
        };
        while taken(&endpoint.name) {
            endpoint.name.push('-');
        }
        let of = |field: &str| format!("endpoints.{}.{field}", endpoint.name);
        let wire = Value::from(provider.wire(true).as_str());
        let url = Value::from(url);
        migration.changes.insert(of("base_url"), Some(url.clone()));
        migration.changes.insert(of("wire"), Some(wire));
        let model = settings.get("model").and_then(Value::as_str);
        let model = model.and_then(|model| provider.model_in(model));
        if let Some(model) = model {
            let model = Value::from(format!("{}/{model}", endpoint.name));
            migration.changes.insert("model".to_owned(), Some(model));
        }
        migration.notices.push(format!(
            "{name} had been given the address {url}. That is the endpoint {0} now, and the key of \
             {name} is not sent there. If it wants a key: `switchboard model set {0}/MODEL --key \
             env:VARIABLE`.",
            endpoint.name
        ));
    }
    migration
}

impl Provider {
    /// The model that a name means, if it is one of this provider.
    fn model_in<'n>(&self, name: &'n str) -> Option<&'n str>
    where
        Self: 'n,
    {
        match name.split_once('/') {
            Some((provider, model)) if provider == self.name => Some(model),
            None if name == self.name => self.model,
            None => Self::of_model(name)
                .filter(|it| it.name == self.name)
                .map(|_| name),
            _ => None,
        }
    }
}
