//! Tools: functions that a model may call.

use super::base::{CacheScope, EmptyParams, PageParams};
use super::content::ContentBlock;
use super::experimental_task::{TaskMetadata, ToolExecution};
use super::icon::Icon;
use super::input::InputResponses;
use super::meta::Meta;
use crate::json::raw::{RawJson, RawObject};
use crate::message::method::{methods, notifications};
use crate::message::result_body::{ResultType, results};
use crate::wire::object::object;

object! {
    /// A tool, as listed.
    pub struct Tool {
        required {
            /// Its name.
            name: String = "name",
            /// The JSON Schema of its arguments, byte for byte as the server wrote it.
            input_schema: RawObject = "inputSchema",
        }
        optional {
            /// Its display name (2025-06-18 and later).
            title: String = "title",
            /// What it does, for a model.
            description: String = "description",
            /// The JSON Schema of its structured result (2025-06-18 and later), byte for byte.
            output_schema: RawObject = "outputSchema",
            /// Hints about what it does (2025-03-26 and later).
            annotations: ToolAnnotations = "annotations",
            /// How it may be run (2025-11-25 only).
            execution: ToolExecution = "execution",
            /// Icons (2025-11-25 and later).
            icons: Vec<Icon> = "icons",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

impl Tool {
    /// The name to show: the title, the annotated title, or the name.
    pub fn display_name(&self) -> &str {
        let annotated = || {
            self.annotations
                .as_ref()
                .and_then(|hints| hints.title.as_deref())
        };
        self.title
            .as_deref()
            .or_else(annotated)
            .unwrap_or(&self.name)
    }
}

object! {
    /// Hints about a tool. A server may lie: base no decision that matters on them.
    pub struct ToolAnnotations {
        optional {
            /// Its display name.
            title: String = "title",
            /// The tool is read-only. Assumed false.
            read_only_hint: bool = "readOnlyHint",
            /// The tool may destroy something. Assumed true.
            destructive_hint: bool = "destructiveHint",
            /// Repeating a call with the same arguments has no further effect. Assumed false.
            idempotent_hint: bool = "idempotentHint",
            /// The tool interacts with an open world, such as the web. Assumed true.
            open_world_hint: bool = "openWorldHint",
        }
    }
}

impl ToolAnnotations {
    /// Whether the tool is declared read-only; false by default, and false for a tool that is also declared
    /// destructive.
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false) && self.destructive_hint != Some(true)
    }

    /// Whether it may destroy something; true by default.
    pub fn is_destructive(&self) -> bool {
        self.destructive_hint.unwrap_or(true)
    }

    /// Whether the tool is declared idempotent; false by default.
    pub fn is_idempotent(&self) -> bool {
        self.idempotent_hint.unwrap_or(false)
    }

    /// Whether it interacts with an open world; true by default.
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}

object! {
    /// A page of tools.
    pub struct ListToolsResult {
        listed {
            /// The tools.
            tools: Tool = "tools",
        }
        optional {
            /// The cursor of the next page, if there is one.
            next_cursor: String = "nextCursor",
            /// How long the page stays fresh, in milliseconds (2026-07-28).
            ttl_ms: i64 = "ttlMs",
            /// Whether a cache may share the page (2026-07-28).
            cache_scope: CacheScope = "cacheScope",
            /// The kind of result (2026-07-28).
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(ListToolsResult);

object! {
    /// Calls a tool.
    pub struct CallToolParams {
        required {
            /// The tool's name.
            name: String = "name",
        }
        optional {
            /// The arguments.
            arguments: RawObject = "arguments",
            /// Requests a task (2025-11-25 only).
            task: TaskMetadata = "task",
            /// The answers to the input requests of the last round (2026-07-28).
            input_responses: InputResponses = "inputResponses",
            /// The server's state of the last round, unchanged (2026-07-28).
            request_state: String = "requestState",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// The result of a tool call.
    pub struct CallToolResult {
        defaulted beside [structured_content is_error] {
            /// The content, for the model and the user. Blocks that could not be read are kept as unknown. The member
            /// may be absent beside `structuredContent` or `isError`, but not on its own: an object of any other kind
            /// is not read as an empty result.
            content: Vec<ContentBlock> = "content",
        }
        optional {
            /// The structured content, for programs (2025-06-18 and later): an object, or any JSON from 2026-07-28 on,
            /// where `null` differs from absent.
            structured_content: RawJson = "structuredContent",
            /// Whether the tool failed; `content` then describes the error.
            is_error: bool = "isError",
            /// The kind of result (2026-07-28).
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

impl CallToolResult {
    /// Whether the tool failed.
    pub fn failed(&self) -> bool {
        self.is_error == Some(true)
    }

    /// The text blocks of the content, joined by line breaks.
    ///
    /// ```
    /// use mcp_jsonrpc::model::{CallToolResult, ContentBlock};
    ///
    /// let blocks = vec![ContentBlock::text("one"), ContentBlock::text("two")];
    /// assert_eq!(CallToolResult::new(blocks).text(), "one\ntwo");
    /// ```
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(ContentBlock::as_text)
            .collect();
        texts.join("\n")
    }
}

results!(CallToolResult);

methods! {
    /// Lists the tools.
    ListTools = "tools/list": PageParams => ListToolsResult;
    /// Calls a tool.
    CallTool = "tools/call": CallToolParams => CallToolResult;
}

notifications! {
    /// The list of tools changed.
    ToolListChanged = "notifications/tools/list_changed": EmptyParams;
}
