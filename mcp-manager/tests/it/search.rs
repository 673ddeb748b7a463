//! The right tool is found by words.

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::Tool;
use mcp_manager::{Catalog, Listing, SearchIndex, ToolSettings};
use proptest::prelude::*;

use crate::catalog::{listing, name, tool};

fn catalog() -> Catalog {
    let github = listing(
        "github",
        [
            tool(
                "create_issue",
                "Opens a new issue in a repository.",
                r#"{"properties":{"title":{},"body":{}}}"#,
            ),
            tool(
                "list_issues",
                "Lists the issues of a repository, filtered by label or state.",
                r#"{"properties":{"labels":{}}}"#,
            ),
            tool(
                "merge_pull_request",
                "Merges a pull request into its base branch.",
                r#"{"properties":{"commitMessage":{}}}"#,
            ),
        ],
    );
    let weather = listing(
        "weather",
        [
            tool(
                "forecast",
                "Tells the weather of the coming days for a city.",
                r#"{"properties":{"city":{},"days":{}}}"#,
            ),
            tool(
                "alerts",
                "Warnings of storms.",
                r#"{"properties":{"country_code":{}}}"#,
            ),
        ],
    );
    Catalog::new(0, [github, weather])
}

#[track_caller]
fn check(query: &str, want: &[&str]) {
    let hits = SearchIndex::new(&catalog()).search(query, 10);
    let names: Vec<_> = hits.iter().map(|hit| hit.entry.name()).collect();
    assert_eq!(names, want, "{query}");
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
    let hits = SearchIndex::new(&catalog()).search(query, 2);
    let names: Vec<_> = hits.iter().map(|hit| hit.entry.name()).collect();
    assert_eq!(names, ["forecast", "alerts"]);
}

#[test]
fn a_server_is_found_by_its_name() {
    let hits = SearchIndex::new(&catalog()).search("github", 2);
    assert_eq!(hits.len(), 2, "the limit holds");
    assert!(
        hits.iter()
            .all(|hit| hit.entry.server().as_str() == "github")
    );
}

#[test]
fn tools_switched_off_are_not_found() {
    let policy = ToolSettings::default().with_disabled("b");
    let tools = ["a", "b"].map(|name| Tool::new(name, RawObject::empty()));
    let listing = Listing::new(name("s")).with_tools(tools, &policy);
    let index = SearchIndex::new(&Catalog::new(0, [listing.into()]));
    assert!(index.search("b", 5).is_empty());
    assert_eq!(index.search("a", 5).len(), 1);
}

proptest! {
    #[test]
    fn hits_are_sorted_and_a_tool_is_found_by_its_own_name(
        names in prop::collection::btree_set("[a-z]{3,8}(_[a-z]{3,8}){0,2}", 1..20),
        query in "\\PC{0,30}",
    ) {
        let tools = names.iter().map(|name| tool(name, "does things", "{}"));
        let catalog = Catalog::new(0, [listing("s", tools)]);
        let index = SearchIndex::new(&catalog);
        for entry in catalog.tools() {
            let hits = index.search(entry.name(), usize::MAX);
            prop_assert!(hits.iter().any(|hit| hit.entry.name() == entry.name()));
            prop_assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
        }
        let again = SearchIndex::new(&catalog).search(&query, 5);
        let same: Vec<_> = index.search(&query, 5).iter().map(|hit| hit.entry.name().to_owned()).collect();
        prop_assert_eq!(same, again.iter().map(|hit| hit.entry.name().to_owned()).collect::<Vec<_>>());
    }
}
