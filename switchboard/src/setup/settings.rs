//! Settings: known keys and valid values.

use std::collections::BTreeMap;

use serde_json::Value;
use tool_policy::ScanResponse;

use crate::exit::{Exit, Failure};
use crate::lang::{SETTING, is_language};
use crate::models::{
    Choice, Price, Provider, forget_model_key, is_spoken, key_prefix, migrate, origin,
};
use crate::servers::{PlainSecrets, roots, scan, shown_url};
use crate::setup::parse_mode;
use crate::store::{Change, OnLimit, Setting, Store, StoreError, StoredValue, UserId};

/// Validates a setting and returns it as a row.
///
/// # Errors
/// If the key is unknown or the value is invalid.
pub(crate) fn setting(
    user: &UserId,
    key: &str,
    value: Value,
    plain: PlainSecrets,
) -> Result<Setting, Failure> {
    check(key)?;
    let given = value.clone();
    let unfit = |wants: &str| {
        Failure::new(
            Exit::Other,
            format!("{key} cannot be {given}: it should be {wants}"),
        )
    };
    let fits = match key {
        "approve" => value.as_str().and_then(parse_mode).is_some(),
        "on_limit" => value.as_str().and_then(OnLimit::named).is_some(),
        "max_rounds" => value
            .as_u64()
            .is_some_and(|rounds| rounds <= u64::from(u32::MAX)),
        "max_cost" => value.as_f64().is_some_and(|dollars| dollars >= 0.0),
        "model" => value.as_str().is_some_and(|name| !name.trim().is_empty()),
        SETTING => value.as_str().is_some_and(is_language),
        roots::SETTING => roots::fits(&value),
        key if key.starts_with("scan.") => {
            serde_json::from_value::<ScanResponse>(value.clone()).is_ok()
        }
        _ => match key.split_once('.') {
            Some(("prices", _)) => Price::read(&value).is_some(),
            Some(("models", rest)) if rest.ends_with(".context") => value.as_u64() > Some(0),
            Some(("models", _)) => value.is_boolean(),
            _ => true,
        },
    };
    if !fits {
        return Err(unfit(match key {
            "approve" => "ask, auto-read, auto or plan",
            "on_limit" => "stop or summarize",
            "max_rounds" => "a whole number; 0 is no limit",
            "max_cost" => "a number of dollars",
            SETTING => "auto, en or zh-CN",
            roots::SETTING => "a list of absolute folders, as in [\"~/work\"]",
            key if key.starts_with("scan.") => "tell, ask or block",
            "model" => "a model's name, as in openai/gpt-5",
            key if key.starts_with("prices.") => Price::WANTS,
            key if key.ends_with(".context") => "a number of tokens, at least 1",
            key if key.starts_with("models.") => "true or false",
            _ => "text",
        }));
    }
    if key.ends_with(".base_url") {
        let refused = |why: String| {
            let failure = Failure::new(Exit::Other, why);
            failure.with_hint("`switchboard model set NAME --base-url URL` makes an endpoint.")
        };
        let url = value.as_str().ok_or_else(|| unfit("text"))?;
        let origin = origin(url).map_err(|error| refused(error.to_string()))?;
        let name = key.strip_prefix("providers.");
        let name = name.and_then(|name| name.strip_suffix(".base_url"));
        let provider = name.and_then(Provider::named);
        if provider.is_some_and(|it| !it.local && !it.owns(&origin)) {
            return Err(refused(format!(
                "{key} can only be an address of the provider itself, which gets its key"
            )));
        }
    }
    let wire = value.as_str().and_then(|it| it.parse().ok());
    if key.ends_with(".wire") && !wire.is_some_and(is_spoken) {
        return Err(unfit(
            "openai-chat, openai-responses, anthropic, gemini or prompt",
        ));
    }
    let is_key = key.ends_with(".key");
    if is_key && parsed(&value).is_none() {
        let failure = Failure::new(Exit::Other, "a key is not stored like that");
        return Err(failure.with_hint("Write env:NAME or keyring:ID."));
    }
    let mut setting = Setting::new(user.clone(), key, value);
    setting.plain_secret = is_key && plain == PlainSecrets::Allowed;
    Ok(setting)
}

