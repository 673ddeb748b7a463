//! `switchboard gateway` among programs of others: the files it is installed in, read by the programs
//! they are for; the official clients and the Inspector through it to real servers; and processes that
//! are killed in the middle of calls. `cargo xtask interop` installs the programs and runs this.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]
#![cfg(target_os = "linux")]

mod hosts;
mod killed;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

fn folder(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(folder) => folder.into(),
        None => panic!("{variable} is not set: run `cargo xtask interop`"),
    }
}

fn switchboard() -> &'static str {
    env!("CARGO_BIN_EXE_switchboard")
}

/// A program without arguments that is a gateway to these servers.
fn gateway(home: &Path, servers: &Value) -> PathBuf {
    let config = home.join("servers.json");
    std::fs::write(&config, json!({ "mcpServers": servers }).to_string()).unwrap();
    let program = home.join("gateway.sh");
    let text = format!(
        "#!/bin/sh\nSWITCHBOARD_HOME='{0}' exec '{1}' gateway --approve auto --no-prefix --config '{0}/servers.json'\n",
        home.display(),
        switchboard(),
    );
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program
}

/// A started program; ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The conformance server of this repository, and its address.
fn conformance_server() -> (Running, String) {
    let program = folder("INTEROP_EXAMPLES").join("conformance_server");
    let mut child = Command::new(program)
        .args(["--port", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    let output = child.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut url).unwrap();
    (Running(child), url.trim().to_owned())
}

/// What a client prints.
fn printed(client: &mut Command) -> String {
    let output = client.stderr(Stdio::inherit()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{client:?}: {text}");
    text
}

/// The official clients of `mcp-server`'s tests.
fn official(language: &str, target: &str, era: &str) -> String {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp-server/tests/interop");
    printed(&mut match language {
        "TypeScript" => {
            let mut node = Command::new("node");
            node.arg(scripts.join("client.mjs"));
            node.arg(folder("INTEROP_NODE")).args([target, era]);
            node
        }
        _ => {
            let mut python = Command::new(folder("INTEROP_PYTHON").join("python"));
            python.arg(scripts.join("client.py")).args([target, era]);
            python
        }
    })
}

#[test]
fn the_official_clients_see_through_the_gateway_what_they_see_without_it() {
    let (_server, url) = conformance_server();
    let home = tempfile::tempdir().unwrap();
    let program = gateway(home.path(), &json!({"conformance": {"url": url}}));
    let program = program.to_str().unwrap();
    for language in ["TypeScript", "Python"] {
        for era in ["legacy", "modern"] {
            let direct = official(language, &url, era);
            let through = official(language, program, era);
            assert_eq!(through, direct, "{language}, {era}");
        }
    }
    // It chooses the era itself.
    let Some(rmcp) = std::env::var_os("INTEROP_RMCP") else {
        return println!("SKIPPED: rmcp's client; `cargo xtask interop --rmcp` builds it");
    };
    let seen = |target: &str| printed(Command::new(&rmcp).arg(target));
    assert_eq!(seen(program), seen(&url), "rmcp");
}

#[test]
fn the_inspector_lists_and_calls_a_real_server_through_the_gateway() {
    let modules = folder("INTEROP_NODE");
    let everything = modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let home = tempfile::tempdir().unwrap();
    let servers = json!({"everything": {"command": "node", "args": [everything, "stdio"]}});
    let program = gateway(home.path(), &servers);
    let inspect = |args: &[&str]| -> Value {
        let mut inspector = Command::new(modules.join(".bin/mcp-inspector"));
        inspector.arg("--cli").arg(&program).args(args);
        serde_json::from_str(&printed(&mut inspector)).unwrap()
    };
    let listed = inspect(&["--method", "tools/list"]);
    let tools = listed["tools"].as_array().unwrap();
    assert!(
        tools.iter().any(|tool| tool["name"] == "get-sum"),
        "{listed}"
    );
    let call = ["--method", "tools/call", "--tool-name", "get-sum"];
    let sum = inspect(&[&call[..], &["--tool-arg", "a=2", "--tool-arg", "b=40"]].concat());
    let text = sum["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("42"), "{sum}");
    let prompts = inspect(&["--method", "prompts/list"]);
    assert!(!prompts["prompts"].as_array().unwrap().is_empty());
}
