//! Values given on the command line, in the page or found in files: which are secrets, and where
//! they are stored. Whatever door a server comes in by, [`keep_all`] is the one rule.

use std::fmt;
use std::ops::Range;

use provider_adapters::Secret;

use super::entry::{answers, reference};
use super::lookup::keyring_ids;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::models::{KeyError, forget_key, keep_key};
use crate::store::{Server, ServerId, StoredValue};

/// Whether a secret may be stored as plain text. Values that are no secrets always may.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PlainSecrets {
    /// It goes to the keyring; without one it is refused.
    Refused,
    /// The user agreed to it.
    Allowed,
}

impl PlainSecrets {
    /// What the user's yes or no means.
    pub(crate) fn allowed_if(agreed: bool) -> Self {
        match agreed {
            true => Self::Allowed,
            false => Self::Refused,
        }
    }
}

/// A secret that no keyring takes and that may not be stored as plain text.
#[derive(Debug)]
pub(crate) struct Unstorable {
    /// Where it was given: `env/NAME`, `header/NAME`, `input/ID`, `args` or `baseUrl`.
    pub(crate) field: String,
    what: String,
    why: KeyError,
}

impl fmt::Display for Unstorable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be stored safely", self.what)
    }
}

impl From<Unstorable> for Failure {
    fn from(error: Unstorable) -> Self {
        Self::new(Exit::Other, error.to_string())
            .caused_by(error.why)
            .with_hint(
                "Refer to a variable (NAME=env:VARIABLE; '${VARIABLE}' in arguments and \
                 addresses), or allow plain text in the store with --plain.",
            )
    }
}

/// A value as the user wrote it: `env:NAME`, `keyring:ID` and `${NAME}` are references already.
pub(crate) fn stored_value(text: &str) -> StoredValue {
    match text.parse() {
        Ok(StoredValue::Plain(text)) => StoredValue::Plain(text),
        Ok(reference) => reference,
        Err(_) => reference(text.to_owned()),
    }
}

/// Whether a stored value is a secret in plain text.
fn is_open(name: &str, value: &StoredValue) -> bool {
    matches!(value, StoredValue::Plain(text) if !text.contains("${") && mcp_config::is_secret(name, text))
}

/// Whether any secret of a server is stored as plain text.
pub(crate) fn has_open_secret(row: &Server) -> bool {
    let mut values = row.env.iter().chain(&row.headers);
    values.any(|(name, value)| is_open(name, value))
        || answers(row).any(|(id, value)| is_open(&id, &value))
        || !mcp_config::secrets_in_args(&row.args).is_empty()
        || row
            .base_url
            .as_deref()
            .is_some_and(|url| !mcp_config::secrets_in_url(url).is_empty())
}

/// Keeps the answer to a question of a server's file, which may declare it a secret.
pub(crate) async fn keep_answer(
    row: &Server,
    id: &str,
    value: StoredValue,
    secret: bool,
    plain: PlainSecrets,
) -> Result<StoredValue, Unstorable> {
    let declared = matches!(&value, StoredValue::Plain(text)
        if secret && !text.is_empty() && !text.contains("${"));
    match value {
        StoredValue::Plain(text)
            if plain == PlainSecrets::Refused
                && (declared || is_open(id, &StoredValue::Plain(text.clone()))) =>
        {
            let what = format!("the input value {id:?}, a secret,");
            keep_secret(
                row,
                format!("input/{id}"),
                format!("input/{id}"),
                what,
                text,
            )
            .await
        }
        value => Ok(value),
    }
}

/// Keeps everything of a server where it belongs: the values of its environment and its headers,
/// and the secrets in its arguments and its address, where references take their place. What is
/// stored already stays as it is; references and texts with variables in them do, too.
pub(crate) async fn keep_all(
    row: &mut Server,
    stored: Option<&Server>,
    plain: PlainSecrets,
) -> Result<(), Unstorable> {
    if plain == PlainSecrets::Refused {
        keep_values(row, stored).await?;
        keep_args(row, stored).await?;
        keep_address(row, stored).await?;
    }
    let mut values = row.env.values().chain(row.headers.values());
    row.plain_values = values.any(StoredValue::is_plain);
    Ok(())
}

async fn keep_values(row: &mut Server, stored: Option<&Server>) -> Result<(), Unstorable> {
    let kinds = [
        ("env", row.env.clone(), stored.map(|row| &row.env)),
        (
            "header",
            row.headers.clone(),
            stored.map(|row| &row.headers),
        ),
    ];
    for (kind, values, stored) in kinds {
        for (name, value) in values {
            let known = stored.and_then(|stored| stored.get(&name)) == Some(&value);
            if known || !is_open(&name, &value) {
                continue;
            }
            let StoredValue::Plain(text) = value else {
                continue;
            };
            let field = format!("{kind}/{name}");
            let what = format!("the {kind} value {name:?}, a secret,");
            let kept = keep_secret(row, field.clone(), field, what, text).await?;
            match kind {
                "env" => row.env.insert(name, kept),
                _ => row.headers.insert(name, kept),
            };
        }
    }
    Ok(())
}

async fn keep_args(row: &mut Server, stored: Option<&Server>) -> Result<(), Unstorable> {
    // From the end: what is replaced moves what comes after it.
    for (at, span) in mcp_config::secrets_in_args(&row.args).into_iter().rev() {
        let Some(arg) = row.args.get(at).cloned() else {
            continue;
        };
        if stored.is_some_and(|stored| stored.args.contains(&arg)) {
            continue;
        }
        let place = format!("argument/{}-{}", at + 1, span.start);
        let what = format!("the secret in argument {}", at + 1);
        let secret = arg.get(span.clone()).unwrap_or_default().to_owned();
        let kept = keep_secret(row, "args".to_owned(), place, what, secret).await?;
        if let Some(arg) = row.args.get_mut(at) {
            put_reference(arg, span, &kept);
        }
    }
    Ok(())
}

