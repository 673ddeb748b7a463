//! What models can do.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::models::choice::ChoiceError;
use crate::models::provider::Provider;

/// What a model can do.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Capabilities {
    /// Tokens of request and reply together; nothing if not known.
    pub context: Option<u64>,
    /// Whether it supports function calling. If not, prompt mode is used.
    pub tools: bool,
    /// Whether it sees images.
    pub images: bool,
    /// Whether it thinks before it answers.
    pub reasoning: bool,
}

impl Default for Capabilities {
    /// Defaults for unknown models: tools, no images.
    fn default() -> Self {
        Self {
            context: None,
            tools: true,
            images: false,
            reasoning: false,
        }
    }
}

#[derive(Deserialize)]
struct Row {
    /// How the model's name begins.
    name: String,
    #[serde(flatten)]
    can: Capabilities,
}

static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let rows: Result<Vec<Row>, _> = serde_json::from_str(include_str!("capabilities.json"));
    rows.unwrap_or_default()
});

impl Capabilities {
    /// Of a model, by how its name begins: the longest beginning that is known counts.
    pub fn of(provider: &Provider, model: &str) -> Self {
        // A router's names carry the maker's.
        let bare = model.rsplit('/').next().unwrap_or(model);
        let fitting = TABLE.iter().filter(|row| bare.starts_with(&row.name));
        let known = fitting.max_by_key(|row| row.name.len()).map(|row| row.can);
        known.unwrap_or_else(|| Self {
            images: !provider.local || provider.is_demo(),
            ..Self::default()
        })
    }

    /// With what the settings say of the model, in `models.NAME.context`, `.tools`, `.images` and
    /// `.reasoning`.
    pub(crate) fn overridden(
        mut self,
        model: &str,
        settings: &BTreeMap<String, Value>,
    ) -> Result<Self, ChoiceError> {
        let flag = |name: &str, now: bool| {
            let key = format!("models.{model}.{name}");
            match settings.get(&key) {
                None => Ok(now),
                Some(Value::Bool(value)) => Ok(*value),
                Some(_) => Err(ChoiceError::Setting {
                    key,
                    wants: "true or false",
                }),
            }
        };
        self.tools = flag("tools", self.tools)?;
        self.images = flag("images", self.images)?;
        self.reasoning = flag("reasoning", self.reasoning)?;
        let key = format!("models.{model}.context");
        if let Some(value) = settings.get(&key) {
            let context = value.as_u64().ok_or(ChoiceError::Setting {
                key,
                wants: "a number of tokens",
            })?;
            self.context = Some(context);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whole() {
        let rows: Vec<Row> = serde_json::from_str(include_str!("capabilities.json")).unwrap();
        assert_eq!(rows.len(), TABLE.len());
        assert!(rows.len() > 20);
    }

    #[test]
    fn the_longest_beginning_counts() {
        let openai = Provider::named("openai").unwrap();
        assert!(Capabilities::of(openai, "gpt-4o-2024-08-06").images);
        assert!(!Capabilities::of(openai, "gpt-3.5-turbo-0125").images);
        let ollama = Provider::named("ollama").unwrap();
        assert!(!Capabilities::of(ollama, "gemma2:9b").tools);
        assert_eq!(
            Capabilities::of(ollama, "unheard-of"),
            Capabilities::default()
        );
    }
}
