//! The gateway's own tools: `tool_search` and `tool_call` in place of a long list, and `read_output`.

use std::sync::Arc;

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{CallToolParams, CallToolResult, ContentBlock, Tool, ToolAnnotations};
use mcp_server::{Context, Error};
use parking_lot::Mutex;
use serde_json::Value;
use tool_policy::{
    CALL, MAX_FOUND, MetaCall, READ, SEARCH, SearchIndex, ToolInfo, reader, search_results,
    stand_ins,
};

use crate::catalog::outputs::Outputs;
use crate::catalog::routes::Merged;
use crate::gateway::Shared;

/// Which of them there are.
#[derive(Default)]
pub(crate) struct MetaTools {
    /// Lists longer than this, in bytes of JSON, are replaced.
    pub(crate) lazy_above: Option<usize>,
    pub(crate) outputs: Option<Outputs>,
    index: Mutex<Option<Indexed>>,
}

type Indexed = (Arc<Merged<Tool>>, Arc<SearchIndex>);

/// What a call of one of them comes to.
pub(crate) enum MetaOutcome {
    Done(CallToolResult),
    /// Call this tool instead.
    Instead(CallToolParams),
}

impl MetaTools {
    pub(crate) fn new(lazy_above: Option<usize>, result_cap: Option<usize>) -> Self {
        Self {
            lazy_above,
            outputs: result_cap.map(Outputs::new),
            index: Mutex::default(),
        }
    }

    /// Whether a name is one of theirs; no server's tool has it then.
    pub(crate) fn has(&self, name: &str) -> bool {
        match name {
            SEARCH | CALL => self.lazy_above.is_some(),
            READ => self.outputs.is_some(),
            _ => false,
        }
    }

    /// Replaces a list that is too long, and adds what reads long results.
    pub(crate) fn adjust(&self, tools: &mut Vec<Tool>) {
        tools.retain(|tool| !self.has(&tool.name));
        if let Some(limit) = self.lazy_above {
            let size = |tool: &Tool| serde_json::to_vec(tool).map_or(0, |json| json.len());
            if tools.iter().map(size).sum::<usize>() > limit {
                *tools = stand_ins().map(listed).into();
            }
        }
        if self.outputs.is_some() {
            for tool in tools.iter_mut() {
                // A shortened result has no structured content.
                tool.output_schema = None;
            }
            tools.push(listed(reader()));
        }
    }

    fn index(&self, tools: &Arc<Merged<Tool>>) -> Arc<SearchIndex> {
        let mut indexed = self.index.lock();
        if let Some((of, index)) = &*indexed
            && Arc::ptr_eq(of, tools)
        {
            return Arc::clone(index);
        }
        let infos: Vec<ToolInfo> = tools.items.iter().map(|tool| info(tools, tool)).collect();
        let index: Arc<SearchIndex> = Arc::new(infos.iter().collect());
        *indexed = Some((Arc::clone(tools), Arc::clone(&index)));
        index
    }
}

impl Shared {
    /// Makes a call of one of the gateway's own tools; `None` if the name is not one of theirs.
    pub(crate) fn call_meta_tool(
        &self,
        params: &CallToolParams,
        cx: &Context,
    ) -> Result<Option<MetaOutcome>, Error> {
        if !self.meta_tools.has(&params.name) {
            return Ok(None);
        }
        let none = RawObject::empty();
        let arguments = params.arguments.as_ref().unwrap_or(&none);
        let call = MetaCall::parse(&params.name, arguments)
            .map_err(|error| Error::failed(error.to_string()))?;
        Ok(Some(match call {
            MetaCall::Search { query } => {
                let found = self.search(&query, cx);
                let text = search_results(&found);
                MetaOutcome::Done(CallToolResult::new(vec![ContentBlock::text(text)]))
            }
            MetaCall::Call { name, arguments } => {
                let tools = self.known(&self.tools);
                let found = tools.find(&name).zip(tools.route(&name));
                let Some((tool, (server, own))) = found else {
                    return Err(self.unknown("tool", &name, cx));
                };
                // The schema is shown to those only who may use the tool.
                self.permit_tool(server, own, cx)?;
                check(tool, &arguments)?;
                let mut instead = CallToolParams::new(name);
                instead.arguments = Some(arguments);
                instead.meta.clone_from(&params.meta);
                MetaOutcome::Instead(instead)
            }
            MetaCall::Read { id, offset, length } => match &self.meta_tools.outputs {
                Some(outputs) => MetaOutcome::Done(outputs.read(&id, offset, length, cx)?),
                None => return Err(Error::unknown_tool(&params.name)),
            },
            _ => return Err(Error::unknown_tool(&params.name)),
        }))
    }

    /// The tools that fit best, of those that the caller may call.
    fn search(&self, query: &str, cx: &Context) -> Vec<ToolInfo> {
        let tools = self.known(&self.tools);
        let hits = self
            .meta_tools
            .index(&tools)
            .search(query, tools.items.len());
        let mut found = Vec::new();
        for hit in hits {
            let Some(tool) = tools.items.get(hit.position) else {
                continue;
            };
            let mut offered = vec![tool.clone()];
            self.retain_offered(&mut offered, cx);
            if !offered.is_empty() {
                found.push(info(&tools, tool));
            }
            if found.len() >= MAX_FOUND {
                break;
            }
        }
        found
    }
}

/// A tool as a search finds it.
fn info(tools: &Merged<Tool>, tool: &Tool) -> ToolInfo {
    let (server, name) = match tools.route(&tool.name) {
        Some((server, name)) => (server.as_str(), name),
        None => ("", tool.name.as_str()),
    };
    let info = ToolInfo::new(server, name, tool.input_schema.clone()).with_name(&*tool.name);
    match &tool.description {
        Some(text) => info.with_description(text.as_str()),
        None => info,
    }
}

/// One of the gateway's own tools as clients see it.
fn listed(info: ToolInfo) -> Tool {
    let mut tool = Tool::new(&*info.tool, info.input_schema);
    tool.description = info.description;
    let mut annotations = ToolAnnotations::default();
    // What `tool_call` does is up to the tool that it calls.
    annotations.read_only_hint = Some(info.tool != CALL);
    tool.annotations = Some(annotations);
    tool
}

/// Refuses arguments that lack what the schema requires, or are of another type, with the schema for
/// the model to read. The server checks the rest.
fn check(tool: &Tool, arguments: &RawObject) -> Result<(), Error> {
    let schema: Value = tool.input_schema.parse()?;
    let arguments: Value = arguments.parse()?;
    let refuse = |problem: String| {
        let (name, schema) = (&tool.name, tool.input_schema.get());
        Error::failed(format!(
            "{name} was not called: {problem}. Its arguments: {schema}"
        ))
    };
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if arguments.get(name).is_none() {
            return Err(refuse(format!("the argument {name:?} is missing")));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if let (Some(value), Some(Value::String(kind))) =
            (arguments.get(name), property.get("type"))
            && !is_of(value, kind)
        {
            return Err(refuse(format!(
                "the argument {name:?} must be of type {kind}"
            )));
        }
    }
    Ok(())
}

/// Whether a value is of one of JSON Schema's types; an unknown type refuses nothing.
fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    }
}
