//! Each verb with `--json`, on a stored demo server.

use insta::assert_json_snapshot;
use serde_json::Value;

use super::bench::{Bench, data, mode};
use crate::program::path;

#[test]
fn servers_are_added_listed_shown_changed_switched_and_removed() {
    let bench = Bench::new();
    let verbs: [&[&str]; 14] = [
        &["servers", "list"],
        &[
            "servers",
            "add",
            "demo",
            "-e",
            "MODE=env:HOME",
            "--timeout",
            "9",
            "--",
            path(),
            "demo-server",
        ],
        &[
            "servers",
            "add",
            "web",
            "https://example.com/mcp",
            "-H",
            "X-Key: env:KEY",
            "--type",
            "http",
        ],
        &["servers", "add", "web", "https://example.com/other"],
        &["servers", "add", "leak", "-e", "TOKEN=secret", "--", "run"],
        &[
            "servers",
            "edit",
            "web",
            "--rename",
            "net",
            "--type",
            "sse",
            "--remove-header",
            "x-key",
        ],
        &["servers", "disable", "net"],
        &["servers", "test"],
        &["servers", "list"],
        &["servers", "show", "demo"],
        &["servers", "enable", "net"],
        &["servers", "remove", "net"],
        &["servers", "show", "net"],
        &["servers", "logs", "demo"],
    ];
    let ran: Vec<Value> = verbs.iter().map(|verb| bench.json(verb)).collect();
    assert_json_snapshot!(ran);
}

#[test]
fn a_value_is_kept_in_plain_text_only_where_the_user_insists() {
    let bench = Bench::new();
    let add = ["servers", "add", "s", "-e", "TOKEN=geheim", "--", "run"];
    assert_eq!(bench.run(&add).exit, 1);
    assert_eq!(
        bench.run(&["servers", "show", "s"]).exit,
        1,
        "it was not stored"
    );
    let insist = [
        "servers",
        "add",
        "s",
        "-e",
        "TOKEN=geheim",
        "--plain",
        "--",
        "run",
    ];
    assert_eq!(bench.run(&insist).exit, 0);
    let shown = bench.run(&["servers", "show", "s", "--json"]);
    assert!(shown.stdout.contains("plain:…") && !shown.stdout.contains("geheim"));
    #[cfg(unix)]
    assert_eq!(mode(&data(&bench, "switchboard.db")), 0o600);
}

#[test]
fn tools_are_listed_shown_and_governed() {
    let bench = Bench::with_demo();
    let verbs: [&[&str]; 12] = [
        &["tools"],
        &["tool", "show", "demo", "add"],
        &["tool", "show", "demo", "ad"],
        &["tool", "disable", "demo", "add"],
        &["call", "demo", "add", "a=1", "b=2"],
        &["tool", "enable", "demo", "add"],
        &["tool", "deny", "demo", "add"],
        &["call", "demo", "add", "a=1", "b=2"],
        &["tool", "allow", "demo", "add"],
        &["call", "demo", "add", "a=1", "b=2"],
        &["tool", "ask", "demo", "add"],
        &["tool", "disable", "demo", "nonsense"],
    ];
    let ran: Vec<Value> = verbs.iter().map(|verb| bench.json(verb)).collect();
    assert_json_snapshot!(ran);
}

#[test]
fn a_remembered_yes_is_bound_to_the_definition() {
    let bench = Bench::with_demo();
    assert_eq!(bench.run(&["tool", "allow", "demo", "echo"]).exit, 0);
    let rules = bench.json(&["approvals", "list"]);
    let rule = &rules["stdout"]["approvals"][0];
    assert_eq!(
        (&rule["tool"], &rule["decision"]),
        (&"echo".into(), &"allow".into())
    );
    assert!(
        rule["def_hash"]
            .as_str()
            .is_some_and(|hash| hash.len() > 20),
        "{rule}"
    );
}

