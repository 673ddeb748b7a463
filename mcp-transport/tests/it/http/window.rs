//! How many requests may be under way, and who never waits.

use super::*;

fn one() -> HttpLimits {
    HttpLimits::default().with_requests_in_flight(1)
}

#[tokio::test]
async fn a_full_window_holds_up_requests_but_neither_notifications_nor_answers() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::start(move |seen| match (seen.calls("tools/call"), seen.nth) {
        (true, 0) => Answer::default().wait(&held).then(Answer::json(&result(1))),
        (true, _) => Answer::json(&result(2)),
        (false, _) => Answer::status(202),
    })
    .await;
    let transport = open_with(&server, one()).await;
    let first = transport.clone();
    let first = tokio::spawn(async move { send(&first, call(1)).await.unwrap() });
    server.saw(|seen| seen.len() == 1).await;
    let second = transport.clone();
    let second = tokio::spawn(async move { send(&second, call(2)).await.unwrap() });
    send(&transport, notification("notifications/cancelled"))
        .await
        .unwrap();
    let response = Outgoing::response(RequestId::from(1), result(1).into_bytes());
    send(&transport, response).await.unwrap();
    let calls = server
        .seen()
        .iter()
        .filter(|seen| seen.calls("tools/call"))
        .count();
    assert_eq!(calls, 1, "the second request waits");
    gate.open();
    first.await.unwrap();
    second.await.unwrap();
}

#[tokio::test]
async fn an_answered_request_leaves_the_window_though_its_stream_stays_open() {
    let server = Server::start(|seen| {
        let id = i64::try_from(seen.nth).unwrap();
        Answer::events(&event(&result(id))).hold()
    })
    .await;
    let transport = open_with(&server, one()).await;
    for id in 0..3 {
        send(&transport, call(id)).await.unwrap();
        assert_eq!(next(&transport).await, format!("{id} {}", result(id)));
        transport.release(&RequestId::from(id));
    }
}

#[tokio::test]
async fn a_released_request_leaves_the_window() {
    let server = Server::start(|_| Answer::events(": open\n\n").hold()).await;
    let transport = open_with(&server, one()).await;
    for id in 0..3 {
        send(&transport, call(id)).await.unwrap();
        transport.release(&RequestId::from(id));
    }
}

#[tokio::test]
async fn many_calls_at_once_all_come_back() {
    let server = Server::start(|seen| {
        let id = seen
            .body
            .split("\"id\":")
            .nth(1)
            .unwrap()
            .split(',')
            .next()
            .unwrap();
        Answer::json(&result(id.parse().unwrap()))
    })
    .await;
    let transport = open(config(&server)).await;
    let calls: Vec<_> = (0..200)
        .map(|id| {
            let transport = transport.clone();
            tokio::spawn(async move { send(&transport, call(id)).await.unwrap() })
        })
        .collect();
    let mut answered = Vec::new();
    while answered.len() < 200 {
        let text = next(&transport).await;
        if !text.contains("ended") {
            answered.push(text);
        }
    }
    for call in calls {
        call.await.unwrap();
    }
    let mut want: Vec<_> = (0..200).map(|id| format!("{id} {}", result(id))).collect();
    want.sort();
    answered.sort();
    assert_eq!(answered, want);
}

#[tokio::test]
async fn slow_answers_do_not_hold_up_further_requests() {
    let server = Server::start(|_| Answer::default().hold()).await;
    let transport = open(config(&server)).await;
    let calls: Vec<_> = (0..50)
        .map(|id| {
            let transport = transport.clone();
            tokio::spawn(async move { send(&transport, call(id)).await.unwrap_err() })
        })
        .collect();
    server.saw(|seen| seen.len() == 50).await;
    transport.close().await;
    for call in calls {
        call.await.unwrap();
    }
}
