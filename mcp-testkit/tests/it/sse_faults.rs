//! What each fault of HTTP+SSE puts on the wire.

use mcp_testkit::{Fault, Script, Server, TransportKind};
use serde_json::{Value, json};

use crate::line_client::initialize_params;
use crate::raw_http::{Raw, complete};
use crate::wire_text::{SHOWN, show};

/// The stream's beginning, and what a call brings on the POST and on the stream.
async fn transcript(fault: Option<Fault>) -> String {
    let mut server = Server::new(Script::minimal());
    if let Some(fault) = fault {
        server = server.with_fault(fault);
    }
    let server = server.start_sse().await.unwrap();
    let mut stream = Raw::send(&server, "GET /sse", "").await;
    let begun = |bytes: &[u8]| {
        complete(bytes) || bytes.ends_with(b"\n\n\r\n") || bytes.ends_with(b"\n\r\n\r\n")
    };
    stream.read_until(&server, begun).await;
    let mut text = format!(
        "stream: {}\n",
        show(&std::mem::take(&mut stream.bytes), &server)
    );
    if !text.contains("endpoint") {
        return text;
    }
    let message = |id: u64, method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    let call = json!({"name": "echo", "arguments": {"text": "hello"}});
    for (what, body) in [
        ("initialize", message(1, "initialize", initialize_params())),
        ("list", message(2, "tools/list", json!({}))),
        ("call", message(3, "tools/call", call)),
    ] {
        let mut post = Raw::send(&server, "POST /messages?session=1", &body).await;
        post.read_until(&server, complete).await;
        text.push_str(&format!("{what}: {}\n", show(&post.bytes, &server)));
        // Whatever was refused brings nothing on the stream.
        if String::from_utf8_lossy(&post.bytes).starts_with("HTTP/1.1 2")
            || post.bytes == b"(silence)"
        {
            let answered = |bytes: &[u8]| {
                let answer = format!(
                    "\"id\":{}",
                    body.split("\"id\":")
                        .nth(1)
                        .unwrap()
                        .split(',')
                        .next()
                        .unwrap()
                );
                let text = String::from_utf8_lossy(bytes);
                bytes.len() >= SHOWN || text.contains(&answer) && text.ends_with("\n\r\n")
            };
            stream.read_until(&server, answered).await;
            text.push_str(&format!(
                "stream: {}\n",
                show(&std::mem::take(&mut stream.bytes), &server)
            ));
        }
    }
    text
}

#[tokio::test]
async fn every_fault_of_the_old_transport_does_what_it_says() {
    let plain = transcript(None).await;
    let mut all = format!("## no fault\n{plain}");
    for fault in Fault::all()
        .filter(|fault| fault.fits(TransportKind::Sse) && !fault.fits(TransportKind::Stdio))
    {
        all.push_str(&format!("## {fault}: {}\n", fault.about()));
        let transcript = transcript(Some(fault)).await;
        for line in transcript
            .lines()
            .filter(|line| !plain.lines().any(|plain| plain == *line))
        {
            all.push_str(&format!("{line}\n"));
        }
    }
    insta::assert_snapshot!(all);
}
