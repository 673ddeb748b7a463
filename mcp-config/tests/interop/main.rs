//! Files that we write, read by the programs they are for. `cargo xtask interop` installs the programs. None
//! of them is online: each has its own home, and the configured servers are never reached.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_config::{ConfigFile, Dialect};
use serde_json::{Value, json};

/// What every one of them can say: a program with a reference among its variables, and an address
/// with one among its headers.
const SERVERS: &str = r#"{"mcpServers": {
    "files": {
        "command": "files-server",
        "args": ["--root", "/srv/some folder", "-v"],
        "env": {"LEVEL": "debug", "SB_KEY": "${env:SB_KEY}"}
    },
    "web": {
        "url": "https://example.invalid/mcp",
        "headers": {"X-Team": "red", "X-Key": "${env:SB_KEY}"}
    }
}}"#;

fn programs() -> PathBuf {
    match std::env::var_os("INTEROP_HOSTS") {
        Some(folder) => folder.into(),
        None => panic!("INTEROP_HOSTS is not set: run `cargo xtask interop`"),
    }
}

/// A home with our file in it.
fn home(dialect: Dialect, place: &str) -> tempfile::TempDir {
    let file = ConfigFile::read(SERVERS, Dialect::Plain).unwrap();
    assert_eq!(file.losses(dialect), []);
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join(place);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(&place, file.write(dialect)).unwrap();
    home
}

/// What a program says in such a home, with `SB_KEY` set to `s3same`, and what it remarks.
fn ask(home: &Path, program: &str, args: &[&str]) -> (String, String) {
    let output = Command::new(programs().join(program))
        .args(args)
        .current_dir(home)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .env("SB_KEY", "s3same")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let said = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (stdout, stderr) = (said(output.stdout), said(output.stderr));
    assert!(output.status.success(), "{program}: {stdout}\n{stderr}");
    assert!(!stderr.contains("Invalid"), "{program}: {stderr}");
    (stdout, stderr)
}

