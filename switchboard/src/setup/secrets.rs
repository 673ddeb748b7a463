//! The keys of models: no call may give one to a server.

use std::collections::BTreeMap;

use provider_adapters::Secret;
use serde_json::Value;
use tool_policy::Secrets;

use crate::home;
use crate::models::{Choice, Provider};
use crate::store::StoredValue;

/// The key of the model that is asked, those of the environment, and those that settings hold
/// themselves. No keyring is asked for one that is not used.
pub(super) fn keys(
    choice: &Choice,
    used: Option<&Secret>,
    settings: &BTreeMap<String, Value>,
) -> Secrets {
    let mut all = Secrets::default();
    if let Some(key) = used {
        all.add_other(&format!("key of {}", choice.provider.name), key.expose());
    }
    let named = Provider::all().iter().flat_map(|provider| provider.keys);
    let mut variables: Vec<String> = named.map(|name| (*name).to_owned()).collect();
    for (name, value) in settings.iter().filter(|(name, _)| name.ends_with(".key")) {
        match value.as_str().map(str::parse) {
            Some(Ok(StoredValue::Env(variable))) => variables.push(variable),
            Some(Ok(StoredValue::Plain(value))) => all.add_other(name, &value),
            _ => {}
        }
    }
    for name in variables {
        if let Some(value) = home::environment(&name) {
            all.add_other(&name, &value);
        }
    }
    all
}
