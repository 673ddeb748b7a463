//! How answers, failures and limits are reported.

use mcp_testkit::{Script, Server, Tool};
use provider_adapters::Wire;
use serde_json::json;
use switchboard::demo::{DemoModel, DemoScript};

use super::Desk;
use super::endpoint::Recorder;
use crate::program::path;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn model(rules: serde_json::Value) -> DemoModel {
    let script = json!({ "rules": rules }).to_string();
    let script = DemoScript::from_json(&script).unwrap();
    DemoModel::start(script, 0).await.unwrap()
}

#[test]
fn a_command_is_a_server_for_a_run_and_whoever_goes_on_with_it() {
    let desk = Desk::new();
    let run = [
        "run",
        "2 plus 3",
        "--approve",
        "auto",
        "--json",
        "--",
        path(),
        "demo-server",
    ];
    let output = desk.run(&run);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        value["toolCalls"][0]["serverName"], "switchboard",
        "{value}"
    );
    assert_eq!(value["toolCalls"][0]["status"], "done", "{value}");
    let again = desk.json(&["run", "2 plus 3", "--resume", "last"]);
    assert_eq!(
        again["toolCalls"][0]["serverName"], "switchboard",
        "{again}"
    );
    let output = desk.say(&["chat", "--approve", "auto"], "/quit\n");
    assert!(text(&output.stdout).contains("not an AI, and the demo server."));
}

#[test]
fn a_command_that_may_hold_a_secret_is_not_kept_and_must_be_given_again() {
    let desk = Desk::new();
    let run = [
        "run",
        "2 plus 3",
        "--json",
        "--approve",
        "auto",
        "-e",
        "TOKEN=geheim",
        "--",
        path(),
        "demo-server",
    ];
    assert!(desk.run(&run).status.success());
    let error = desk.error(&["run", "2 plus 3", "--resume", "last"]);
    let error = error.to_string();
    assert!(
        error.contains("demo-server") && error.contains("-- COMMAND"),
        "{error}"
    );
    let shown = desk.json(&["session", "show", "last"]).to_string();
    assert!(!shown.contains("geheim"));
}

