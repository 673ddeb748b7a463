//! The client finds out by itself how a server wants to be spoken to.

use mcp_client::{Client, ClientLimits, ConnectError, EraMemory, EraMode};
use mcp_jsonrpc::{RequestId, Revision};
use mcp_transport::{Closed, Delivery, ProcessExit, TransportError, TransportKind};
use serde_json::{Value, json};

use crate::fake::{
    Fake, FakeConnect, discover_result, initialize_result, legacy, legacy_script, modern,
};

fn deaf(_: &Fake, _: &Value) {}

async fn connect(connect: &FakeConnect, mode: EraMode) -> Result<Client, ConnectError> {
    Client::builder(connect.clone()).era(mode).connect().await
}

#[tokio::test]
async fn a_pipe_is_initialised_first() {
    let server = legacy(deaf);
    connect(&server, EraMode::Auto).await.unwrap();
    assert_eq!(
        server.last().methods(),
        ["initialize", "notifications/initialized"]
    );
}

#[tokio::test]
async fn http_is_discovered_first() {
    let server = FakeConnect::new(
        TransportKind::Http,
        legacy_script(|server, message| {
            server.error(message, -32601, "Method not found");
        }),
    );
    connect(&server, EraMode::Auto).await.unwrap();
    let want = ["server/discover", "initialize", "notifications/initialized"];
    assert_eq!(server.last().methods(), want);
}

#[tokio::test]
async fn a_modern_only_pipe_is_found_out_by_its_refusal() {
    let server = modern(TransportKind::Pipe, deaf);
    let client = connect(&server, EraMode::Auto).await.unwrap();
    assert_eq!(client.revision(), Revision::V2026_07_28);
    assert_eq!(server.last().methods(), ["initialize", "server/discover"]);
    assert_eq!(server.made().len(), 1, "no respawn is needed");
}

#[tokio::test]
async fn a_server_without_initialize_is_asked_to_discover_itself() {
    let server = FakeConnect::new(
        TransportKind::Pipe,
        |server, message| match message["method"].as_str() {
            Some("server/discover") => server.reply(message, discover_result(&["2026-07-28"])),
            _ => server.error(message, -32601, "Method not found"),
        },
    );
    let client = connect(&server, EraMode::Auto).await.unwrap();
    assert_eq!(client.revision(), Revision::V2026_07_28);
}

#[tokio::test(start_paused = true)]
async fn a_pipe_that_ignores_the_probe_is_respawned() {
    let server = legacy(deaf);
    let client = connect(&server, EraMode::PreferModern).await.unwrap();
    assert_eq!(client.revision(), Revision::V2025_11_25);
    let made = server.made();
    assert_eq!(made.len(), 2);
    assert_eq!(
        made[0].methods(),
        ["server/discover", "notifications/cancelled"]
    );
    assert_eq!(
        made[1].methods(),
        ["initialize", "notifications/initialized"]
    );
}

#[tokio::test]
async fn a_pipe_that_dies_of_the_probe_is_respawned() {
    let server = legacy(|server, message| {
        if message["method"] == "server/discover" {
            server.end(Closed::with_error(TransportError::Closed));
        }
    });
    connect(&server, EraMode::PreferModern).await.unwrap();
    assert_eq!(server.made().len(), 2);
}

#[tokio::test]
async fn a_pipe_that_refuses_the_probe_is_kept() {
    let server =
        legacy(|server, message| server.error(message, -32602, "Invalid request parameters"));
    connect(&server, EraMode::PreferModern).await.unwrap();
    assert_eq!(server.made().len(), 1);
}

