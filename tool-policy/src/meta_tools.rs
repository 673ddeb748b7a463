//! The built-in tools: two that replace a long list of tools, and one that reads long results.

use std::fmt;

use mcp_jsonrpc::RawObject;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tool::ToolInfo;

/// The reserved server name of the built-in tools.
pub const BUILT_IN: &str = "built-in";
/// The name of the tool that finds tools.
pub const SEARCH: &str = "tool_search";
/// The name of the tool that calls a tool that was found.
pub const CALL: &str = "tool_call";
/// The name of the tool that reads stored results.
pub const READ: &str = "read_output";
/// The maximum number of tools that a search returns.
pub const MAX_FOUND: usize = 8;

/// The number of bytes that `read_output` returns by default.
const DEFAULT_READ: usize = 20_000;
/// The maximum number of bytes that `read_output` returns.
const MAX_READ: usize = 40_000;

/// A call of a built-in tool, with its arguments checked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MetaCall {
    /// `tool_search`.
    Search {
        /// What the tool should do.
        query: String,
    },
    /// `tool_call`: judge and call this tool instead.
    Call {
        /// The tool, by the name the model sees.
        name: String,
        /// Its arguments, not checked yet.
        arguments: RawObject,
    },
    /// `read_output`.
    Read {
        /// The id of the stored text.
        id: String,
        /// The first byte.
        offset: usize,
        /// The number of bytes.
        length: usize,
    },
}

/// The error for an invalid call of a built-in tool.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InvalidMetaCall {
    /// There is no built-in tool of this name.
    UnknownTool(String),
    /// The arguments are invalid.
    Arguments(String),
}

impl fmt::Display for InvalidMetaCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTool(name) => write!(f, "there is no built-in tool {name:?}"),
            Self::Arguments(problem) => f.write_str(problem),
        }
    }
}

impl std::error::Error for InvalidMetaCall {}

impl MetaCall {
    /// Reads a call of the built-in tool `tool`.
    ///
    /// # Errors
    /// [`InvalidMetaCall`] if there is no such tool, or if its arguments are invalid.
    pub fn parse(tool: &str, arguments: &RawObject) -> Result<Self, InvalidMetaCall> {
        #[derive(Deserialize)]
        struct Search {
            query: String,
        }
        #[derive(Deserialize)]
        struct Call {
            name: String,
            #[serde(default = "RawObject::empty")]
            arguments: RawObject,
        }
        #[derive(Deserialize)]
        struct Read {
            id: String,
            #[serde(default)]
            offset: usize,
            length: Option<usize>,
        }
        let invalid = |error: serde_json::Error| InvalidMetaCall::Arguments(error.to_string());
        match tool {
            SEARCH => {
                let Search { query } = arguments.parse().map_err(invalid)?;
                Ok(Self::Search { query })
            }
            CALL => {
                let Call { name, arguments } = arguments.parse().map_err(invalid)?;
                Ok(Self::Call { name, arguments })
            }
            READ => {
                let Read { id, offset, length } = arguments.parse().map_err(invalid)?;
                let length = length.unwrap_or(DEFAULT_READ);
                if !(1..=MAX_READ).contains(&length) {
                    let problem = format!("\"length\" must be between 1 and {MAX_READ}");
                    return Err(InvalidMetaCall::Arguments(problem));
                }
                Ok(Self::Read { id, offset, length })
            }
            other => Err(InvalidMetaCall::UnknownTool(other.to_owned())),
        }
    }
}

/// The definitions of `tool_search` and `tool_call`, which replace a long list.
pub fn stand_ins() -> [ToolInfo; 2] {
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
            "name": {"type": "string", "description": "The tool's name, as returned by tool_search."},
            "arguments": {
                "type": "object",
                "description": "Its arguments, matching the schema returned by tool_search.",
            },
        },
        "required": ["name", "arguments"],
    });
    [
        built_in(
            SEARCH,
            &search,
            "Finds tools by what they do and returns their names and arguments. Many more tools \
             exist than are listed: search before you say that something cannot be done.",
        ),
        built_in(CALL, &call, "Calls a tool that tool_search found."),
    ]
}

/// The definition of `read_output`.
pub fn reader() -> ToolInfo {
    let schema = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The id given where the text was left out."},
            "offset": {"type": "integer", "minimum": 0, "description": "The byte to begin at; 0 if left out."},
            "length": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_READ,
                "description": format!("How many bytes; {DEFAULT_READ} if left out."),
            },
        },
        "required": ["id"],
        "additionalProperties": false,
    });
    let about = "Reads more of a tool's output that was too long to show.";
    built_in(READ, &schema, about)
}

fn built_in(name: &str, schema: &Value, description: &str) -> ToolInfo {
    let schema = RawObject::from_serialize(schema).unwrap_or_else(|_| RawObject::empty());
    let mut tool = ToolInfo::new(BUILT_IN, name, schema)
        .with_description(description)
        .with_fingerprint(name)
        .read_only();
    tool.parallel = true;
    tool
}

/// The text a search returns to the model: a line of JSON per tool.
pub fn search_results<'a>(found: impl IntoIterator<Item = &'a ToolInfo>) -> String {
    #[derive(Serialize)]
    struct Found<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        arguments: &'a RawObject,
    }
    let lines: Vec<String> = found
        .into_iter()
        .filter_map(|tool| {
            let found = Found {
                name: &tool.name,
                description: tool.description.as_deref(),
                arguments: &tool.input_schema,
            };
            serde_json::to_string(&found).ok()
        })
        .collect();
    if lines.is_empty() {
        return "No tool matches. Search again in other words.".to_owned();
    }
    lines.join("\n")
}
