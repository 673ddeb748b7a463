//! The pair in memory: an in-process server is a connection like any other.

use std::time::Duration;

use mcp_transport::memory::{self, MemoryTransport};
use mcp_transport::{Connect, Delivery, Incoming, Outgoing, Transport, TransportError};
use tokio::time::timeout;

fn request(id: i64) -> Outgoing {
    Outgoing::request(id.into(), "ping", format!("{{\"id\":{id}}}").into_bytes())
}

fn notification(text: &str) -> Outgoing {
    Outgoing::notification("note", text.as_bytes().to_vec())
}

async fn body(transport: &MemoryTransport) -> String {
    match transport.recv().await {
        Incoming::Message { body, stream: None } => String::from_utf8(body).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_one_end_sends_the_other_receives_in_order() {
    let (client, server) = memory::pair();
    for id in 0..100 {
        client.send(request(id)).await.unwrap();
    }
    server.send(notification("hello")).await.unwrap();
    for id in 0..100 {
        assert_eq!(body(&server).await, format!("{{\"id\":{id}}}"));
    }
    assert_eq!(body(&client).await, "hello");
}

#[tokio::test(start_paused = true)]
async fn requests_wait_for_room_and_other_messages_do_not() {
    let (client, server) = memory::pair_with_capacity(2);
    client.send(request(1)).await.unwrap();
    client.send(request(2)).await.unwrap();
    let full = timeout(Duration::from_secs(1), client.send(request(3))).await;
    assert!(
        full.is_err(),
        "the dropped future must have withdrawn its message"
    );
    client.send(notification("cancel")).await.unwrap();
    client.send(notification("cancel")).await.unwrap();
    let refused = client.send(notification("cancel")).await.unwrap_err();
    assert_eq!(refused.delivery, Delivery::NotSent);
    assert_eq!(
        refused.to_string(),
        "queueing a message for the other end in memory failed (the message was not sent)"
    );

    let (sent, ()) = tokio::join!(client.send(request(4)), async {
        for want in ["{\"id\":1}", "{\"id\":2}", "cancel", "cancel"] {
            assert_eq!(body(&server).await, want);
        }
    });
    sent.unwrap();
    assert_eq!(body(&server).await, "{\"id\":4}");
}

#[tokio::test]
async fn a_closed_end_delivers_what_it_had_sent_and_then_the_end() {
    let (client, server) = memory::pair();
    server.send(notification("last words")).await.unwrap();
    client.send(request(7)).await.unwrap();
    server.close().await;
    server.close().await;
    assert!(!client.is_alive());
    assert_eq!(body(&client).await, "last words");
    for _ in 0..2 {
        let Incoming::Closed(closed) = client.recv().await else {
            panic!()
        };
        assert!(closed.error.is_none());
        assert_eq!(closed.unsent, [7.into()], "the server never received it");
    }
    let Incoming::Closed(_) = server.recv().await else {
        panic!()
    };
    let error = client.send(request(8)).await.unwrap_err();
    assert!(
        matches!(error.error, TransportError::Io { .. }) && error.delivery == Delivery::NotSent
    );
    let error = server.send(notification("too late")).await.unwrap_err();
    assert!(matches!(error.error, TransportError::Closed));
}

#[tokio::test]
async fn the_end_of_one_side_wakes_the_other() {
    let (client, server) = memory::pair_with_capacity(1);
    client.send(request(1)).await.unwrap();
    let (sent, received, ()) = tokio::join!(client.send(request(2)), client.recv(), async {
        drop(server);
    });
    assert!(sent.is_err() && matches!(received, Incoming::Closed(_)));
}

#[tokio::test]
async fn a_server_in_memory_can_be_connected_to_again() {
    let (connect, mut listener) = memory::listen();
    for _ in 0..3 {
        let client = connect.connect().await.unwrap();
        let server = listener.accept().await.unwrap();
        client.send(request(1)).await.unwrap();
        assert_eq!(body(&server).await, "{\"id\":1}");
        drop(server);
        assert!(matches!(client.recv().await, Incoming::Closed(_)));
    }
    drop(listener);
    assert!(matches!(
        connect.connect().await,
        Err(TransportError::Io { .. })
    ));
}
