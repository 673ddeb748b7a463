//! What servers offer: tools, resources, prompts, completion.

use mcp_jsonrpc::model::experimental_task::{TaskMetadata, TaskSupport, ToolExecution};
use mcp_jsonrpc::model::*;
use mcp_jsonrpc::{RawObject, Revision, TaskForm};
use serde_json::json;

use super::client_side::input_responses;
use super::content::{annotations, block, icons, resource_contents, role};
use super::lifecycle::{cache_scope, complete, request_meta, result_meta, ttl_ms};
use super::{Gen, made};

pub(crate) fn has_experimental_tasks(revision: Revision) -> bool {
    revision.has_tasks() == TaskForm::Experimental
}

pub(crate) fn task_metadata(g: &mut Gen) -> TaskMetadata {
    made!(g, TaskMetadata::default(), { ttl: g.maybe(Gen::size) })
}

pub(crate) fn object_schema(g: &mut Gen) -> RawObject {
    let mut schema = json!({ "type": "object" });
    if g.bool() {
        schema["properties"] = json!({ "b": { "type": "string" }, "a": g.object() });
    }
    if g.bool() {
        schema["required"] = json!(["b"]);
    }
    if g.revision.has_default_dialect() && g.bool() {
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    }
    RawObject::from_serialize(&schema).unwrap()
}

pub(crate) fn tool_annotations(g: &mut Gen) -> ToolAnnotations {
    made!(g, ToolAnnotations::default(), {
        title: g.maybe(Gen::text),
        read_only_hint: g.maybe(Gen::bool),
        destructive_hint: g.maybe(Gen::bool),
        idempotent_hint: g.maybe(Gen::bool),
        open_world_hint: g.maybe(Gen::bool),
    })
}

pub(crate) fn tool_execution(g: &mut Gen) -> ToolExecution {
    made!(g, ToolExecution::default(), {
        task_support: g.maybe(|g| {
            g.pick(&[TaskSupport::Forbidden, TaskSupport::Optional, TaskSupport::Required])
        }),
    })
}

pub(crate) fn tool(g: &mut Gen) -> Tool {
    made!(g, Tool::new(g.text(), object_schema(g)), {
        title: g.maybe_if(Revision::has_titles, Gen::text),
        description: g.maybe(Gen::text),
        output_schema: g.maybe_if(Revision::has_structured_output, object_schema),
        annotations: g.maybe_if(Revision::has_tool_annotations, tool_annotations),
        execution: g.maybe_if(has_experimental_tasks, tool_execution),
        icons: icons(g),
        meta: g.object_meta(),
    })
}

pub(crate) fn list_tools(g: &mut Gen) -> ListToolsResult {
    made!(g, ListToolsResult::new(g.list(tool)), {
        next_cursor: g.maybe(Gen::text),
        ttl_ms: ttl_ms(g),
        cache_scope: cache_scope(g),
        result_type: complete(g),
        meta: result_meta(g),
    })
}

pub(crate) fn call_tool(g: &mut Gen) -> CallToolParams {
    made!(g, CallToolParams::new(g.text()), {
        arguments: g.maybe(Gen::raw_object),
        task: g.maybe_if(has_experimental_tasks, task_metadata),
        input_responses: g.maybe_if(Revision::has_input_required, input_responses),
        request_state: g.maybe_if(Revision::has_input_required, Gen::text),
        meta: request_meta(g),
    })
}

pub(crate) fn call_result(g: &mut Gen) -> CallToolResult {
    made!(g, CallToolResult::new(g.list(block)), {
        structured_content: g.maybe_if(Revision::has_structured_output, |g| {
            if g.revision.has_any_structured_output() { g.raw() } else { g.raw_object().into() }
        }),
        is_error: g.maybe(Gen::bool),
        result_type: complete(g),
        meta: result_meta(g),
    })
}

pub(crate) fn resource(g: &mut Gen) -> Resource {
    made!(g, Resource::new(g.uri(), g.text()), {
        title: g.maybe_if(Revision::has_titles, Gen::text),
        description: g.maybe(Gen::text),
        mime_type: g.maybe(Gen::mime),
        size: g.maybe(Gen::size),
        icons: icons(g),
        annotations: g.maybe(annotations),
        meta: g.object_meta(),
    })
}

pub(crate) fn resource_template(g: &mut Gen) -> ResourceTemplate {
    made!(g, ResourceTemplate::new("file:///{path}", g.text()), {
        title: g.maybe_if(Revision::has_titles, Gen::text),
        description: g.maybe(Gen::text),
        mime_type: g.maybe(Gen::mime),
        icons: icons(g),
        annotations: g.maybe(annotations),
        meta: g.object_meta(),
    })
}

