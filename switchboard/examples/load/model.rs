//! A model with a long answer.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};

/// The size of the long reply, and the number of pieces it comes in.
pub(super) const REPLY_BYTES: usize = 1 << 20;
pub(super) const REPLY_DELTAS: usize = 10_000;

/// A model that answers one request of Chat Completions with a long text in many pieces; its URL.
pub(super) fn long_model() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = BufReader::new(stream.try_clone().unwrap());
        let (mut line, mut length) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            request.read_line(&mut line).unwrap();
            let header = line.to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        request.read_exact(&mut vec![0; length]).unwrap();
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let mut send = |delta: Value, finish: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
            let chunk = json!({"id": "1", "object": "chat.completion.chunk", "created": 1,
                "model": "text", "choices": [choice]});
            stream
                .write_all(format!("data: {chunk}\n\n").as_bytes())
                .unwrap();
        };
        for delta in 0..REPLY_DELTAS {
            let bytes =
                REPLY_BYTES * (delta + 1) / REPLY_DELTAS - REPLY_BYTES * delta / REPLY_DELTAS;
            send(
                json!({"role": "assistant", "content": "x".repeat(bytes)}),
                Value::Null,
            );
        }
        send(json!({}), json!("stop"));
        stream.write_all(b"data: [DONE]\n\n").unwrap();
    });
    url
}
