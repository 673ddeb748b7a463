//! Handshakes that are slow or fail: the configured time rules, and the error names the step.

use std::error::Error;
use std::time::Duration;

use mcp_client::{Client, ClientLimits, ConnectError, EraMode};
use mcp_jsonrpc::Revision;
use mcp_transport::TransportKind;
use serde_json::{Value, json};

use crate::fake::{Fake, FakeConnect, discover_result, initialize_result};

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

async fn connect(connect: &FakeConnect, mode: EraMode) -> Result<Client, ConnectError> {
    let limits = ClientLimits::default().with_connect_timeout(seconds(20));
    let client = Client::builder(connect.clone()).era(mode).limits(limits);
    client.connect().await
}

/// Refuses `initialize` with this code and leaves the rest to `rest`.
fn refusing(
    code: i64,
    rest: impl Fn(&Fake, &Value) + Send + Sync + 'static,
) -> impl Fn(&Fake, &Value) + Send + Sync + 'static {
    move |server, message| match message["method"].as_str() {
        Some("initialize") => {
            let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
            let error = json!({"code": code, "message": "speak 2026-07-28", "data": data});
            server.say(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
        }
        _ => rest(server, message),
    }
}

fn discovered(server: &Fake, message: &Value) {
    if message["method"] == "server/discover" {
        server.reply(message, discover_result(&["2026-07-28"]));
    }
}

/// Answers the newest request once `wait` is over.
async fn answer_later(connect: &FakeConnect, wait: Duration, result: Value) {
    tokio::time::sleep(wait).await;
    let server = connect.last();
    let asked = server.seen().pop().unwrap();
    server.reply(&asked, result);
}

fn describe(error: &ConnectError) -> String {
    let source = error.source().map(ToString::to_string);
    format!("{error}: {}", source.unwrap_or_default())
}

#[tokio::test]
async fn whatever_the_code_of_its_refusal_a_modern_server_is_found_out() {
    for code in [-32600, -32000, -32603, -32022, -1, 400] {
        let server = FakeConnect::new(TransportKind::Pipe, refusing(code, discovered));
        let client = connect(&server, EraMode::Auto).await.unwrap();
        assert_eq!(client.revision(), Revision::V2026_07_28, "{code}");
        assert_eq!(server.made().len(), 1, "{code}");
    }
}

#[tokio::test]
async fn a_refusal_by_a_server_that_is_not_modern_is_the_error() {
    let server = FakeConnect::new(TransportKind::Pipe, |server: &Fake, message: &Value| {
        let (code, text) = match message["method"].as_str() {
            Some("initialize") => (-32000, "no licence"),
            _ => (-32601, "Method not found"),
        };
        server.error(message, code, text);
    });
    let error = connect(&server, EraMode::Auto).await.unwrap_err();
    let ConnectError::Refused { method, error, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(
        (method, error.message.as_str()),
        ("initialize", "no licence")
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_discovery_has_all_of_the_connect_time() {
    for mode in [EraMode::Auto, EraMode::Pinned(Revision::V2026_07_28)] {
        let server = FakeConnect::new(TransportKind::Pipe, refusing(-32022, |_, _| {}));
        let answer = answer_later(&server, seconds(7), discover_result(&["2026-07-28"]));
        let (client, ()) = tokio::join!(connect(&server, mode), answer);
        assert_eq!(client.unwrap().revision(), Revision::V2026_07_28);
        assert_eq!(server.made().len(), 1, "{mode:?}");
    }
}

/// It starts within the connect time, but not within the time a probe has.
#[tokio::test(start_paused = true)]
async fn a_modern_server_that_starts_slowly_is_reached_where_modern_is_preferred() {
    let server = FakeConnect::new(TransportKind::Pipe, |server: &Fake, message: &Value| {
        // The first requests wait until it has started.
        if server.seen().len() > 1 {
            discovered(server, message);
        }
    });
    let start = async {
        while server.made().len() < 2 {
            tokio::time::sleep(seconds(1)).await;
        }
        tokio::time::sleep(seconds(7)).await;
        let server = server.last();
        let asked = server.seen().pop().unwrap();
        refusing(-32022, |_, _| {})(&server, &asked);
    };
    let (client, ()) = tokio::join!(connect(&server, EraMode::PreferModern), start);
    assert_eq!(client.unwrap().revision(), Revision::V2026_07_28);
}

/// However short the connect time is, both eras get a part of it.
#[tokio::test(start_paused = true)]
async fn a_probe_takes_half_of_a_short_connect_time_at_most() {
    let server = FakeConnect::new(TransportKind::Pipe, |server: &Fake, message: &Value| {
        if message["method"] == "initialize" {
            server.reply(message, initialize_result(&json!("2025-11-25")));
        }
    });
    let limits = ClientLimits::default().with_connect_timeout(seconds(4));
    let client = Client::builder(server.clone()).era(EraMode::PreferModern);
    let client = client.limits(limits).connect().await.unwrap();
    assert_eq!(client.revision(), Revision::V2025_11_25);
}

#[tokio::test(start_paused = true)]
async fn an_error_names_every_step_that_failed_and_how_long_it_was_waited_for() {
    let silent = |_: &Fake, _: &Value| {};
    let nonsense = |server: &Fake, message: &Value| match message["method"].as_str() {
        Some("server/discover") => server.reply(message, json!("hello")),
        _ => server.error(message, -32601, "Method not found"),
    };
    for (shape, script, mode, want) in [
        (
            TransportKind::Pipe,
            Box::new(refusing(-32000, silent)) as Box<dyn Fn(&Fake, &Value) + Send + Sync>,
            EraMode::Auto,
            &[
                "refused initialize",
                "speak 2026-07-28",
                "within 20s: still waiting for the response to server/discover",
            ][..],
        ),
        (
            TransportKind::Pipe,
            Box::new(silent),
            EraMode::PreferModern,
            &[
                "within 5s: still waiting for the response to server/discover",
                "within 20s: still waiting for the response to initialize",
            ],
        ),
        (
            TransportKind::Http,
            Box::new(nonsense),
            EraMode::Auto,
            &["invalid response to server/discover", "refused initialize"],
        ),
        (
            TransportKind::Http,
            Box::new(silent),
            EraMode::Auto,
            &["within 20s: still waiting for the response to server/discover"],
        ),
    ] {
        let server = FakeConnect::new(shape, script);
        let error = describe(&connect(&server, mode).await.unwrap_err());
        for want in want {
            assert!(error.contains(want), "{want}: {error}");
        }
    }
}

/// `cat` is not a server.
#[cfg(unix)]
#[tokio::test]
async fn a_program_that_echoes_our_requests_is_reported() {
    let error = Client::stdio("cat", [""; 0]).connect().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "server 'cat' sent an invalid response to initialize: it echoed our own initialize \
         request back; is it an MCP server?"
    );
}
