//! The example `compile`: a filter with a contract.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

/// Examples are built beside the tests.
fn program() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples")
        .join(format!("compile{}", std::env::consts::EXE_SUFFIX))
}

#[track_caller]
fn run(words: &[&str], input: &str) -> (Option<i32>, Value) {
    let mut child = Command::new(program())
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A program that refuses its words does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    (
        output.status.code(),
        serde_json::from_slice(&output.stdout).unwrap_or_default(),
    )
}

#[test]
fn compile_prints_one_entry_a_tool_whatever_the_tools_are() {
    let deep = format!("{}{}", "[".repeat(3_000), "]".repeat(3_000));
    let input = format!(
        r#"[{{"name": "a b", "inputSchema": {{"type": "object", "properties": {{"n": {{"type": "integer", "multipleOf": 2}}}}}}}},
            7, {{"name": "deep", "inputSchema": {{"default": {deep}}}}},
            {{"name": "never", "inputSchema": {{"allOf": [{{"type": "object"}}, {{"type": "null"}}]}}}},
            {{"name": "none"}}]"#
    );
    let (status, output) = run(&["compile", "gemini"], &input);
    assert_eq!(status, Some(0));
    let entries = output.as_array().unwrap();
    assert_eq!(entries.len(), 5);
    assert_eq!(
        entries[0],
        json!({
            "name": "a_b_e2bca18b",
            "schema": {"type": "object", "properties": {"n": {"type": "integer", "description": "A multiple of 2."}}, "required": []},
            "strict": false,
            "not_strict": [],
            "losses": [{"pointer": "/properties/n", "keyword": "multipleOf", "action": "described", "lossy": true}],
            "quarantined": null,
        })
    );
    for odd in &entries[1..4] {
        assert!(odd["quarantined"].is_string(), "{odd}");
        assert_eq!((&odd["schema"], &odd["losses"]), (&Value::Null, &json!([])));
    }
    assert_eq!(entries[4]["quarantined"], Value::Null);
}

#[test]
fn compile_leaves_the_schema_out_where_the_wire_wants_it() {
    let (_, output) = run(
        &["compile", "gemini-openapi"],
        r#"[{"name": "a", "inputSchema": {"type": "object", "properties": {}}}]"#,
    );
    assert_eq!(output[0]["schema"], Value::Null);
    assert_eq!(output[0]["quarantined"], Value::Null);
}

#[test]
fn restore_prints_arguments_or_an_error() {
    let tool = json!({"name": "a", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["n"], "additionalProperties": false}});
    let calls = json!([
        {"tool": tool, "arguments": {"x": null, "n": 1}},
        {"tool": tool, "arguments": {"x": null, "n": "1"}},
        {"tool": "a", "arguments": {}},
    ]);
    let (status, output) = run(&["restore", "openai-strict"], &calls.to_string());
    assert_eq!(status, Some(0));
    assert_eq!(output[0], json!({"arguments": {"n": 1}}));
    assert!(
        output[1]["error"]
            .as_str()
            .unwrap()
            .contains("`/n`: must be integer")
    );
    assert!(output[2]["error"].is_string());
}

#[test]
fn wrong_words_fail() {
    assert_eq!(run(&["compile", "no one"], "[]").0, Some(1));
    for input in ["{", "{}", "null", "", "7"] {
        assert_eq!(run(&["compile", "openai"], input).0, Some(1), "{input:?}");
    }
    assert_eq!(run(&["compile", "openai"], "[]"), (Some(0), json!([])));
    assert_eq!(run(&[], "[]").0, Some(1));
}
