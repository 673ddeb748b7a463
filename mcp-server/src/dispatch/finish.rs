//! The final form of a result: adds what the client's revision requires, and removes what it does not know.

use bytes::Bytes;
use mcp_jsonrpc::model::experimental_task as experimental;
use mcp_jsonrpc::model::task::Task;
use mcp_jsonrpc::model::{
    CallToolResult, CompleteResult, DiscoverResult, EmptyResult, GetPromptResult, GetSkillResult,
    InitializeResult, InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, Meta, ReadResourceResult, meta_key,
};
use mcp_jsonrpc::{ResultType, Revision, TaskForm, make_one_line};
use serde::Serialize;

use crate::server::shared::Shared;

/// A result on its way out.
pub(crate) trait Finish: Serialize {
    fn finish(&mut self, revision: Revision, shared: &Shared);
}

/// The result as JSON on one line, for a client of this revision.
pub(crate) fn finished(
    mut result: impl Finish,
    revision: Revision,
    shared: &Shared,
) -> Result<Bytes, serde_json::Error> {
    result.finish(revision, shared);
    let mut json = serde_json::to_vec(&result)?;
    // Messages are lines of a stream.
    make_one_line(&mut json);
    Ok(json.into())
}

fn set_envelope(
    kind: &mut Option<ResultType>,
    meta: &mut Option<Meta>,
    revision: Revision,
    shared: &Shared,
) {
    if revision.has_result_type() {
        kind.get_or_insert(ResultType::Complete);
        let meta = meta.get_or_insert_default();
        if !meta.contains_key(meta_key::SERVER_INFO) {
            meta.insert(meta_key::SERVER_INFO, shared.info_json.clone());
        }
    } else {
        *kind = None;
    }
}

macro_rules! plain {
    ($($Type:ty),*) => {$(
        impl Finish for $Type {
            fn finish(&mut self, revision: Revision, shared: &Shared) {
                set_envelope(&mut self.result_type, &mut self.meta, revision, shared);
            }
        }
    )*};
}

macro_rules! cacheable {
    ($($Type:ty $(, $more:ident)?);*) => {$(
        impl Finish for $Type {
            fn finish(&mut self, revision: Revision, shared: &Shared) {
                set_envelope(&mut self.result_type, &mut self.meta, revision, shared);
                if revision.has_caching() {
                    self.ttl_ms.get_or_insert(shared.cache.ttl_ms);
                    self.cache_scope.get_or_insert_with(|| shared.cache.scope.clone());
                } else {
                    self.ttl_ms = None;
                    self.cache_scope = None;
                }
                $($more(self, revision);)?
            }
        }
    )*};
}

plain!(
    CompleteResult,
    EmptyResult,
    GetPromptResult,
    InitializeResult,
    InputRequiredResult,
    Task
);

cacheable!(
    DiscoverResult;
    GetSkillResult;
    ListPromptsResult;
    ListResourceTemplatesResult;
    ListResourcesResult;
    ListSkillsResult;
    ListToolsResult, adapt_tools;
    ReadResourceResult
);

/// Leaves out of a list of tools what the revision does not know.
fn adapt_tools(list: &mut ListToolsResult, revision: Revision) {
    for tool in &mut list.tools {
        if revision.has_tasks() != TaskForm::Experimental {
            tool.execution = None;
        }
        let keeps_output = revision.has_any_structured_output()
            || revision.has_structured_output()
                && tool.output_schema.as_ref().is_some_and(describes_object);
        if !keeps_output {
            tool.output_schema = None;
        }
        if !revision.has_tool_annotations() {
            tool.annotations = None;
        }
    }
}

fn describes_object(schema: &mcp_jsonrpc::RawObject) -> bool {
    #[derive(serde::Deserialize)]
    struct Root {
        r#type: serde_json::Value,
    }
    schema
        .parse::<Root>()
        .is_ok_and(|root| root.r#type == "object")
}

impl Finish for CallToolResult {
    fn finish(&mut self, revision: Revision, shared: &Shared) {
        set_envelope(&mut self.result_type, &mut self.meta, revision, shared);
        let keeps_structured = revision.has_any_structured_output()
            || revision.has_structured_output()
                && self
                    .structured_content
                    .as_ref()
                    .is_some_and(|it| it.is_object());
        if !keeps_structured {
            self.structured_content = None;
        }
    }
}

macro_rules! untouched {
    ($($Type:ty),*) => {$(
        impl Finish for $Type {
            fn finish(&mut self, _: Revision, _: &Shared) {}
        }
    )*};
}

untouched!(
    experimental::CreateTaskResult,
    experimental::ListTasksResult,
    experimental::Task
);