/// Whether a name is valid for an endpoint: it precedes the `/` in a model's name.
pub(crate) fn is_endpoint_name(name: &str) -> bool {
    let sign = |sign: char| !sign.is_whitespace() && !sign.is_control() && sign != '/';
    !name.is_empty()
        && name.len() <= 200
        && name.chars().all(sign)
        && Provider::named(name).is_none()
}

/// Checks that every key still belongs to the address it was given for: an endpoint that moves to
/// another origin must lose or replace its key in the same change.
///
/// # Errors
/// If a key would be sent elsewhere.
pub(crate) fn keys_stay(
    before: &BTreeMap<String, Value>,
    after: &BTreeMap<String, Value>,
) -> Result<(), Failure> {
    for (name, key) in after {
        let Some(of) = name.strip_suffix(".key") else {
            continue;
        };
        let place = |settings: &BTreeMap<String, Value>| {
            let url = settings.get(&format!("{of}.base_url"))?.as_str()?;
            origin(url).ok()
        };
        let (was, is) = (place(before), place(after));
        // The key of a removed address must not be picked up by the next one.
        if before.get(name) == Some(key) && was != is && (was.is_some() || is.is_some()) {
            let provider = of.strip_prefix("providers.").and_then(Provider::named);
            let own = |origin: &Option<String>| match (provider, origin) {
                (Some(provider), Some(origin)) => !provider.local && provider.owns(origin),
                (Some(provider), None) => !provider.local,
                (None, _) => false,
            };
            if own(&was) && own(&is) {
                continue;
            }
            let was = was.unwrap_or_else(|| "another address".to_owned());
            let failure = Failure::new(
                Exit::Other,
                format!("{name} was given for {was}, and is not sent elsewhere"),
            );
            return Err(failure.with_hint("Change or forget the key together with the address."));
        }
    }
    Ok(())
}

/// Migrates every user's settings and returns notices for the user.
///
/// # Errors
/// If the store fails.
pub(crate) async fn upgrade(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    let mut notices = Vec::new();
    for user in store.users().await? {
        let settings = crate::home::settings(store, &user.id).await?;
        let migration = migrate(&settings);
        let change = |(key, value): (String, Option<Value>)| match value {
            Some(value) => Change::PutSetting(Setting::new(user.id.clone(), key, value)),
            None => Change::DeleteSetting(user.id.clone(), key),
        };
        if !migration.changes.is_empty() {
            let changes = migration.changes.into_iter().map(change).collect();
            store.commit(changes).await?;
            notices.extend(migration.notices);
        }
    }
    Ok(notices)
}

/// Checks that a setting exists.
pub(crate) fn check(key: &str) -> Result<(), Failure> {
    let parts: Vec<&str> = key.splitn(2, '.').collect();
    let ends = |rest: &str, ends: &[&str]| {
        rest.rsplit_once('.')
            .is_some_and(|(name, end)| !name.trim().is_empty() && ends.contains(&end))
    };
    let known = match parts.as_slice() {
        ["model" | "approve" | "max_rounds" | "max_cost" | "on_limit" | "language" | "roots"] => {
            true
        }
        ["providers", rest] => {
            let name = rest.rsplit_once('.').map_or("", |(name, _)| name);
            ends(rest, &["key", "base_url"]) && Provider::named(name).is_some()
        }
        ["endpoints", rest] => {
            let name = rest.rsplit_once('.').map_or("", |(name, _)| name);
            ends(rest, &["key", "base_url", "wire"]) && is_endpoint_name(name)
        }
        ["models", rest] => ends(rest, &["context", "tools", "images", "reasoning"]),
        ["prices", model] => !model.trim().is_empty(),
        ["scan", _] => scan::SETTINGS.iter().any(|(name, _)| *name == key),
        _ => false,
    };
    match known {
        true => Ok(()),
        false => Err(
            Failure::new(Exit::Other, format!("there is no setting {key:?}"))
                .with_hint("`switchboard config set --help` names them."),
        ),
    }
}

