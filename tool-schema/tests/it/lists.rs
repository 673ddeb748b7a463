//! The tools of a request together.

use serde_json::{Value, json};
use tool_schema::{Target, Tool, compile_tools, estimate_tokens};

use crate::corpus::spread;

fn tool<'a>(name: &'a str, schema: &'a Value) -> Tool<'a> {
    Tool {
        server: "s",
        name,
        description: "Does it.",
        schema,
    }
}

#[test]
fn order_is_kept_and_one_bad_tool_changes_nothing_for_the_others() {
    let good = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let bad = json!({"allOf": [{"type": "object"}, {"type": "array"}]});
    let list = compile_tools(
        &[tool("z", &good), tool("bad", &bad), tool("a", &good)],
        &Target::GEMINI,
    );
    let names: Vec<&str> = list.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["z", "bad", "a"]);
    let fine: Vec<bool> = list
        .tools()
        .iter()
        .map(|tool| tool.outcome.is_ok())
        .collect();
    assert_eq!(fine, [true, false, true]);
    assert_eq!(list.tools()[1].tokens, 0);
}

#[test]
fn more_tools_than_the_provider_takes_are_reported_not_cut() {
    let schema = json!({"type": "object", "properties": {}});
    let names: Vec<String> = (0..130).map(|n| format!("t{n}")).collect();
    let tools: Vec<Tool<'_>> = names.iter().map(|name| tool(name, &schema)).collect();
    let list = compile_tools(&tools, &Target::OPENAI);
    assert_eq!((list.tools().len(), list.excess()), (130, 2));
    assert_eq!(compile_tools(&tools, &Target::GEMINI).excess(), 0);
    assert_eq!(compile_tools(&tools, &Target::ANTHROPIC).excess(), 0);
}

#[test]
fn strict_tools_stop_where_a_request_may_hold_no_more() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"]}},
        "required": ["b"], "additionalProperties": false});
    let names: Vec<String> = (0..30).map(|n| format!("t{n}")).collect();
    let tools: Vec<Tool<'_>> = names.iter().map(|name| tool(name, &schema)).collect();
    let strict = |target: &Target| {
        let list = compile_tools(&tools, target);
        list.tools()
            .iter()
            .filter(|tool| tool.outcome.as_ref().unwrap().strict)
            .count()
    };
    // Sixteen unions are less than twenty tools and twenty-four optional properties.
    assert_eq!(strict(&Target::ANTHROPIC_STRICT), 16);
    assert_eq!(strict(&Target::OPENAI_STRICT), 30);
    assert_eq!(strict(&Target::OPENAI), 0);
}

#[test]
fn tokens_are_counted_by_tool_and_by_server() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string", "description": "Where to look."}}});
    let of = |server| Tool {
        server,
        name: "read",
        description: "Reads a file.",
        schema: &schema,
    };
    let list = compile_tools(&[of("fs"), of("git"), of("fs")], &Target::OPENAI);
    let each = list.tools()[0].tokens;
    assert!(each > 10);
    assert_eq!(
        list.tokens(),
        list.tools().iter().map(|tool| tool.tokens).sum::<usize>()
    );
    let by_server = list.tokens_by_server();
    assert_eq!(
        by_server
            .iter()
            .map(|(server, _)| *server)
            .collect::<Vec<_>>(),
        ["fs", "git"]
    );
    assert_eq!(
        by_server.iter().map(|(_, tokens)| tokens).sum::<usize>(),
        list.tokens()
    );
}

#[test]
fn more_text_costs_more_tokens() {
    assert_eq!(estimate_tokens(""), 0);
    assert!(estimate_tokens("two words") < estimate_tokens("two words and some more"));
    assert!(estimate_tokens("工具的描述") >= 5);
}

#[test]
fn the_same_tools_give_the_same_bytes() {
    let entries = spread();
    let tools: Vec<Tool<'_>> = entries
        .iter()
        .step_by(5)
        .map(|entry| tool(&entry.name, &entry.schema))
        .collect();
    for target in [
        &Target::OPENAI,
        &Target::GEMINI_OPENAPI,
        &Target::OPENAI_STRICT,
    ] {
        let bytes = || {
            let list = compile_tools(&tools, target);
            let shown = list.tools().iter().map(|tool| {
                let schema = tool.outcome.as_ref().unwrap().schema.as_ref();
                format!(
                    "{} {}\n",
                    tool.name,
                    schema.map(Value::to_string).unwrap_or_default()
                )
            });
            shown.collect::<String>()
        };
        assert_eq!(bytes(), bytes());
    }
}
