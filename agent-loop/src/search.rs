//! Many tools: searched for instead of listed.

use mcp_jsonrpc::RawObject;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tool::ToolInfo;

/// The server name of the loop's own tools.
pub(crate) const BUILT_IN: &str = "built-in";
/// Finds tools.
pub(crate) const SEARCH: &str = "tool_search";
/// Calls a tool that was found.
pub(crate) const CALL: &str = "tool_call";
/// How many tools a search shows at most.
pub(crate) const SHOWN: usize = 8;

/// When tools are searched for instead of listed.
///
/// ```
/// use agent_loop::Deferral;
///
/// let deferral = Deferral::default().with_context_tokens(1_000_000).with_always("get_time");
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Deferral {
    tools: usize,
    context_tokens: usize,
    context_percent: usize,
    always: Vec<String>,
}

impl Default for Deferral {
    fn default() -> Self {
        Self {
            tools: 30,
            context_tokens: 128_000,
            context_percent: 10,
            always: Vec::new(),
        }
    }
}

impl Deferral {
    /// Never: every tool is listed, as far as the provider takes them.
    pub fn never() -> Self {
        Self {
            tools: usize::MAX,
            context_tokens: usize::MAX,
            context_percent: 100,
            always: Vec::new(),
        }
    }

    /// The most tools that are listed. 30 by default.
    #[must_use]
    pub fn with_tools(mut self, tools: usize) -> Self {
        self.tools = tools;
        self
    }

    /// How much the model can read, in tokens. 128,000 by default; the tools may take a tenth.
    #[must_use]
    pub fn with_context_tokens(mut self, tokens: usize) -> Self {
        self.context_tokens = tokens;
        self
    }

    /// The share of the context that the tools may take, in percent. 10 by default.
    #[must_use]
    pub fn with_context_percent(mut self, percent: usize) -> Self {
        self.context_percent = percent;
        self
    }

    /// With a tool, by the name the model sees, that is always listed.
    #[must_use]
    pub fn with_always(mut self, name: impl Into<String>) -> Self {
        self.always.push(name.into());
        self
    }

    /// Whether there are too many of these to list.
    pub(crate) fn applies(&self, tools: &[ToolInfo]) -> bool {
        let allowed = (self.context_tokens / 100).saturating_mul(self.context_percent);
        tools.len() > self.tools || tools.iter().map(tokens).sum::<usize>() > allowed
    }

    pub(crate) fn keeps(&self, tool: &ToolInfo) -> bool {
        tool.always_load || self.always.contains(&tool.name)
    }
}

/// About how many tokens a tool's definition costs.
fn tokens(tool: &ToolInfo) -> usize {
    12 + tool_schema::estimate_tokens(&tool.name)
        + tool_schema::estimate_tokens(tool.description.as_deref().unwrap_or_default())
        + tool_schema::estimate_tokens(tool.input_schema.get())
}

/// The two tools that stand for all others.
pub(crate) fn stand_ins() -> [ToolInfo; 2] {
    let search = json!({
        "type": "object",
        "properties": {"query": {
            "type": "string",
            "description": "What the tool should do, in a few words.",
        }},
        "required": ["query"],
        "additionalProperties": false,
    });
    let call = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The tool's name, as tool_search told it."},
            "arguments": {
                "type": "object",
                "description": "Its arguments, by the schema that tool_search told.",
            },
        },
        "required": ["name", "arguments"],
    });
    [
        built_in(
            SEARCH,
            &search,
            "Finds tools by what they do and tells their names and arguments. Many more tools \
             exist than are listed: search before you say that something cannot be done.",
        ),
        built_in(CALL, &call, "Calls a tool that tool_search found."),
    ]
}

/// A tool of the loop's own: harmless, and known.
pub(crate) fn built_in(name: &str, schema: &Value, description: &str) -> ToolInfo {
    let schema = RawObject::from_serialize(schema).unwrap_or_else(|_| RawObject::empty());
    let mut tool = ToolInfo::new(BUILT_IN, name, schema)
        .with_description(description)
        .with_fingerprint(name)
        .read_only();
    tool.parallel = true;
    tool
}

/// What a call of the stand-in is about: the tool's name and its arguments.
#[derive(Deserialize)]
pub(crate) struct Inner {
    pub(crate) name: String,
    #[serde(default = "RawObject::empty")]
    pub(crate) arguments: RawObject,
}

/// What a search is about.
#[derive(Deserialize)]
pub(crate) struct Query {
    pub(crate) query: String,
}

/// What a search tells the model.
pub(crate) fn findings(tools: &[ToolInfo], found: &[usize]) -> String {
    #[derive(Serialize)]
    struct Finding<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        arguments: &'a RawObject,
    }
    let lines: Vec<String> = found
        .iter()
        .filter_map(|at| tools.get(*at))
        .filter_map(|tool| {
            let finding = Finding {
                name: &tool.name,
                description: tool.description.as_deref(),
                arguments: &tool.input_schema,
            };
            serde_json::to_string(&finding).ok()
        })
        .collect();
    if lines.is_empty() {
        return "No tool fits. Search again in other words.".to_owned();
    }
    lines.join("\n")
}

/// The tools that fit best by the words they share with `query`, best first; ties in order.
pub(crate) fn rank(tools: &[ToolInfo], query: &str, limit: usize) -> Vec<usize> {
    let wanted = words(query);
    let mut scored: Vec<(usize, usize)> = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        let name = words(&tool.name);
        let about = words(tool.description.as_deref().unwrap_or_default());
        let score: usize = wanted
            .iter()
            .map(|word| {
                let hit = |text: &[String], exact, part| {
                    if text.contains(word) {
                        exact
                    } else if text.iter().any(|other| other.starts_with(word.as_str())) {
                        part
                    } else {
                        0
                    }
                };
                hit(&name, 6, 3) + hit(&about, 2, 1)
            })
            .sum();
        if score > 0 {
            scored.push((score, at));
        }
    }
    scored.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    scored.into_iter().take(limit).map(|(_, at)| at).collect()
}

/// The words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}
