//! `switchboard gateway install` and `uninstall`, on the files of every client.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{path, program};

/// The exit, what was printed as JSON, and what went wrong.
fn gateway(home: &Path, args: &[&str]) -> (bool, Value, String) {
    let mut command = program(&["gateway"]);
    let output = command
        .args(args)
        .arg("--json")
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join(".config"))
        .env("SWITCHBOARD_HOME", home.join("data"))
        .current_dir(home)
        .output()
        .unwrap();
    let value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let errors = String::from_utf8(output.stderr).unwrap();
    (output.status.success(), value, errors)
}

#[test]
#[cfg(target_os = "linux")]
fn every_client_gets_an_entry_that_uninstall_takes_away_again() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let clients = [
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            "mcpServers",
        ),
        ("claude-code", ".claude.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("vscode", ".config/Code/User/mcp.json", "servers"),
        ("codex", ".codex/config.toml", "mcp_servers"),
        ("gemini-cli", ".gemini/settings.json", "mcpServers"),
        ("opencode", ".config/opencode/opencode.json", "mcp"),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json",
            "mcpServers",
        ),
        ("zed", ".config/zed/settings.json", "context_servers"),
        ("lm-studio", ".lmstudio/mcp.json", "mcpServers"),
        ("amazon-q", ".aws/amazonq/mcp.json", "mcpServers"),
        ("copilot-cli", ".copilot/mcp-config.json", "mcpServers"),
        ("goose", ".config/goose/config.yaml", "extensions"),
        ("continue", ".continue/config.yaml", "mcpServers"),
    ];
    for (client, file, container) in clients {
        let file = home.join(file);
        let toml = client == "codex";
        let yaml = ["goose", "continue"].contains(&client);
        let before = match toml {
            _ if client == "goose" => {
                "# mine\nextensions:\n  other: # theirs\n    type: stdio\n    cmd: other\n    args: []\n".to_owned()
            }
            _ if yaml => "# mine\nmcpServers:\n  - name: other # theirs\n    command: other\n".to_owned(),
            true => {
                "# mine\nmodel = \"o3\"\n\n[mcp_servers.other]\ncommand = \"other\"\n".to_owned()
            }
            false => format!(
                "{{\n  // mine\n  \"{container}\": {{\n    \"other\": {{\"command\": \"other\"}},\n  }},\n}}\n"
            ),
        };
        // A file that is not there is made, and goes again.
        let (good, said, errors) = gateway(home, &["install", client, "--yes"]);
        assert!(
            good && said["backup"].is_null(),
            "{client}: {said} {errors}"
        );
        assert_eq!(said["file"], json!(file), "{client}");
        let made = fs::read_to_string(&file).unwrap();
        assert!(made.contains(path()) && made.contains(container), "{made}");
        assert!(gateway(home, &["uninstall", client, "--yes"]).0);
        assert!(!file.exists(), "{client}");
        // One that is there keeps everything else, and is what it was in the end.
        fs::write(&file, &before).unwrap();
        let (good, said, _) = gateway(home, &["install", client, "--yes", "--approve", "auto"]);
        assert!(good && said["changed"] == true, "{client}: {said}");
        let backup = said["backup"].as_str().unwrap();
        assert_eq!(fs::read_to_string(backup).unwrap(), before);
        let written = fs::read_to_string(&file).unwrap();
        for kept in ["mine", "other", "--approve", "SWITCHBOARD_HOME"] {
            assert!(written.contains(kept), "{client}: {written}");
        }
        let (good, said, _) = gateway(home, &["install", client, "--yes", "--approve", "auto"]);
        assert!(
            good && said["changed"] == false,
            "twice is once: {client} {said}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), written);
        assert!(gateway(home, &["uninstall", client, "--yes"]).0);
        assert_eq!(fs::read_to_string(&file).unwrap(), before, "{client}");
    }
}

#[test]
fn without_a_yes_nothing_is_written_and_another_entry_of_the_name_stays() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let file = home.join("mcp.json");
    let file = file.to_str().unwrap();
    let (good, _, errors) = gateway(home, &["install", "cursor", "--file", file]);
    assert!(!good && errors.contains("--yes"), "{errors}");
    let (good, said, _) = gateway(home, &["install", "cursor", "--file", file, "--dry-run"]);
    assert!(
        good && said["entry"]["args"] == json!(["gateway"]),
        "{said}"
    );
    assert!(!Path::new(file).exists());
    let theirs = r#"{"mcpServers": {"switchboard": {"command": "theirs"}}}"#;
    fs::write(file, theirs).unwrap();
    for verb in ["install", "uninstall"] {
        let (good, _, errors) = gateway(home, &[verb, "cursor", "--file", file, "--yes"]);
        assert!(!good && errors.contains("--name"), "{errors}");
        assert_eq!(fs::read_to_string(file).unwrap(), theirs);
    }
    let (good, ..) = gateway(
        home,
        &["install", "cursor", "--file", file, "--yes", "--name", "sb"],
    );
    assert!(good);
    fs::write(file, "{\"mcpServers\": [").unwrap();
    let (good, _, errors) = gateway(home, &["install", "cursor", "--file", file, "--yes"]);
    assert!(!good && errors.contains("line 1"), "{errors}");
    assert_eq!(fs::read_to_string(file).unwrap(), "{\"mcpServers\": [");
}

#[test]
fn moved_entries_are_behind_the_gateway_until_uninstall_puts_them_back() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let project = home.join(".mcp.json");
    let text = json!({"mcpServers": {
        "demo": {"command": path(), "args": ["demo-server"]},
        "asks": {"command": "x", "args": ["${input:key}"]},
    }});
    let text = format!("{text:#}\n");
    fs::write(&project, &text).unwrap();
    let args = ["install", "claude-code", "--project", "--move", "--yes"];
    let (good, said, errors) = gateway(home, &args);
    assert!(good, "{said} {errors}");
    assert_eq!(said["moved"], json!(["demo"]));
    assert_eq!(said["left"][0]["name"], "asks");
    let servers = program(&["servers", "--json"])
        .env("SWITCHBOARD_HOME", home.join("data"))
        .output()
        .unwrap();
    let servers: Value = serde_json::from_slice(&servers.stdout).unwrap();
    // A project's author may be a stranger.
    assert_eq!(servers["servers"][0]["status"], "pending", "{servers}");
    let moved: Value = serde_json::from_str(&fs::read_to_string(&project).unwrap()).unwrap();
    let names: Vec<&String> = moved["mcpServers"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["asks", "switchboard"]);
    // What the client changed since stays.
    let changed = fs::read_to_string(&project)
        .unwrap()
        .replace("\"asks\"", "\"later\"");
    fs::write(&project, changed).unwrap();
    let (good, said, _) = gateway(home, &["uninstall", "claude-code", "--project", "--yes"]);
    assert!(good && said["restored"] == json!(["demo"]), "{said}");
    let back: Value = serde_json::from_str(&fs::read_to_string(&project).unwrap()).unwrap();
    let original: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(back["mcpServers"]["demo"], original["mcpServers"]["demo"]);
    assert_eq!(back["mcpServers"]["later"], original["mcpServers"]["asks"]);
    assert!(back["mcpServers"]["switchboard"].is_null());
}
