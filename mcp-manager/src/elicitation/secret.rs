//! Which fields of a form ask for secrets. The protocol forbids it: secrets travel by URL.

use mcp_jsonrpc::model::{FieldSchema, FormSchema};

/// Words that name a secret.
const SECRET: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "secrets",
    "token",
    "apikey",
    "credential",
    "credentials",
    "cvv",
    "cvc",
    "otp",
    "pin",
    "ssn",
];
/// Words that name a secret before `key`.
const KEYS: [&str; 6] = [
    "api",
    "access",
    "private",
    "secret",
    "signing",
    "encryption",
];

/// The names of the fields that ask for secrets, by their name, title or format.
pub(super) fn secret_fields(form: &FormSchema) -> Vec<String> {
    let secrets = form.properties.iter().filter(|(name, field)| {
        let FieldSchema::String(text) = field else {
            return false;
        };
        let title = text.title.as_deref().unwrap_or_default();
        let format = text.format.as_ref().map(ToString::to_string);
        names_secret(name) || names_secret(title) || format.as_deref() == Some("password")
    });
    secrets.map(|(name, _)| name.to_owned()).collect()
}

fn names_secret(text: &str) -> bool {
    let words = words(text);
    let is_secret = |word: &String| SECRET.contains(&word.as_str());
    let is_key = |pair: &[String]| matches!(pair, [kind, key] if key == "key" && KEYS.contains(&kind.as_str()));
    words.iter().any(is_secret) || words.windows(2).any(is_key)
}

/// `clientSecret`, `client_secret` and `Client secret` are the same two words.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for letter in text.chars() {
        let starts = letter.is_uppercase() && after_lower;
        after_lower = letter.is_lowercase();
        if !letter.is_alphanumeric() || starts {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_words_and_not_by_their_letters() {
        for name in [
            "password",
            "userPassword",
            "API_KEY",
            "Access key",
            "github-token",
            "otp",
        ] {
            assert!(names_secret(name), "{name}");
        }
        for name in [
            "name",
            "max_tokens",
            "keyboard",
            "monkey",
            "secretary",
            "shipping",
            "key",
        ] {
            assert!(!names_secret(name), "{name}");
        }
    }
}
