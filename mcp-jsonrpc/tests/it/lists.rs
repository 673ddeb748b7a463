//! One bad item never hides the rest.

use mcp_jsonrpc::model::*;
use mcp_jsonrpc::{
    Body, DecodeError, DecodeLimits, Incoming, MessageRef, RawRef, Rejected, decode,
};

#[track_caller]
fn read<T: Body>(text: &str) -> T {
    T::read(RawRef::from_text(text).unwrap()).unwrap()
}

fn shown(rejected: &[Rejected]) -> Vec<String> {
    rejected
        .iter()
        .map(|bad| format!("{} {:?}: {} {}", bad.index, bad.name, bad.reason, bad.raw))
        .collect()
}

#[test]
fn bad_tools_step_aside_by_name() {
    let page: ListToolsResult = read(
        r#"{"tools":[
            {"name":"good","inputSchema":{"type":"object"}},
            {"name":"no schema"},
            {"name":"schema is a list","inputSchema":[]},
            {"inputSchema":{}},
            7,
            {"name":"bad hint","inputSchema":{},"annotations":{"readOnlyHint":"yes"}},
            {"name":"also good","inputSchema":{}}
        ],"nextCursor":"c"}"#,
    );
    let names: Vec<&str> = page.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["good", "also good"]);
    assert_eq!(page.next_cursor.as_deref(), Some("c"));
    assert_eq!(
        shown(&page.rejected),
        [
            r#"1 Some("no schema"): `inputSchema` is missing {"name":"no schema"}"#,
            r#"2 Some("schema is a list"): inputSchema: expected an object, found an array {"name":"schema is a list","inputSchema":[]}"#,
            r#"3 None: `name` is missing {"inputSchema":{}}"#,
            "4 None: expected an object, found a number 7",
            r#"5 Some("bad hint"): annotations.readOnlyHint: expected a boolean, found a string {"name":"bad hint","inputSchema":{},"annotations":{"readOnlyHint":"yes"}}"#,
        ]
    );
}

