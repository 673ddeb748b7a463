//! Streamable HTTP, request by request, without a socket.

use http::{Method, StatusCode};
use mcp_server::ServerLimits;
use mcp_server::http::HttpService;
use serde_json::{Value, json};

use crate::http_kit::{ByHeader, app, call, call_modern, initialize, modern, open, post, send};
use crate::kit::{Alive, any, server, until};

fn endpoint() -> HttpService {
    HttpService::new(&app(&Alive::default()))
}

#[tokio::test]
async fn both_eras_share_one_endpoint() {
    let service = endpoint();
    let session = open(&service).await;
    let legacy = post(&service, &[("mcp-session-id", &session)], &call(1, "echo")).await;
    assert_eq!(legacy.status, StatusCode::OK);
    let legacy = legacy.json().await;
    assert_eq!(legacy["result"]["content"][0]["text"], "echo");
    assert!(legacy["result"].get("resultType").is_none());
    let modern = call_modern(&service, "echo", json!({})).await;
    assert_eq!(modern.json().await["result"]["resultType"], "complete");
}

#[tokio::test]
async fn a_question_goes_out_on_its_calls_stream_and_its_answer_comes_by_post() {
    let service = endpoint();
    let session = open(&service).await;
    let headers = [("mcp-session-id", session.as_str())];
    let mut reply = post(&service, &headers, &call(1, "ask")).await;
    assert!(reply.is_stream());
    let priming = reply.chunk().await.unwrap();
    assert!(priming.starts_with("id: 1-0\nretry: ") && priming.ends_with("data: \n\n"));
    let event = reply.chunk().await.unwrap();
    let question: Value = serde_json::from_str(event.split_once("data: ").unwrap().1).unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {
        "action": "accept", "content": {"name": "Ann"},
    }});
    let accepted = post(&service, &headers, &answer).await;
    assert_eq!(accepted.status, StatusCode::ACCEPTED);
    assert!(reply.text().await.contains("Ann"));
}

