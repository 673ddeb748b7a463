//! Values given on the command line or found in files: where they are kept.

use provider_adapters::Secret;

use super::entry::reference;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::models::keep_key;
use crate::store::{ServerId, StoredValue};

/// What becomes of a value that no keyring takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Keeping {
    /// It is refused.
    Keyring,
    /// It is kept as it is where there is no keyring.
    KeyringOrPlain,
    /// It is kept as it is.
    Plain,
}

/// A value as the user wrote it: `env:NAME`, `keyring:ID` and `${NAME}` are references already.
pub(crate) fn stored_value(text: &str) -> StoredValue {
    match text.parse() {
        Ok(StoredValue::Plain(text)) => StoredValue::Plain(text),
        Ok(reference) => reference,
        Err(_) => reference(text.to_owned()),
    }
}

/// Keeps a value where it belongs. References and texts with variables in them stay.
pub(crate) async fn keep(
    server: &ServerId,
    what: &str,
    value: StoredValue,
    keeping: Keeping,
) -> Result<StoredValue, Failure> {
    let StoredValue::Plain(text) = &value else {
        return Ok(value);
    };
    if keeping == Keeping::Plain || text.contains("${") || text.is_empty() {
        return Ok(value);
    }
    let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let what: String = what.chars().map(legal).collect();
    let kept = match keyring_allowed() {
        true => {
            keep_key(
                &format!("server/{server}/{what}"),
                Secret::new(text.as_str()),
            )
            .await
        }
        false => Err(crate::models::KeyError::Keyring(
            "it is switched off".into(),
        )),
    };
    match kept {
        Ok(reference) => Ok(reference),
        Err(_) if keeping == Keeping::KeyringOrPlain => Ok(value),
        Err(error) => Err(Failure::new(Exit::Other, format!("{what} has no safe place"))
            .caused_by(error)
            .with_hint(
                "Refer to a variable (NAME=env:VARIABLE), or agree with --plain to keep the value \
                 readable in the store.",
            )),
    }
}

/// `SWITCHBOARD_KEYRING=off` leaves the system's keyring alone.
pub(super) fn keyring_allowed() -> bool {
    home::environment("SWITCHBOARD_KEYRING").as_deref() != Some("off")
}
