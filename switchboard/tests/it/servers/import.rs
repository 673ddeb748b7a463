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

#[test]
fn of_two_files_with_one_name_only_the_first_is_taken_and_naming_the_file_takes_the_other() {
    let bench = Bench::new();
    let one = bench.write("one.json", r#"{"files": {"command": "one"}}"#);
    let two = bench.write("two.json", r#"{"files": {"command": "two"}}"#);
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    let both = bench.json(&["import", one, two, "--yes", "--overwrite"]);
    assert_eq!(both["stdout"]["imported"], serde_json::json!(["files"]));
    assert_eq!(both["exit"], 1, "{both}");
    let said = both["stderr"].to_string();
    assert!(
        said.contains("two.json was not imported") && said.contains("import FILE --only NAME"),
        "{said}"
    );
    let command = || {
        let shown = bench.json(&["servers", "show", "files"]);
        shown["stdout"]["config"]["command"].clone()
    };
    assert_eq!(command(), "one");
    let other = bench.json(&["import", two, "--yes", "--overwrite", "--only", "files"]);
    assert_eq!(other["exit"], 0, "{other}");
    assert_eq!(command(), "two");
}

#[test]
fn enabling_a_projects_server_shows_all_that_it_lets_happen() {
    let bench = Bench::new();
    let server = serde_json::json!({"command": "sh", "args": ["-c", "touch a; \u{202e}b", ""], "env": {"PATH": "/evil"}});
    let file = serde_json::json!({"mcpServers": {"stranger": server}});
    bench.write(".mcp.json", &file.to_string());
    assert_eq!(bench.run(&["import", "--yes"]).exit, 0);
    let enabled = bench.run(&["servers", "enable", "stranger"]).stdout;
    let command = "runs: sh -c \"touch a; \\u{202e}b\" \"\"\n";
    for line in [command, "sets: PATH\n", ".mcp.json"] {
        assert!(enabled.contains(line), "{line} in {enabled}");
    }
}

#[test]
fn what_was_allowed_of_a_server_ends_where_a_file_puts_another_endpoint_in_its_place() {
    let bench = Bench::new();
    let add = ["servers", "add", "demo", "--", path(), "demo-server"];
    assert_eq!(bench.run(&add).exit, 0);
    assert_eq!(bench.run(&["tool", "allow", "demo", "add"]).exit, 0);
    assert_eq!(bench.run(&["tool", "deny", "demo", "echo"]).exit, 0);
    let decided = || {
        let listed = bench.json(&["approvals", "list"]);
        let rules = listed["stdout"]["approvals"].as_array().unwrap().clone();
        let rules = rules.iter().map(|rule| rule["decision"].clone());
        rules.collect::<Vec<Value>>()
    };
    let replace = |args: &[&str], imported: &[&str]| {
        let demo = serde_json::json!({"command": path(), "args": args, "alwaysLoad": true});
        let file = serde_json::json!({"mcpServers": {"demo": demo}}).to_string();
        let file = bench.write("servers.json", &file);
        let import = ["import", file.to_str().unwrap(), "--yes", "--overwrite"];
        let replaced = bench.json(&import);
        assert_eq!(replaced["stdout"]["imported"], serde_json::json!(imported));
    };
    replace(&["demo-server"], &[]);
    assert_eq!(decided(), ["allow", "deny"], "the same endpoint");
    replace(&["demo-server", "--clock", "1"], &["demo"]);
    assert_eq!(decided(), ["deny"]);
}

#[test]
fn a_named_file_that_gives_no_server_is_an_error() {
    let bench = Bench::new();
    let broken = bench.write("broken.json", "{\"mcpServers\": {\n  \"a\" 1}}");
    let empty = bench.write("empty.json", "");
    let toml = bench.write("broken.toml", "[mcp_servers.a]\ncommand = run\n");
    let missing = bench.path().join("missing.json");
    for (file, want) in [
        (&broken, "line 2, column 7"),
        (&empty, "it has no servers"),
        (&toml, "line 2, column 11"),
        (&missing, "it cannot be read"),
    ] {
        let ran = bench.json(&["import", file.to_str().unwrap(), "--yes"]);
        assert_eq!(ran["exit"], 1, "{ran}");
        let problem = &ran["stdout"]["problems"][0];
        assert!(problem["problem"].as_str().unwrap().contains(want), "{ran}");
        assert!(problem["file"].as_str().unwrap().starts_with("HOME/"));
    }
    // One that gives some is not in vain.
    let some = r#"{"mcpServers": {"a": {"command": "run"}, "odd": {}}}"#;
    let some = bench.write("some.json", some);
    assert_eq!(
        bench.run(&["import", some.to_str().unwrap(), "--yes"]).exit,
        0
    );
}

#[test]
fn a_codex_file_of_any_name_is_known_by_what_it_says() {
    let bench = Bench::new();
    let text = "[mcp_servers.docs]\ncommand = \"run\"\nenv_vars = [\"HOME\"]\n";
    let file = bench.write("saved.conf", text);
    let ran = bench.json(&["import", file.to_str().unwrap(), "--yes"]);
    assert_eq!(
        ran["stdout"]["imported"],
        serde_json::json!(["docs"]),
        "{ran}"
    );
}

#[test]
fn a_projects_file_that_is_named_waits_for_approval_and_is_shown_whole() {
    let bench = Bench::new();
    let long = format!("{} && touch started", "true && ".repeat(60) + "true");
    let entry = serde_json::json!({"mcpServers": {"stranger": {
        "command": "sh", "args": ["-c", long, "\u{1b}[2J", "\u{202e}"], "env": {"NODE_OPTIONS": "-r x"}
    }}});
    let file = bench.write("project/.mcp.json", &entry.to_string());
    let ran = bench.json(&["import", file.to_str().unwrap(), "--yes"]);
    let shown = &ran["stdout"]["servers"][0];
    assert_eq!(shown["trust"], "pending", "{ran}");
    let endpoint = shown["endpoint"].as_str().unwrap();
    assert!(
        endpoint.contains("&& touch started\" \"\\u{1b}[2J\" \"\\u{202e}\""),
        "{endpoint}"
    );
    assert!(
        shown["note"]
            .as_str()
            .unwrap()
            .contains("sets NODE_OPTIONS"),
        "{ran}"
    );
    assert_eq!(bench.run(&["tools", "stranger"]).exit, 6);
    assert!(!bench.path().join("started").exists());
    let listed = bench.run(&["import", file.to_str().unwrap(), "--yes", "--overwrite"]);
    assert!(listed.stdout.contains("touch started"), "{}", listed.stdout);
    // The user's own file is no project's, wherever the user stands.
    let own = bench.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"own": {"command": "run"}}}"#,
    );
    let ran = bench.json(&["import", own.to_str().unwrap()]);
    assert_eq!(ran["stdout"]["servers"][0]["trust"], "allowed", "{ran}");
}

