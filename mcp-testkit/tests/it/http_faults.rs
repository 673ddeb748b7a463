//! What each fault of HTTP puts on the wire.

use std::sync::Arc;

use mcp_testkit::{Fault, Script, Server, TransportKind};
use serde_json::{Value, json};

use crate::line_client::initialize_params;
use crate::raw_http::{Raw, complete};
use crate::wire_text::show;

/// Faults that show only with time or with many requests: the chaos cases show them.
const APART: [&str; 4] = [
    "concurrent-50",
    "get-500",
    "get-closes-at-once",
    "slow-headers",
];

/// What a server answers to the requests of a plain session, one after the other.
async fn transcript(fault: Option<Fault>) -> Vec<(&'static str, String)> {
    let mut server = Server::new(Script::minimal());
    if let Some(fault) = fault {
        server = server.with_fault(fault);
    }
    let server = server.start_http().await.unwrap();
    let message = |id: u64, method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    let call = json!({"name": "echo", "arguments": {"text": "hello"}});
    let discover = crate::line_client::modern(json!({}));
    let steps = [
        (
            "discover",
            "POST /mcp",
            message(9, "server/discover", discover),
        ),
        (
            "initialize",
            "POST /mcp",
            message(1, "initialize", initialize_params()),
        ),
        ("note", "POST /mcp", note),
        ("get", "GET /mcp", String::new()),
        ("list", "POST /mcp", message(2, "tools/list", json!({}))),
        ("call", "POST /mcp", message(3, "tools/call", call.clone())),
        ("second call", "POST /mcp", message(4, "tools/call", call)),
        ("delete", "DELETE /mcp", String::new()),
    ];
    let mut seen = Vec::new();
    for (what, head, body) in steps {
        // The one that goes away takes its time to come back.
        if fault.is_some_and(|fault| fault.name() == "restart") && what == "call" {
            let back = |event: &mcp_testkit::Event| format!("{event:?}").contains("\"back\"");
            server.log().wait_for(back).await;
        }
        let mut raw = Raw::send(&server, head, &body).await;
        match what {
            // A stream that stays open has no end to wait for.
            "get" => {
                raw.read_until(&server, |bytes| {
                    complete(bytes) || bytes.ends_with(b"\r\n\r\n")
                })
                .await
            }
            // The forged answer comes right after the good one.
            "call" if fault.is_some_and(|fault| fault.name() == "response-desync") => {
                let forged = |bytes: &[u8]| bytes.windows(6).any(|word| word == b"POISON");
                raw.read_until(&server, forged).await;
            }
            _ => raw.read_until(&server, complete).await,
        }
        seen.push((what, show(&raw.bytes, &server)));
    }
    seen
}

/// The difference that a fault makes, in few lines.
async fn difference(fault: Fault, plain: &[(&str, String)]) -> String {
    let mut text = format!("## {fault}: {}\n", fault.about());
    let mut last = String::new();
    for ((what, seen), (_, plain)) in transcript(Some(fault)).await.into_iter().zip(plain) {
        if seen == *plain {
            continue;
        }
        let same = seen.replace("\"id\":4", "\"id\":3") == last;
        let lines: Vec<&str> = if same {
            vec!["the same"]
        } else {
            seen.lines().collect()
        };
        for line in lines.iter().take(14) {
            text.push_str(&format!("{what}: {line}\n"));
        }
        last = seen;
    }
    text
}

#[tokio::test]
async fn every_fault_of_http_does_what_it_says() {
    let plain = Arc::new(transcript(None).await);
    let mut running = Vec::new();
    for fault in Fault::all() {
        if fault.fits(TransportKind::Http)
            && !fault.fits(TransportKind::Stdio)
            && !APART.contains(&fault.name())
        {
            let plain = Arc::clone(&plain);
            running.push(tokio::spawn(async move { difference(fault, &plain).await }));
        }
    }
    let mut all = String::new();
    for difference in running {
        all.push_str(&difference.await.unwrap());
    }
    insta::assert_snapshot!(all);
}
