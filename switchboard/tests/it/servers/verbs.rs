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
            "--idle-timeout",
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
        "gemini",
        "opencode",
        "windsurf",
        "roo",
        "copilot-cli",
        "continue",
        "librechat",
        "goose",
    ];
    let names = [
        "claude_desktop_config.json",
        ".mcp.json",
        ".vscode/mcp.json",
        ".cursor/mcp.json",
        "cline_mcp_settings.json",
        "codex.txt",
        ".gemini/settings.json",
        "opencode.json",
        ".codeium/windsurf/mcp_config.json",
        "mcp_settings.json",
        "mcp-config.json",
        "continue.txt",
        "librechat.yaml",
        "goose.txt",
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
        // Claude Desktop's file has no references: what is one is left out, and reported.
        let web = match *program {
            "claude-desktop" => "conflict",
            _ => "same",
        };
        assert_eq!(states, ["same", web], "{program}: {back}");
        let reported = value["stderr"].as_array().unwrap();
        assert_eq!(
            reported.is_empty(),
            web == "same",
            "{program}: {reported:?}"
        );
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

#[test]
fn a_secret_in_an_argument_or_an_address_is_kept_like_any_other() {
    let bench = Bench::new();
    let argument = ["servers", "add", "a", "--", "run", "--api-key", "geheim"];
    let refused = bench.json(&argument);
    assert_eq!(refused["exit"], 1, "{refused}");
    let message = refused["stderr"][0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("the secret in argument 2"), "{message}");
    let address = [
        "servers",
        "add",
        "b",
        "https://example.com/mcp?token=geheim",
    ];
    assert_eq!(bench.run(&address).exit, 1);
    let plain = [
        "servers",
        "add",
        "a",
        "--plain",
        "--",
        "run",
        "--api-key",
        "geheim",
    ];
    assert_eq!(bench.run(&plain).exit, 0);
    for verb in [&["servers", "show", "a"], &["servers", "list"][..]] {
        let shown = bench.run(verb).stdout;
        assert!(
            shown.contains("--api-key") && !shown.contains("geheim"),
            "{shown}"
        );
        assert!(!bench.json(verb).to_string().contains("geheim"));
    }
}

#[test]
fn a_file_of_servers_is_listed_without_the_store() {
    let bench = Bench::with_demo();
    let file = bench.write(
        "servers.json",
        r#"{"mcpServers": {"mine": {"command": "run"}, "off": {"command": "run", "disabled": true}, "odd": {}}}"#,
    );
    let listed = bench.json(&["--config", file.to_str().unwrap(), "servers", "list"]);
    let names: Vec<(&Value, &Value)> = listed["stdout"]["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["name"], &it["status"]))
        .collect();
    let want = [("mine", "untried"), ("off", "off"), ("odd", "failed")];
    assert_eq!(names.len(), want.len(), "{listed}");
    for ((name, status), want) in names.into_iter().zip(want) {
        assert_eq!((name, status), (&want.0.into(), &want.1.into()));
    }
}

#[test]
fn a_log_goes_with_its_server_and_what_is_no_server_has_none() {
    let bench = Bench::with_demo();
    assert_eq!(
        bench.run(&["servers", "logs", "demo"]).exit,
        0,
        "it has none yet"
    );
    assert_eq!(bench.run(&["servers", "logs", "nope"]).exit, 1);
    assert_eq!(bench.run(&["servers", "test", "demo"]).exit, 0);
    let written = bench.run(&["servers", "logs", "demo"]).stdout;
    assert!(written.contains("started"), "{written}");
    // Its log is its own, under whatever name.
    let rename = ["servers", "edit", "demo", "--rename", "天气"];
    assert_eq!(bench.run(&rename).exit, 0);
    assert_eq!(bench.run(&["servers", "logs", "天气"]).stdout, written);
    let add = ["servers", "add", "文件", "--", path(), "demo-server"];
    assert_eq!(bench.run(&add).exit, 0);
    let none = bench.run(&["servers", "logs", "文件"]).stdout;
    assert!(none.contains("has no log"), "{none}");
    assert_eq!(bench.logs().len(), 1);
    assert_eq!(bench.run(&["servers", "remove", "天气"]).exit, 0);
    assert_eq!(bench.logs().len(), 0);
    assert_eq!(bench.run(&["servers", "logs", "天气"]).exit, 1);
}

#[test]
fn a_server_for_this_once_has_a_log_of_its_own() {
    let bench = Bench::new();
    let call = |name: &str| {
        let demo = serde_json::json!({"command": path(), "args": ["demo-server"]});
        let file = serde_json::json!({"mcpServers": {name: demo}}).to_string();
        let file = bench.write(&format!("{name}.json"), &file);
        let file = file.to_str().unwrap().to_owned();
        assert_eq!(bench.run(&["--config", &file, "tools"]).exit, 0);
        file
    };
    let (weather, _) = (call("天气"), call("文件"));
    assert_eq!(bench.logs().len(), 2);
    let logs = bench.run(&["--config", &weather, "servers", "logs", "天气"]);
    assert!(logs.stdout.contains("started"), "{}", logs.stdout);
    assert!(
        bench
            .run(&["servers", "logs", "天气"])
            .stdout
            .contains("started")
    );
}

/// What a server gets of one's environment is the same for all: what programs need.
#[test]
#[cfg(unix)]
fn a_server_for_this_once_gets_no_more_of_the_environment_than_a_stored_one() {
    let bench = Bench::new();
    let entry = r#"{"mcpServers": {"mine": {"command": "sh", "args": ["-c", "env > seen"]}}}"#;
    let file = bench.write("servers.json", entry);
    let ways: [&[&str]; 2] = [
        &["tools", "--", "sh", "-c", "env > seen"],
        &["--config", file.to_str().unwrap(), "tools"],
    ];
    for way in ways {
        let mut command = bench.command(way);
        command.env("DATABASE_URL", "postgres://me:geheim@db/app");
        command.env("SSH_AUTH_SOCK", "/run/agent");
        assert!(!command.output().unwrap().status.success());
        let seen = std::fs::read_to_string(bench.path().join("seen")).unwrap();
        assert!(seen.contains("PATH="), "{seen}");
        assert!(
            !seen.contains("DATABASE_URL") && !seen.contains("SSH_AUTH_SOCK"),
            "{seen}"
        );
        std::fs::remove_file(bench.path().join("seen")).unwrap();
    }
}

/// Every progress report starts an idle timeout anew, and never a deadline.
#[test]
fn a_call_that_reports_progress_ends_at_its_deadline() {
    let bench = Bench::with_demo();
    // Five steps of 1.5 s: 7.5 s at least, however slow the machine is, and 5.5 s to spare at each step.
    let slow = ["call", "demo", "slow", "ms:=1500", "--json"];
    let done = bench.run(&[&slow[..], &["--idle-timeout", "7"]].concat());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let late = bench.run(&[&slow[..], &["--timeout", "3"]].concat());
    assert_ne!(late.exit, 0, "{}", late.stdout);
    assert!(late.stderr.contains("deadline"), "{}", late.stderr);
}
