//! One bad item never hides the rest.

use mcp_jsonrpc::model::*;
use mcp_jsonrpc::{Body, RawRef, Rejected};

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