#[test]
fn calls_take_words_json_and_files() {
    let bench = Bench::with_demo();
    bench.write("args.json", r#"{"text": "from a file"}"#);
    let verbs: [&[&str]; 9] = [
        &["call", "demo", "echo", "text=12"],
        &["call", "demo", "add", "a=1.5", "b:=2"],
        &["call", "demo", "echo", "--args", r#"{"text":"whole"}"#],
        &["call", "demo", "echo", "--args", "@args.json"],
        &["call", "demo", "add", "a=one", "b=2"],
        &["call", "demo", "fail", "reason=it must"],
        &["call", "demo", "slow", "ms=5"],
        &["call", "demo", "ask_name"],
        &["call", "demo", "crash"],
    ];
    let ran: Vec<Value> = verbs.iter().map(|verb| bench.json(verb)).collect();
    assert_json_snapshot!(ran);
}

#[test]
fn resources_and_prompts_are_listed_and_read() {
    let bench = Bench::with_demo();
    let verbs: [&[&str]; 7] = [
        &["resources"],
        &["read", "demo", "demo://note"],
        &["read", "demo", "demo://picture", "--output", "picture.png"],
        &["read", "demo", "demo://nothing"],
        &["prompts"],
        &["prompt", "demo", "greet", "name=Ada", "language=French"],
        &["prompt", "demo", "nothing"],
    ];
    let ran: Vec<Value> = verbs.iter().map(|verb| bench.json(verb)).collect();
    assert_json_snapshot!(ran);
    let picture = std::fs::read(bench.path().join("picture.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
}

#[test]
fn every_provider_sees_the_odd_tool_its_own_way() {
    let bench = Bench::with_demo();
    let all = [
        "openai",
        "openai-responses",
        "anthropic",
        "gemini",
        "vertex",
    ];
    let ran: Vec<Value> = all
        .iter()
        .map(|provider| bench.json(&["schema", "demo", "--for", provider, "--tool", "odd"]))
        .collect();
    assert_json_snapshot!(ran);
}

#[test]
fn what_is_exported_is_imported_as_the_same() {
    let bench = Bench::with_demo();
    let add = [
        "servers",
        "add",
        "web",
        "https://example.com/mcp",
        "-H",
        "X-Key: env:KEY",
    ];
    assert_eq!(bench.run(&add).exit, 0);
    let programs = [
        "claude-desktop",
        "claude-code",
        "vscode",
        "cursor",
        "cline",
        "codex",
    ];
    let names = [
        "claude_desktop_config.json",
        ".mcp.json",
        ".vscode/mcp.json",
        ".cursor/mcp.json",
        "cline_mcp_settings.json",
        ".codex/config.toml",
    ];
    let mut exported = Vec::new();
    for (program, name) in programs.iter().zip(names) {
        let value = bench.json(&["export", "--to", program]);
        assert_eq!(value["exit"], 0);
        let text = bench.run(&["export", "--to", program]).stdout;
        let file = bench.write(name, &text);
        let back = bench.json(&["import", file.to_str().unwrap()]);
        let states: Vec<&Value> = back["stdout"]["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| &it["state"])
            .collect();
        assert_eq!(states, ["same", "same"], "{program}: {back}");
        exported.push(value);
    }
    assert_json_snapshot!(exported);
}

#[test]
fn completions_know_the_verbs() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = bench.run(&["completions", shell]);
        assert_eq!(ran.exit, 0);
        assert!(
            ran.stdout.contains("doctor") && ran.stdout.contains("import"),
            "{shell}"
        );
    }
}

/// A verb about all servers tells what one of them lacks, and shows the others.
#[test]
fn one_server_that_is_down_hides_no_other() {
    let bench = Bench::with_demo();
    let gone = [
        "servers",
        "add",
        "gone",
        "--",
        "switchboard-no-such-program",
    ];
    assert_eq!(bench.run(&gone).exit, 0);
    let ran = bench.json(&["tools"]);
    assert_eq!(ran["exit"], 4);
    assert_eq!(ran["stdout"]["servers"][0]["server"], "demo");
    assert_eq!(ran["stderr"][0]["error"]["code"], "unreachable");
    let listed = bench.json(&["servers", "list"]);
    let statuses: Vec<&Value> = listed["stdout"]["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["status"])
        .collect();
    assert_eq!(statuses, ["ok", "failed"]);
}
