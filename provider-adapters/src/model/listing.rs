//! Lists of a provider's models.

use serde::Deserialize;
use serde_json::Value;

/// A model that a provider offers.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ModelInfo {
    /// Its name in a [`Request`](crate::Request).
    pub id: String,
    /// Its display name.
    pub title: Option<String>,
    /// Maximum number of input tokens.
    pub input_tokens: Option<u64>,
    /// Maximum number of output tokens.
    pub output_tokens: Option<u64>,
}

/// One page of a list of models.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ModelPage {
    /// The models.
    pub models: Vec<ModelInfo>,
    /// The position of the next page, if there is one.
    pub next: Option<String>,
}

#[derive(Deserialize)]
struct Page {
    #[serde(alias = "models")]
    data: Vec<Value>,
    #[serde(default)]
    has_more: Option<bool>,
    #[serde(default)]
    last_id: Option<String>,
    #[serde(default, rename = "nextPageToken")]
    next_page_token: Option<String>,
}

impl ModelPage {
    /// Parses a page in the format of OpenAI, Anthropic or Gemini. `None` if it is none of them.
    pub fn read(body: &[u8]) -> Option<Self> {
        let page: Page = serde_json::from_slice(body).ok()?;
        let more = page.last_id.filter(|_| page.has_more == Some(true));
        Some(Self {
            models: page.data.iter().filter_map(model).collect(),
            next: more.or(page.next_page_token.filter(|token| !token.is_empty())),
        })
    }
}

/// A model, unless it does not write text.
fn model(value: &Value) -> Option<ModelInfo> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let count = |keys: [&str; 2]| keys.iter().find_map(|key| value.get(*key)?.as_u64());
    let id = text("id").or_else(|| text("name"))?;
    let methods = value.get("supportedGenerationMethods");
    let generates = |methods: &Vec<Value>| methods.iter().any(|name| name == "generateContent");
    if methods
        .and_then(Value::as_array)
        .is_some_and(|methods| !generates(methods))
    {
        return None;
    }
    let title = text("display_name").or_else(|| text("displayName"));
    let named = text("id").and_then(|_| text("name"));
    Some(ModelInfo {
        id: id.strip_prefix("models/").unwrap_or(id).to_owned(),
        title: title.or(named).map(str::to_owned),
        input_tokens: count(["inputTokenLimit", "max_input_tokens"])
            .or_else(|| count(["context_length", "context_window"])),
        output_tokens: count(["outputTokenLimit", "max_tokens"]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, ids: &[&str], next: Option<&str>) {
        let page = ModelPage::read(body.as_bytes()).unwrap();
        let found: Vec<&str> = page.models.iter().map(|model| model.id.as_str()).collect();
        assert_eq!((found.as_slice(), page.next.as_deref()), (ids, next));
    }

    #[test]
    fn every_providers_list_is_read() {
        check(
            r#"{"object":"list","data":[{"id":"gpt-5.6","object":"model"}]}"#,
            &["gpt-5.6"],
            None,
        );
        check(
            r#"{"data":[{"type":"model","id":"claude-sonnet-5-5","display_name":"Claude Sonnet 5.5"}],"has_more":true,"last_id":"claude-sonnet-5-5"}"#,
            &["claude-sonnet-5-5"],
            Some("claude-sonnet-5-5"),
        );
        check(
            r#"{"models":[{"name":"models/gemini-3-pro","inputTokenLimit":1000000,"supportedGenerationMethods":["generateContent"]},{"name":"models/embed","supportedGenerationMethods":["embedContent"]}],"nextPageToken":"p2"}"#,
            &["gemini-3-pro"],
            Some("p2"),
        );
        assert_eq!(ModelPage::read(b"<html>"), None);
    }

    #[test]
    fn the_last_page_has_no_next_one() {
        check(r#"{"data":[],"has_more":false,"last_id":"x"}"#, &[], None);
        check(r#"{"models":[],"nextPageToken":""}"#, &[], None);
    }
}
