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
    /// Asks the client's model to continue a conversation.
    pub struct CreateMessageParams {
        required {
            /// The conversation.
            messages: Vec<SamplingMessage> = "messages",
            /// The maximum number of tokens; it must be respected.
            max_tokens: i64 = "maxTokens",
        }
        optional {
            /// The server's model preferences.
            model_preferences: ModelPreferences = "modelPreferences",
            /// A system prompt; the client may change or drop it.
            system_prompt: String = "systemPrompt",
            /// The servers whose context to add.
            include_context: IncludeContext = "includeContext",
            /// The sampling temperature.
            temperature: f64 = "temperature",
            /// The stop sequences.
            stop_sequences: Vec<String> = "stopSequences",
            /// Provider-specific metadata.
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
    /// The model's reply.
    pub struct CreateMessageResult {
        required {
            /// The role of the author: the assistant.
            role: Role = "role",
            /// The content.
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

/// One block or, from 2025-11-25 on, an array of blocks; kept in the form it was received.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "a JSON object or a JSON array")]
pub enum SamplingContents {
    /// A single block.
    One(Box<SamplingContent>),
    /// An array of blocks.
    Many(Vec<SamplingContent>),
}

impl SamplingContents {
    /// The blocks, in either form.
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
        /// A tool call by the model (2025-11-25 and later).
        ToolUse(ToolUseContent) = "tool_use",
        /// The result of a tool call (2025-11-25 and later).
        ToolResult(ToolResultContent) = "tool_result",
    }
}

object! {
    /// A tool call by the model.
    pub struct ToolUseContent tag "type" = "tool_use" {
        required {
            /// The id that the result refers to.
            id: String = "id",
            /// The tool's name.
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
    /// The result of a tool call.
    pub struct ToolResultContent tag "type" = "tool_result" {
        required {
            /// The id of the tool call.
            tool_use_id: String = "toolUseId",
        }
        defaulted {
            /// The content, for the model.
            content: Vec<ContentBlock> = "content",
        }
        optional {
            /// The structured content, for programs; `null` differs from absent.
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
            /// Models, in order of preference.
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
    /// A model, identified by a part of its name.
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
            /// The mode; `auto` if absent.
            mode: ToolChoiceMode = "mode",
        }
    }
}

string_enum! {
    /// Whether a model may or must use tools.
    pub open ToolChoiceMode {
        /// The model decides.
        Auto = "auto",
        /// At least one call.
        Required = "required",
        /// No calls.
        None = "none",
    }
}

string_enum! {
    /// The servers whose context to add to a sampling request.
    pub open IncludeContext {
        /// None.
        None = "none",
        /// The requesting server's (deprecated).
        ThisServer = "thisServer",
        /// All servers' (deprecated).
        AllServers = "allServers",
    }
}

string_enum! {
    /// The reason why a model stopped.
    pub open StopReason {
        /// It was finished.
        EndTurn = "endTurn",
        /// It produced a stop sequence.
        StopSequence = "stopSequence",
        /// It reached the token limit.
        MaxTokens = "maxTokens",
        /// It calls a tool.
        ToolUse = "toolUse",
    }
}

methods! {
    /// The server asks the client's model: a request up to 2025-11-25, an input request later.
    CreateMessage = "sampling/createMessage": CreateMessageParams => CreateMessageResult;
}
