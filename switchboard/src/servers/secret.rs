//! Values given on the command line or found in files: which are secrets, and where they are kept.

use provider_adapters::Secret;

use super::entry::reference;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::models::keep_key;
use crate::store::{Server, ServerId, StoredValue};

/// What becomes of a secret that no keyring takes. Other values are kept as they are.
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

/// Whether a stored value is a secret that lies in the open.
pub(crate) fn is_open(name: &str, value: &StoredValue) -> bool {
    matches!(value, StoredValue::Plain(text) if !text.contains("${") && mcp_config::is_secret(name, text))
}

/// Keeps a value, `what` of a server (`env/NAME`), where it belongs: a secret in the keyring.
/// References and texts with variables in them stay.
pub(crate) async fn keep(
    server: &ServerId,
    what: &str,
    value: StoredValue,
    keeping: Keeping,
) -> Result<StoredValue, Failure> {
    let name = what.split_once('/').map_or(what, |(_, name)| name);
    match &value {
        StoredValue::Plain(text) if keeping != Keeping::Plain && is_open(name, &value) => {
            keep_secret(server, what, text.clone(), keeping).await
        }
        _ => Ok(value),
    }
}

/// Keeps the answer to a question of a server's file, which may say that it is a secret.
pub(crate) async fn keep_answer(
    server: &ServerId,
    id: &str,
    value: StoredValue,
    secret: bool,
    keeping: Keeping,
) -> Result<StoredValue, Failure> {
    let what = format!("input/{id}");
    match value {
        StoredValue::Plain(text)
            if secret && keeping != Keeping::Plain && !text.is_empty() && !text.contains("${") =>
        {
            keep_secret(server, &what, text, keeping).await
        }
        value => keep(server, &what, value, keeping).await,
    }
}

/// Keeps everything of a server where it belongs: the values of its environment and its headers,
/// and the secrets in its arguments and its address, where references take their place.
pub(crate) async fn keep_all(row: &mut Server, keeping: Keeping) -> Result<(), Failure> {
    let id = row.id.clone();
    for (what, values) in [("env", &mut row.env), ("header", &mut row.headers)] {
        for (name, value) in values.iter_mut() {
            let place = format!("{what}/{name}");
            *value = keep(&id, &place, value.clone(), keeping).await?;
        }
    }
    if keeping != Keeping::Plain {
        // From the end: what is replaced moves what comes after it.
        for (at, span) in mcp_config::secrets_in_args(&row.args).into_iter().rev() {
            if let Some(arg) = row.args.get_mut(at) {
                let place = format!("argument/{}-{}", at + 1, span.start);
                put_away(&id, &place, arg, span, keeping).await?;
            }
        }
        if let Some(url) = &mut row.base_url {
            for span in mcp_config::secrets_in_url(url).into_iter().rev() {
                let place = format!("address/{}", span.start);
                put_away(&id, &place, url, span, keeping).await?;
            }
        }
    }
    let mut values = row.env.values().chain(row.headers.values());
    row.plain_values = values.any(StoredValue::is_plain);
    Ok(())
}

/// Puts a reference in the place of a secret in a text.
async fn put_away(
    server: &ServerId,
    what: &str,
    text: &mut String,
    span: std::ops::Range<usize>,
    keeping: Keeping,
) -> Result<(), Failure> {
    let secret = text.get(span.clone()).unwrap_or_default().to_owned();
    if secret.contains("${") {
        return Ok(());
    }
    if let StoredValue::Keyring(id) = keep_secret(server, what, secret, keeping).await? {
        text.replace_range(span, &format!("${{keyring:{id}}}"));
    }
    Ok(())
}

async fn keep_secret(
    server: &ServerId,
    what: &str,
    text: String,
    keeping: Keeping,
) -> Result<StoredValue, Failure> {
    let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let place: String = what.chars().map(legal).collect();
    let kept = match keyring_allowed() {
        true => {
            let place = format!("server/{server}/{place}");
            keep_key(&place, Secret::new(text.as_str())).await
        }
        false => Err(crate::models::KeyError::Keyring(
            "it is switched off".into(),
        )),
    };
    match kept {
        Ok(reference) => Ok(reference),
        Err(_) if keeping == Keeping::KeyringOrPlain => Ok(StoredValue::Plain(text)),
        Err(error) => {
            let shown = match what.split_once('/') {
                Some(("argument", at)) => {
                    let at = at.split('-').next().unwrap_or_default();
                    format!("the secret in argument {at}")
                }
                Some(("address", _)) => "the secret in the address".to_owned(),
                Some((kind, name)) => format!("the {kind} value {name:?}, a secret,"),
                None => format!("{what:?}, a secret,"),
            };
            Err(
                Failure::new(Exit::Other, format!("{shown} has no safe place"))
                    .caused_by(error)
                    .with_hint(
                        "Refer to a variable (NAME=env:VARIABLE; '${VARIABLE}' in arguments and \
                     addresses), or agree with --plain to keep the value readable in the store.",
                    ),
            )
        }
    }
}

/// `SWITCHBOARD_KEYRING=off` leaves the system's keyring alone.
pub(super) fn keyring_allowed() -> bool {
    home::environment("SWITCHBOARD_KEYRING").as_deref() != Some("off")
}
