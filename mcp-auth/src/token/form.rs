//! The form of a token request, with its secret fields.

use mcp_transport::Secret;
use url::form_urlencoded;

/// Fields in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    fields: Vec<(&'static str, Field)>,
}

#[derive(Clone, Debug)]
enum Field {
    Open(String),
    Secret(Secret),
}

impl Form {
    /// The form of a grant.
    pub(crate) fn grant(grant_type: &str) -> Self {
        Self::default().with("grant_type", grant_type)
    }

    /// Adds a field.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, Field::Open(value.into())));
        self
    }

    /// Adds a field, unless it has no value.
    #[must_use]
    pub(crate) fn with_some(self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a secret field.
    #[must_use]
    pub(crate) fn with_secret(mut self, name: &'static str, value: &Secret) -> Self {
        self.fields.push((name, Field::Secret(value.clone())));
        self
    }

    /// The body of the request.
    pub(crate) fn encode(&self) -> String {
        let mut encoder = form_urlencoded::Serializer::new(String::new());
        for (name, field) in &self.fields {
            let value = match field {
                Field::Open(value) => value,
                Field::Secret(secret) => secret.expose(),
            };
            encoder.append_pair(name, value);
        }
        encoder.finish()
    }

    /// Removes secrets that an endpoint's description may quote, in any encoding.
    pub(crate) fn redact(&self, words: &str) -> String {
        let mut words = words.to_owned();
        for (_, field) in &self.fields {
            let Field::Secret(secret) = field else {
                continue;
            };
            let secret = secret.expose();
            let encoded: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            for spelling in [secret, encoded.as_str()] {
                if !spelling.is_empty() {
                    words = words.replace(spelling, "…");
                }
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_sent_but_never_seen() {
        let form = Form::grant("refresh_token")
            .with_some("resource", Some("https://h/mcp"))
            .with_some("scope", None::<String>)
            .with_secret("refresh_token", &Secret::new("MARKER+1"));
        assert_eq!(
            form.encode(),
            "grant_type=refresh_token&resource=https%3A%2F%2Fh%2Fmcp&refresh_token=MARKER%2B1",
        );
        assert!(!format!("{form:?}").contains("MARKER"));
        assert_eq!(
            form.redact("unknown token MARKER+1 in x=MARKER%2B1!"),
            "unknown token … in x=…!"
        );
    }
}
