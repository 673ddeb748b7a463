//! Full pipes, both ways.

use mcp_transport::{Delivery, StdioLimits, TransportError};

use super::*;

#[tokio::test]
async fn both_sides_can_write_more_than_a_pipe_holds_at_once() {
    // The server writes 8 MiB before it reads a byte; so do we.
    let noise = "yes '{\"from\":\"server\"}' | head -c 8000000; echo";
    let transport = Arc::new(sh(&format!("{noise}; exec cat")).start().await.unwrap());
    let sender = tokio::spawn({
        let transport = Arc::clone(&transport);
        async move {
            let text = "x".repeat(100_000);
            for id in 0..80 {
                transport.send(request(id, &text)).await.unwrap();
            }
        }
    });
    let mut next = 0;
    while next < 80 {
        let body = message(&transport).await;
        if body.contains("\"id\"") {
            assert!(body.starts_with(&format!("{{\"id\":{next},")));
            next += 1;
        }
    }
    sender.await.unwrap();
    transport.close().await;
}

#[tokio::test]
async fn requests_wait_for_room_and_control_messages_pass_them() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Lifeline::new(dir.path(), "gate");
    let script = format!(
        "echo '{{}}'; read line < '{}'; exec cat",
        gate.path.display()
    );
    let limits = StdioLimits::default()
        .with_outbound_bytes(1000)
        .with_control_bytes(500_000);
    let transport = sh(&script).with_limits(limits).start().await.unwrap();
    assert_eq!(message(&transport).await, "{}");
    // The first fills the pipe, the second what may wait: the third has to.
    let large = "x".repeat(300_000);
    transport.send(request(1, &large)).await.unwrap();
    settle().await;
    transport.send(request(2, &large)).await.unwrap();
    tokio::select! {
        biased;
        _ = transport.send(request(3, "withdrawn")) => panic!("accepted"),
        () = settle() => {}
    }
    let control = |text: &str| Outgoing::notification("n", format!("{{\"n\":\"{text}\"}}").into());
    transport.send(control("passes")).await.unwrap();
    transport.send(control(&large)).await.unwrap();
    let refused = transport.send(control("one too many")).await.unwrap_err();
    assert_eq!(refused.delivery, Delivery::NotSent);
    assert!(
        matches!(refused.error, TransportError::Io { .. }),
        "{refused}"
    );

    std::fs::write(&gate.path, "go\n").unwrap();
    let (sent, ()) = tokio::join!(transport.send(request(4, "last")), async {
        assert!(message(&transport).await.starts_with("{\"id\":1"));
        assert!(message(&transport).await.starts_with("{\"id\":2"));
        assert_eq!(message(&transport).await, "{\"n\":\"passes\"}");
        assert!(message(&transport).await.starts_with("{\"n\":\"x"));
        assert_eq!(message(&transport).await, "{\"id\":4,\"text\":\"last\"}");
    });
    sent.unwrap();
    transport.close().await;
}

/// Lets the connection's tasks do all they can.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}
