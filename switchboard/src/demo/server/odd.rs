//! Tools whose schemas or names some provider refuses as they are. They return their arguments.

use mcp_jsonrpc::model::Tool;
use mcp_server::{Context, Server};
use serde_json::{Value, json};

use super::{hinted, object, reading};

pub(super) fn add(server: Server) -> Server {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"node": {"type": "object", "properties": {
            "label": {"type": ["string", "null"]},
            "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        }}},
        "properties": {
            "tree": {"$ref": "#/$defs/node"},
            "level": {"enum": [1, 2, 3]},
            "kind": {"const": "odd"},
            "either": {"oneOf": [{"type": "string"}, {"type": "integer", "exclusiveMinimum": 0}]},
            "pair": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": false},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "when": {"type": "string", "format": "date-time"},
            "$top": {"type": "integer", "multipleOf": 5},
            "anything": true,
        },
        "required": ["level"],
        "additionalProperties": false,
    });
    let mut odd = Tool::new("odd", object(&schema));
    odd.description = Some("Says its arguments again. Its schema is odd on purpose.".to_owned());
    let names = reading(
        "odd.names",
        "Says its arguments again. Its name and its arguments' names are odd on purpose.",
        json!({"user-id": {"type": "string"}, "größe": {"type": "number"}}),
        &[],
    );
    server
        .tool_with_schema(hinted(odd, true, false), repeat)
        .tool_with_schema(names, repeat)
}

async fn repeat(arguments: Value, _: Context) -> String {
    arguments.to_string()
}
