//! Detection of form fields that ask for secrets, which the protocol forbids: secrets are entered at URLs.

use mcp_config::asks_for_secret;
use mcp_jsonrpc::model::{FieldSchema, FormSchema};

/// The names of the fields that ask for secrets, judged by their name, title or format.
pub(super) fn secret_fields(form: &FormSchema) -> Vec<String> {
    let secrets = form.properties.iter().filter(|(name, field)| {
        let FieldSchema::String(text) = field else {
            return false;
        };
        let title = text.title.as_deref().unwrap_or_default();
        let format = text.format.as_ref().map(ToString::to_string);
        asks_for_secret(name) || asks_for_secret(title) || format.as_deref() == Some("password")
    });
    secrets.map(|(name, _)| name.to_owned()).collect()
}
