//! Compilation of all tools of a request.

use serde_json::Value;

use crate::{
    CompileLimits, Compiled, Names, NotStrict, Quarantine, StrictLimits, Target,
    compile::strictness::is_beyond,
    compile::tokens,
    compile::{compile_within, not_strict},
};

/// A tool as described by its server.
#[derive(Clone, Copy, Debug)]
pub struct Tool<'a> {
    /// The server of the tool.
    pub server: &'a str,
    /// Its name in the catalogue.
    pub name: &'a str,
    /// Its description; may be empty.
    pub description: &'a str,
    /// The schema of its arguments.
    pub schema: &'a Value,
}

/// One tool of a [`ToolList`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListedTool {
    /// Its server.
    pub server: String,
    /// Its name as the provider sees it.
    pub name: String,
    /// The compiled schema, or the reason why the tool is omitted.
    pub outcome: Result<Compiled, Quarantine>,
    /// The approximate number of tokens of its definition; 0 if it is omitted.
    pub tokens: usize,
}

/// The tools of a request, compiled for one target, in the order given.
///
/// The same tools give the same list, byte for byte, so that a provider's prompt cache remains valid.
#[derive(Clone, Debug)]
pub struct ToolList {
    tools: Vec<ListedTool>,
    names: Names,
    max_tools: Option<usize>,
}

/// Compiles tools one by one: an invalid tool is quarantined and does not affect the others. Where the target limits
/// what one request may enforce, the first tools within the limits are strict and the others are not.
///
/// ```
/// use serde_json::json;
/// use tool_schema::{Target, Tool, compile_tools};
///
/// let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
/// let tool = Tool { server: "web", name: "web.search", description: "Searches.", schema: &schema };
/// let list = compile_tools(&[tool], &Target::OPENAI);
/// let name = &list.tools()[0].name;
/// assert_eq!(list.position(name), Some(0));
/// assert_eq!(list.excess(), 0);
/// ```
pub fn compile_tools(tools: &[Tool<'_>], target: &Target) -> ToolList {
    compile_tools_within(tools, target, &CompileLimits::default())
}

/// Like [`compile_tools`], with custom limits for each tool.
pub fn compile_tools_within(
    tools: &[Tool<'_>],
    target: &Target,
    limits: &CompileLimits,
) -> ToolList {
    let names = Names::new(target.tool_names, tools.iter().map(|tool| tool.name));
    let mut spent = Spent::default();
    let listed = tools.iter().enumerate().map(|(position, tool)| {
        let mut outcome = compile_within(tool.schema, target, limits);
        if let (Ok(compiled), Some((strict, otherwise))) = (&outcome, &target.strict)
            && compiled.strict
            && let Err(reasons) = spent.admit(compiled, strict)
        {
            outcome = not_strict(tool.schema, otherwise, limits, reasons);
        }
        let name = names.exposed(position).unwrap_or(tool.name).to_owned();
        let tokens = outcome.as_ref().map_or(0, |compiled| {
            tokens::definition(&name, tool.description, compiled.schema.as_ref())
        });
        ListedTool {
            server: tool.server.to_owned(),
            name,
            outcome,
            tokens,
        }
    });
    let tools = listed.collect();
    ToolList {
        tools,
        names,
        max_tools: target.max_tools,
    }
}

/// The use that the strict tools so far make of a request's limits.
#[derive(Default)]
struct Spent {
    tools: usize,
    optional: usize,
    unions: usize,
}

impl Spent {
    /// Adds one more tool, or returns the limits that do not allow it.
    fn admit(&mut self, compiled: &Compiled, limits: &StrictLimits) -> Result<(), Vec<NotStrict>> {
        let after = Self {
            tools: self.tools + 1,
            optional: self.optional + compiled.uses.optional,
            unions: self.unions + compiled.uses.unions,
        };
        let counts = [
            ("strict tools", after.tools, limits.tools),
            ("optional properties", after.optional, limits.optional),
            ("unions", after.unions, limits.unions),
        ];
        let full = counts.into_iter().filter_map(|(of, used, limit)| {
            is_beyond(used, limit).then_some(NotStrict::RequestFull { of, used, limit })
        });
        let reasons: Vec<NotStrict> = full.collect();
        if reasons.is_empty() {
            *self = after;
            Ok(())
        } else {
            Err(reasons)
        }
    }
}

impl ToolList {
    /// The tools, in the order given, quarantined ones included.
    pub fn tools(&self) -> &[ListedTool] {
        &self.tools
    }

    /// The position of the tool the provider calls `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.position(name)
    }

    /// The names that had to change, and their originals.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The number of tools beyond the provider's maximum for one request. They are listed nonetheless: the caller
    /// chooses which to omit.
    pub fn excess(&self) -> usize {
        let callable = self
            .tools
            .iter()
            .filter(|tool| tool.outcome.is_ok())
            .count();
        self.max_tools.map_or(0, |max| callable.saturating_sub(max))
    }

    /// The approximate number of tokens of all definitions.
    pub fn tokens(&self) -> usize {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }

    /// The approximate number of tokens of each server's definitions, in order of first appearance.
    pub fn tokens_by_server(&self) -> Vec<(&str, usize)> {
        let mut totals: Vec<(&str, usize)> = Vec::new();
        for tool in &self.tools {
            match totals.iter_mut().find(|(server, _)| *server == tool.server) {
                Some((_, total)) => *total += tool.tokens,
                None => totals.push((&tool.server, tool.tokens)),
            }
        }
        totals
    }
}
