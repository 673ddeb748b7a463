//! The tools of a request, compiled for one provider.

use std::collections::HashMap;

use mcp_jsonrpc::RawObject;
use serde_json::{Value, json};
use tool_schema::{Restore, Target, Tool, compile_tools};

use crate::conversation::arguments::Arguments;
use crate::json::big_number;
use crate::request::tool::ToolSpec;

/// Tools compiled for one provider: accepted names and schemas, and the reverse conversion.
///
/// Create it once and use it for every request: the same tools give the same bytes.
///
/// ```
/// use provider_adapters::{Adapter, OpenAiChat, ToolSpec};
///
/// let schema = serde_json::from_str(r#"{"type":"object","properties":{"q":{"type":"string"}}}"#)?;
/// let tools = OpenAiChat::default().tools(&[ToolSpec::new("web.search", schema)]);
/// assert_eq!(tools.len(), 1);
/// assert!(tools.left_out().is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolSet {
    tools: Vec<CompiledTool>,
    specs: Vec<ToolSpec>,
    by_name: HashMap<String, usize>,
    by_wire: HashMap<String, usize>,
    left_out: Vec<LeftOut>,
    rule: Option<tool_schema::NameRule>,
}

/// A tool compiled for one provider.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompiledTool {
    /// Its name.
    pub name: String,
    /// Its name on the wire.
    pub wire_name: String,
    /// Its description, for the model.
    pub description: Option<String>,
    /// The compiled schema of its arguments; `None` where the wire requires none.
    pub schema: Option<RawObject>,
    /// Whether to ask the provider to enforce the schema.
    pub strict: bool,
    /// Whether the model sees it only after searching for it.
    pub deferred: bool,
    restore: Restore,
}

#[cfg(feature = "http")]
impl CompiledTool {
    /// The whole definition: another definition under the same name is another tool.
    pub(crate) fn fingerprint(&self) -> String {
        let schema = self.schema.as_ref().map_or("", RawObject::get);
        format!(
            "{}\n{}\n{schema}",
            self.wire_name,
            self.description.as_deref().unwrap_or_default()
        )
    }
}

/// A tool that is not sent, with the reason.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct LeftOut {
    /// The tool's name.
    pub name: String,
    /// The reason why it is omitted.
    pub reason: String,
}

impl ToolSet {
    /// Compiles tools for a target. A tool that cannot be compiled, or that exceeds the provider's maximum number, is
    /// omitted; the others are not affected.
    pub fn compile(tools: &[ToolSpec], target: &Target) -> Self {
        let schemas: Vec<Value> = tools
            .iter()
            .map(|tool| tool.input_schema.parse().unwrap_or_default())
            .collect();
        let listed: Vec<Tool<'_>> = tools
            .iter()
            .zip(&schemas)
            .map(|(tool, schema)| Tool {
                server: "",
                name: &tool.name,
                description: tool.description.as_deref().unwrap_or_default(),
                schema,
            })
            .collect();
        let list = compile_tools(&listed, target);
        let mut set = Self {
            rule: Some(target.tool_names()),
            specs: tools.to_vec(),
            ..Self::default()
        };
        for (spec, listed) in tools.iter().zip(list.tools()) {
            let full = target.max_tools().is_some_and(|max| set.tools.len() >= max);
            match &listed.outcome {
                _ if full => set.leave_out(&spec.name, "the provider takes no more tools"),
                _ if set.by_name.contains_key(&spec.name) => {
                    set.leave_out(&spec.name, "another tool has the same name");
                }
                Err(quarantine) => set.leave_out(&spec.name, &quarantine.to_string()),
                Ok(compiled) => {
                    let schema = compiled.schema.clone().map(with_required);
                    let at = set.tools.len();
                    set.by_name.insert(spec.name.clone(), at);
                    set.by_wire.insert(listed.name.clone(), at);
                    set.tools.push(CompiledTool {
                        name: spec.name.clone(),
                        wire_name: listed.name.clone(),
                        description: spec.description.clone(),
                        schema: schema.and_then(|schema| RawObject::from_serialize(&schema).ok()),
                        strict: compiled.strict,
                        deferred: spec.deferred,
                        restore: compiled.restore.clone(),
                    });
                }
            }
        }
        set
    }

    /// The number of tools sent.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether no tools are sent.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The names of the tools sent, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name.as_str())
    }

    /// The tools that are not sent.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The original tools, to compile them for another provider.
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// The same tools without one of them.
    #[must_use]
    pub fn without(&self, name: &str, reason: &str) -> Self {
        let mut set = Self {
            rule: self.rule,
            left_out: self.left_out.clone(),
            specs: self.specs.clone(),
            ..Self::default()
        };
        set.specs.retain(|spec| spec.name != name);
        for tool in &self.tools {
            if tool.name == name {
                set.leave_out(name, reason);
            } else {
                let at = set.tools.len();
                set.by_name.insert(tool.name.clone(), at);
                set.by_wire.insert(tool.wire_name.clone(), at);
                set.tools.push(tool.clone());
            }
        }
        set
    }

    /// The tools sent, in order.
    pub fn compiled(&self) -> &[CompiledTool] {
        &self.tools
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    pub(crate) fn has_wire_name(&self, name: &str) -> bool {
        self.by_wire.contains_key(name)
    }

    /// A tool's name on the wire. A tool that is no longer in the set gets a valid name.
    pub fn wire_name(&self, name: &str) -> String {
        match self.by_name.get(name).and_then(|at| self.tools.get(*at)) {
            Some(tool) => tool.wire_name.clone(),
            None => self
                .rule
                .map_or_else(|| name.to_owned(), |rule| rule.fit(name)),
        }
    }

    /// A tool's own name, from its name on the wire.
    pub fn original_name<'a>(&'a self, wire: &'a str) -> &'a str {
        self.by_wire
            .get(wire)
            .and_then(|at| self.tools.get(*at))
            .map_or(wire, |tool| &tool.name)
    }

    /// Converts the model's arguments to those the tool expects.
    pub fn restore(&self, name: &str, arguments: Arguments) -> Arguments {
        self.convert(name, &arguments, Restore::apply)
            .unwrap_or(arguments)
    }

    /// Converts the arguments the tool expects to those the model would have written. `None` if they are the same.
    pub fn project(&self, name: &str, arguments: &RawObject) -> Option<RawObject> {
        let arguments = Arguments::from(arguments.clone());
        self.convert(name, &arguments, Restore::project)?
            .object()
            .cloned()
    }

    fn convert(
        &self,
        name: &str,
        arguments: &Arguments,
        way: impl FnOnce(&Restore, Value) -> Value,
    ) -> Option<Arguments> {
        let tool = self.by_name.get(name).and_then(|at| self.tools.get(*at))?;
        if tool.restore.is_identity() {
            return None;
        }
        let text = arguments.object()?.get();
        big_number::rewrite(text, |value| way(&tool.restore, value)).map(Arguments::read)
    }

    fn leave_out(&mut self, name: &str, reason: &str) {
        self.left_out.push(LeftOut {
            name: name.to_owned(),
            reason: reason.to_owned(),
        });
    }
}

/// Every provider takes a list of required names, and some ask for one even if it is empty.
fn with_required(mut schema: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        members.entry("required").or_insert_with(|| json!([]));
    }
    schema
}
