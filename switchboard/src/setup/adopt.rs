//! Settings that make a model the one that is used.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::models::{Choice, origin};
use crate::store::StoredValue;

/// The settings with a model in them as the one that is used, and perhaps its address and its key.
/// A key stays with the address it was given for: an endpoint that moves loses the one it had.
pub(crate) fn adopt(
    before: &BTreeMap<String, Value>,
    named: &Choice,
    base_url: Option<&str>,
    key: Option<StoredValue>,
) -> BTreeMap<String, Value> {
    let of = place(named);
    let mut after = before.clone();
    after.insert("model".to_owned(), Value::from(named.name()));
    if let Some(url) = base_url {
        let name = format!("{of}.base_url");
        let at = |url: Option<&Value>| url.and_then(Value::as_str).map(origin);
        let moves = at(before.get(&name)) != Some(origin(url));
        after.insert(name, Value::from(url));
        if named.endpoint.is_some() {
            after.insert(format!("{of}.wire"), Value::from(named.wire.as_str()));
        }
        if moves && (named.endpoint.is_some() || named.provider.local) {
            after.remove(&format!("{of}.key"));
        }
    }
    if let Some(key) = key {
        after.insert(format!("{of}.key"), Value::from(String::from(key)));
    }
    after
}

/// Where the settings of a model's place are: the provider's own, or those of an address of one's
/// own.
fn place(named: &Choice) -> String {
    match &named.endpoint {
        Some(endpoint) => format!("endpoints.{endpoint}"),
        None => format!("providers.{}", named.provider.name),
    }
}