#[tokio::test]
async fn a_modern_question_is_a_result_with_a_sealed_state() {
    let service = endpoint();
    let first = call_modern(&service, "ask", json!({})).await.json().await;
    let result = &first["result"];
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(
        result["inputRequests"]["name"]["method"],
        "elicitation/create"
    );
    let answer = json!({"name": {"action": "accept", "content": {"name": "Ann"}}});
    let state = result["requestState"].as_str().unwrap();
    let again = json!({"inputResponses": answer, "requestState": state});
    let done = call_modern(&service, "ask", again).await.json().await;
    assert!(
        done["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("Ann")
    );
    // For another tool, or changed, it is worthless.
    let forged = json!({"inputResponses": answer, "requestState": format!("{state}x")});
    let refused = call_modern(&service, "ask", forged).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let stolen = json!({"inputResponses": answer, "requestState": state});
    assert_eq!(
        call_modern(&service, "echo", stolen).await.status,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn a_released_stream_is_resumed_by_its_event_id() {
    let service = endpoint();
    let session = open(&service).await;
    let headers = [("mcp-session-id", session.as_str())];
    let reply = post(&service, &headers, &call(1, "later")).await;
    assert!(reply.is_stream());
    let first = reply.text().await;
    assert!(!first.contains("result"), "{first}");
    let id = first
        .strip_prefix("id: ")
        .and_then(|rest| rest.lines().next())
        .unwrap();
    for _ in 0..2 {
        let resume = [("mcp-session-id", session.as_str()), ("last-event-id", id)];
        let rest = send(&service, Method::GET, &resume, "").await.text().await;
        assert!(rest.contains("\"later\""), "{rest}");
    }
}

#[tokio::test]
async fn progress_comes_before_the_response_on_its_stream() {
    let service = endpoint();
    let session = open(&service).await;
    let mut request = call(1, "progress");
    request["params"]["_meta"] = json!({"progressToken": "t"});
    let reply = post(&service, &[("mcp-session-id", &session)], &request).await;
    assert!(reply.is_stream());
    let text = reply.text().await;
    let (progress, result) = (text.find("notifications/progress"), text.find("progressed"));
    assert!(progress.is_some() && progress < result, "{text}");
}

#[tokio::test]
async fn announcements_come_on_the_get_stream() {
    let service = app(&Alive::default());
    let http = HttpService::new(&service);
    let session = open(&http).await;
    let headers = [("mcp-session-id", session.as_str())];
    let mut stream = send(&http, Method::GET, &headers, "").await;
    assert!(stream.chunk().await.unwrap().contains("retry"));
    service.notifier().tools_changed();
    let event = stream.chunk().await.unwrap();
    assert!(
        event.contains("notifications/tools/list_changed"),
        "{event}"
    );
    // A second reader takes the stream over.
    let mut other = send(&http, Method::GET, &headers, "").await;
    assert_eq!(stream.chunk().await, None);
    other.chunk().await.unwrap();
    service.notifier().prompts_changed();
    assert!(
        other
            .chunk()
            .await
            .unwrap()
            .contains("prompts/list_changed")
    );
}

#[tokio::test]
async fn an_ended_session_is_gone_with_all_that_ran_in_it() {
    let alive = Alive::default();
    let service = HttpService::new(&app(&alive));
    let session = open(&service).await;
    let running = tokio::spawn({
        let (service, session) = (service.clone(), session.clone());
        async move {
            let headers = [("mcp-session-id", session.as_str())];
            post(&service, &headers, &call(1, "hang"))
                .await
                .text()
                .await
        }
    });
    until(|| alive.count() == 1).await;
    let headers = [("mcp-session-id", session.as_str())];
    let ended = send(&service, Method::DELETE, &headers, "").await;
    assert_eq!(ended.status, StatusCode::NO_CONTENT);
    until(|| alive.count() == 0).await;
    assert!(!running.await.unwrap().contains("result"));
    let after = post(&service, &headers, &call(2, "echo")).await;
    assert_eq!(after.status, StatusCode::NOT_FOUND);
    assert_eq!(service.sessions(), 0);
}

#[tokio::test]
async fn a_disconnect_cancels_a_modern_call_and_not_a_legacy_one() {
    let alive = Alive::default();
    let service = HttpService::new(&app(&alive));
    let session = open(&service).await;
    let headers = [("mcp-session-id", session.as_str())];
    let request = call(1, "hang");
    let legacy = post(&service, &headers, &request);
    let modern = call_modern(&service, "hang", json!({}));
    {
        let (mut legacy, mut modern) = (Box::pin(legacy), Box::pin(modern));
        tokio::select! {
            biased;
            _ = &mut legacy => panic!("it hangs"),
            _ = &mut modern => panic!("it hangs"),
            () = until(|| alive.count() == 2) => {}
        }
    }
    until(|| alive.count() == 1).await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    post(&service, &headers, &cancel).await;
    until(|| alive.count() == 0).await;
}

#[tokio::test]
async fn sessions_and_states_belong_to_their_caller() {
    let service = endpoint().authenticator(ByHeader);
    let anonymous = post(&service, &[], &initialize("2025-11-25")).await;
    assert_eq!(anonymous.status, StatusCode::UNAUTHORIZED);
    assert_eq!(anonymous.headers["www-authenticate"], "Bearer");
    let opened = post(&service, &[("x-user", "ann")], &initialize("2025-11-25")).await;
    let session = opened.session();
    for (user, want) in [("ann", StatusCode::OK), ("bob", StatusCode::NOT_FOUND)] {
        let headers = [("x-user", user), ("mcp-session-id", session.as_str())];
        assert_eq!(
            post(&service, &headers, &call(1, "echo")).await.status,
            want,
            "{user}"
        );
        let get = send(&service, Method::GET, &headers, "").await;
        assert_eq!(get.status, want, "{user}");
    }
    let headers = [("x-user", "bob"), ("mcp-session-id", session.as_str())];
    let ended = send(&service, Method::DELETE, &headers, "").await;
    assert_eq!(ended.status, StatusCode::NOT_FOUND);
    let ask = |user: &'static str, more: Value| {
        let service = service.clone();
        async move {
            let mut params = json!({"name": "ask", "arguments": {}});
            for (key, value) in more.as_object().into_iter().flatten() {
                params[key] = value.clone();
            }
            let headers = [
                ("x-user", user),
                ("mcp-protocol-version", "2026-07-28"),
                ("mcp-method", "tools/call"),
                ("mcp-name", "ask"),
            ];
            post(&service, &headers, &modern("tools/call", params)).await
        }
    };
    let asked = ask("ann", json!({})).await.json().await;
    let state = asked["result"]["requestState"].clone();
    assert_eq!(
        ask("ann", json!({"requestState": state})).await.status,
        StatusCode::OK
    );
    let stolen = ask("bob", json!({"requestState": state})).await;
    assert_eq!(stolen.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_closed_socket_cancels_a_modern_call() {
    use tokio::io::AsyncWriteExt;
    let (started, mut starts) = tokio::sync::mpsc::channel::<tokio::sync::oneshot::Receiver<()>>(1);
    let service = server()
        .tool_with_schema(any("hang"), move |_: Value, _| {
            let started = started.clone();
            async move {
                let (_held, dropped) = tokio::sync::oneshot::channel::<()>();
                started.send(dropped).await.unwrap();
                std::future::pending::<()>().await;
            }
        })
        .build();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(mcp_server::http::serve(
        listener,
        HttpService::new(&service),
    ));
    let body = modern("tools/call", json!({"name": "hang"})).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: hang\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    socket
        .write_all(format!("{head}{body}").as_bytes())
        .await
        .unwrap();
    let dropped = starts.recv().await.unwrap();
    drop(socket);
    assert!(dropped.await.is_err(), "its sender goes with the handler");
    serving.abort();
}

#[tokio::test]
async fn a_session_may_have_as_many_calls_in_flight_as_its_limit() {
    let (gate, entered) = (
        std::sync::Arc::new(tokio::sync::Notify::new()),
        Alive::default(),
    );
    let (opened, alive) = (gate.clone(), entered.clone());
    let service = server()
        .tool_with_schema(any("wait"), move |_: Value, _| {
            let (gate, guard) = (opened.clone(), alive.enter());
            async move {
                let _guard = guard;
                gate.notified().await;
                "done"
            }
        })
        .build();
    let service = HttpService::new(&service);
    let session = open(&service).await;
    let calls: Vec<_> = (1..=256)
        .map(|id| {
            let (service, session) = (service.clone(), session.clone());
            tokio::spawn(async move {
                let headers = [("mcp-session-id", session.as_str())];
                post(&service, &headers, &call(id, "wait"))
                    .await
                    .text()
                    .await
            })
        })
        .collect();
    until(|| entered.count() == 256).await;
    gate.notify_waiters();
    for call in calls {
        assert!(call.await.unwrap().contains("done"));
    }
}

#[tokio::test]
async fn modern_requests_beyond_the_limit_are_put_off_and_subscriptions_are_not_counted() {
    let alive = Alive::default();
    let guard = alive.clone();
    let service = server()
        .tool_with_schema(any("hang"), move |_: Value, _| {
            let guard = guard.enter();
            async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }
        })
        .limits(
            ServerLimits::default()
                .with_requests(2)
                .with_subscriptions(1),
        )
        .build();
    let http = HttpService::new(&service);
    let hang = || {
        let http = http.clone();
        tokio::spawn(async move { call_modern(&http, "hang", json!({})).await.text().await })
    };
    let listen = modern("subscriptions/listen", json!({"notifications": {}}));
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "subscriptions/listen"),
    ];
    let mut subscription = post(&http, &headers, &listen).await;
    assert!(subscription.chunk().await.unwrap().contains("acknowledged"));
    let running = [hang(), hang()];
    until(|| alive.count() == 2).await;
    let refused = call_modern(&http, "hang", json!({})).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(refused.json().await["id"], 1);
    // Whoever goes makes room.
    for running in running {
        running.abort();
    }
    until(|| alive.count() == 0).await;
    assert_eq!(
        call_modern(&http, "none", json!({})).await.status,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn sessions_take_no_room_from_subscriptions_nor_subscriptions_from_sessions() {
    let service = server()
        .tool_with_schema(any("tool"), |_: Value, _| async {})
        .limits(
            ServerLimits::default()
                .with_subscriptions(2)
                .with_sessions(2),
        )
        .build();
    let http = HttpService::new(&service);
    let listen = modern(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "subscriptions/listen"),
    ];
    let mut open = Vec::new();
    for _ in 0..2 {
        open.push(post(&http, &headers, &listen).await);
    }
    let refused = post(&http, &headers, &listen).await.text().await;
    assert!(refused.contains("too many subscriptions"), "{refused}");
    // The sessions still hear of changes.
    for _ in 0..2 {
        let session = crate::http_kit::open(&http).await;
        let get = [("mcp-session-id", session.as_str())];
        let mut stream = send(&http, Method::GET, &get, "").await;
        stream.chunk().await.unwrap();
        service.notifier().tools_changed();
        assert!(stream.chunk().await.unwrap().contains("list_changed"));
    }
    drop(open);
    let mut again = post(&http, &headers, &listen).await;
    assert!(again.chunk().await.unwrap().contains("acknowledged"));
}
