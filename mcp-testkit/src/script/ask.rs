//! A server's requests to its client in the middle of a call.

use serde_json::{Value, json};

/// A question to the client: an elicitation, a sampling request, or a request for its roots.
///
/// In the legacy era it is sent as a request from the server; in the modern era it becomes part of an `input_required`
/// result; in a task it is the task's input request.
#[derive(Clone, Debug)]
pub struct Ask {
    pub(crate) key: String,
    pub(crate) method: String,
    pub(crate) params: Value,
}

impl Ask {
    /// Creates any question; [`Called::answer`](crate::Called::answer) finds its answer by `key`.
    #[must_use]
    pub fn new(key: impl Into<String>, method: impl Into<String>, params: Value) -> Self {
        Self {
            key: key.into(),
            method: method.into(),
            params,
        }
    }

    /// Asks the user to fill in a form.
    #[must_use]
    pub fn form(key: impl Into<String>, message: &str, schema: Value) -> Self {
        let params = json!({"message": message, "requestedSchema": schema});
        Self::new(key, "elicitation/create", params)
    }

    /// Asks the user to visit a URL.
    #[must_use]
    pub fn url(key: impl Into<String>, message: &str, url: &str) -> Self {
        let params =
            json!({"mode": "url", "message": message, "url": url, "elicitationId": "visit-1"});
        Self::new(key, "elicitation/create", params)
    }

    /// Asks the client's model.
    #[must_use]
    pub fn sample(key: impl Into<String>, text: &str) -> Self {
        let params = json!({
            "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
            "maxTokens": 100,
        });
        Self::new(key, "sampling/createMessage", params)
    }

    /// Asks for the client's roots.
    #[must_use]
    pub fn roots(key: impl Into<String>) -> Self {
        Self::new(key, "roots/list", json!({}))
    }

    /// The client capability it requires, if any.
    pub(crate) fn capability(&self) -> Option<&'static str> {
        match self.method.as_str() {
            "elicitation/create" => Some("elicitation"),
            "sampling/createMessage" => Some("sampling"),
            "roots/list" => Some("roots"),
            _ => None,
        }
    }
}
