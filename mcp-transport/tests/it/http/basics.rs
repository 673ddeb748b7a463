//! One message out, its reply in.

use super::*;

#[tokio::test]
async fn connecting_is_lazy_and_a_json_reply_is_one_message() {
    let server = Server::start(|_| Answer::json(&result(1))).await;
    let transport = open(config(&server)).await;
    assert!(
        server.seen().is_empty(),
        "nothing was sent before the first message"
    );
    send(&transport, call(1)).await.unwrap();
    assert_eq!(next(&transport).await, format!("1 {}", result(1)));
    assert_eq!(
        next(&transport).await,
        "1 ended: the reply ended without a response: the reply is a different message"
    );
}

#[tokio::test]
async fn an_event_stream_is_many_messages() {
    let server = Server::start(|_| {
        let (progress, ping) = (r#"{"method":"progress"}"#, r#"{"id":9,"method":"ping"}"#);
        Answer::all_events(&[event(progress), event(ping), event(&result(1))].concat())
    })
    .await;
    let transport = open(config(&server)).await;
    send(&transport, call(1)).await.unwrap();
    assert_eq!(next(&transport).await, r#"1 {"method":"progress"}"#);
    assert_eq!(next(&transport).await, r#"1 {"id":9,"method":"ping"}"#);
    assert_eq!(next(&transport).await, format!("1 {}", result(1)));
    assert!(next(&transport).await.starts_with("1 ended"));
}

#[tokio::test]
async fn messages_carry_the_headers_of_the_protocol_and_their_session() {
    let server = Server::start(legacy(|_| Answer::json(&result(1)))).await;
    let transport = open(config(&server).with_header("X-Team", "blue").unwrap()).await;
    shake_hands(&transport).await;
    send(&transport, call(1)).await.unwrap();
    let seen = server.seen();
    for post in seen.iter().filter(|seen| seen.method == "POST") {
        assert_eq!(post.path, "/mcp");
        assert_eq!(post.header("content-type"), Some("application/json"));
        assert_eq!(
            post.header("accept"),
            Some("application/json, text/event-stream")
        );
        assert_eq!(post.header("x-team"), Some("blue"));
        let first = post.calls("initialize");
        assert_eq!(post.header("mcp-session-id"), (!first).then_some("s1"));
        assert_eq!(
            post.header("mcp-protocol-version"),
            (!first).then_some("2025-11-25")
        );
        assert_eq!(post.header("mcp-method"), None);
    }
}

#[tokio::test]
async fn the_version_header_is_sent_from_2025_06_18_on() {
    let server = Server::start(|_| Answer::json(&result(1))).await;
    let transport = open(config(&server)).await;
    for (revision, want) in [
        (Revision::V2025_03_26, None),
        (Revision::V2025_06_18, Some("2025-06-18")),
        (Revision::V2025_11_25, Some("2025-11-25")),
    ] {
        send(&transport, request(1, "ping").with_revision(revision))
            .await
            .unwrap();
        assert_eq!(
            server.seen().last().unwrap().header("mcp-protocol-version"),
            want
        );
    }
}

#[tokio::test]
async fn any_success_acknowledges_a_notification() {
    let answers = [
        Answer::status(202),
        Answer::status(204),
        Answer::json(r#"{"result":{}}"#),
    ];
    let server = Server::start(move |seen| answers[seen.nth].clone()).await;
    let transport = open(config(&server)).await;
    for _ in 0..3 {
        send(&transport, notification("notifications/cancelled"))
            .await
            .unwrap();
    }
    let response = Outgoing::response(RequestId::from(1), result(1).into_bytes());
    assert!(
        send(&transport, response).await.is_err(),
        "a fourth answer was not prepared"
    );
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = Server::start(|seen| match seen.nth % 3 {
        0 => Answer::json(&result(1)),
        1 => Answer::all_events(&event(&result(1))),
        _ => Answer::with(400, &[], "no"),
    })
    .await;
    let transport = open(config(&server)).await;
    for _ in 0..30 {
        if send(&transport, call(1)).await.is_ok() {
            assert_eq!(next(&transport).await, format!("1 {}", result(1)));
            transport.release(&RequestId::from(1));
            assert!(next(&transport).await.starts_with("1 ended"));
        }
    }
    let last = server.seen().last().unwrap().connection;
    assert!(last < 10, "30 requests took {last} more connections");
}

#[tokio::test]
async fn an_answer_comes_with_its_request_and_all_else_by_recv() {
    let server = Server::start(|seen| match seen.nth {
        0 => Answer::json(&result(1)),
        // Someone else's answer, and one that takes a second look.
        1 => Answer::json(&result(7)),
        _ => Answer::json(r#"{"result":{},"jsonrpc":"2.0","id":"3"}"#),
    })
    .await;
    let transport = open(config(&server)).await;
    let answer = transport.send_request(call(1)).await.unwrap();
    assert_eq!(answer.as_deref(), Some(result(1).as_bytes()));
    for id in 2..=3 {
        assert_eq!(transport.send_request(call(id)).await.unwrap(), None);
    }
    let mut reported = String::new();
    for _ in 0..4 {
        reported += &format!("{}\n", next(&transport).await);
    }
    insta::assert_snapshot!(reported);
}

#[tokio::test]
async fn an_answer_in_an_event_stream_comes_with_its_request_or_by_recv_but_once() {
    let server = Server::start(|seen| {
        let answer = event(&result(i64::try_from(seen.nth).unwrap()));
        // With the head, after it, or with something before it.
        match seen.nth % 3 {
            0 => Answer::with(200, &[("content-type", "text/event-stream")], &answer),
            1 => Answer::all_events(&answer),
            _ => Answer::all_events(&[event(r#"{"method":"note"}"#), answer].concat()),
        }
    })
    .await;
    let transport = open(config(&server)).await;
    for id in 0..30 {
        let direct = transport.send_request(call(id)).await.unwrap();
        if let Some(body) = &direct {
            assert_eq!(body, result(id).as_bytes());
        }
        if id % 3 == 2 {
            assert_eq!(direct, None, "it must not overtake the note");
            assert_eq!(
                next(&transport).await,
                format!(r#"{id} {{"method":"note"}}"#)
            );
        }
        if direct.is_none() {
            assert_eq!(next(&transport).await, format!("{id} {}", result(id)));
            assert!(next(&transport).await.starts_with(&format!("{id} ended")));
        }
    }
}

#[tokio::test]
async fn media_types_are_read_as_http_says() {
    for media_type in [
        "application/json",
        "Application/JSON; charset=UTF-8",
        "application/json;v=1",
        "application/vnd.mcp+json",
    ] {
        let server =
            Server::start(move |_| Answer::with(200, &[("Content-Type", media_type)], &result(1)))
                .await;
        let transport = open(config(&server)).await;
        send(&transport, call(1)).await.unwrap();
        assert_eq!(next(&transport).await, format!("1 {}", result(1)));
    }
    let server = Server::start(|_| {
        let body = event(&result(1));
        Answer::with(
            200,
            &[("Content-Type", "TEXT/Event-Stream; charset=utf-8")],
            &body,
        )
    })
    .await;
    let transport = open(config(&server)).await;
    send(&transport, call(1)).await.unwrap();
    assert_eq!(next(&transport).await, format!("1 {}", result(1)));
}

#[tokio::test]
async fn json_without_a_content_type_is_taken() {
    let server = Server::start(|_| Answer::with(200, &[], &result(1))).await;
    let transport = open(config(&server)).await;
    send(&transport, call(1)).await.unwrap();
    assert_eq!(next(&transport).await, format!("1 {}", result(1)));
}

#[tokio::test]
async fn events_of_other_types_and_without_data_are_no_messages() {
    let text = format!(
        "event: ping\ndata: x\n\nid: 1\ndata:\n\n: note\n\n{}",
        event(&result(1))
    );
    let server = Server::start(move |_| Answer::all_events(&text)).await;
    let transport = open(config(&server)).await;
    send(&transport, call(1)).await.unwrap();
    assert_eq!(next(&transport).await, format!("1 {}", result(1)));
}

#[tokio::test]
async fn an_old_http_answer_ends_with_its_connection() {
    let text = format!(
        "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{}",
        result(1)
    );
    let server = Server::start(move |_| Answer::raw(text.clone()).close()).await;
    let transport = open(config(&server)).await;
    send(&transport, call(1)).await.unwrap();
    assert_eq!(next(&transport).await, format!("1 {}", result(1)));
}

#[tokio::test]
async fn interim_answers_are_skipped() {
    let early = "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
    let server = Server::start(move |_| Answer::raw(early).then(Answer::json(&result(1)))).await;
    let transport = open(config(&server)).await;
    send(&transport, call(1)).await.unwrap();
    assert_eq!(next(&transport).await, format!("1 {}", result(1)));
}