/// `servers add` and `import` have one rule: what is no secret is kept, and a secret needs a keyring
/// or the user's word.
#[test]
fn without_a_keyring_a_secret_is_refused_wherever_it_comes_from() {
    let bench = Bench::new();
    let debug = ["servers", "add", "plain", "-e", "DEBUG=1", "--", "run"];
    assert_eq!(bench.run(&debug).exit, 0);
    let file = bench.write(
        "others.json",
        r#"{"mcpServers": {
            "debug": {"command": "run", "env": {"DEBUG": "1"}},
            "token": {"command": "run", "env": {"API_TOKEN": "geheim"}},
            "argument": {"command": "run", "args": ["--api-key", "geheim"]},
            "address": {"url": "https://example.com/mcp?key=geheim"},
            "reference": {"command": "run", "args": ["--api-key", "${API_TOKEN}"]}
        }}"#,
    );
    let file = file.to_str().unwrap();
    let ran = bench.json(&["import", file, "--yes"]);
    assert_eq!(ran["exit"], 1, "{ran}");
    assert_eq!(
        ran["stdout"]["imported"],
        serde_json::json!(["debug", "reference"])
    );
    let reported = ran["stderr"].as_array().unwrap();
    assert_eq!(reported.len(), 3, "{ran}");
    for reported in reported {
        let hint = reported["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("--plain"), "{ran}");
    }
    assert!(!ran.to_string().contains("geheim"), "{ran}");
    let ran = bench.json(&["import", file, "--yes", "--plain"]);
    assert_eq!(ran["exit"], 0, "{ran}");
    assert_eq!(
        ran["stdout"]["imported"],
        serde_json::json!(["token", "argument", "address"])
    );
}

