//! What a catalogue of 10,000 tools costs: to list, to swap, to look up, to compare, to search.

use std::sync::Arc;

use mcp_jsonrpc::model::Tool;
use mcp_jsonrpc::{RawJson, RawObject};
use mcp_manager::{Catalog, Listing, ToolSettings};
use tool_policy::SearchIndex;

use crate::contest::{Contest, Plan};

const SERVERS: usize = 50;
const TOOLS: usize = 200;

/// Prints the tables.
pub fn run() {
    let listings: Vec<Arc<Listing>> = (0..SERVERS).map(|server| listing(server, 0)).collect();
    let catalog = Catalog::new(1, listings.clone());
    let changed = listing(SERVERS / 2, 1);
    let newer = catalog.with(changed.clone());
    let index: SearchIndex = catalog.enabled_tools().map(AsRef::as_ref).collect();
    let names: Vec<String> = catalog
        .tools()
        .iter()
        .map(|it| it.exposed_name().to_string())
        .collect();
    let title = |what: &str| format!("catalogue of {} tools: {what}", SERVERS * TOOLS);
    let plan = Plan::default();

    let tools: Vec<Tool> = tools(0, 0).collect();
    Contest::new(title("one server's list of 200, fingerprints and all"))
        .entrant("Listing::with_tools", || {
            let listing = Listing::new("server-00".parse().unwrap());
            listing.with_tools(tools.clone(), &ToolSettings::default())
        })
        .run(plan);
    Contest::new(title("snapshot"))
        .entrant("Catalog::new, all servers", || {
            Catalog::new(1, listings.clone())
        })
        .entrant("Catalog::with, one server anew", || {
            catalog.with(changed.clone())
        })
        .run(plan);
    Contest::new(title("1000 lookups by exposed name"))
        .entrant("Catalog::tool", || {
            let found = names
                .iter()
                .step_by(10)
                .filter(|name| catalog.tool(name).is_some());
            assert_eq!(found.count(), 1000);
        })
        .run(plan);
    Contest::new(title("diff"))
        .entrant("one server of 50 changed", || {
            assert_eq!(catalog.diff(&newer).changed.len(), TOOLS);
        })
        .entrant("nothing changed", || {
            assert!(catalog.diff(&catalog).is_empty())
        })
        .run(plan);
    Contest::new(title("search"))
        .entrant("a query of four words", || {
            index.search("create an issue comment", 10)
        })
        .entrant("building the index", || {
            let entries = catalog.enabled_tools().map(AsRef::as_ref);
            entries.collect::<SearchIndex>()
        })
        .run(plan);
}

fn listing(server: usize, revision: usize) -> Arc<Listing> {
    let listing = Listing::new(format!("server-{server:02}").parse().unwrap());
    Arc::new(listing.with_tools(tools(server, revision), &ToolSettings::default()))
}

/// Definitions of the size that is usual among real servers: 440 bytes of schema, 160 of prose.
fn tools(server: usize, revision: usize) -> impl Iterator<Item = Tool> {
    const VERBS: [&str; 8] = [
        "create", "list", "get", "update", "delete", "search", "move", "tag",
    ];
    const NOUNS: [&str; 5] = ["issue", "comment", "file", "branch", "user"];
    (0..TOOLS).map(move |n| {
        let (verb, noun) = (VERBS[n % VERBS.len()], NOUNS[n % NOUNS.len()]);
        let schema = format!(
            r#"{{"type":"object","properties":{{"{noun}_id":{{"type":"string","description":"The one to {verb}, by its number."}},"limit":{{"type":"integer","minimum":1,"maximum":100,"default":20,"description":"How many to return at most."}},"fields":{{"type":"array","items":{{"type":"string"}},"description":"What to return of each."}},"revision":{{"type":"integer","default":{revision}}}}},"required":["{noun}_id"],"additionalProperties":false}}"#
        );
        let schema = RawObject::try_from(RawJson::from_text(schema).unwrap()).unwrap();
        let mut tool = Tool::new(format!("{verb}_{noun}_{n}"), schema);
        tool.description = Some(format!(
            "Lets you {verb} a {noun} of service {server}. Returns the {noun} as it is afterwards, \
             with everything that points to it, page by page if there is a lot of it."
        ));
        tool
    })
}
