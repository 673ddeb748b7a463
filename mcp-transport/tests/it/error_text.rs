//! What people read when something fails: every message, as a whole.

use std::error::Error;
use std::io;
use std::time::Duration;

use mcp_transport::{BoxError, Delivery, HttpFailure, ProcessExit, SendError, TransportError};

fn source(text: &str) -> BoxError {
    Box::new(io::Error::other(text))
}

fn exit(
    code: Option<i32>,
    signal: Option<i32>,
    stderr: &str,
    stray: Option<&str>,
) -> TransportError {
    let mut exit = ProcessExit::new("npx -y some-server");
    exit.code = code;
    exit.signal = signal;
    exit.stderr = stderr.to_owned();
    exit.stray = stray.map(str::to_owned);
    TransportError::Exited(exit)
}

fn http(status: u16, body: &str) -> TransportError {
    let mut failure = HttpFailure::new(status, "https://mcp.example/mcp");
    failure.body = body.as_bytes().to_vec();
    TransportError::Http(failure)
}

fn every_error() -> Vec<TransportError> {
    vec![
        TransportError::Closed,
        TransportError::NotFound {
            program: "npx".into(),
            searched: vec!["/usr/local/bin".into(), "/usr/bin".into()],
        },
        TransportError::Spawn {
            program: "npx".into(),
            source: source("permission denied"),
        },
        exit(Some(3), None, "Error: no such module\n    at main\n", None),
        exit(None, Some(9), "", None),
        exit(Some(0), None, "", Some("Usage: some-server <dir>")),
        exit(None, None, "", None),
        TransportError::Io {
            action: "reading from x".into(),
            source: source("broken pipe"),
        },
        TransportError::Malformed {
            detail: "1001 lines in a row are no JSON".into(),
        },
        TransportError::TooLarge {
            what: "a line on stdout",
            limit: 1024,
        },
        TransportError::Timeout {
            phase: "connecting",
            limit: Duration::from_secs(30),
        },
        http(502, "<html>\n<body>Bad gateway</body>"),
        http(500, ""),
        http(400, &"long ".repeat(100)),
        TransportError::SessionExpired,
        TransportError::Unauthorized {
            status: 401,
            source: None,
        },
        TransportError::Unauthorized {
            status: 403,
            source: Some(source("login refused")),
        },
        TransportError::Credentials {
            server: "https://mcp.example/mcp".into(),
            source: source("the token endpoint did not answer"),
        },
        TransportError::NoResponse {
            detail: "the stream ended".into(),
        },
    ]
}

#[test]
fn every_error_reports_what_failed_and_whether_to_retry() {
    let mut reported = String::new();
    for error in every_error() {
        reported += &format!("{error}\n");
        if let Some(source) = error.source() {
            reported += &format!("  because: {source}\n");
        }
        let retry = if error.is_retryable() {
            "may help"
        } else {
            "will not help"
        };
        reported += &format!("  a new connection {retry}\n");
    }
    insta::assert_snapshot!(reported);
}

#[test]
fn a_failed_message_reports_whether_it_was_sent() {
    let all = [Delivery::NotSent, Delivery::Sent, Delivery::Unknown];
    let reported = all.map(|delivery| SendError::new(TransportError::Closed, delivery).to_string());
    insta::assert_snapshot!(reported.join("\n"));
}
