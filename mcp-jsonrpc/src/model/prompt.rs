//! Prompts: templates the user picks.

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
            /// Its name for people (2025-06-18 and later).
            title: String = "title",
            /// What it is for.
            description: String = "description",
            /// What it takes.
            arguments: Vec<PromptArgument> = "arguments",
            /// Pictures for it (2025-11-25 and later).
            icons: Vec<Icon> = "icons",
            /// What goes along with it.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// What a prompt takes.
    pub struct PromptArgument {
        required {
            /// Its name.
            name: String = "name",
        }
        optional {
            /// Its name for people (2025-06-18 and later).
            title: String = "title",
            /// What it is for.
            description: String = "description",
            /// Whether it must be given.
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
            /// Where the next page begins, if there is one.
            next_cursor: String = "nextCursor",
            /// For how many milliseconds the page stays fresh (2026-07-28).
            ttl_ms: i64 = "ttlMs",
            /// Who may be given the cached page (2026-07-28).
            cache_scope: CacheScope = "cacheScope",
            /// What kind of result this is (2026-07-28).
            result_type: ResultType = "resultType",
            /// What goes along with the result.
            meta: Meta = "_meta",
        }
    }
}

results!(ListPromptsResult);

object! {
    /// Fills a prompt in.
    pub struct GetPromptParams {
        required {
            /// Which prompt.
            name: String = "name",
        }
        optional {
            /// With what.
            arguments: OrderedMap<String> = "arguments",
            /// What the server asked for last time (2026-07-28).
            input_responses: InputResponses = "inputResponses",
            /// The server's state of last time, untouched (2026-07-28).
            request_state: String = "requestState",
            /// What goes along with the message.
            meta: Meta = "_meta",
        }
    }
}

object! {
    /// A prompt filled in.
    pub struct GetPromptResult {
        required {
            /// The conversation to begin with.
            messages: Vec<PromptMessage> = "messages",
        }
        optional {
            /// What the prompt is for.
            description: String = "description",
            /// What kind of result this is (2026-07-28).
            result_type: ResultType = "resultType",
            /// What goes along with the result.
            meta: Meta = "_meta",
        }
    }
}

results!(GetPromptResult);

object! {
    /// A message of a prompt.
    pub struct PromptMessage {
        required {
            /// Who says it.
            role: Role = "role",
            /// What is said.
            content: ContentBlock = "content",
        }
    }
}

methods! {
    /// Lists the prompts.
    ListPrompts = "prompts/list": PageParams => ListPromptsResult;
    /// Fills a prompt in.
    GetPrompt = "prompts/get": GetPromptParams => GetPromptResult;
}

notifications! {
    /// The list of prompts changed.
    PromptListChanged = "notifications/prompts/list_changed": EmptyParams;
}
