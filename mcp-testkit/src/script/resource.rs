//! Resources of a scripted server.

use serde_json::{Value, json};

use super::Ask;

/// A resource: its listed form, and its contents.
#[derive(Clone, Debug)]
pub struct Resource {
    pub(crate) declared: Value,
    pub(crate) contents: Vec<Value>,
    pub(crate) asks: Vec<Ask>,
}

impl Resource {
    /// A text resource.
    #[must_use]
    pub fn text(uri: &str, text: &str) -> Self {
        Self::with_contents(
            uri,
            "text/plain",
            json!({"uri": uri, "mimeType": "text/plain", "text": text}),
        )
    }

    /// A binary resource, given as base64.
    #[must_use]
    pub fn blob(uri: &str, mime_type: &str, base64: &str) -> Self {
        Self::with_contents(
            uri,
            mime_type,
            json!({"uri": uri, "mimeType": mime_type, "blob": base64}),
        )
    }

    fn with_contents(uri: &str, mime_type: &str, contents: Value) -> Self {
        let name = uri.rsplit('/').next().unwrap_or(uri);
        Self {
            declared: json!({"uri": uri, "name": name, "mimeType": mime_type}),
            contents: vec![contents],
            asks: Vec::new(),
        }
    }

    /// Asks the client something before it is read.
    #[must_use]
    pub fn asking(mut self, ask: Ask) -> Self {
        self.asks.push(ask);
        self
    }

    pub(crate) fn uri(&self) -> &str {
        self.declared
            .get("uri")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}
