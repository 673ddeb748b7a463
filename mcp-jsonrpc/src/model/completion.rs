//! Completing arguments while the user types.

use super::meta::Meta;
use crate::json::ordered_map::OrderedMap;
use crate::message::method::methods;
use crate::message::result_body::{ResultType, results};
use crate::wire::object::object;
use crate::wire::tagged::tagged;

object! {
    /// Completes an argument.
    pub struct CompleteParams {
        required {
            /// The prompt or resource template of the argument.
            reference: CompletionReference = "ref",
            /// The argument as typed so far.
            argument: CompletionArgument = "argument",
        }
        optional {
            /// Other arguments' values (2025-06-18 and later).
            context: CompletionContext = "context",
            /// Metadata of the message.
            meta: Meta = "_meta",
        }
    }
}

tagged! {
    /// The prompt or resource template of an argument.
    pub enum CompletionReference by "type" {
        /// A prompt.
        Prompt(PromptReference) = "ref/prompt",
        /// A resource template.
        Resource(ResourceReference) = "ref/resource",
    }
}

object! {
    /// A prompt, by its name.
    pub struct PromptReference tag "type" = "ref/prompt" {
        required {
            /// The prompt's name.
            name: String = "name",
        }
        optional {
            /// The display name (2025-06-18 and later).
            title: String = "title",
        }
    }
}

object! {
    /// A resource template, by its URI template.
    pub struct ResourceReference tag "type" = "ref/resource" {
        required {
            /// The URI or URI template.
            uri: String = "uri",
        }
    }
}

object! {
    /// An argument as typed so far.
    pub struct CompletionArgument {
        required {
            /// Its name.
            name: String = "name",
            /// The text typed so far.
            value: String = "value",
        }
    }
}

object! {
    /// Other arguments' values when an argument is completed.
    pub struct CompletionContext {
        optional {
            /// The arguments that already have a value.
            arguments: OrderedMap<String> = "arguments",
        }
    }
}

object! {
    /// Completions of the argument.
    pub struct CompleteResult {
        required {
            /// The proposals.
            completion: Completion = "completion",
        }
        optional {
            /// The kind of result (2026-07-28).
            result_type: ResultType = "resultType",
            /// Metadata of the result.
            meta: Meta = "_meta",
        }
    }
}

results!(CompleteResult);

object! {
    /// Proposals for an argument.
    pub struct Completion {
        required {
            /// At most 100 of them.
            values: Vec<String> = "values",
        }
        optional {
            /// The total number of proposals.
            total: i64 = "total",
            /// Whether there are more than these.
            has_more: bool = "hasMore",
        }
    }
}

methods! {
    /// Completes an argument.
    Complete = "completion/complete": CompleteParams => CompleteResult;
}