#[test]
#[cfg(unix)]
fn references_of_opencode_and_gemini_are_replaced_before_the_server_sees_them() {
    let bench = Bench::new();
    let script = "echo \"$0 $1 $K\" > seen";
    bench.write(".config/opencode/key.txt", "from a file\n");
    let opencode = serde_json::json!({"mcp": {"a": {
        "type": "local", "command": ["sh", "-c", script, "{env:SB_TEST}", "${HOME}"],
        "environment": {"K": "{file:key.txt}"}, "cwd": bench.path(),
    }}});
    bench.write(".config/opencode/opencode.json", &opencode.to_string());
    let gemini = serde_json::json!({"mcpServers": {"b": {
        "command": "sh", "args": ["-c", "echo \"$0 $1 $K\" > seen", "$SB_TEST", "$5"],
        "env": {"K": "${SB_TEST}!"}, "cwd": bench.path(),
    }}});
    // Without references of its own in the script.
    let gemini = gemini.to_string().replace("$0 $1 $K", "$(printenv K) $*");
    bench.write(".gemini/settings.json", &gemini);
    assert_eq!(bench.run(&["import", "--yes"]).exit, 0);
    let seen = |server: &str| {
        let mut command = bench.command(&["servers", "test", server]);
        let ended = command.env("SB_TEST", "value").output().unwrap();
        assert!(!ended.status.success());
        std::fs::read_to_string(bench.path().join("seen")).unwrap()
    };
    assert_eq!(seen("a"), "value ${HOME} from a file\n");
    assert_eq!(seen("b"), "value! $5\n");
}

/// A project's file is noticed where one looks at the servers: nothing of it is stored, let alone
/// started.
#[test]
fn a_projects_file_is_noticed_without_an_import() {
    let bench = Bench::new();
    bench.write(
        ".mcp.json",
        r#"{"mcpServers": {"stranger": {"command": "sh", "args": ["-c", "touch started"]}}}"#,
    );
    let listed = bench.json(&["servers", "list"]);
    assert_eq!(listed["stdout"]["servers"], serde_json::json!([]));
    assert_eq!(listed["stdout"]["not_imported"][0]["name"], "stranger");
    let said = bench.run(&["servers", "list"]);
    assert!(
        said.stderr.contains("stranger") && said.stderr.contains(".mcp.json"),
        "{}",
        said.stderr
    );
    assert!(!bench.path().join("started").exists());
    assert_eq!(bench.run(&["import", "--yes"]).exit, 0);
    let listed = bench.json(&["servers", "list"]);
    assert_eq!(listed["stdout"]["servers"][0]["status"], "pending");
    assert_eq!(listed["stdout"]["not_imported"], serde_json::json!([]));
}

#[test]
fn single_servers_are_imported_by_their_names() {
    let bench = Bench::new();
    let file = bench.write(
        "goose/config.yaml",
        "extensions:\n  developer: {type: builtin, name: developer, enabled: true}\n  a: {type: stdio, cmd: a, args: []}\n  b: {type: stdio, cmd: b, args: []}\n",
    );
    let file = file.to_str().unwrap();
    let back = bench.json(&["import", file, "--yes", "--only", "b"]);
    assert_eq!(back["stdout"]["imported"], serde_json::json!(["b"]));
    assert_eq!(back["stdout"]["problems"], serde_json::json!([]));
    let unknown = bench.run(&["import", file, "--yes", "--only", "c"]);
    assert_eq!(unknown.exit, 1);
    assert!(
        unknown.stderr.contains("no server \"c\""),
        "{}",
        unknown.stderr
    );
}

