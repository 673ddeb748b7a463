//! What `gateway install` writes, as the clients' own checkers read it.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{folder, switchboard};

/// A home in which the gateway is installed for a client, beside a server that was there.
fn home(client: &str, file: &str, before: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(file);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, before).unwrap();
    let installed = Command::new(switchboard())
        .args(["gateway", "install", client, "--approve", "auto", "--yes"])
        .env("HOME", home.path())
        .env("XDG_CONFIG_HOME", home.path().join(".config"))
        .env("SWITCHBOARD_HOME", home.path().join("data"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&installed.stderr);
    assert!(installed.status.success(), "{client}: {errors}");
    home
}

/// What a program says in that home.
fn ask(home: &Path, program: &str, args: &[&str]) -> String {
    let output = Command::new(folder("INTEROP_HOSTS").join(program))
        .args(args)
        .current_dir(home)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "{program}: {stdout}\n{stderr}");
    assert!(!stderr.contains("Invalid"), "{program}: {stderr}");
    match program.contains("gemini") {
        // Its list is a remark.
        true => stdout + &stderr,
        false => stdout,
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn claude_code_starts_the_gateway_that_was_installed_for_it() {
    let before = "{\n  \"numStartups\": 1,\n  \"mcpServers\": {\"other\": {\"type\": \"stdio\", \"command\": \"other\"}}\n}\n";
    let home = home("claude-code", ".claude.json", before);
    let claude = "@anthropic-ai/claude-code-linux-x64/claude";
    // It starts the servers of the user's own file to see whether they work.
    let all = ask(home.path(), claude, &["mcp", "list"]);
    let line = all
        .lines()
        .find(|line| line.starts_with("switchboard:"))
        .unwrap();
    assert!(
        line.contains("gateway") && line.contains("Connected"),
        "{all}"
    );
    let got = ask(home.path(), claude, &["mcp", "get", "switchboard"]);
    for want in [
        "Type: stdio",
        switchboard(),
        "gateway --approve auto",
        "SWITCHBOARD_HOME=",
    ] {
        assert!(got.contains(want), "{want}: {got}");
    }
    assert!(all.contains("other:"), "{all}");
}

#[test]
fn codex_reads_the_gateway_that_was_installed_for_it() {
    let before = "# mine\nmodel = \"gpt-5\"\n\n[mcp_servers.other]\ncommand = \"other\"\n";
    let home = home("codex", ".codex/config.toml", before);
    let said = ask(home.path(), ".bin/codex", &["mcp", "list", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    let named = |name: &str| {
        let servers = said.as_array().unwrap().iter();
        let mut servers = servers.filter(|server| server["name"] == name);
        servers.next().unwrap_or(&Value::Null).clone()
    };
    let ours = &named("switchboard")["transport"];
    assert_eq!(ours["command"], switchboard());
    assert_eq!(ours["args"], json!(["gateway", "--approve", "auto"]));
    assert_eq!(named("other")["transport"]["command"], "other");
}

#[test]
fn gemini_reads_the_gateway_that_was_installed_for_it() {
    let before = "{\n  // mine\n  \"mcpServers\": {\"other\": {\"command\": \"other\"}}\n}\n";
    let home = home("gemini-cli", ".gemini/settings.json", before);
    let said = ask(home.path(), ".bin/gemini", &["mcp", "list"]);
    let want = format!(
        "switchboard: {} gateway --approve auto (stdio)",
        switchboard()
    );
    assert!(
        said.contains(&want) && said.contains("other: other"),
        "{said}"
    );
}

#[cfg(target_arch = "x86_64")]
#[test]
fn opencode_reads_the_gateway_that_was_installed_for_it() {
    let before = "{\n  // mine\n  \"mcp\": {\"other\": {\"type\": \"local\", \"command\": [\"other\"]}},\n}\n";
    let home = home("opencode", ".config/opencode/opencode.json", before);
    let program = "opencode-linux-x64-baseline/bin/opencode";
    let said = ask(home.path(), program, &["debug", "config"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    let command = json!([switchboard(), "gateway", "--approve", "auto"]);
    assert_eq!(said["mcp"]["switchboard"]["command"], command);
    assert_eq!(said["mcp"]["other"]["command"], json!(["other"]));
}