#[tokio::test]
async fn a_probe_refused_for_its_version_is_repeated_once() {
    let server = FakeConnect::new(TransportKind::Http, |server: &Fake, message| {
        let refused = server.methods().len() < 2;
        if refused {
            let data = json!({"supported": ["2026-07-28"], "requested": "2026-07-28"});
            let error = json!({"code": -32022, "message": "no", "data": data});
            server.say(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
        } else {
            server.reply(message, discover_result(&["2026-07-28"]));
        }
    });
    let client = connect(&server, EraMode::Auto).await.unwrap();
    assert_eq!(client.revision(), Revision::V2026_07_28);
    assert_eq!(
        server.last().methods(),
        ["server/discover", "server/discover"]
    );
}

#[tokio::test]
async fn modern_versions_we_do_not_speak_are_an_error_and_never_initialised() {
    let server = FakeConnect::new(TransportKind::Http, |server: &Fake, message| {
        server.reply(message, discover_result(&["2099-01-01"]));
    });
    let error = connect(&server, EraMode::Auto).await.unwrap_err();
    assert!(matches!(&error, ConnectError::Version { offered, .. } if offered == &["2099-01-01"]));
    assert_eq!(server.last().methods(), ["server/discover"]);
}

#[tokio::test]
async fn an_answer_without_versions_is_legacy() {
    let server = FakeConnect::new(
        TransportKind::Http,
        legacy_script(|server, message| {
            server.reply(message, json!({}));
        }),
    );
    connect(&server, EraMode::Auto).await.unwrap();
}

#[tokio::test]
async fn an_answer_without_an_id_ends_the_probe_at_once() {
    let server = FakeConnect::new(
        TransportKind::Http,
        legacy_script(|server, message| {
            server.say_on(&message["id"], json!({"result": {}}));
            server.push(mcp_transport::Incoming::Ended {
                request: RequestId::from(message["id"].as_i64().unwrap()),
                error: TransportError::NoResponse {
                    detail: "the body ended".to_owned(),
                }
                .into(),
            });
        }),
    );
    connect(&server, EraMode::Auto).await.unwrap();
}

pub(crate) fn status(status: u16, body: &str) -> TransportError {
    let mut failure = mcp_transport::HttpFailure::new(status, "http://fake/");
    failure.body = body.into();
    TransportError::Http(failure)
}

#[tokio::test]
async fn a_page_not_found_is_legacy_and_then_another_transport() {
    let old = FakeConnect::new(TransportKind::LegacySse, legacy_script(deaf));
    let new = FakeConnect::new(TransportKind::Http, |server: &Fake, _: &Value| {
        server.refuse(status(404, "<html>"), Delivery::NotSent);
    })
    .with_fallback(old.clone());
    connect(&new, EraMode::Auto).await.unwrap();
    assert_eq!(new.last().methods(), ["server/discover", "initialize"]);
    assert_eq!(
        old.last().methods(),
        ["initialize", "notifications/initialized"]
    );
}

#[tokio::test]
async fn a_refusal_in_the_body_of_an_error_is_the_answer() {
    let server = FakeConnect::new(
        TransportKind::Http,
        legacy_script(|server, _| {
            let body =
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}"#;
            server.refuse(status(400, body), Delivery::NotSent);
        }),
    );
    connect(&server, EraMode::Auto).await.unwrap();
}

#[tokio::test]
async fn a_server_in_trouble_gives_no_verdict() {
    let error = |code: i64| {
        let error = json!({"code": code, "message": "later"});
        json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string()
    };
    for body in ["later".to_owned(), error(-32603), error(-32000)] {
        let server = FakeConnect::new(TransportKind::Http, move |server: &Fake, _: &Value| {
            server.refuse(status(503, &body), Delivery::Unknown);
        });
        let error = connect(&server, EraMode::Auto).await.unwrap_err();
        assert!(matches!(error, ConnectError::Transport { .. }) && error.is_retryable());
        assert_eq!(server.last().methods(), ["server/discover"]);
    }
    // This one has read the method.
    let unknown = error(-32601);
    let server = FakeConnect::new(
        TransportKind::Http,
        legacy_script(move |server, _| {
            server.refuse(status(500, &unknown), Delivery::Unknown);
        }),
    );
    connect(&server, EraMode::Auto).await.unwrap();
}

#[tokio::test]
async fn authorization_is_asked_for_not_guessed_around() {
    let refused = || TransportError::Unauthorized {
        status: 401,
        source: None,
    };
    let unprepared = || TransportError::Credentials {
        server: "fake".to_owned(),
        source: "the key ring is locked".into(),
    };
    for error in [refused as fn() -> TransportError, unprepared] {
        let server = FakeConnect::new(TransportKind::Http, move |server: &Fake, _: &Value| {
            server.refuse(error(), Delivery::NotSent);
        });
        let error = connect(&server, EraMode::Auto).await.unwrap_err();
        assert!(matches!(error, ConnectError::Unauthorized { .. }));
        assert_eq!(server.last().methods(), ["server/discover"]);
    }
}