#[test]
fn flags_that_would_be_ignored_are_refused() {
    let desk = Desk::new();
    for (verb, names) in [
        (&["run", "hello", "-H", "X-Key: 1"][..], "--header"),
        (&["run", "hello", "-e", "A=1"], "--env"),
        (&["run", "hello", "--max-cost=-1"], "--max-cost"),
        (&["run", "hello", "--max-cost", "0,50"], "0,50"),
        (&["tools", "demo", "-H", "X-Key: 1"], "--header"),
        (&["tools", "demo", "-e", "A=1"], "--env"),
        (&["tools", "demo", "--type", "sse"], "--type"),
        (&["read", "demo", "demo://note", "more"], "\"more\""),
        (&["tool", "show", "demo", "add", "more"], "\"more\""),
        (&["prompt", "demo", "greet", "nme=Ada"], "\"nme\""),
        (&["prompt", "demo", "greet"], "\"name\""),
        (&["prompt", "demo", "gret", "name=Ada"], "greet"),
        (&["demo-server", "--port", "1"], "--port"),
        (&["config", "set", "max_rounds", "abc"], "abc"),
        (&["config", "set", "max_cost", "0,50"], "0,50"),
        (&["config", "set", "on_limit", "perhaps"], "summarize"),
        (&["config", "set", "models.x.context", "long"], "long"),
        (
            &["config", "set", "models.x.tools", "perhaps"],
            "true or false",
        ),
        (&["config", "set", "models.x.context", "0"], "tokens"),
        (&["config", "set", "prices.x", "cheap"], "cheap"),
        (
            &["config", "set", "prices.x", r#"{"input": -1, "output": 1}"#],
            "dollars per million",
        ),
        (
            &[
                "config",
                "set",
                "prices.x",
                r#"{"input": 1, "output": 1, "in": 1}"#,
            ],
            "dollars per million",
        ),
        (&["config", "set", "model", " "], "a model's name"),
        (
            &["config", "set", "providers.no-such.key", "env:A"],
            "no-such",
        ),
        (
            &["config", "set", "endpoints.mine.wire", "vertex"],
            "or prompt",
        ),
        (&["call", "demo", "add", "--timeout", "0"], "--timeout"),
        (
            &["call", "demo", "add", "--idle-timeout", "0"],
            "--idle-timeout",
        ),
        (&["run", "hello", "--timeout", "0"], "--timeout"),
        (
            &["assistants", "add", "x", "--approve", "perhaps"],
            "perhaps",
        ),
        (&["session", "list", "--limit", "x"], "--limit"),
    ] {
        let output = desk.run(verb);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{verb:?}: {error}");
        assert!(error.contains(names), "{verb:?}: {error}");
    }
    let command = ["tools", "demo", "--", path(), "demo-server"];
    let output = desk.run(&command);
    assert!(text(&output.stderr).contains("\"demo\" as well"));
}

#[test]
fn arguments_that_a_tool_does_not_take_are_refused_before_it_is_called() {
    let desk = Desk::new();
    for (words, problem) in [
        (&["a=1"][..], "\"b\" is missing"),
        (&["a=1", "b=2", "c=3"], "no argument \"c\"; it takes: a, b"),
        (&["a=one", "b=2"], "\"a\" takes number, not \"one\""),
        (&["--args", r#"{"a": "one", "b": 2}"#], "/a"),
    ] {
        let error = desk.error(&[&["call", "demo", "add"], words].concat());
        assert_eq!(error["error"]["exit"], 1);
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(problem), "{message}");
        let hint = error["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("add(a:num,b:num)"), "{hint}");
    }
    // Whoever tests a server lets it judge.
    let sent = desk.run(&["call", "demo", "add", "a=1", "b=2", "c=3", "--no-validate"]);
    assert_eq!(sent.status.code(), Some(0), "{}", text(&sent.stderr));
}

#[test]
fn a_denied_call_is_reported_with_what_would_allow_it() {
    let desk = Desk::new();
    let error = text(&desk.run(&["run", "write a note"]).stderr);
    assert!(
        error.contains("--approve auto") && !error.contains("tool allow"),
        "{error}"
    );
    let add = ["servers", "add", "demo", "--", path(), "demo-server"];
    assert!(desk.run(&add).status.success());
    let output = desk.run(&["run", "write a note"]);
    assert_eq!(output.status.code(), Some(6));
    let error = text(&output.stderr);
    assert!(
        error.contains("`switchboard tool allow demo write_note`"),
        "{error}"
    );
    assert!(error.contains("--approve auto"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_result_of_each_call_is_shown_by_name_where_several_run() {
    let model = model(json!([
        {"when": ["both"], "call": [
            {"tool": "add", "arguments": {"a": 1, "b": 2}}, {"tool": "echo", "arguments": {"text": "hi"}},
        ]},
        {"when": ["unknown"], "anyway": true, "call": [{"tool": "nope"}]},
    ]))
    .await;
    let desk = Desk::new();
    let url = model.base_url(Wire::OpenAiChat);
    let chat = [
        "chat",
        "--approve",
        "auto",
        "-m",
        "m",
        "--base-url",
        &url,
        "-s",
        "demo",
    ];
    let output = desk.say(&chat, "both\nunknown\n/clear\n/continue\n/quit\n");
    let shown = text(&output.stdout);
    for tool in ["add", "echo"] {
        assert!(shown.contains(&format!("✓ demo · {tool} ")), "{shown}");
    }
    assert!(shown.contains("✗ nope  Tool not found"), "{shown}");
    assert!(shown.contains("Nothing to continue"), "{shown}");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    model.stop().await;
}

#[test]
fn a_model_that_says_nothing_is_reported() {
    let (desk, server) = (Desk::new(), Recorder::silent());
    let at = ["-m", "m", "--base-url", &server.url];
    let output = desk.run(&[&["run", "hello"][..], &at].concat());
    assert!(text(&output.stderr).contains("ended without an answer"));
    let output = desk.say(&[&["chat"][..], &at].concat(), "hello\n/quit\n");
    assert!(text(&output.stdout).contains("ended without an answer"));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_tool_is_one_tool_and_no_demo_server_is_promised() {
    let server = Server::new(Script::empty().with_tool(Tool::new("only")));
    let server = server.start_http().await.unwrap();
    let url = server.url();
    let output = Desk::new().say(&["chat", "-s", &url], "/quit\n");
    let shown = text(&output.stdout);
    assert!(shown.contains("which is not an AI.\n"), "{shown}");
    assert!(shown.contains("1 server, 1 tool."), "{shown}");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_of_the_provider_is_reported_once() {
    let model = model(json!([{"fail": {"status": 400, "message": "no such thing"}}])).await;
    let url = model.base_url(Wire::OpenAiChat);
    let output = Desk::new().run(&["run", "hello", "-m", "m", "--base-url", &url]);
    let error = text(&output.stderr);
    assert_eq!(error.matches("no such thing").count(), 1, "{error}");
    model.stop().await;
}

#[test]
fn a_provider_that_is_not_there_is_named_with_what_to_do() {
    let desk = Desk::new();
    let address = [
        "config",
        "set",
        "providers.ollama.base_url",
        "http://127.0.0.1:9/v1",
    ];
    desk.json(&address);
    let error = desk.error(&["run", "hello", "-m", "ollama/qwen3"]);
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("http://127.0.0.1:9"), "{message}");
    let hint = error["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("Is Ollama running?"), "{hint}");
    let output = desk.say(&["chat", "-m", "ollama/qwen3"], "hello\n/quit\n");
    assert!(text(&output.stdout).contains("Is Ollama running?"));
}

#[test]
fn at_a_limit_the_model_sums_up_if_that_is_wished_for_or_set() {
    let desk = Desk::new();
    let run = ["run", "2 plus 3", "--approve", "auto", "--max-rounds", "1"];
    let rounds = |flags: &[&str]| {
        let output = desk.run(&[&run[..], &["--json"], flags].concat());
        assert_eq!(output.status.code(), Some(7));
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        value["usage"]["rounds"].as_u64().unwrap()
    };
    assert_eq!(rounds(&[]), 1);
    assert_eq!(rounds(&["--on-limit", "summarize"]), 2);
    desk.json(&["config", "set", "on_limit", "summarize"]);
    assert_eq!(rounds(&[]), 2);
    assert_eq!(rounds(&["--on-limit", "stop"]), 1);
}

#[test]
fn a_schema_that_no_answer_can_match_is_refused_before_anything_is_asked_or_stored() {
    let desk = Desk::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schema.json");
    std::fs::write(&file, r##"{"properties": {"a": {"$ref": "#/nowhere"}}}"##).unwrap();
    let output = desk.run(&["run", "hi", "--output-schema", file.to_str().unwrap()]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("schema.json: the output schema cannot be compiled"),
        "{error}"
    );
    let sessions = desk.json(&["session", "list"]);
    assert!(!sessions.to_string().contains("hi"), "{sessions}");
}

#[test]
fn an_answer_in_a_schema_is_printed_once_it_is_valid() {
    let desk = Desk::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schema.json");
    let schema = json!({
        "type": "object",
        "properties": {"number": {"type": "string"}, "total": {"type": "number"}},
        "required": ["number", "total"],
    });
    std::fs::write(&file, schema.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let run = ["run", "Which invoice?", "--output-schema", file, "-m", "m"];

    let good = Recorder::saying(r#"{"number": "17", "total": 20.5}"#);
    let at = [&run[..], &["--base-url", &good.url]].concat();
    let output = desk.run(&at);
    let error = text(&output.stderr);
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&error);
    assert_eq!(printed, json!({"number": "17", "total": 20.5}));
    let whole = desk.json(&at);
    assert_eq!(whole["output"], printed, "{whole}");

    let bad = Recorder::saying(r#"{"number": 17}"#);
    let output = desk.run(&[&run[..], &["--base-url", &bad.url]].concat());
    let error = text(&output.stderr);
    assert!(
        error.contains("does not match the output schema"),
        "{error}"
    );
    assert_eq!(text(&output.stdout), "");
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(bad.asked().len(), 2, "it is asked for again, once");
}
