//! Sampling: the server asks the client's model.

use serde::ser::{Serialize, Serializer};

use super::base::Role;
use super::content::{AudioContent, ContentBlock, ImageContent, TextContent};
use super::experimental_task::TaskMetadata;
use super::meta::Meta;
use super::tool::Tool;
use crate::json::raw::{RawJson, RawObject};
use crate::json::read_error::ReadError;
use crate::json::reader::Reader;
use crate::message::method::methods;
use crate::message::result_body::{ResultType, results};
use crate::wire::field::{Field, deserialize_fields, serialize_plainly};
use crate::wire::object::object;
use crate::wire::string_enum::string_enum;
use crate::wire::tagged::tagged;

object! {
    /// Asks the client's model to go on with a conversation.
    pub struct CreateMessageParams {
        required {
            /// The conversation.
            messages: Vec<SamplingMessage> = "messages",
            /// How many tokens at most; respect it.
            max_tokens: i64 = "maxTokens",
        }
        optional {
            /// The server's model preferences.
            model_preferences: ModelPreferences = "modelPreferences",
            /// A system prompt; the client may change or drop it.
            system_prompt: String = "systemPrompt",
            /// Which servers' context to add.
            include_context: IncludeContext = "includeContext",
            /// How much chance.
            temperature: f64 = "temperature",
            /// Where to stop.
            stop_sequences: Vec<String> = "stopSequences",
            /// For the provider, in its own words.
            metadata: RawObject = "metadata",
            /// Tools the model may use (2025-11-25 and later).
            tools: Vec<Tool> = "tools",
            /// How it may use them (2025-11-25 and later).
            tool_choice: ToolChoice = "toolChoice",
            /// Requests a task (2025-11-25 only).
            task: TaskMetadata = "task",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// What the model said.
    pub struct CreateMessageResult {
        required {
            /// Who speaks: the assistant.
            role: Role = "role",
            /// What was said.
            content: SamplingContents = "content",
            /// The model.
            model: String = "model",
        }
        optional {
            /// Why it stopped.
            stop_reason: StopReason = "stopReason",
            /// Not part of this result; kept if a peer sends it.
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(CreateMessageResult);

object! {
    /// A message of the conversation.
    pub struct SamplingMessage {
        required {
            /// The role of the author.
            role: Role = "role",
            /// The content.
            content: SamplingContents = "content",
        }
        optional {
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

/// One block, or, from 2025-11-25 on, an array of them; kept as it came.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "a JSON object or a JSON array")]
pub enum SamplingContents {
    /// A block by itself.
    One(Box<SamplingContent>),
    /// An array of blocks.
    Many(Vec<SamplingContent>),
}

impl SamplingContents {
    /// The blocks, however they came.
    pub fn as_slice(&self) -> &[SamplingContent] {
        match self {
            Self::One(block) => std::slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }
}

impl<T: Into<SamplingContent>> From<T> for SamplingContents {
    fn from(block: T) -> Self {
        Self::One(Box::new(block.into()))
    }
}

impl From<Vec<SamplingContent>> for SamplingContents {
    fn from(blocks: Vec<SamplingContent>) -> Self {
        Self::Many(blocks)
    }
}

impl Serialize for SamplingContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(block) => block.serialize(serializer),
            Self::Many(blocks) => blocks.serialize(serializer),
        }
    }
}

impl Field for SamplingContents {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ReadError> {
        match reader.peek() {
            Some(b'[') => Field::read(reader).map(Self::Many),
            _ => SamplingContent::read(reader).map(Self::from),
        }
    }

    serialize_plainly!();
}

deserialize_fields!(SamplingContents);

tagged! {
    /// One block of a sampling message.
    pub enum SamplingContent by "type" keeps bad ones {
        /// Text.
        Text(TextContent) = "text",
        /// An image.
        Image(ImageContent) = "image",
        /// Audio (2025-03-26 and later).
        Audio(AudioContent) = "audio",
        /// The model uses a tool (2025-11-25 and later).
        ToolUse(ToolUseContent) = "tool_use",
        /// What the tool said (2025-11-25 and later).
        ToolResult(ToolResultContent) = "tool_result",
    }
}

object! {
    /// The model uses a tool.
    pub struct ToolUseContent tag "type" = "tool_use" {
        required {
            /// What the result will refer to.
            id: String = "id",
            /// Which tool.
            name: String = "name",
            /// The arguments.
            input: RawObject = "input",
        }
        optional {
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// What a tool said.
    pub struct ToolResultContent tag "type" = "tool_result" {
        required {
            /// Which use of a tool this answers.
            tool_use_id: String = "toolUseId",
        }
        defaulted {
            /// For the model.
            content: Vec<ContentBlock> = "content",
        }
        optional {
            /// For programs; `null` is something else than nothing.
            structured_content: RawJson = "structuredContent",
            /// Whether the tool failed.
            is_error: bool = "isError",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// The server's model preferences. The client decides.
    pub struct ModelPreferences {
        optional {
            /// Models, the best liked first.
            hints: Vec<ModelHint> = "hints",
            /// How much cost matters, from 0 to 1.
            cost_priority: f64 = "costPriority",
            /// How much speed matters, from 0 to 1.
            speed_priority: f64 = "speedPriority",
            /// How much ability matters, from 0 to 1.
            intelligence_priority: f64 = "intelligencePriority",
        }
    }
}

object! {
    /// A model, by a part of its name.
    pub struct ModelHint {
        optional {
            /// A part of its name.
            name: String = "name",
        }
    }
}

object! {
    /// How a model may use tools.
    pub struct ToolChoice {
        optional {
            /// Whether it may or must; `auto` if absent.
            mode: ToolChoiceMode = "mode",
        }
    }
}

string_enum! {
    /// Whether a model may or must use tools.
    pub open ToolChoiceMode {
        /// As it likes.
        Auto = "auto",
        /// At least one.
        Required = "required",
        /// None.
        None = "none",
    }
}

string_enum! {
    /// Which servers' context to add to a sampling request.
    pub open IncludeContext {
        /// None.
        None = "none",
        /// The asking server's (deprecated).
        ThisServer = "thisServer",
        /// All servers' (deprecated).
        AllServers = "allServers",
    }
}

string_enum! {
    /// Why a model stopped.
    pub open StopReason {
        /// It was done.
        EndTurn = "endTurn",
        /// It met a stop sequence.
        StopSequence = "stopSequence",
        /// It ran out of tokens.
        MaxTokens = "maxTokens",
        /// It wants to use a tool.
        ToolUse = "toolUse",
    }
}

methods! {
    /// The server asks the client's model: a request up to 2025-11-25, an input request after.
    CreateMessage = "sampling/createMessage": CreateMessageParams => CreateMessageResult;
}
