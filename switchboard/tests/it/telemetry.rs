//! Logs, traces and metrics, as a collector gets them.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, Uri};
use axum::routing::post;
use parking_lot::Mutex;
use serde_json::Value;

use crate::cli::Desk;
use crate::program::path;

/// What a collector was sent: paths and bodies.
type Sent = Arc<Mutex<Vec<(String, Bytes)>>>;

/// A collector, and what it gets.
async fn collector() -> (String, Sent) {
    let sent = Sent::default();
    let kept = Arc::clone(&sent);
    let keep = move |uri: Uri, body: Bytes| async move {
        kept.lock().push((uri.path().to_owned(), body));
        StatusCode::OK
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/{*path}", post(keep));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, sent)
}

/// Runs a question whose answer takes one call.
async fn ask(url: Option<&str>, flags: &[&str]) -> std::process::Output {
    let desk = Desk::new();
    let run = ["run", "2 plus 3", "--approve", "auto"];
    let server = ["--", path(), "demo-server"];
    let mut command = desk.command(&[&run[..], flags, &server[..]].concat());
    if let Some(url) = url {
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", url);
    }
    let output = tokio::task::spawn_blocking(move || command.output());
    output.await.unwrap().unwrap()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_exported_as_spans_and_metrics_without_its_content() {
    let (url, sent) = collector().await;
    let output = ask(Some(&url), &["--otlp"]).await;
    assert!(output.status.success(), "{output:?}");
    let sent = sent.lock();
    let of = |path: &str| -> Vec<u8> {
        let bodies = sent.iter().filter(|(at, _)| at == path);
        bodies.flat_map(|(_, body)| body.to_vec()).collect()
    };
    let (spans, metrics) = (of("/v1/traces"), of("/v1/metrics"));
    for name in [
        "invoke_agent switchboard",
        "chat ",
        "execute_tool ",
        "tools/call add",
        "gen_ai.tool.name",
    ] {
        assert!(holds(&spans, name), "no span with {name:?}");
    }
    for name in [
        "gen_ai.client.operation.duration",
        "mcp.client.operation.duration",
        "gen_ai.client.token.usage",
        "service.version",
    ] {
        assert!(holds(&metrics, name), "no metric with {name:?}");
    }
    assert!(!holds(&spans, "2 plus 3"), "questions are not exported");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_exported_unless_it_is_asked_for() {
    let (url, sent) = collector().await;
    let output = ask(Some(&url), &[]).await;
    assert!(output.status.success(), "{output:?}");
    assert!(sent.lock().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_away_fails_nothing() {
    let output = ask(Some("http://127.0.0.1:9"), &["--otlp"]).await;
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains('5'));
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_lines_of_json_where_that_is_asked_for() {
    let output = ask(
        None,
        &[
            "--quiet",
            "--log",
            "mcp_manager=debug",
            "--log-format",
            "json",
        ],
    )
    .await;
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    let targets: Vec<_> = lines.iter().map(|line| line["target"].as_str()).collect();
    assert!(
        targets
            .iter()
            .all(|target| target.is_some_and(|it| it.starts_with("mcp_manager"))),
        "{text}"
    );
    assert!(!lines.is_empty());
}

#[test]
fn a_filter_that_is_none_is_refused() {
    let error = Desk::new().error(&["usage", "--log", "a=b=c"]);
    let text = error["error"]["message"].as_str().unwrap();
    assert!(
        text.starts_with("--log \"a=b=c\" is not a filter"),
        "{error}"
    );
}
