//! Tools are found by words.

use proptest::prelude::*;
use tool_policy::{SearchIndex, ToolInfo};

fn tool(server: &str, name: &str, description: &str, schema: &str) -> ToolInfo {
    ToolInfo::new(server, name, serde_json::from_str(schema).unwrap()).with_description(description)
}

fn tools() -> Vec<ToolInfo> {
    let github = |name, about, schema| tool("github", name, about, schema);
    let weather = |name, about, schema| tool("weather", name, about, schema);
    vec![
        github(
            "create_issue",
            "Opens a new issue in a repository.",
            r#"{"properties":{"title":{},"body":{}}}"#,
        ),
        github(
            "list_issues",
            "Lists the issues of a repository, filtered by label or state.",
            r#"{"properties":{"labels":{}}}"#,
        ),
        github(
            "merge_pull_request",
            "Merges a pull request into its base branch.",
            r#"{"properties":{"commitMessage":{}}}"#,
        ),
        weather(
            "forecast",
            "Tells the weather of the coming days for a city.",
            r#"{"properties":{"city":{},"days":{}}}"#,
        ),
        weather(
            "alerts",
            "Warnings of storms.",
            r#"{"properties":{"country_code":{}}}"#,
        ),
    ]
}

fn found(query: &str, limit: usize) -> Vec<String> {
    let tools = tools();
    let index: SearchIndex = tools.iter().collect();
    let hits = index.search(query, limit);
    hits.iter()
        .map(|hit| tools[hit.position].tool.clone())
        .collect()
}

#[track_caller]
fn check(query: &str, want: &[&str]) {
    assert_eq!(found(query, 10), want, "{query}");
}

#[test]
fn names_descriptions_and_arguments_are_searched() {
    check("create issue", &["create_issue", "list_issues"]);
    check("storm", &["alerts"]);
    check("commit message", &["merge_pull_request"]);
    check("COUNTRY", &["alerts"]);
    check("unheard", &[]);
    check("", &[]);
}

#[test]
fn rare_words_count_more_than_common_ones() {
    let query = "what is the weather in the city";
    assert_eq!(found(query, 2), ["forecast", "alerts"]);
}

#[test]
fn a_server_is_found_by_its_name() {
    let names = found("github", 2);
    assert_eq!(names.len(), 2, "the limit holds");
    let of_weather = |name: &String| name == "forecast" || name == "alerts";
    assert!(!names.iter().any(of_weather), "{names:?}");
}

proptest! {
    #[test]
    fn hits_are_sorted_and_a_tool_is_found_by_its_own_name(
        names in prop::collection::btree_set("[a-z]{3,8}(_[a-z]{3,8}){0,2}", 1..20),
        query in "\\PC{0,30}",
    ) {
        let tools: Vec<ToolInfo> =
            names.iter().map(|name| tool("s", name, "does things", "{}")).collect();
        let index: SearchIndex = tools.iter().collect();
        for (at, tool) in tools.iter().enumerate() {
            let hits = index.search(&tool.tool, usize::MAX);
            prop_assert!(hits.iter().any(|hit| hit.position == at));
            prop_assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
        }
        let again: SearchIndex = tools.iter().collect();
        prop_assert_eq!(index.search(&query, 5), again.search(&query, 5));
    }
}
