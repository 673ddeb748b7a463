//! The well-behaved server over Streamable HTTP and HTTP+SSE.

use std::time::Duration;

use mcp_testkit::{Era, Polling, Replies, Script, Seen, Server, Step, Tool};
use serde_json::json;

use crate::http_client::{Exchange, HttpClient, json_body, one_event};
use crate::line_client::initialize_params;

#[tokio::test]
async fn a_session_is_assigned_demanded_and_ended() {
    let server = Server::default().start_http().await.unwrap();
    let mut client = HttpClient::new(server.url());
    assert_eq!(
        client.initialize().await["result"]["protocolVersion"],
        "2025-11-25"
    );
    let answer = json_body(client.call("echo", json!({"text": "hi"})).await).await;
    assert_eq!(answer["result"]["content"][0]["text"], "hi");
    let session = client.session.take();
    assert_eq!(client.call("echo", json!({})).await.status, 400);
    client.session = Some("wrong".to_owned());
    assert_eq!(client.call("echo", json!({})).await.status, 404);
    let id = session.clone().unwrap();
    let ended = Exchange::open(&client.url, "DELETE", &[("Mcp-Session-Id", &id)], b"").await;
    assert_eq!(ended.status, 200);
    client.session = session;
    assert_eq!(client.call("echo", json!({})).await.status, 404);
}

#[tokio::test]
async fn replies_can_all_be_event_streams() {
    let script = Script::standard()
        .with_replies(Replies::Sse)
        .without_sessions();
    let server = Server::new(script).start_http().await.unwrap();
    let mut client = HttpClient::new(server.url());
    client.initialize().await;
    assert_eq!(client.session, None);
    let answer = one_event(client.call("echo", json!({"text": "hi"})).await).await;
    assert_eq!(answer["result"]["content"][0]["text"], "hi");
}

#[tokio::test]
async fn what_comes_before_the_answer_makes_a_stream_of_it() {
    let server = Server::default().start_http().await.unwrap();
    let mut client = HttpClient::new(server.url());
    client.initialize().await;
    let mut exchange = client.call("elicit", json!({})).await;
    let ask = exchange.message().await.unwrap();
    assert_eq!(ask["method"], "elicitation/create");
    let accept = json!({"jsonrpc": "2.0", "id": ask["id"], "result": {"action": "accept"}});
    assert_eq!(client.post(&[], &accept).await.status, 202);
    let answer = exchange.message().await.unwrap();
    assert_eq!(
        answer["result"]["content"][0]["text"],
        r#"{"name":{"action":"accept"}}"#
    );
}

#[tokio::test]
async fn the_get_stream_carries_changes_and_questions() {
    let server = Server::new(Script::standard().asking_on_get())
        .start_http()
        .await
        .unwrap();
    let mut client = HttpClient::new(server.url());
    client.initialize().await;
    let mut stream = client.get(&[]).await;
    assert_eq!(stream.status, 200);
    server.list_changed("tools");
    assert_eq!(
        stream.message().await.unwrap()["method"],
        "notifications/tools/list_changed"
    );
    let (call, asked) = tokio::join!(client.call("roots", json!({})), async {
        let ask = stream.message().await.unwrap();
        let answer = json!({"jsonrpc": "2.0", "id": ask["id"], "result": {"roots": []}});
        let session = client_of(&server, &stream).await;
        assert_eq!(session.post(&[], &answer).await.status, 202);
        ask
    });
    assert_eq!(asked["method"], "roots/list");
    assert_eq!(
        json_body(call).await["result"]["content"][0]["text"],
        r#"{"roots":{"roots":[]}}"#
    );
}

/// A second client in the only session there is.
async fn client_of(server: &mcp_testkit::Running, _stream: &Exchange) -> HttpClient {
    let mut client = HttpClient::new(server.url());
    client.session = Some("session-000001".to_owned());
    client
}

#[tokio::test]
async fn a_polled_stream_hangs_up_and_goes_on_where_it_ended() {
    let polling = Polling::new()
        .with_retry(Duration::from_millis(500))
        .hanging_up();
    let script = Script::standard().with_polling(polling);
    let server = Server::new(script).start_http().await.unwrap();
    let mut client = HttpClient::new(server.url());
    client.initialize().await;
    let mut exchange = client.call("progress", json!({})).await;
    assert_eq!(
        exchange.event().await.unwrap(),
        "id: stream-1-0\nretry: 500\ndata:"
    );
    assert_eq!(exchange.event().await, None);
    let mut resumed = client.get(&[("Last-Event-ID", "stream-1-0")]).await;
    let answer = resumed.message().await.unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "done");
    assert_eq!(resumed.event().await, None);
}

