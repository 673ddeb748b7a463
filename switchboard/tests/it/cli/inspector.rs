//! Side by side with the command line of the MCP Inspector, which is not installed here:
//! `INSPECTOR=…/inspector/clients/launcher/build/index.js cargo test -p switchboard -- --ignored inspector`.

use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Desk;
use crate::program::path;

/// How often each is started.
const RUNS: usize = 3;

fn timed(command: &mut std::process::Command) -> (Value, Duration) {
    let began = Instant::now();
    let Output { stdout, stderr, .. } = command.output().unwrap();
    let took = began.elapsed();
    let value = serde_json::from_slice(&stdout);
    let value = value.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&stderr)));
    (value, took)
}

/// The words of a result that both print.
fn text(value: &Value) -> &Value {
    let content = value.pointer("/result/content").or(value.get("content"));
    &content.unwrap()[0]["text"]
}

#[test]
#[ignore = "needs node and the package of INSPECTOR"]
fn what_the_inspector_prints_is_printed_here_and_sooner() {
    let Ok(script) = std::env::var("INSPECTOR") else {
        panic!("INSPECTOR is not set");
    };
    let desk = Desk::new();
    let server = [path(), "demo-server"];
    let theirs = |method: &[&str]| {
        let mut command = std::process::Command::new("node");
        command
            .args([script.as_str(), "--cli", "--method"])
            .args(method);
        let target = [&server[..], &["--clock", "1684800000000"]].concat();
        timed(command.arg("--").args(target))
    };
    let ours = |verb: &[&str]| {
        let mut command = desk.command(verb);
        command.args(["--json", "--"]).args(server);
        timed(command.args(["--clock", "1684800000000"]))
    };
    let fastest = |runs: &dyn Fn() -> Duration| (0..RUNS).map(|_| runs()).min().unwrap();
    let (listed, ours_listed) = (theirs(&["tools/list"]).0, ours(&["tools"]).0);
    let names = |value: &Value| {
        let tools = value["tools"].as_array().unwrap().iter();
        let mut names: Vec<String> = tools.map(|tool| tool["name"].to_string()).collect();
        names.sort();
        names
    };
    let mine = &ours_listed["servers"][0];
    // A name that no provider takes is renamed for models, and listed all the same.
    assert_eq!(names(&listed), names(mine));
    let schema = |tools: &Value| {
        let tools = tools["tools"].as_array().unwrap();
        let add = tools.iter().find(|tool| tool["name"] == "add").unwrap();
        add["inputSchema"].clone()
    };
    assert_eq!(schema(&listed), schema(mine));
    let called = theirs(&[
        "tools/call",
        "--tool-name",
        "add",
        "--tool-arg",
        "a=2",
        "b=3",
    ])
    .0;
    assert_eq!(text(&called), text(&ours(&["call", "add", "a=2", "b=3"]).0));
    let read = theirs(&["resources/read", "--uri", "demo://note"]).0;
    let read_here = ours(&["read", "demo://note"]).0;
    assert_eq!(
        read["contents"][0]["text"],
        read_here["contents"][0]["text"]
    );
    let prompt = theirs(&[
        "prompts/get",
        "--prompt-name",
        "greet",
        "--prompt-args",
        "name=Ada",
    ])
    .0;
    let here = ours(&["prompt", "greet", "name=Ada"]).0;
    assert_eq!(prompt["messages"], here["result"]["messages"]);
    let inspector = fastest(&|| theirs(&["tools/list"]).1);
    let switchboard = fastest(&|| ours(&["tools"]).1);
    println!("first output: Inspector {inspector:?}, Switchboard {switchboard:?}");
    assert!(switchboard < inspector);
}