#[track_caller]
fn check(said: &str, wanted: &[&str]) {
    for want in wanted {
        assert!(said.contains(want), "{want:?} is missing:\n{said}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn claude_code_reads_what_is_written_for_it() {
    let home = home(Dialect::ClaudeCode, ".mcp.json");
    let claude = |args: &[&str]| {
        ask(
            home.path(),
            "@anthropic-ai/claude-code-linux-x64/claude",
            args,
        )
        .0
    };
    let all = claude(&["mcp", "list"]);
    check(
        &all,
        &[
            "files: files-server --root",
            "web: https://example.invalid/mcp (HTTP)",
        ],
    );
    assert!(!all.contains("Warning"), "{all}");
    let files = claude(&["mcp", "get", "files"]);
    check(&files, &["Type: stdio", "LEVEL=debug", "SB_KEY=${SB_KEY}"]);
    let web = claude(&["mcp", "get", "web"]);
    check(&web, &["Type: http", "X-Team: red", "X-Key: ${SB_KEY}"]);
}

#[cfg(feature = "toml")]
#[test]
fn codex_reads_what_is_written_for_it() {
    let home = home(Dialect::Codex, ".codex/config.toml");
    let (said, _) = ask(home.path(), ".bin/codex", &["mcp", "list", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    let files = &said[0]["transport"];
    assert_eq!(files["command"], "files-server");
    assert_eq!(files["args"], json!(["--root", "/srv/some folder", "-v"]));
    assert_eq!(files["env"], json!({"LEVEL": "debug"}));
    assert_eq!(files["env_vars"], json!(["SB_KEY"]));
    let web = &said[1]["transport"];
    assert_eq!(web["url"], "https://example.invalid/mcp");
    assert_eq!(web["http_headers"], json!({"X-Team": "red"}));
    assert_eq!(web["env_http_headers"], json!({"X-Key": "SB_KEY"}));
}

#[test]
fn gemini_reads_what_is_written_for_it() {
    let home = home(Dialect::Gemini, ".gemini/settings.json");
    // Its list is a remark.
    let (said, remarked) = ask(home.path(), ".bin/gemini", &["mcp", "list"]);
    let said = said + &remarked;
    check(
        &said,
        &[
            "files: files-server --root /srv/some folder -v (stdio)",
            "web: https://example.invalid/mcp",
        ],
    );
}

#[cfg(target_arch = "x86_64")]
#[test]
fn opencode_reads_what_is_written_for_it() {
    let home = home(Dialect::OpenCode, ".config/opencode/opencode.json");
    let program = "opencode-linux-x64-baseline/bin/opencode";
    let (said, _) = ask(home.path(), program, &["debug", "config"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    let files = &said["mcp"]["files"];
    assert_eq!(
        files["command"],
        json!(["files-server", "--root", "/srv/some folder", "-v"])
    );
    assert_eq!(
        files["environment"],
        json!({"LEVEL": "debug", "SB_KEY": "s3same"})
    );
    assert_eq!(said["mcp"]["web"]["url"], "https://example.invalid/mcp");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn copilot_reads_what_is_written_for_it() {
    let home = home(Dialect::CopilotCli, ".copilot/mcp-config.json");
    let program = "@github/copilot-linux-x64/copilot";
    let get = |name: &str| -> Value {
        let args = ["mcp", "get", name, "--json", "--show-secrets"];
        let (said, _) = ask(home.path(), program, &args);
        serde_json::from_str::<Value>(&said).unwrap()[name].clone()
    };
    let files = get("files");
    assert_eq!(files["command"], "files-server");
    assert_eq!(files["args"], json!(["--root", "/srv/some folder", "-v"]));
    assert_eq!(
        files["env"],
        json!({"LEVEL": "debug", "SB_KEY": "${SB_KEY}"})
    );
    assert_eq!(files["tools"], json!(["*"]));
    let web = get("web");
    assert_eq!(web["url"], "https://example.invalid/mcp");
    assert_eq!(
        web["headers"],
        json!({"X-Team": "red", "X-Key": "${SB_KEY}"})
    );
}

/// What a module of Node's says about a file.
#[cfg(feature = "yaml")]
fn module(home: &Path, script: &str) -> Value {
    let output = Command::new("node")
        .args(["--input-type=module", "-e", script])
        .current_dir(programs().parent().unwrap())
        .env("FILE", home.join("file"))
        .env("SB_KEY", "s3same")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[cfg(feature = "yaml")]
#[test]
fn continue_reads_what_is_written_for_it() {
    let home = home(Dialect::Continue, "file");
    let said = module(
        home.path(),
        "import {readFileSync} from 'node:fs';
         import {parseConfigYaml} from '@continuedev/config-yaml';
         const file = parseConfigYaml(readFileSync(process.env.FILE, 'utf8'));
         console.log(JSON.stringify(file.mcpServers));",
    );
    assert_eq!(
        said,
        json!([
            {
                "name": "files",
                "command": "files-server",
                "args": ["--root", "/srv/some folder", "-v"],
                "env": {"LEVEL": "debug", "SB_KEY": "${{ secrets.SB_KEY }}"},
            },
            {
                "name": "web",
                "type": "streamable-http",
                "url": "https://example.invalid/mcp",
                "requestOptions": {
                    "headers": {"X-Key": "${{ secrets.SB_KEY }}", "X-Team": "red"},
                },
            },
        ])
    );
}

#[cfg(feature = "yaml")]
#[test]
fn librechat_reads_what_is_written_for_it() {
    let home = home(Dialect::LibreChat, "file");
    // The program reads its file with the same package.
    let said = module(
        home.path(),
        "import {readFileSync} from 'node:fs';
         import yaml from 'js-yaml';
         import {configSchema} from 'librechat-data-provider';
         const file = configSchema.parse(yaml.load(readFileSync(process.env.FILE, 'utf8')));
         console.log(JSON.stringify(file.mcpServers));",
    );
    assert_eq!(said["files"]["command"], "files-server");
    assert_eq!(
        said["files"]["env"],
        json!({"LEVEL": "debug", "SB_KEY": "s3same"})
    );
    assert_eq!(said["web"]["type"], "streamable-http");
    assert_eq!(said["web"]["headers"]["X-Team"], "red");
}

#[test]
fn a_manifest_is_valid_to_the_makers_of_bundles() {
    let text = r#"{"inputs": [{"id": "key", "description": "A key", "password": true}], "servers": {
        "files": {"command": "node", "args": ["${__dirname}/a.js"], "env": {"KEY": "${input:key}"}}
    }}"#;
    let file = ConfigFile::read(text, Dialect::VsCode).unwrap();
    assert_eq!(file.losses(Dialect::Bundle), []);
    let home = tempfile::tempdir().unwrap();
    std::fs::write(
        home.path().join("manifest.json"),
        file.write(Dialect::Bundle),
    )
    .unwrap();
    let (said, _) = ask(home.path(), ".bin/mcpb", &["validate", "manifest.json"]);
    check(&said, &["passes"]);
}