#[tokio::test]
async fn modern_requests_must_agree_with_their_headers() {
    let server = Server::new(Script::standard().only(Era::Modern))
        .start_http()
        .await
        .unwrap();
    let mut client = HttpClient::new(server.url());
    let found = client.start_modern("server/discover", "", json!({})).await;
    assert_eq!(found.header("mcp-session-id"), None);
    assert_eq!(
        json_body(found).await["result"]["supportedVersions"],
        json!(["2026-07-28"])
    );
    let good = client
        .start_modern(
            "tools/call",
            "echo",
            json!({"name": "echo", "arguments": {"text": "x"}}),
        )
        .await;
    assert_eq!(json_body(good).await["result"]["resultType"], "complete");
    let bad = client
        .start_modern("tools/call", "other", json!({"name": "echo"}))
        .await;
    assert_eq!(bad.status, 400);
    assert_eq!(json_body(bad).await["error"]["code"], -32020);
    let unmirrored = json!({"name": "mirror", "arguments": {"region": "eu"}});
    let bad = client
        .start_modern("tools/call", "mirror", unmirrored)
        .await;
    assert_eq!(json_body(bad).await["error"]["code"], -32020);
    let unknown = client.start_modern("nonsense", "", json!({})).await;
    assert_eq!(unknown.status, 404);
    let initialize = client.request("initialize", initialize_params());
    let refused = client.post(&[], &initialize).await;
    assert_eq!(refused.status, 400);
    assert_eq!(json_body(refused).await["error"]["code"], -32022);
    assert_eq!(client.get(&[]).await.status, 405);
}

#[tokio::test]
async fn closing_a_modern_stream_cancels_its_call() {
    let server = Server::default().start_http().await.unwrap();
    let mut client = HttpClient::new(server.url());
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let mut exchange = client
        .start_modern("subscriptions/listen", "", listen)
        .await;
    exchange.message().await.unwrap();
    server.list_changed("tools");
    assert_eq!(
        exchange.message().await.unwrap()["method"],
        "notifications/tools/list_changed"
    );
    drop(exchange);
    server
        .log()
        .wait_for(|e| matches!(e.seen, Seen::Abandoned { .. }))
        .await;
}

#[tokio::test]
async fn shutdown_ends_listening_in_order() {
    let server = Server::default().start_http().await.unwrap();
    let mut client = HttpClient::new(server.url());
    let mut exchange = client
        .start_modern("subscriptions/listen", "", json!({"notifications": {}}))
        .await;
    exchange.message().await.unwrap();
    server.shutdown().await;
    assert_eq!(
        exchange.message().await.unwrap()["result"]["resultType"],
        "complete"
    );
    assert_eq!(exchange.event().await, None);
}

#[tokio::test]
async fn the_old_transport_answers_on_its_stream() {
    let server = Server::default().start_sse().await.unwrap();
    let base = server.url().trim_end_matches("/sse").to_owned();
    let mut stream = Exchange::open(
        &server.url(),
        "GET",
        &[("Accept", "text/event-stream")],
        b"",
    )
    .await;
    assert_eq!(
        stream.event().await.unwrap(),
        "event: endpoint\ndata: /messages?session=1"
    );
    let mut client = HttpClient::new(format!("{base}/messages?session=1"));
    let initialize = client.request("initialize", initialize_params());
    assert_eq!(client.post(&[], &initialize).await.status, 202);
    assert_eq!(
        stream.message().await.unwrap()["result"]["serverInfo"]["name"],
        "mcp-testkit"
    );
    let call = client.request(
        "tools/call",
        json!({"name": "echo", "arguments": {"text": "old"}}),
    );
    client.post(&[], &call).await;
    assert_eq!(
        stream.message().await.unwrap()["result"]["content"][0]["text"],
        "old"
    );
    assert_eq!(
        HttpClient::new(server.url())
            .post(&[], &initialize)
            .await
            .status,
        405
    );
}

#[tokio::test]
async fn a_call_can_end_the_server_without_an_answer() {
    let script = Script::empty().with_tool(Tool::new("crash").with_step(Step::Exit(7)));
    let server = Server::new(script.clone()).start_http().await.unwrap();
    let url = server.url();
    let port: u16 = url.split([':', '/']).nth(4).unwrap().parse().unwrap();
    let mut client = HttpClient::new(url.clone());
    client.initialize().await;
    let (status, ()) = tokio::join!(server.exited(), async {
        // However far the exchange gets, no answer comes.
        let call =
            tokio::spawn(async move { json_body(client.call("crash", json!({})).await).await });
        assert!(call.await.is_err());
    });
    assert_eq!(status, 7);
    server.shutdown().await;
    let again = Server::new(script)
        .with_port(port)
        .start_http()
        .await
        .unwrap();
    assert_eq!(again.url(), url);
}
