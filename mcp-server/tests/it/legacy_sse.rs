//! HTTP+SSE of 2024-11-05: over a socket with our client, and request by request without one.

use http::{Method, StatusCode};
use mcp_client::{Client, EraMode};
use mcp_server::http::{HttpService, serve};
use mcp_server::{Context, Server, ServerLimits};
use mcp_transport::{HttpConfig, SseConnect};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::http_kit::{ByHeader, initialize, send_to};
use crate::kit::{Alive, Obliging, any, everything, name_form, server, text, until};

fn app(alive: &Alive) -> Server {
    let alive = alive.clone();
    server()
        .tool_with_schema(any("greet"), |_: Value, cx: Context| async move {
            cx.progress(1.0, None, None);
            let answer = cx.ask("name", name_form()).await?;
            let name = answer.content.unwrap_or_default()["name"].clone();
            Ok::<_, mcp_server::Error>(format!("Hello, {}!", name.as_str().unwrap()))
        })
        .tool_with_schema(any("hang"), move |_: Value, _: Context| {
            let guard = alive.enter();
            async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }
        })
}

#[tokio::test]
async fn our_client_calls_and_is_asked_over_the_legacy_transport() {
    let alive = Alive::default();
    let service = HttpService::new(&app(&alive).build()).legacy_sse();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/sse", listener.local_addr().unwrap());
    let serving = tokio::spawn(serve(listener, service.clone()));
    let connect = SseConnect::new(HttpConfig::new(&url).unwrap()).unwrap();
    let client = Client::builder(connect)
        .era(EraMode::Legacy)
        .host(Obliging::default(), everything())
        .connect()
        .await
        .unwrap();
    let result = client.call_tool("greet", json!({})).await.unwrap();
    assert_eq!(text(&result), "Hello, Ann!");
    assert_eq!(service.sessions(), 1);
    // A client that goes away takes its session and its calls with it.
    let hanging = tokio::spawn({
        let client = client.clone();
        async move { client.call_tool("hang", json!({})).await }
    });
    until(|| alive.count() == 1).await;
    client.close().await;
    assert!(hanging.await.unwrap().is_err());
    until(|| alive.count() == 0 && service.sessions() == 0).await;
    serving.abort();
}

/// The path that the first event of a stream names.
fn endpoint(event: &str) -> String {
    let data = event.strip_prefix("event: endpoint\ndata: ").unwrap();
    data.trim_end().to_owned()
}

#[tokio::test]
async fn a_session_takes_messages_of_its_owner_only() {
    let service = HttpService::new(&app(&Alive::default()).build())
        .legacy_sse()
        .authenticator(ByHeader);
    let (ann, bob) = (("x-user", "ann"), ("x-user", "bob"));
    let mut stream = send_to(&service, Method::GET, "/sse", &[ann], "").await;
    let path = endpoint(&stream.chunk().await.unwrap());
    let hello = initialize("2024-11-05").to_string();
    let post = async |path: &str, who, body: &str| {
        let reply = send_to(&service, Method::POST, path, &[who], body.to_owned()).await;
        reply.status
    };
    assert_eq!(post(&path, bob, &hello).await, StatusCode::NOT_FOUND);
    assert_eq!(
        post("/messages?sessionId=1", ann, &hello).await,
        StatusCode::NOT_FOUND
    );
    assert_eq!(post("/messages", ann, &hello).await, StatusCode::NOT_FOUND);
    assert_eq!(post(&path, ann, &hello).await, StatusCode::ACCEPTED);
    let event = stream.chunk().await.unwrap();
    let data = event.strip_prefix("event: message\ndata: ").unwrap();
    let reply: Value = serde_json::from_str(data).unwrap();
    assert_eq!(reply["result"]["protocolVersion"], "2024-11-05");
    // What cannot be read is answered on the stream, too.
    assert_eq!(post(&path, ann, "{").await, StatusCode::ACCEPTED);
    assert!(stream.chunk().await.unwrap().contains("-32700"));
    drop(stream);
    until(|| service.sessions() == 0).await;
    assert_eq!(post(&path, ann, &hello).await, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn sessions_are_bounded_and_only_served_where_they_are_wanted() {
    let limited = app(&Alive::default()).limits(ServerLimits::default().with_sessions(1));
    let service = HttpService::new(&limited.build()).legacy_sse();
    let first = send_to(&service, Method::GET, "/sse", &[], "").await;
    assert_eq!(first.status, StatusCode::OK);
    let second = send_to(&service, Method::GET, "/sse", &[], "").await;
    assert_eq!(second.status, StatusCode::SERVICE_UNAVAILABLE);
    drop(first);
    until(|| service.sessions() == 0).await;
    let third = send_to(&service, Method::GET, "/sse", &[], "").await;
    assert_eq!(third.status, StatusCode::OK);
    let refused = send_to(
        &service,
        Method::GET,
        "/sse",
        &[("origin", "https://evil.example")],
        "",
    );
    assert_eq!(refused.await.status, StatusCode::FORBIDDEN);
    let without = HttpService::new(&app(&Alive::default()).build());
    let reply = send_to(&without, Method::GET, "/sse", &[], "").await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
}