/// A broken, empty, huge or hostile file of any format: a message that names the file, an exit code,
/// and nothing imported.
#[test]
fn a_file_that_cannot_be_read_imports_nothing() {
    let bench = Bench::new();
    let bomb = (1..12).fold(
        "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned(),
        |bomb, n| {
            let many = vec![format!("*a{}", n - 1); 10].join(", ");
            format!("{bomb}a{n}: &a{n} [{many}]\n")
        },
    );
    let deep = format!("{}{}", "{\"mcpServers\":".repeat(3000), "1");
    let huge = format!(
        "{{\"mcpServers\": {{}}, \"x\": \"{}\"}}",
        "x".repeat(17 << 20)
    );
    let files = [
        ("broken/.mcp.json", "{\"mcpServers\": {"),
        ("broken/config.toml", "[mcp_servers.a"),
        ("broken/goose/config.yaml", "extensions:\n  a: [\n"),
        ("broken/.continue/config.yaml", "mcpServers: 7\n"),
        ("broken/librechat.yaml", "mcpServers:\n\ta: 1\n"),
        (
            "broken/server.json",
            "{\"name\": \"a/b\", \"packages\": []}",
        ),
        (
            "broken/manifest.json",
            "{\"manifest_version\": \"0.3\", \"server\": {}}",
        ),
        ("empty/.mcp.json", ""),
        ("empty/goose/config.yaml", "# nothing\n"),
        ("hostile/goose/config.yaml", bomb.as_str()),
        ("hostile/.mcp.json", deep.as_str()),
        ("huge/.mcp.json", huge.as_str()),
    ];
    for (name, text) in files {
        let file = bench.write(name, text);
        let said = bench.run(&["import", file.to_str().unwrap(), "--yes"]);
        assert_eq!(said.exit, 1, "{name}: {}", said.stdout);
        assert!(
            said.stdout.contains(name) || name.starts_with("empty"),
            "{name}: {}",
            said.stdout
        );
        assert!(
            said.stdout.contains("Nothing to import."),
            "{name}: {}",
            said.stdout
        );
    }
    let listed = bench.json(&["servers", "list"]);
    assert_eq!(listed["stdout"]["servers"], serde_json::json!([]));
}

/// Where each program keeps its servers.
const FILES: [&str; 19] = [
    "claude_desktop_config.json",
    ".mcp.json",
    ".vscode/mcp.json",
    ".cursor/mcp.json",
    "cline_mcp_settings.json",
    "mcp_settings.json",
    ".gemini/settings.json",
    "mcp-config.json",
    ".amazonq/mcp.json",
    "opencode.json",
    "windsurf/mcp_config.json",
    "zed/settings.json",
    ".lmstudio/mcp.json",
    "config.toml",
    "goose/config.yaml",
    ".continue/config.yaml",
    "librechat.yaml",
    "server.json",
    "manifest.json",
];

#[test]
fn a_bad_file_of_any_program_is_named_with_the_place_and_gives_nothing() {
    let bench = Bench::new();
    let huge = " ".repeat(17 << 20);
    for name in FILES {
        let (broken, hostile) = match name.rsplit('.').next() {
            Some("toml") => ("a = 1\n[mcp_servers.a", "a = \"\u{1b}[2J\u{1b}]0;t\u{7}"),
            Some("yaml") => ("a: 1\nb: [\n", "a: [\u{1b}[2J\u{1b}]0;t\u{7}"),
            _ => (
                "{\n  \"mcpServers\": {",
                "{\"a\": {\u{1b}[2J\u{1b}]0;t\u{7}",
            ),
        };
        for (text, place) in [
            (broken, "line 2, column "),
            ("", "it has no servers"),
            (hostile, "line 1, column "),
            (huge.as_str(), "it is bigger than 16 MiB"),
        ] {
            let file = bench.write(name, text);
            let said = bench.run(&["import", file.to_str().unwrap(), "--yes"]);
            let shown = said.stdout + &said.stderr;
            assert_eq!(said.exit, 1, "{name}: {shown}");
            for want in [name, place, "Nothing to import."] {
                assert!(shown.contains(want), "{name}: {want}: {shown}");
            }
            assert!(!shown.contains('\u{1b}'), "{name}: {shown:?}");
            assert!(shown.len() < 1000, "{name}: {} bytes", shown.len());
        }
    }
    let listed = bench.json(&["servers", "list"]);
    assert_eq!(listed["stdout"]["servers"], serde_json::json!([]));
}
