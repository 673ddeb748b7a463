#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
//! The official clients of others against our server, over HTTP, HTTP+SSE and stdio, in both eras.
//! `cargo xtask interop` installs them and runs this.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

fn folder(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(folder) => folder.into(),
        None => panic!("{variable} is not set: run `cargo xtask interop`"),
    }
}

/// A started conformance server; ends with the test.
struct Server(Child, String);

impl Server {
    fn start() -> Self {
        let program = folder("INTEROP_EXAMPLES").join("conformance_server");
        let mut child = Command::new(program)
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        Self(child, url.trim().to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/interop")
        .join(name)
}

/// What a client saw, one line a call.
fn seen(client: &mut Command) -> String {
    let output = client.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{client:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let pairs: Vec<[Value; 2]> = serde_json::from_str(text.trim()).unwrap();
    let lines = pairs.iter().map(|[name, what]| format!("{name}: {what}"));
    lines.collect::<Vec<_>>().join("\n")
}

fn typescript(target: &str, era: &str) -> String {
    let modules = folder("INTEROP_NODE");
    seen(
        Command::new("node")
            .arg(script("client.mjs"))
            .arg(modules)
            .args([target, era]),
    )
}

fn python(target: &str, era: &str) -> String {
    let python = folder("INTEROP_PYTHON").join("python");
    seen(
        Command::new(python)
            .arg(script("client.py"))
            .args([target, era]),
    )
}

/// The official Rust SDK's client, which chooses the era itself; only with `cargo xtask interop --rmcp`.
fn rmcp(target: &str) -> Option<String> {
    let Some(program) = std::env::var_os("INTEROP_RMCP") else {
        println!("SKIPPED: rmcp's client; `cargo xtask interop --rmcp` builds it");
        return None;
    };
    Some(seen(Command::new(program).arg(target)))
}

#[test]
fn the_official_clients_use_our_server_over_http_in_both_eras() {
    let server = Server::start();
    let want = r#""tools": true
"test_simple_text": "This is a simple text response for testing."
"test_error_handling": "error"
"test_header_parameter": "{\"region\":\"é\"}"
"test_input_required_result_elicitation": "Hello, Ann!"
"test_input_required_result_list_roots": "1 roots"
"resource": "The data of 7"
"prompt": "Prompt with arguments: arg1=a, arg2=b""#;
    for era in ["legacy", "modern"] {
        assert_eq!(typescript(&server.1, era), want, "TypeScript, {era}");
        assert_eq!(python(&server.1, era), want, "Python, {era}");
    }
    if let Some(seen) = rmcp(&server.1) {
        assert_eq!(seen, want, "rmcp");
    }
    let sse = server.1.replace("/mcp", "/sse");
    assert_eq!(typescript(&sse, "sse"), want, "TypeScript, HTTP+SSE");
}

#[test]
fn the_official_clients_use_our_server_over_stdio_in_both_eras() {
    let program = folder("INTEROP_EXAMPLES").join("add");
    let program = program.to_str().unwrap();
    let want = "\"tools\": true\n\"add\": \"{\\\"sum\\\":5}\"";
    for era in ["legacy", "modern"] {
        assert_eq!(typescript(program, era), want, "TypeScript, {era}");
        assert_eq!(python(program, era), want, "Python, {era}");
    }
    if let Some(seen) = rmcp(program) {
        assert_eq!(seen, want, "rmcp");
    }
}
