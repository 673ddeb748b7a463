//! The judge notices each kind of bad client.

use std::time::Duration;

use mcp_testkit::chaos::{Case, Ended, Observed, SECRET, Verdict, cases};
use mcp_testkit::{Event, Origin, Seen};
use serde_json::json;

fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).unwrap()
}

fn event(seen: Seen) -> Event {
    Event { at_ms: 1.0, seen }
}

fn call() -> Event {
    event(Seen::Message {
        origin: Origin::First,
        message: json!({"method": "tools/call", "id": 1}),
        bytes: 40,
    })
}

fn http(origin: Origin, headers: &[(&str, &str)]) -> Event {
    event(Seen::Http {
        origin,
        connection: 1,
        method: "POST".to_owned(),
        path: "/mcp".to_owned(),
        headers: headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect(),
        rpc: Some("initialize".to_owned()),
    })
}

/// A client that did everything right.
fn good() -> Observed {
    Observed {
        lines: vec![r#"{"ok":true,"text":"hello","len":5}"#.to_owned()],
        answered_after: Some(Duration::from_millis(50)),
        ended: Ended::Status(0),
        memory_mb: 10,
        left: Vec::new(),
        stderr: String::new(),
        events: vec![call()],
    }
}

#[track_caller]
fn check(name: &str, observed: Observed, want: &str) {
    match case(name).judge(&observed) {
        Verdict::Failed(failures) => {
            assert!(
                failures.iter().any(|failure| failure.contains(want)),
                "{failures:?} lacks {want}"
            );
        }
        verdict => assert_eq!(want, "", "{verdict:?}"),
    }
}

#[test]
fn a_good_client_passes() {
    check("stdio/log-garbage", good(), "");
    assert_eq!(
        case("stdio/log-garbage").judge(&good()),
        Verdict::Passed("ok hello".to_owned())
    );
}

#[test]
fn the_outcome_must_be_the_expected_one() {
    let printed = |line: &str| Observed {
        lines: vec![line.to_owned()],
        ..good()
    };
    check(
        "stdio/log-garbage",
        printed(r#"{"ok":true,"text":"HELLO"}"#),
        "must be 'hello'",
    );
    check(
        "stdio/log-garbage",
        printed(r#"{"ok":false,"error":"no"}"#),
        "must succeed",
    );
    check("stdio/exit-mid-call", good(), "must be an error");
    check(
        "stdio/exit-mid-call",
        printed(r#"{"ok":false,"error":"it exited"}"#),
        "",
    );
    check(
        "stdio/exit-mid-call",
        printed(r#"{"ok":false,"error":" "}"#),
        "without words",
    );
    check(
        "stdio/exit-at-start",
        printed(r#"{"ok":false,"error":"status 3"}"#),
        "API_KEY is not set",
    );
    check("stdio/line-4m", good(), "4194304 letters");
    let letters = json!({"ok": true, "text": "x".repeat(64), "len": 4 << 20}).to_string();
    check("stdio/line-4m", printed(&letters), "");
    check(
        "stdio/unknown-id",
        printed(r#"{"ok":true,"text":"STRAY"}"#),
        "forged",
    );
    check("stdio/log-garbage", printed("hello"), "no line of JSON");
    check(
        "stdio/log-garbage",
        Observed {
            lines: Vec::new(),
            ..good()
        },
        "no line of JSON",
    );
    let twice = vec![good().lines[0].clone(), good().lines[0].clone()];
    check(
        "stdio/log-garbage",
        Observed {
            lines: twice,
            ..good()
        },
        "2 lines",
    );
    check(
        "stdio/log-garbage",
        Observed {
            events: Vec::new(),
            ..good()
        },
        "no call reached",
    );
}

#[test]
fn a_case_the_driver_does_not_support_is_left_out() {
    let observed = Observed {
        lines: vec![r#"{"unsupported":"sse"}"#.to_owned()],
        ..good()
    };
    assert_eq!(
        case("sse/baseline").judge(&observed),
        Verdict::Skipped("\"sse\"".to_owned())
    );
}

#[test]
fn the_process_must_end_well() {
    check(
        "stdio/log-garbage",
        Observed {
            ended: Ended::Status(1),
            ..good()
        },
        "exit status 1",
    );
    check(
        "stdio/log-garbage",
        Observed {
            ended: Ended::Signal(6),
            ..good()
        },
        "signal 6",
    );
    check(
        "stdio/log-garbage",
        Observed {
            ended: Ended::TooSlow,
            ..good()
        },
        "HANG: no exit",
    );
    let silent = Observed {
        ended: Ended::TooSlow,
        answered_after: None,
        lines: Vec::new(),
        ..good()
    };
    check("stdio/log-garbage", silent, "HANG: no outcome");
    check(
        "stdio/log-garbage",
        Observed {
            ended: Ended::TooBig,
            ..good()
        },
        "MEMORY",
    );
    check(
        "stdio/log-garbage",
        Observed {
            memory_mb: 4_000,
            ..good()
        },
        "MEMORY",
    );
    let late = Some(Duration::from_secs(11));
    check(
        "stdio/log-garbage",
        Observed {
            answered_after: late,
            ..good()
        },
        "took 11.0 s",
    );
    let panicked = "thread 'main' panicked at src/x.rs:1:1".to_owned();
    check(
        "stdio/log-garbage",
        Observed {
            stderr: panicked,
            ..good()
        },
        "PANIC",
    );
}

#[test]
fn nothing_may_be_left_behind() {
    let left = |command: &str| Observed {
        left: vec![command.to_owned()],
        ..good()
    };
    check(
        "stdio/log-garbage",
        left("mcp-testkit --stdio"),
        "LEFT BEHIND: mcp-testkit",
    );
    check("stdio/grandchild-holds-stdout", left("sleep 90"), "");
    check(
        "stdio/grandchild-holds-stdout",
        left("mcp-testkit --stdio"),
        "LEFT BEHIND",
    );
}

#[test]
fn no_secret_may_reach_another_origin() {
    let seen = |event: Event| Observed {
        events: vec![call(), event],
        ..good()
    };
    let secret = format!("Bearer {SECRET}");
    let second = |headers: &[(&str, &str)]| seen(http(Origin::Second, headers));
    check(
        "http/redirect-307-cross",
        second(&[("authorization", secret.as_str())]),
        "SECRET LEAK: authorization",
    );
    check(
        "http/redirect-307-cross",
        second(&[("mcp-session-id", "s")]),
        "SECRET LEAK: mcp-session-id",
    );
    check("http/redirect-307-cross", second(&[("accept", "x")]), "");
    check(
        "http/redirect-307-cross",
        seen(http(Origin::First, &[("authorization", secret.as_str())])),
        "",
    );
    let error = r#"{"ok":false,"error":"no"}"#.to_owned();
    let contact = Observed {
        lines: vec![error],
        ..second(&[])
    };
    check("sse/endpoint-cross", contact, "other origin was contacted");
}

#[test]
fn what_the_server_saw_counts() {
    let seen = |events: Vec<Seen>| Observed {
        events: std::iter::once(call())
            .chain(events.into_iter().map(event))
            .collect(),
        ..good()
    };
    let answered = |answer| Seen::Answered {
        method: "vendor/doStuff".to_owned(),
        answer,
    };
    check(
        "stdio/unknown-request",
        good(),
        "no answer to the server's vendor/doStuff",
    );
    check(
        "stdio/unknown-request",
        seen(vec![answered(Some(json!({"code": -32601})))]),
        "",
    );
    check(
        "stdio/unknown-request",
        seen(vec![answered(Some(json!({"code": -32000})))]),
        "not with -32601",
    );
    check(
        "stdio-modern/unknown-request",
        seen(vec![answered(Some(json!({"code": -32601})))]),
        "answered",
    );
    check(
        "stdio-modern/unknown-request",
        seen(vec![answered(None)]),
        "",
    );
    check("stdio/cancel", good(), "not cancelled");
    check(
        "stdio/cancel",
        seen(vec![Seen::Cancelled { id: json!(3) }]),
        "",
    );
    check("stdio/ignore-eof", good(), "without a SIGTERM");
    check("stdio/slow-exit", good(), "before it could finish");
    let refused = Seen::Refused {
        code: -32001,
        message: "Session not found".to_owned(),
    };
    check(
        "http/session-long",
        seen(vec![refused]),
        "Session not found",
    );
    let environment = vec!["ANTHROPIC_API_KEY".to_owned()];
    check(
        "stdio/baseline",
        seen(vec![Seen::Started {
            pid: 1,
            environment,
        }]),
        "ANTHROPIC_API_KEY",
    );
    let storm = (0..11).map(|_| http_get().seen).collect();
    check("http/get-500", seen(storm), "11 × GET, more than 10");
    check(
        "http/404-session",
        seen(vec![http(Origin::First, &[]).seen]),
        "no new initialize",
    );
    let again = http(Origin::First, &[("mcp-session-id", "dead")]).seen;
    check(
        "http/404-session",
        seen(vec![http(Origin::First, &[]).seen, again]),
        "dead session's id",
    );
}

fn http_get() -> Event {
    event(Seen::Http {
        origin: Origin::First,
        connection: 1,
        method: "GET".to_owned(),
        path: "/mcp".to_owned(),
        headers: Vec::new(),
        rpc: None,
    })
}

#[test]
fn waiting_is_measured_between_marks() {
    let mark = |name: &str, at_ms: f64| Event {
        at_ms,
        seen: Seen::Milestone {
            name: name.to_owned(),
            number: 1,
        },
    };
    let resumed = event(Seen::Http {
        origin: Origin::First,
        connection: 1,
        method: "GET".to_owned(),
        path: "/mcp".to_owned(),
        headers: vec![("last-event-id".to_owned(), "ev-1".to_owned())],
        rpc: None,
    });
    let after = |ms: f64| Observed {
        lines: vec![r#"{"ok":true,"text":"hello"}"#.to_owned()],
        events: vec![
            call(),
            mark("dropped", 100.0),
            resumed.clone(),
            mark("resume", 100.0 + ms),
        ],
        ..good()
    };
    check("http/sse-resume-retry", after(1_510.0), "");
    check(
        "http/sse-resume-retry",
        after(1_000.0),
        "came back after 1000 ms",
    );
    check("http/sse-resume-retry", good(), "no GET with Last-Event-ID");
}
