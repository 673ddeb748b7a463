//! Prompts: templates that the user selects.

use super::base::{CacheScope, EmptyParams, PageParams, Role};
use super::content::ContentBlock;
use super::icon::Icon;
use super::input::InputResponses;
use super::meta::Meta;
use crate::json::ordered_map::OrderedMap;
use crate::message::method::{methods, notifications};
use crate::message::result_body::{ResultType, results};
use crate::wire::object::object;

object! {
    /// A prompt, as listed.
    pub struct Prompt {
        required {
            /// Its name.
            name: String = "name",
        }
        optional {
            /// Its display name (2025-06-18 and later).
            title: String = "title",
            /// Its description.
            description: String = "description",
            /// Its arguments.
            arguments: Vec<PromptArgument> = "arguments",
            /// Icons (2025-11-25 and later).
            icons: Vec<Icon> = "icons",
            /// Metadata.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// An argument of a prompt.
    pub struct PromptArgument {
        required {
            /// Its name.
            name: String = "name",
        }
        optional {
            /// Its display name (2025-06-18 and later).
            title: String = "title",
            /// Its description.
            description: String = "description",
            /// Whether it is required.
            required: bool = "required",
        }
    }
}

object! {
    /// A page of prompts.
    pub struct ListPromptsResult {
        listed {
            /// The prompts.
            prompts: Prompt = "prompts",
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

results!(ListPromptsResult);

object! {
    /// Gets a prompt.
    pub struct GetPromptParams {
        required {
            /// The prompt's name.
            name: String = "name",
        }
        optional {
            /// The arguments.
            arguments: OrderedMap<String> = "arguments",
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
    /// The messages of a prompt.
    pub struct GetPromptResult {
        required {
            /// The messages to start the conversation with.
            messages: Vec<PromptMessage> = "messages",
        }
        optional {
            /// The prompt's description.
            description: String = "description",
            /// The kind of result (2026-07-28).
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(GetPromptResult);

object! {
    /// A message of a prompt.
    pub struct PromptMessage {
        required {
            /// The role of the author.
            role: Role = "role",
            /// The content.
            content: ContentBlock = "content",
        }
    }
}

methods! {
    /// Lists the prompts.
    ListPrompts = "prompts/list": PageParams => ListPromptsResult;
    /// Gets a prompt.
    GetPrompt = "prompts/get": GetPromptParams => GetPromptResult;
}

notifications! {
    /// The list of prompts changed.
    PromptListChanged = "notifications/prompts/list_changed": EmptyParams;
}
