//! A partial update of an assistant.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::exit::{Exit, Failure};
use crate::serve::present;
use crate::setup::named_mode;
use crate::store::{Assistant, Change, McpMode, ModelOptions, OnLimit, ServerId, ToolSelection};

/// The longest name, in characters.
const NAME: usize = 200;

/// A partial update of an assistant. Absent fields stay as they are.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Draft {
    pub(crate) name: Option<String>,
    #[serde(deserialize_with = "present")]
    pub(crate) model: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub(crate) system: Option<Option<String>>,
    pub(crate) tool_selection: Option<ToolSelection>,
    #[serde(deserialize_with = "present")]
    pub(crate) mcp_mode: Option<Option<McpMode>>,
    pub(crate) server_ids: Option<Vec<ServerId>>,
    #[serde(deserialize_with = "present")]
    pub(crate) max_rounds: Option<Option<u32>>,
    #[serde(deserialize_with = "present")]
    pub(crate) on_limit: Option<Option<OnLimit>>,
    #[serde(deserialize_with = "present")]
    pub(crate) approval_mode: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub(crate) model_options: Option<Option<ModelOptions>>,
    // Read-only fields: accepted, so that a row can be sent back as it was read, and ignored.
    #[serde(rename = "id")]
    pub(crate) _id: IgnoredAny,
    #[serde(rename = "createdAt")]
    pub(crate) _created_at: IgnoredAny,
}

impl Draft {
    /// Applies the update to a row and returns the changes that store it.
    pub(crate) fn apply(self, row: &mut Assistant) -> Result<Vec<Change>, Failure> {
        if let Some(name) = self.name {
            name.trim().clone_into(&mut row.name);
        }
        if row.name.is_empty() || row.name.chars().count() > NAME {
            let text = "an assistant needs a name of at most 200 characters";
            return Err(Failure::new(Exit::Other, text));
        }
        let text = |said: Option<String>| said.filter(|text| !text.trim().is_empty());
        if let Some(model) = self.model {
            row.model = text(model);
        }
        if let Some(system) = self.system {
            row.system = text(system);
        }
        row.tool_selection = self.tool_selection.unwrap_or(row.tool_selection);
        row.mcp_mode = self.mcp_mode.unwrap_or(row.mcp_mode);
        row.max_rounds = self.max_rounds.unwrap_or(row.max_rounds);
        row.on_limit = self.on_limit.unwrap_or(row.on_limit);
        if let Some(mode) = self.approval_mode {
            let mode = text(mode);
            mode.as_deref().map(named_mode).transpose()?;
            row.approval_mode = mode;
        }
        if let Some(options) = self.model_options {
            row.model_options = options.and_then(ModelOptions::given);
            if let Some((member, wants)) = options.and_then(|it| it.unfit()) {
                let text = format!("modelOptions.{member} should be {wants}");
                return Err(Failure::new(Exit::Other, text));
            }
        }
        let mut changes = vec![Change::PutAssistant(row.clone())];
        if let Some(ids) = self.server_ids {
            changes.push(Change::SetAssistantServers(row.id.clone(), ids));
        }
        Ok(changes)
    }
}