#[tokio::test]
async fn a_pinned_revision_is_the_only_one() {
    let server = legacy(deaf);
    let client = connect(&server, EraMode::Pinned(Revision::V2025_06_18))
        .await
        .unwrap();
    assert_eq!(client.revision(), Revision::V2025_06_18);

    let stubborn = FakeConnect::new(TransportKind::Pipe, |server: &Fake, message: &Value| {
        server.reply(message, initialize_result(&json!("2025-03-26")));
    });
    let error = connect(&stubborn, EraMode::Pinned(Revision::V2025_06_18))
        .await
        .unwrap_err();
    assert!(matches!(error, ConnectError::Version { .. }));

    let error = connect(
        &legacy(|server, message| server.error(message, -32601, "no")),
        EraMode::Pinned(Revision::V2026_07_28),
    )
    .await
    .unwrap_err();
    assert!(matches!(
        error,
        ConnectError::Refused {
            method: "server/discover",
            ..
        }
    ));
}

#[tokio::test]
async fn a_counter_offer_is_taken_if_we_speak_it() {
    for (version, good) in [
        ("2024-11-05", true),
        ("2025-03-26", true),
        ("2025-06-18", true),
        ("2026-07-28", false),
        ("2099-01-01", false),
        ("1.0", false),
    ] {
        let server = FakeConnect::new(
            TransportKind::Pipe,
            move |server: &Fake, message: &Value| {
                if message["method"] == "initialize" {
                    server.reply(message, initialize_result(&json!(version)));
                }
            },
        );
        let outcome = connect(&server, EraMode::Auto).await;
        assert_eq!(outcome.is_ok(), good, "{version}");
    }
}

#[tokio::test]
async fn a_verdict_is_remembered_and_ages_out() {
    let memory = EraMemory::new();
    let server = FakeConnect::new(
        TransportKind::Http,
        legacy_script(|server, message| {
            server.error(message, -32601, "Method not found");
        }),
    );
    let again = || {
        Client::builder(server.clone())
            .era_memory(memory.clone())
            .connect()
    };
    again().await.unwrap();
    again().await.unwrap();
    assert_eq!(
        server.last().methods(),
        ["initialize", "notifications/initialized"]
    );

    let forgetful = memory.clone().with_max_age(std::time::Duration::ZERO);
    Client::builder(server.clone())
        .era_memory(forgetful)
        .connect()
        .await
        .unwrap();
    assert_eq!(server.last().methods()[0], "server/discover");
}

#[tokio::test]
async fn a_remembered_verdict_that_is_wrong_is_found_out() {
    let memory = EraMemory::new();
    let old = legacy(deaf);
    Client::builder(old)
        .era_memory(memory.clone())
        .connect()
        .await
        .unwrap();
    // The same target, upgraded.
    let new = modern(TransportKind::Http, deaf);
    let client = Client::builder(new.clone())
        .era_memory(memory)
        .connect()
        .await
        .unwrap();
    assert_eq!(client.revision(), Revision::V2026_07_28);
    assert_eq!(new.last().methods(), ["initialize", "server/discover"]);
}

#[tokio::test(start_paused = true)]
async fn one_deadline_is_over_all_of_connecting() {
    let server = FakeConnect::new(TransportKind::Pipe, deaf);
    let limits = ClientLimits::default().with_connect_timeout(std::time::Duration::from_secs(3));
    let begun = tokio::time::Instant::now();
    let error = Client::builder(server)
        .limits(limits)
        .connect()
        .await
        .unwrap_err();
    assert!(matches!(error, ConnectError::Timeout { .. }));
    assert_eq!(begun.elapsed(), std::time::Duration::from_secs(3));
}

#[tokio::test]
async fn a_server_that_dies_at_start_says_how() {
    let server = FakeConnect::new(TransportKind::Pipe, |server: &Fake, _: &Value| {
        let mut exit = ProcessExit::new("server");
        exit.code = Some(3);
        exit.stderr = "no config".to_owned();
        server.end(Closed::with_error(TransportError::Exited(exit)));
    });
    let error = connect(&server, EraMode::Auto).await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        cause.contains("code 3") && cause.contains("no config"),
        "{cause}"
    );
}
