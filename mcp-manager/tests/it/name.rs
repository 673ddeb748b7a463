//! Names: legal, unique, stable.

use std::collections::BTreeSet;
use std::sync::Arc;

use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::Tool;
use mcp_manager::{Catalog, Listing, MAX_EXPOSED_NAME, ToolSettings};
use proptest::prelude::*;
use proptest::sample::select;

fn listing(server: &str, tools: &[&str]) -> Arc<Listing> {
    let tools = tools
        .iter()
        .map(|name| Tool::new(*name, RawObject::empty()));
    let listing = Listing::new(server.parse().unwrap());
    Arc::new(listing.with_tools(tools, &ToolSettings::default()))
}

fn exposed(server: &str, tool: &str) -> String {
    let catalog = Catalog::new(0, [listing(server, &[tool])]);
    catalog.tools()[0].exposed_name().to_string()
}

/// Always prefixed, always `mcp__server__tool` where that can be.
#[test]
fn a_legal_name_stays_plain() {
    assert_eq!(
        exposed("github", "create_issue"),
        "mcp__github__create_issue"
    );
    assert_eq!(exposed("my-files", "read"), "mcp__my-files__read");
}

/// The names are part of what hosts store. These must never change.
#[test]
fn a_changed_name_gets_the_same_mark_on_every_machine() {
    let names: Vec<String> = [
        ("mail.example", "send mail"),
        ("天气", "预报"),
        ("a__b", "c"),
        ("a", "b__c"),
        ("a_", "b"),
        ("a", "looks_marked_0123abcd"),
        (
            "long",
            "a_tool_whose_name_goes_on_and_on_until_no_provider_would_ever_take_it",
        ),
    ]
    .iter()
    .map(|(server, tool)| format!("{server} / {tool} → {}", exposed(server, tool)))
    .collect();
    insta::assert_snapshot!(names.join("\n"));
}

/// Names of servers and tools as published (npm, PyPI; November 2026), the longest of each.
#[test]
fn real_names_fit() {
    let names: Vec<String> = [
        (
            "awslabs.aws-iac-mcp-server",
            "get_cloudformation_pre_deploy_validation_instructions",
        ),
        (
            "@mobilenext/mobile-mcp",
            "mobile_long_press_on_screen_at_coordinates",
        ),
        (
            "@zereight/mcp-gitlab",
            "delete_merge_request_note_emoji_reaction",
        ),
        ("mcp-atlassian", "confluence_download_content_attachments"),
        ("wikipedia-mcp", "wikipedia_test_wikipedia_connectivity"),
        (
            "@softeria/ms-365-mcp-server",
            "create-mail-attachment-upload-session",
        ),
        ("ha-mcp", "ha_config_update_dashboard_metadata"),
        ("@currents/mcp", "currents-get-spec-files-performance"),
    ]
    .iter()
    .map(|(server, tool)| exposed(server, tool))
    .collect();
    assert!(names.iter().all(|name| legal(name)));
    insta::assert_snapshot!(names.join("\n"));
}

fn legal(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && name.len() <= MAX_EXPOSED_NAME
}

/// Arbitrary text, and text made to collide.
fn names() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "a",
        "b",
        "_",
        "__",
        "-",
        ".",
        "é",
        "天",
        "0123abcd",
        "_0123abcd",
    ]);
    prop_oneof![
        prop::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat()),
        "[a-z_]{1,80}",
        "\\PC{1,40}",
    ]
}

fn servers() -> impl Strategy<Value = Vec<(String, Vec<String>)>> {
    let tools = prop::collection::vec(names(), 0..8);
    prop::collection::vec((names(), tools), 0..8)
}

proptest! {
    #[test]
    fn names_are_legal_unique_and_lead_back(servers in servers()) {
        let listings = servers.iter().map(|(server, tools)| {
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            listing(server, &tools)
        });
        let catalog = Catalog::new(1, listings);
        let mut seen = BTreeSet::new();
        for entry in catalog.tools() {
            let name = entry.exposed_name();
            prop_assert!(legal(name.as_str()), "{name}");
            prop_assert!(name.as_str().starts_with("mcp__"));
            prop_assert!(seen.insert(name.clone()), "{name} twice");
            let back = catalog.tool(name.as_str()).unwrap();
            prop_assert_eq!((back.server(), back.name()), (entry.server(), entry.name()));
            let plain = format!("mcp__{}__{}", entry.server(), entry.name());
            prop_assert_eq!(entry.is_renamed(), name.as_str() != plain);
        }
    }

    #[test]
    fn a_name_does_not_depend_on_other_servers_or_their_order(servers in servers()) {
        let listings: Vec<Arc<Listing>> = servers.iter().map(|(server, tools)| {
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            listing(server, &tools)
        }).collect();
        // Of two listings of one server the last one counts: keep one of each.
        let whole = Catalog::new(1, listings);
        let backwards = Catalog::new(1, whole.listings().cloned().collect::<Vec<_>>().into_iter().rev());
        for (entry, other) in whole.tools().iter().zip(backwards.tools()) {
            prop_assert_eq!(entry, other);
            let alone = exposed(entry.server().as_str(), entry.name());
            prop_assert_eq!(entry.exposed_name().as_str(), alone);
        }
    }

    #[test]
    fn order_is_total_by_server_and_tool(servers in servers()) {
        let mut catalog = Catalog::empty();
        for (server, tools) in &servers {
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            catalog = catalog.with(listing(server, &tools));
        }
        let keys: Vec<_> = catalog.tools().iter().map(|entry| (entry.server(), entry.name())).collect();
        prop_assert!(keys.is_sorted_by(|a, b| a < b));
        for (server, tool) in keys {
            prop_assert_eq!(catalog.find(server, tool).unwrap().name(), tool);
        }
    }
}