async fn keep_address(row: &mut Server, stored: Option<&Server>) -> Result<(), Unstorable> {
    let Some(mut url) = row.base_url.clone() else {
        return Ok(());
    };
    if stored.is_some_and(|stored| stored.base_url == row.base_url) {
        return Ok(());
    }
    for span in mcp_config::secrets_in_url(&url).into_iter().rev() {
        let place = format!("address/{}", span.start);
        let what = "the secret in the address".to_owned();
        let secret = url.get(span.clone()).unwrap_or_default().to_owned();
        let kept = keep_secret(row, "baseUrl".to_owned(), place, what, secret).await?;
        put_reference(&mut url, span, &kept);
        row.base_url = Some(url.clone());
    }
    Ok(())
}

/// Puts a reference in the place of a secret in a text.
fn put_reference(text: &mut String, span: Range<usize>, kept: &StoredValue) {
    if let StoredValue::Keyring(id) = kept {
        text.replace_range(span, &format!("${{keyring:{id}}}"));
    }
}

async fn keep_secret(
    row: &Server,
    field: String,
    place: String,
    what: String,
    text: String,
) -> Result<StoredValue, Unstorable> {
    let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let place: String = place.chars().map(legal).collect();
    let id = unused(row, &format!("{}{place}", prefix(&row.id)));
    let kept = match keyring_allowed() {
        true => keep_key(&id, Secret::new(text)).await,
        false => Err(KeyError::Keyring("it is switched off".into())),
    };
    kept.map_err(|why| Unstorable { field, what, why })
}

/// An entry of the keyring that the server does not refer to yet: another argument may be in the
/// place where this one was.
fn unused(row: &Server, id: &str) -> String {
    let used = keyring_ids(row);
    let mut ids = std::iter::once(id.to_owned()).chain((2..).map(|n| format!("{id}-{n}")));
    ids.find(|id| !used.contains(id)).unwrap_or_default()
}

/// How the keyring entries of a server begin.
fn prefix(server: &ServerId) -> String {
    format!("server/{server}/")
}

/// Removes the keyring entries that a server had and does not refer to any more, as it is stored
/// now; all of them if it was removed. Entries that the user named are left alone.
///
/// # Errors
/// If an entry cannot be removed; the others are.
pub(crate) async fn forget_unused(before: &Server, now: Option<&Server>) -> Result<(), Failure> {
    let used = now.map(keyring_ids).unwrap_or_default();
    let mut failed = None;
    for id in keyring_ids(before) {
        if id.starts_with(&prefix(&before.id)) && !used.contains(&id) {
            failed = forget_key(&id).await.err().or(failed);
        }
    }
    match failed {
        None => Ok(()),
        Some(error) => {
            let text = format!("a secret of {} stays in the keyring", before.name);
            Err(Failure::new(Exit::Other, text).caused_by(error))
        }
    }
}

/// `SWITCHBOARD_KEYRING=off` leaves the system's keyring alone.
pub(super) fn keyring_allowed() -> bool {
    home::environment("SWITCHBOARD_KEYRING").as_deref() != Some("off")
}

#[cfg(all(test, feature = "keyring"))]
mod tests {
    use super::*;
    use crate::models::find_key;
    use crate::servers::answer;
    use crate::store::{ServerKind, UserId};

    async fn found(id: &str) -> Option<String> {
        let id = StoredValue::Keyring(id.to_owned());
        let key = find_key(&id, &|_| None).await;
        key.ok().map(|secret| secret.expose().to_owned())
    }

    #[tokio::test]
    async fn secrets_are_in_the_keyring_for_as_long_as_their_server_refers_to_them() {
        keyring_core::set_default_store(keyring_core::mock::Store::new().unwrap());
        let mut row = Server::new(UserId::local(), "one", ServerKind::Stdio);
        row.command = Some("run".to_owned());
        row.args = vec!["--api-key".to_owned(), "first".to_owned()];
        row.env.insert(
            "TOKEN".to_owned(),
            StoredValue::Plain("env-secret".to_owned()),
        );
        row.env
            .insert("DEBUG".to_owned(), StoredValue::Plain("1".to_owned()));
        let refused = PlainSecrets::Refused;
        keep_all(&mut row, None, refused).await.unwrap();
        let input = stored_value("input-secret");
        let input = keep_answer(&row, "id", input, true, refused).await.unwrap();
        answer(&mut row, "id", input);
        assert!(!has_open_secret(&row), "{row:?}");
        assert_eq!(row.env["DEBUG"], StoredValue::Plain("1".to_owned()));
        let all = keyring_ids(&row);
        let mut values = Vec::new();
        for id in &all {
            values.push(found(id).await.unwrap());
        }
        values.sort();
        assert_eq!(values, ["env-secret", "first", "input-secret"]);

        // Another secret argument in the place of the first one, which moves on.
        let before = row.clone();
        row.args.insert(0, "--token=second".to_owned());
        row.env.remove("TOKEN");
        keep_all(&mut row, Some(&before), refused).await.unwrap();
        forget_unused(&before, Some(&row)).await.unwrap();
        let first = row.args[2].trim_start_matches("${keyring:");
        assert_eq!(found(first.trim_end_matches('}')).await.unwrap(), "first");
        assert_eq!(found(&all[0]).await, None, "its variable is gone");

        forget_unused(&row, None).await.unwrap();
        for id in all.iter().chain(&keyring_ids(&row)) {
            assert_eq!(found(id).await, None, "{id}");
        }
    }
}
