//! `switchboard assistants`.

use serde_json::json;

use super::bench::Bench;

#[test]
fn assistants_are_added_listed_changed_and_removed() {
    let bench = Bench::with_demo();
    let ran = json!([
        bench.json(&["assistants"]),
        bench.json(&[
            "assistants",
            "add",
            "Coder",
            "--model",
            "demo",
            "--system",
            "Be brief.",
            "--server",
            "demo",
            "--max-rounds",
            "5",
            "--on-limit",
            "summarize",
            "--approve",
            "auto-read",
        ]),
        bench.json(&["assistants", "add", "Writer", "--no-servers"]),
        bench.json(&["assistants", "add", "Writer"]),
        bench.json(&["assistants", "add", "Odd", "--server", "none"]),
        bench.json(&["assistants", "add", "Odd", "--approve", "never"]),
        bench.json(&[
            "assistants",
            "edit",
            "Coder",
            "--rename",
            "Painter",
            "--system",
            "",
            "--all-servers",
        ]),
        bench.json(&["assistants", "edit", "Coder", "--model", "demo"]),
        bench.json(&["assistants", "remove", "Writer"]),
        bench.json(&["assistants", "list"]),
    ]);
    insta::assert_json_snapshot!(ran);
    let listed = bench.run(&["assistants"]);
    assert!(listed.stdout.contains("Painter") && listed.stdout.contains("all servers"));
}
