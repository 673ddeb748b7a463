//! Tools: what a model may call.

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
    /// Hints about a tool. A server may lie: decide nothing that matters by them.
    pub struct ToolAnnotations {
        optional {
            /// Its display name.
            title: String = "title",
            /// It changes nothing. Assume it does.
            read_only_hint: bool = "readOnlyHint",
            /// It may destroy something. Assume it does.
            destructive_hint: bool = "destructiveHint",
            /// Calling it again with the same arguments changes nothing more. Assume it does.
            idempotent_hint: bool = "idempotentHint",
            /// It deals with an open world, such as the web. Assume it does.
            open_world_hint: bool = "openWorldHint",
        }
    }
}

impl ToolAnnotations {
    /// Whether it says that it changes nothing; false by default, and false for a tool that also
    /// says that it may destroy something.
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false) && self.destructive_hint != Some(true)
    }

    /// Whether it may destroy something; true by default.
    pub fn is_destructive(&self) -> bool {
        self.destructive_hint.unwrap_or(true)
    }

    /// Whether it says that calling it again changes nothing more; false by default.
    pub fn is_idempotent(&self) -> bool {
        self.idempotent_hint.unwrap_or(false)
    }

    /// Whether it deals with an open world; true by default.
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
            /// Which tool.
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
    /// What a tool has to say.
    pub struct CallToolResult {
        defaulted beside [structured_content is_error] {
            /// For the model and the user. Blocks that could not be read are kept as unknown.
            /// May be missing beside `structuredContent` or `isError`, never alone: an object of
            /// any other kind does not read as a tool that had nothing to say.
            content: Vec<ContentBlock> = "content",
        }
        optional {
            /// For programs (2025-06-18 and later): an object, or any JSON from 2026-07-28 on,
            /// where `null` is something else than nothing.
            structured_content: RawJson = "structuredContent",
            /// Whether the tool failed; `content` then says how.
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
