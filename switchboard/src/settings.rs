//! Settings: which there are, and what they may say.

use serde_json::Value;

use crate::exit::{Exit, Failure};
use crate::store::{Setting, StoredValue, UserId};
use crate::workbench::parse_mode;

/// A setting to be stored.
///
/// # Errors
/// If there is none of this name, or it cannot say so.
pub(crate) fn setting(
    user: &UserId,
    key: &str,
    value: Value,
    keeping: Keeping,
) -> Result<Setting, Failure> {
    check(key)?;
    let unfit = |wants: &str| Failure::new(Exit::Other, format!("{key} should be {wants}"));
    let fits = match key {
        "approve" => value.as_str().and_then(parse_mode).is_some(),
        "max_rounds" => value
            .as_u64()
            .is_some_and(|rounds| rounds <= u64::from(u32::MAX)),
        "max_cost" => value.as_f64().is_some_and(|dollars| dollars >= 0.0),
        "model" => value.is_string(),
        _ => true,
    };
    if !fits {
        return Err(unfit(match key {
            "approve" => "ask, auto-read, auto or plan",
            "max_rounds" => "a whole number; 0 is no limit",
            "max_cost" => "a number of dollars",
            _ => "text",
        }));
    }
    let is_key = key.ends_with(".key");
    if is_key && parsed(&value).is_none() {
        let failure = Failure::new(Exit::Other, "a key is not stored like that");
        return Err(failure.with_hint("Write env:NAME or keyring:ID."));
    }
    let mut setting = Setting::new(user.clone(), key, value);
    setting.plain_secret = is_key && keeping == Keeping::Plain;
    Ok(setting)
}

/// Whether a key itself may be stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Keeping {
    /// Only where it is.
    Reference,
    /// The user agrees to that.
    Plain,
}

/// Whether there is such a setting.
pub(crate) fn check(key: &str) -> Result<(), Failure> {
    let parts: Vec<&str> = key.splitn(2, '.').collect();
    let ends = |rest: &str, ends: &[&str]| {
        let end = rest.rsplit_once('.').map(|(_, end)| end);
        end.is_some_and(|end| ends.contains(&end))
    };
    let known = match parts.as_slice() {
        ["model" | "approve" | "max_rounds" | "max_cost"] => true,
        ["providers", rest] => ends(rest, &["key", "base_url"]),
        ["models", rest] => ends(rest, &["context", "tools", "images", "reasoning"]),
        ["prices", _] => true,
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

/// A value without the secret it may hold.
pub(crate) fn hidden(value: &Value) -> Value {
    match parsed(value) {
        Some(stored) => Value::from(stored.to_string()),
        None => value.clone(),
    }
}

fn parsed(value: &Value) -> Option<StoredValue> {
    value.as_str()?.parse().ok()
}