pub(crate) fn list_resources(g: &mut Gen) -> ListResourcesResult {
    made!(g, ListResourcesResult::new(g.list(resource)), {
        next_cursor: g.maybe(Gen::text),
        ttl_ms: ttl_ms(g),
        cache_scope: cache_scope(g),
        result_type: complete(g),
        meta: result_meta(g),
    })
}

pub(crate) fn list_templates(g: &mut Gen) -> ListResourceTemplatesResult {
    made!(g, ListResourceTemplatesResult::new(g.list(resource_template)), {
        next_cursor: g.maybe(Gen::text),
        ttl_ms: ttl_ms(g),
        cache_scope: cache_scope(g),
        result_type: complete(g),
        meta: result_meta(g),
    })
}

pub(crate) fn read_resource(g: &mut Gen) -> ReadResourceParams {
    made!(g, ReadResourceParams::new(g.uri()), {
        input_responses: g.maybe_if(Revision::has_input_required, input_responses),
        request_state: g.maybe_if(Revision::has_input_required, Gen::text),
        meta: request_meta(g),
    })
}

pub(crate) fn read_result(g: &mut Gen) -> ReadResourceResult {
    made!(g, ReadResourceResult::new(g.list(resource_contents)), {
        ttl_ms: ttl_ms(g),
        cache_scope: cache_scope(g),
        result_type: complete(g),
        meta: result_meta(g),
    })
}

pub(crate) fn subscribe(g: &mut Gen) -> SubscribeParams {
    made!(g, SubscribeParams::new(g.uri()), { meta: request_meta(g) })
}

pub(crate) fn resource_updated(g: &mut Gen) -> ResourceUpdatedParams {
    made!(g, ResourceUpdatedParams::new(g.uri()), { meta: super::lifecycle::notification_meta(g) })
}

pub(crate) fn prompt_argument(g: &mut Gen) -> PromptArgument {
    made!(g, PromptArgument::new(g.text()), {
        title: g.maybe_if(Revision::has_titles, Gen::text),
        description: g.maybe(Gen::text),
        required: g.maybe(Gen::bool),
    })
}

pub(crate) fn prompt(g: &mut Gen) -> Prompt {
    made!(g, Prompt::new(g.text()), {
        title: g.maybe_if(Revision::has_titles, Gen::text),
        description: g.maybe(Gen::text),
        arguments: g.maybe(|g| g.list(prompt_argument)),
        icons: icons(g),
        meta: g.object_meta(),
    })
}

pub(crate) fn list_prompts(g: &mut Gen) -> ListPromptsResult {
    made!(g, ListPromptsResult::new(g.list(prompt)), {
        next_cursor: g.maybe(Gen::text),
        ttl_ms: ttl_ms(g),
        cache_scope: cache_scope(g),
        result_type: complete(g),
        meta: result_meta(g),
    })
}

pub(crate) fn get_prompt(g: &mut Gen) -> GetPromptParams {
    made!(g, GetPromptParams::new(g.text()), {
        arguments: g.maybe(|g| g.map(Gen::text)),
        input_responses: g.maybe_if(Revision::has_input_required, input_responses),
        request_state: g.maybe_if(Revision::has_input_required, Gen::text),
        meta: request_meta(g),
    })
}

pub(crate) fn prompt_message(g: &mut Gen) -> PromptMessage {
    made!(g, PromptMessage::new(role(g), block(g)))
}

pub(crate) fn prompt_result(g: &mut Gen) -> GetPromptResult {
    made!(g, GetPromptResult::new(g.list(prompt_message)), {
        description: g.maybe(Gen::text),
        result_type: complete(g),
        meta: result_meta(g),
    })
}

pub(crate) fn prompt_reference(g: &mut Gen) -> PromptReference {
    made!(g, PromptReference::new(g.text()), { title: g.maybe_if(Revision::has_titles, Gen::text) })
}

pub(crate) fn resource_reference(g: &mut Gen) -> ResourceReference {
    made!(g, ResourceReference::new("file:///{path}"))
}

pub(crate) fn complete_params(g: &mut Gen) -> CompleteParams {
    let reference: CompletionReference = if g.bool() {
        prompt_reference(g).into()
    } else {
        resource_reference(g).into()
    };
    let argument = made!(g, CompletionArgument::new(g.text(), g.text()));
    made!(g, CompleteParams::new(reference, argument), {
        context: g.maybe_if(Revision::has_completion_context, |g| {
            made!(g, CompletionContext::default(), { arguments: g.maybe(|g| g.map(Gen::text)) })
        }),
        meta: request_meta(g),
    })
}

pub(crate) fn complete_result(g: &mut Gen) -> CompleteResult {
    let completion = made!(g, Completion::new(g.list(Gen::text)), {
        total: g.maybe(Gen::size),
        has_more: g.maybe(Gen::bool),
    });
    made!(g, CompleteResult::new(completion), { result_type: complete(g), meta: result_meta(g) })
}
