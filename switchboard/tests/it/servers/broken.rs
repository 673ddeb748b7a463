//! `doctor` on each kind of broken server.

use insta::assert_json_snapshot;
use mcp_testkit::{Fault, Script, Server};
use serde_json::Value;

use super::bench::Bench;

/// A faulty server on a port of this machine.
async fn faulty(fault: &str) -> mcp_testkit::Running {
    let server = Server::new(Script::minimal()).with_fault(Fault::named(fault).unwrap());
    server.start_http().await.unwrap()
}

#[test]
#[cfg(unix)]
fn programs_that_are_no_good_servers_are_explained() {
    let bench = Bench::new();
    let wants_key = "echo 'Error: API_KEY is not set' >&2; exit 3";
    let file = serde_json::json!({"mcpServers": {
        "absent": {"command": "switchboard-no-such-program"},
        "spaced": {"command": "npx -y thing"},
        "dying": {"command": "sh", "args": ["-c", wants_key]},
        "chatty": {"command": "sh", "args": ["-c", "echo Welcome to the server; exit 0"]},
        "silent": {"command": "sh", "args": ["-c", "exec sleep 60"], "connectTimeoutMs": 300},
        "poor": {"command": "sh", "env": {"KEY": "${SWITCHBOARD_TEST_KEY}"}},
        "asking": {"command": "sh", "args": ["${input:token}"]},
        "nothing": {"comand": "sh"},
    }});
    let file = bench.write("servers.json", &file.to_string());
    let mut ran = bench.json(&["--config", file.to_str().unwrap(), "doctor"]);
    let servers = ran["stdout"]["servers"].as_array_mut().unwrap();
    let silent = servers.iter_mut().find(|it| it["server"] == "silent");
    // What it is still waited for depends on how fast it starts.
    let message = silent.unwrap()["findings"][0]["message"].take();
    assert!(message.as_str().unwrap().contains("300ms"), "{message}");
    assert_json_snapshot!(ran);
}

#[test]
fn a_file_with_the_wrong_key_is_explained() {
    let bench = Bench::new();
    let file = bench.write(
        "servers.json",
        r#"{"mcpserver": {"a": {"command": "run"}}}"#,
    );
    let ran = bench.json(&["--config", file.to_str().unwrap(), "doctor"]);
    assert_json_snapshot!(ran);
}

#[tokio::test(flavor = "multi_thread")]
async fn remote_servers_that_do_not_work_are_explained() {
    let bench = Bench::new();
    let mut ran: Vec<(&str, Value)> = Vec::new();
    for fault in [
        "401-init",
        "404-init",
        "version-unknown",
        "init-error",
        "tools-bad-entry",
    ] {
        let server = faulty(fault).await;
        ran.push((fault, bench.json(&["doctor", &server.url()])));
        server.shutdown().await;
    }
    let server = faulty("401-init").await;
    ran.push((
        "wrong key",
        bench.json(&["doctor", &server.url(), "-H", "Authorization: Bearer x"]),
    ));
    server.shutdown().await;
    // Nothing listens where something did.
    let server = faulty("404-init").await;
    let url = server.url();
    server.shutdown().await;
    let mut gone = bench.json(&["doctor", &url]);
    // How the system says it is its own affair.
    let message = gone["stdout"]["servers"][0]["findings"][0]["message"].take();
    assert!(message.as_str().unwrap().contains("127.0.0.1"), "{message}");
    ran.push(("nothing there", gone));
    assert_json_snapshot!(ran);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_other_transport_is_recognised() {
    let bench = Bench::new();
    let sse = Server::new(Script::minimal()).start_sse().await.unwrap();
    let ran = bench.json(&["doctor", &sse.url(), "--type", "http"]);
    let finding = &ran["stdout"]["servers"][0]["findings"][0];
    assert_eq!(finding["problem"], "wrong_transport");
    assert!(
        finding["advice"].as_str().unwrap().contains("--type sse"),
        "{finding}"
    );
    assert_eq!(ran["exit"], 4);
    sse.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tools_and_a_slow_one_are_remarked_on() {
    let bench = Bench::with_demo();
    let server = Server::new(Script::empty()).start_http().await.unwrap();
    let empty = bench.json(&["doctor", &server.url()]);
    server.shutdown().await;
    assert_eq!(empty["exit"], 0);
    assert_eq!(
        empty["stdout"]["servers"][0]["findings"][0]["problem"],
        "no_tools"
    );
    let slow = bench.json(&["doctor", "demo", "--slow", "0"]);
    assert_eq!(
        slow["stdout"]["servers"][0]["findings"][0]["problem"],
        "slow_start"
    );
    let well = bench.json(&["doctor", "demo", "--slow", "600"]);
    assert_eq!(
        well["stdout"]["servers"][0]["findings"],
        serde_json::json!([])
    );
    assert_eq!(well["stdout"]["servers"][0]["protocol"], "2025-11-25");
}

#[test]
#[cfg(unix)]
fn a_servers_last_words_are_in_its_log() {
    let bench = Bench::new();
    let add = [
        "servers",
        "add",
        "dying",
        "--",
        "sh",
        "-c",
        "echo one >&2; echo two >&2; exit 3",
    ];
    assert_eq!(bench.run(&add).exit, 0);
    assert_eq!(bench.run(&["servers", "test", "dying"]).exit, 4);
    let log = bench.json(&["servers", "logs", "dying"]);
    let lines = log["stdout"]["lines"].as_array().unwrap();
    let [_, one, two, why] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!((one, two), (&"one".into(), &"two".into()));
    assert!(
        why.as_str().unwrap().contains("exited with code 3"),
        "{why}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_cut_is_reported() {
    let bench = Bench::new();
    let server = faulty("pagination-repeated").await;
    let ran = bench.run(&["tools", &server.url()]);
    assert!(ran.stdout.contains("\n  left out: "), "{}", ran.stdout);
    let ran = bench.json(&["tools", &server.url()]);
    let problems = ran["stdout"]["servers"][0]["problems"].as_array();
    assert_eq!(problems.unwrap().len(), 1, "{ran}");
    server.shutdown().await;
}
