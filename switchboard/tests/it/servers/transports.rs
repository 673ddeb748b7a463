//! Servers for this once: a command, a URL, a file; over every transport.

use std::io::BufRead as _;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::bench::{Bench, CLOCK};
use crate::program::{path, program};

/// A demo server that listens, until it is dropped.
struct Listening {
    child: Child,
    url: String,
}

impl Listening {
    fn start(transport: &str) -> Self {
        let mut child = program(&["demo-server", transport, "--clock", CLOCK])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        let url = url.trim().to_owned();
        Self { child, url }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a verb says does not depend on how the server is reached.
#[test]
fn a_command_a_url_and_a_file_give_the_same() {
    let bench = Bench::with_demo();
    let (http, sse) = (Listening::start("--http"), Listening::start("--sse"));
    let file = format!(
        r#"{{"mcpServers": {{
            "mine": {{"command": {:?}, "args": ["demo-server", "--clock", "{CLOCK}"]}},
            "odd": {{"args": []}}
        }}}}"#,
        path()
    );
    let file = bench.write("servers.json", &file);
    let file = file.to_str().unwrap();
    let call = ["get_time", "offset_ms=-86400000"];
    let command = ["--", path(), "demo-server", "--clock", CLOCK];
    let ways: [Vec<&str>; 5] = [
        [&["call", "demo"], &call[..]].concat(),
        [&["call"], &call[..], &command[..]].concat(),
        [&["call", &http.url], &call[..]].concat(),
        [&["call", &sse.url], &call[..]].concat(),
        [&["--config", file, "call", "mine"], &call[..]].concat(),
    ];
    for way in ways {
        let ran = bench.json(&way);
        assert_eq!(ran["exit"], 0, "{way:?}: {ran}");
        let text = &ran["stdout"]["result"]["content"][0]["text"];
        assert_eq!(text, "1684713600000 (2023-05-22T00:00:00Z)", "{way:?}");
    }
    let tools = |arguments: &[&str]| -> Value {
        let mut ran = bench.json(arguments);
        let tools = ran["stdout"]["servers"][0]["tools"].take();
        let names = tools
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["signature"].clone());
        names.collect()
    };
    let stored = tools(&["tools", "demo"]);
    assert_eq!(stored.as_array().unwrap().len(), 14);
    assert_eq!(stored, tools(&["tools", &http.url]));
    assert_eq!(stored, tools(&["tools", &sse.url]));
    assert_eq!(stored, tools(&[&["tools"], &command[..]].concat()));
}

#[test]
fn a_file_is_used_and_its_broken_entry_reported() {
    let bench = Bench::new();
    let text = format!(
        "{{\"mcpServers\": {{\n  \"good\": {{\"command\": {:?}, \"args\": [\"demo-server\"]}},\n  \"bad\": {{\"command\": 7}},\n  \"poor\": {{\"command\": \"run\", \"args\": [\"${{SWITCHBOARD_TEST_KEY}}\"]}}\n}}}}",
        path()
    );
    let file = bench.write("servers.json", &text);
    let ran = bench.json(&["--config", file.to_str().unwrap(), "servers", "test"]);
    insta::assert_json_snapshot!(ran);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    let none = bench.json(&["servers", "list"]);
    assert_eq!(none["stdout"]["servers"], serde_json::json!([]));
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_during_a_call_leaves_no_server() {
    use std::io::Read as _;

    let bench = Bench::with_demo();
    let mut child = bench
        .command(&["call", "demo", "slow", "ms=60000", "--json"])
        .spawn()
        .unwrap();
    // Wait until the server is there: its log begins with its start.
    while bench.logs().is_empty() {
        std::thread::yield_now();
    }
    let id = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert!(stderr.contains("\"cancelled\""), "{stderr}");
    // Any further run checks that nothing is left.
    assert_eq!(bench.run(&["servers", "list"]).exit, 0);
}