#[test]
fn bad_resources_templates_prompts_contents_skills_and_tasks_step_aside() {
    let page: ListResourcesResult =
        read(r#"{"resources":[{"uri":"a:b"},{"uri":"a:c","name":"c"}]}"#);
    assert_eq!(
        (page.resources.len(), page.rejected[0].name.as_deref()),
        (1, Some("a:b"))
    );
    let page: ListResourceTemplatesResult = read(r#"{"resourceTemplates":[{"name":"x"},null]}"#);
    assert_eq!((page.resource_templates.len(), page.rejected.len()), (0, 2));
    let page: ListPromptsResult = read(r#"{"prompts":[{"name":"p","arguments":{}},{"name":"q"}]}"#);
    assert_eq!(
        (page.prompts.len(), page.rejected[0].name.as_deref()),
        (1, Some("p"))
    );
    let result: ReadResourceResult = read(r#"{"contents":[{"text":"a"},{"uri":"u","text":"b"}]}"#);
    assert_eq!((result.contents.len(), result.rejected.len()), (1, 1));
    let page: ListSkillsResult = read(
        r#"{"skills":[{"uri":"s","frontmatter":{},"resources":"static"},{"uri":"t","frontmatter":{"name":"t"},"resources":"dynamic"}]}"#,
    );
    assert_eq!(
        (page.skills[0].name(), page.rejected[0].name.as_deref()),
        (Some("t"), Some("s"))
    );
    let page: experimental_task::ListTasksResult = read(r#"{"tasks":[{"taskId":"1"}]}"#);
    assert_eq!((page.tasks.len(), page.rejected.len()), (0, 1));
}

#[test]
fn a_list_that_is_no_list_fails() {
    for (text, why) in [
        ("{}", "`tools` is missing"),
        (r#"{"tools":null}"#, "tools: expected an array, found null"),
        (
            r#"{"tools":{"0":{}}}"#,
            "tools: expected an array, found an object",
        ),
        ("[]", "expected an object, found an array"),
    ] {
        let error = ListToolsResult::read(RawRef::from_text(text).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), why);
    }
}

#[test]
fn the_place_of_a_problem_is_named() {
    let raw = RawRef::from_text(
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user"}]}"#,
    )
    .unwrap();
    let error = GetPromptResult::read(raw).unwrap_err();
    assert_eq!(error.path(), "messages[1]");
    assert_eq!(error.to_string(), "messages[1]: `content` is missing");
}

#[test]
fn rejected_items_are_not_written() {
    let page: ListToolsResult = read(r#"{"tools":[7]}"#);
    assert_eq!(serde_json::to_string(&page).unwrap(), r#"{"tools":[]}"#);
}

/// A tool whose schema nests that many levels deep.
fn deep_tool(levels: usize) -> String {
    let (open, close) = (r#"{"a":"#.repeat(levels - 1), "}".repeat(levels - 1));
    format!(r#"{{"inputSchema":{open}{{}}{close},"name":"deep"}}"#)
}

#[test]
fn a_tool_that_nests_too_deep_is_set_aside_alone_and_by_name() {
    for (levels, taken) in [(128, true), (129, false), (100_000, false)] {
        let good = r#"{"name":"good","inputSchema":{}}"#;
        let deep = deep_tool(levels);
        let text = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{deep},{good}]}}}}"#);
        let limits = DecodeLimits::default().with_result_depth(200_000);
        let Ok(Incoming::Single(MessageRef::Response {
            outcome: Ok(result),
            ..
        })) = decode(text.as_bytes(), &limits)
        else {
            panic!("{levels}")
        };
        let page = ListToolsResult::read(result).unwrap();
        assert_eq!(page.tools.last().unwrap().name, "good", "{levels}");
        assert_eq!(page.tools.len() == 2, taken, "{levels}");
        if !taken {
            assert_eq!(page.rejected[0].name.as_deref(), Some("deep"));
            assert!(page.rejected[0].reason.to_string().contains("too deep"));
            assert_eq!(page.rejected[0].raw.get(), deep);
        }
    }
}

#[test]
fn a_deep_result_is_checked_to_be_json_and_bounded() {
    let limits = DecodeLimits::default().with_result_depth(1000);
    let nested = |levels: usize, core: &str| {
        let (open, close) = (r#"[{"a":"#.repeat(levels / 2), "}]".repeat(levels / 2));
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{open}{core}{close}}}"#)
    };
    assert!(decode(nested(1000, "1").as_bytes(), &limits).is_ok());
    for core in ["1 2", "tru", "", "[1,]", "}", r#"{"b" 1}"#] {
        let error = decode(nested(400, core).as_bytes(), &limits).unwrap_err();
        assert!(
            matches!(error, DecodeError::Syntax { .. }),
            "{core}: {error}"
        );
    }
    for (text, limits) in [
        (nested(1002, "1"), limits),
        (nested(400, "1"), DecodeLimits::default()),
        (nested(400, "1").replace("result", "params"), limits),
    ] {
        let error = decode(text.as_bytes(), &limits).unwrap_err();
        assert!(matches!(error, DecodeError::TooDeep { .. }), "{error}");
    }
}

#[test]
fn a_bad_hint_is_kept_and_fails_nothing() {
    for hint in [
        r#""ttlMs":"soon""#,
        r#""ttlMs":{}"#,
        r#""cacheScope":["public"]"#,
        r#""cacheScope":7"#,
    ] {
        let text = format!(r#"{{"tools":[],{hint}}}"#);
        let page: ListToolsResult = read(&text);
        assert_eq!((page.ttl_ms, &page.cache_scope), (None, &None), "{hint}");
        assert_eq!(serde_json::to_string(&page).unwrap(), text);
        let both = format!(r#"{{"tools":[],{hint},"ttlMs":5,"cacheScope":"public"}}"#);
        let page: ListToolsResult = read(&both);
        assert_eq!(page.ttl_ms, Some(5), "the last one counts");
        assert!(page.extra.is_empty(), "{hint}");
    }
    let task = r#"{"taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"l","ttlMs":null,"pollIntervalMs":"often"}"#;
    let task: task::Task = read(task);
    assert_eq!(task.poll_interval_ms, None);
}
