//! Users' assistants and settings.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::error::StoreError;
use crate::store::id::{AssistantId, UserId};
use crate::store::row::model_options::ModelOptions;
use crate::store::stored_value::StoredValue;
use crate::store::timestamp::Timestamp;

/// A model with instructions and servers of its own.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Assistant {
    /// Its id.
    pub id: AssistantId,
    /// Whose it is.
    pub user_id: UserId,
    /// Its name, one of its kind for a user.
    pub name: String,
    /// The model; the user's default if none.
    pub model: Option<String>,
    /// Instructions.
    pub system: Option<String>,
    /// Which servers it uses.
    pub tool_selection: ToolSelection,
    /// How its model calls tools; as the model can best if none.
    pub mcp_mode: Option<McpMode>,
    /// How many rounds it may take; 0 is no limit.
    pub max_rounds: Option<u32>,
    /// What its model does at a limit; the user's default if none.
    pub on_limit: Option<OnLimit>,
    /// The approval mode, by its name.
    pub approval_mode: Option<String>,
    /// How its model is asked to answer.
    pub model_options: Option<ModelOptions>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Assistant {
    /// An assistant with the user's defaults.
    pub fn new(user: UserId, name: impl Into<String>) -> Self {
        Self {
            id: AssistantId::fresh(),
            user_id: user,
            name: name.into(),
            model: None,
            system: None,
            tool_selection: ToolSelection::Auto,
            mcp_mode: None,
            max_rounds: None,
            on_limit: None,
            approval_mode: None,
            model_options: None,
            created_at: Timestamp::now(),
        }
    }
}

/// Which servers an assistant uses.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolSelection {
    /// None.
    Off,
    /// All that are active.
    Auto,
    /// Those chosen for it.
    Manual,
}

/// How a model calls tools.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpMode {
    /// By its provider's function calling.
    Function,
    /// In its text, as the instructions describe: for models without function calling.
    Prompt,
}

/// What a model does when an answer reaches a limit.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnLimit {
    /// The answer ends there
    #[default]
    Stop,
    /// The model is asked once more, without tools, to sum up
    Summarize,
}

impl OnLimit {
    /// Parses a name: `stop` or `summarize`.
    pub fn named(name: &str) -> Option<Self> {
        serde_json::from_value(Value::from(name)).ok()
    }
}

/// A setting of a user.
#[derive(Clone, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Setting {
    /// Whose.
    pub user_id: UserId,
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// Whether the user insists on a secret in plain text here.
    pub plain_secret: bool,
}

impl Setting {
    /// A setting that holds no secret.
    pub fn new(user: UserId, key: impl Into<String>, value: impl Into<Value>) -> Self {
        Self {
            user_id: user,
            key: key.into(),
            value: value.into(),
            plain_secret: false,
        }
    }

    /// Fails if a secret is to be stored as plain text though the user did not agree to it.
    pub(in crate::store) fn check(&self) -> Result<(), StoreError> {
        let value: Option<StoredValue> = self.value.as_str().and_then(|text| text.parse().ok());
        match !self.plain_secret && value.is_some_and(|value| value.is_plain()) {
            true => Err(StoreError::PlainSecret {
                of: format!("the setting {:?}", self.key),
            }),
            false => Ok(()),
        }
    }
}

impl std::fmt::Debug for Setting {
    /// Without the value if it is a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Setting");
        out.field("user_id", &self.user_id).field("key", &self.key);
        match self.plain_secret {
            true => out.field("value", &"…"),
            false => out.field("value", &self.value),
        };
        out.finish()
    }
}