/// Checks that a change of settings leaves a model that can be used: what is stored can be used,
/// or is not stored. One that could not be used before does not prevent other changes.
///
/// # Errors
/// If the change chooses a model that cannot be used, or makes the chosen one unusable.
pub(crate) async fn model_stays<C>(
    before: &BTreeMap<String, Value>,
    after: &BTreeMap<String, Value>,
    choice: impl Fn(BTreeMap<String, Value>) -> C,
) -> Result<(), Failure>
where
    C: Future<Output = Result<Choice, Failure>>,
{
    let places = |settings: &BTreeMap<String, Value>| {
        let places = settings.iter().filter(|(key, _)| is_of_place(key));
        places
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Vec<_>>()
    };
    let chooses = before.get("model") != after.get("model");
    if !after.contains_key("model") || !(chooses || places(before) != places(after)) {
        return Ok(());
    }
    match choice(after.clone()).await {
        Err(failure) if chooses || choice(before.clone()).await.is_ok() => Err(failure),
        _ => Ok(()),
    }
}

/// Whether a setting says where models are, and how they are reached.
fn is_of_place(key: &str) -> bool {
    key.starts_with("providers.") || key.starts_with("endpoints.")
}

/// Removes the keys that were stored for the user and that no setting refers to any more.
///
/// # Errors
/// If one is there and cannot be removed. The settings have changed all the same.
pub(crate) async fn forget_keys(
    user: &UserId,
    before: &BTreeMap<String, Value>,
    after: &BTreeMap<String, Value>,
) -> Result<(), Failure> {
    for (name, kept) in unreferenced_keys(before, after) {
        let forgotten = forget_model_key(&kept, &key_prefix(user)).await;
        forgotten.map_err(|error| {
            let text = format!("{name} is changed, but {kept} cannot be removed");
            Failure::new(Exit::Other, text).caused_by(error)
        })?;
    }
    Ok(())
}

fn unreferenced_keys(
    before: &BTreeMap<String, Value>,
    after: &BTreeMap<String, Value>,
) -> Vec<(String, StoredValue)> {
    let keys = before.iter().filter(|(name, _)| name.ends_with(".key"));
    let keys = keys.filter(|(_, kept)| !after.values().any(|value| value == *kept));
    keys.filter_map(|(name, kept)| Some((name.clone(), parsed(kept)?)))
        .collect()
}

/// Whether a setting refers to this machine: its folders, a key of it, or where a key is sent.
pub(crate) fn is_of_host(key: &str) -> bool {
    let end = key.rsplit_once('.').map(|(_, end)| end);
    let provider = key.starts_with("providers.") && matches!(end, Some("key" | "base_url"));
    provider || (key.starts_with("endpoints.") && end == Some("key")) || key == roots::SETTING
}

/// A setting's value without the secret it may hold: a key, or the password in an address.
pub(crate) fn hidden(key: &str, value: &Value) -> Value {
    match (value, parsed(value)) {
        (Value::String(url), _) if key.ends_with(".base_url") => shown_url(url).into(),
        (_, Some(stored)) => Value::from(stored.to_string()),
        (_, None) => value.clone(),
    }
}

fn parsed(value: &Value) -> Option<StoredValue> {
    value.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_a_key_nor_the_password_in_an_address_is_shown() {
        let shown = |key: &str, value: &str| hidden(key, &Value::from(value)).to_string();
        for key in ["endpoints.mine.base_url", "providers.openai.base_url"] {
            let text = shown(key, "https://me:hush@llm.example/v1?key=hush");
            assert!(
                text.contains("llm.example/v1") && !text.contains("hush"),
                "{text}"
            );
        }
        assert!(!shown("endpoints.mine.key", "plain:hush").contains("hush"));
        assert_eq!(shown("model", "openai/gpt-5"), "\"openai/gpt-5\"");
    }
}
