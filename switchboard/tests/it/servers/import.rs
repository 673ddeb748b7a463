//! `import` from the files of other programs, one broken entry in each.

use insta::assert_json_snapshot;
use serde_json::Value;

use super::bench::Bench;
use crate::program::path;

/// Files like those that Claude Desktop, VS Code and Cursor write (by their documentation), with
/// one broken entry each, where they are on Linux.
fn furnish(bench: &Bench) -> Vec<(std::path::PathBuf, String)> {
    let claude = format!(
        r#"{{
  "globalShortcut": "",
  "mcpServers": {{
    "demo": {{"command": {:?}, "args": ["demo-server"], "env": {{"LEVEL": "debug"}}}},
    "broken": {{"args": ["-y", "thing"]}}
  }}
}}"#,
        path()
    );
    let vscode = r#"{
  // kept by hand
  "inputs": [{"type": "promptString", "id": "token", "description": "API token", "password": true}],
  "servers": {
    "web": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${input:token}"}},
    "broken": {"type": "carrier-pigeon", "url": "https://example.com"},
  },
}"#;
    let cursor = r#"{"mcpServers": {
    "demo": {"command": "another-program"},
    "files": {"command": "npx", "args": ["-y", "files", "${userHome}"], "autoApprove": ["delete"]},
    "broken": {"url": "ftp://example.com"}
}}"#;
    let project =
        r#"{"mcpServers": {"stranger": {"command": "sh", "args": ["-c", "touch started"]}}}"#;
    let files = [
        (".config/Claude/claude_desktop_config.json", claude.as_str()),
        (".config/Code/User/mcp.json", vscode),
        (".cursor/mcp.json", cursor),
        (".mcp.json", project),
    ];
    files
        .map(|(name, text)| (bench.write(name, text), text.to_owned()))
        .to_vec()
}

#[test]
fn the_good_entries_are_taken_over_and_the_broken_ones_named() {
    let bench = Bench::new();
    let files = furnish(&bench);
    let look = bench.json(&["import"]);
    assert_eq!(
        bench.json(&["servers", "list"])["stdout"]["servers"],
        serde_json::json!([])
    );
    let take = bench.json(&["import", "--yes"]);
    let again = bench.json(&["import", "--yes"]);
    let list = bench.json(&["servers", "list"]);
    assert_json_snapshot!([look, take, again, list]);
    for (file, text) in files {
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            text,
            "{}",
            file.display()
        );
    }
    assert_eq!(bench.json(&["servers", "test", "demo"])["exit"], 0);
}

#[test]
fn a_projects_server_does_not_start_before_it_is_enabled() {
    let bench = Bench::new();
    furnish(&bench);
    assert_eq!(bench.run(&["import", "--yes"]).exit, 0);
    let refused = bench.json(&["tools", "stranger"]);
    assert_eq!(refused["exit"], 6, "{refused}");
    assert!(!bench.path().join("started").exists());
    assert_eq!(
        bench.json(&["servers", "enable", "stranger"])["stdout"]["newly_allowed"],
        true
    );
    assert_eq!(bench.run(&["tools", "stranger"]).exit, 4);
    assert!(bench.path().join("started").exists());
}

#[test]
fn a_question_of_a_file_is_answered_once() {
    let bench = Bench::new();
    furnish(&bench);
    assert_eq!(bench.run(&["import", "--yes"]).exit, 0);
    let problem = |ran: &Value| ran["stdout"]["servers"][0]["findings"][0]["problem"].clone();
    assert_eq!(problem(&bench.json(&["doctor", "web"])), "missing_value");
    let url = "http://127.0.0.1:9/mcp";
    let answer = [
        "servers", "edit", "web", "--input", "token=t", "--plain", "--url", url,
    ];
    assert_eq!(bench.run(&answer).exit, 0);
    assert_eq!(problem(&bench.json(&["doctor", "web"])), "unreachable");
}

#[test]
fn a_conflict_is_replaced_only_when_asked_for() {
    let bench = Bench::with_demo();
    let file = bench.write("other.json", r#"{"demo": {"command": "another-program"}}"#);
    let file = file.to_str().unwrap();
    let kept = bench.json(&["import", file, "--yes"]);
    assert_eq!(kept["stdout"]["servers"][0]["state"], "conflict");
    assert_eq!(kept["stdout"]["imported"], serde_json::json!([]));
    assert_eq!(bench.json(&["servers", "test", "demo"])["exit"], 0);
    let replaced = bench.json(&["import", file, "--yes", "--overwrite"]);
    assert_eq!(replaced["stdout"]["imported"], serde_json::json!(["demo"]));
    assert_eq!(bench.json(&["servers", "test", "demo"])["exit"], 4);
}
