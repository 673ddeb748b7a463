//! The built-in tools.

use mcp_jsonrpc::RawObject;
use serde_json::{Value, json};
use tool_policy::{CALL, InvalidMetaCall, MetaCall, READ, SEARCH, ToolInfo, search_results};

fn parse(tool: &str, arguments: Value) -> Result<MetaCall, InvalidMetaCall> {
    MetaCall::parse(tool, &RawObject::from_serialize(&arguments).unwrap())
}

#[test]
fn arguments_are_checked() {
    let query = "find files".to_owned();
    assert_eq!(
        parse(SEARCH, json!({"query": query})),
        Ok(MetaCall::Search { query })
    );
    let name = "mcp__files__read".to_owned();
    let arguments = RawObject::from_serialize(&json!({"path": "/"})).unwrap();
    assert_eq!(
        parse(CALL, json!({"name": name, "arguments": {"path": "/"}})),
        Ok(MetaCall::Call { name, arguments })
    );
    for (tool, bad) in [
        (SEARCH, json!({})),
        (CALL, json!({"arguments": {}})),
        (CALL, json!({"name": "a", "arguments": []})),
        (READ, json!({"offset": 1})),
        (READ, json!({"id": "a", "offset": -1})),
        (READ, json!({"id": "a", "length": 0})),
        (READ, json!({"id": "a", "length": 40_001})),
    ] {
        let parsed = parse(tool, bad);
        let is_refused = matches!(parsed, Err(InvalidMetaCall::Arguments(_)));
        assert!(is_refused, "{parsed:?}");
    }
    let unknown = InvalidMetaCall::UnknownTool("rm".to_owned());
    assert_eq!(parse("rm", json!({})), Err(unknown));
}

#[test]
fn a_read_has_defaults() {
    let read = MetaCall::Read {
        id: "output-1".to_owned(),
        offset: 0,
        length: 20_000,
    };
    assert_eq!(parse(READ, json!({"id": "output-1"})), Ok(read));
}

#[test]
fn search_results_are_lines_of_json() {
    let tool = ToolInfo::new("files", "read", RawObject::empty()).with_description("Reads.");
    assert_eq!(
        search_results([&tool]),
        r#"{"name":"read","description":"Reads.","arguments":{}}"#
    );
    assert!(search_results([]).starts_with("No tool matches"));
}
