//! Notifications of changes, in either era.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use mcp_client::{CallError, CallOptions, Client, ClientEvent, ClientLimits, Interests};
use mcp_testkit::{Era, Fault, Script, Server};
use mcp_transport::{Delivery, HttpFailure, Incoming, TransportError, TransportKind};
use serde_json::{Value, json};

use crate::fake::{Fake, modern};
use crate::kit::{ERAS, client, server};

const NOTE: &str = "test://notes/first";

#[tokio::test]
async fn a_subscription_is_a_stream_that_ends_with_its_connection() {
    let server = server(Script::standard(), ERAS[0]).await;
    let client = client(&server).await;
    let interests = Interests::default().with_tools();
    let mut changes = client.subscribe(interests).await.unwrap();
    server.list_changed("tools");
    let first = StreamExt::next(&mut changes).await;
    assert_eq!(first, Some(ClientEvent::ToolsChanged));
    client.close().await;
    while StreamExt::next(&mut changes).await.is_some() {}
    server.shutdown().await;
}

#[tokio::test]
async fn the_same_changes_come_in_both_eras() {
    for era in ERAS {
        let server = server(Script::standard(), era).await;
        let client = client(&server).await;
        let interests = Interests::default().with_tools().with_resource(NOTE);
        let mut changes = client.subscribe(interests).await.unwrap();
        server.list_changed("tools");
        assert_eq!(
            changes.next().await,
            Some(ClientEvent::ToolsChanged),
            "{era}"
        );
        server.resource_updated(NOTE);
        let uri = NOTE.to_owned();
        assert_eq!(
            changes.next().await,
            Some(ClientEvent::ResourceUpdated { uri }),
            "{era}"
        );
        client.close().await;
        server.shutdown().await;
    }
}

#[tokio::test]
async fn dropping_a_subscription_ends_it_at_the_server() {
    let server = server(Script::standard(), Era::Legacy).await;
    let client = client(&server).await;
    let note = || Interests::default().with_resource(NOTE);
    let first = client.subscribe(note()).await.unwrap();
    let second = client.subscribe(note()).await.unwrap();
    drop(first);
    client.ping().await.unwrap();
    assert!(
        server.log().of_method("resources/unsubscribe").is_empty(),
        "one still listens"
    );
    drop(second);
    server.log().wait_for_method("resources/unsubscribe").await;
    client.close().await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_lost_subscription_is_renewed_and_reports_the_gap() {
    let server = server(Script::standard(), Era::Modern).await;
    let client = client(&server).await;
    let mut changes = client
        .subscribe(Interests::default().with_tools())
        .await
        .unwrap();
    server.drop_connections();
    assert_eq!(changes.next().await, Some(ClientEvent::Gap));
    let listens = |event: &mcp_testkit::Event| {
        let _ = event;
        server.log().of_method("subscriptions/listen").len() > 1
    };
    server.log().wait_for(listens).await;
    client.close().await;
    server.shutdown().await;
}

#[tokio::test]
async fn the_connections_end_ends_the_stream() {
    for era in ERAS {
        let server = server(Script::standard(), era).await;
        let client = client(&server).await;
        let mut changes = client
            .subscribe(Interests::default().with_tools())
            .await
            .unwrap();
        client.close().await;
        while let Some(event) = changes.next().await {
            assert_eq!(event, ClientEvent::Gap, "{era}");
        }
        server.shutdown().await;
    }
}

/// A subscription that was never established fails as a call does, with its cause, and is not
/// tried again.
#[tokio::test]
async fn a_subscription_that_is_refused_over_http_is_an_error_with_its_cause() {
    let script = || Script::standard().only(Era::Modern);
    for (fault, want) in [
        ("listen-401", "needs authorization"),
        ("listen-404", "HTTP 404"),
        ("listen-202", "HTTP 202"),
        ("listen-503", "HTTP 503"),
        ("listen-reset", "subscriptions/listen"),
        ("listen-result", "without acknowledging"),
        ("listen-hang", "within its idle timeout of 200ms"),
    ] {
        let server = Server::new(script()).with_fault(Fault::named(fault).unwrap());
        let server = server.start_http().await.unwrap();
        let client = client(&server).await;
        let limited = match fault {
            "listen-hang" => {
                let limit = Duration::from_millis(200);
                client.with(CallOptions::default().with_idle_timeout(limit))
            }
            _ => client.clone(),
        };
        let interests = Interests::default().with_tools();
        let error = limited.subscribe(interests).await.unwrap_err();
        let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |e| e.source());
        let reported: Vec<String> = causes.map(ToString::to_string).collect();
        assert!(reported.join(": ").contains(want), "{fault}: {reported:?}");
        let unauthorized = matches!(error, CallError::Unauthorized { .. });
        assert_eq!(unauthorized, fault == "listen-401", "{error}");
        assert_eq!(server.log().of_method("subscriptions/listen").len(), 1);
        client.close().await;
        server.shutdown().await;
    }
}

fn acknowledge(server: &Fake, request: &Value) {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": request["id"]});
    let params = json!({"notifications": {}, "_meta": meta});
    let method = "notifications/subscriptions/acknowledged";
    server.say(json!({"jsonrpc": "2.0", "method": method, "params": params}));
}

/// Loses the subscription that `server` acknowledged last.
fn lose(server: &Fake) {
    let listen = server.seen().pop().unwrap();
    let id = listen["id"].as_i64().unwrap();
    let error = TransportError::NoResponse {
        detail: "the stream broke".to_owned(),
    };
    let (request, error) = (id.into(), Arc::new(error));
    server.push(Incoming::Ended { request, error });
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_cannot_be_re_established_ends_with_the_reason() {
    for (error, attempts) in [
        (503, 5),
        // It will not help to ask again.
        (401, 1),
    ] {
        let up = Arc::new(AtomicBool::new(true));
        let is_up = Arc::clone(&up);
        let fake = modern(TransportKind::Http, move |server, message| {
            if is_up.load(Ordering::SeqCst) {
                return acknowledge(server, message);
            }
            let failure = HttpFailure::new(error, "http://fake");
            server.refuse(TransportError::Http(failure), Delivery::NotSent);
        });
        let limits = ClientLimits::default().with_resubscribe_attempts(5);
        let client = Client::builder(fake.clone()).limits(limits);
        let client = client.connect().await.unwrap();
        let mut changes = client.subscribe(Interests::default()).await.unwrap();
        assert!(changes.error().is_none());
        let server = fake.last();
        up.store(false, Ordering::SeqCst);
        lose(&server);
        assert_eq!(changes.next().await, Some(ClientEvent::Gap));
        assert_eq!(changes.next().await, None);
        let reported = changes.error().unwrap();
        let unauthorized = matches!(reported, CallError::Unauthorized { .. });
        assert_eq!(unauthorized, error == 401, "{reported}");
        let listens = server.methods().into_iter();
        let listens = listens.filter(|method| method == "subscriptions/listen");
        assert_eq!(listens.count(), 1 + attempts);
    }
}

/// What changes between the loss and the new acknowledgement is not announced.
#[tokio::test(start_paused = true)]
async fn a_re_established_subscription_reports_the_gap_once_more() {
    let fake = modern(TransportKind::Http, acknowledge);
    let client = Client::builder(fake.clone()).connect().await.unwrap();
    let mut changes = client.subscribe(Interests::default()).await.unwrap();
    let server = fake.last();
    lose(&server);
    assert_eq!(changes.next().await, Some(ClientEvent::Gap));
    assert_eq!(server.methods().last().unwrap(), "subscriptions/listen");
    let lost = server.methods().len();
    assert_eq!(changes.next().await, Some(ClientEvent::Gap));
    assert_eq!(server.methods().len(), lost + 1);
    assert!(changes.error().is_none());
}

/// Progress is no acknowledgement: the cap on the whole call holds until there is one.
#[tokio::test(start_paused = true)]
async fn a_subscription_is_acknowledged_within_a_calls_time_limit() {
    let fake = modern(TransportKind::Pipe, |_, _| {});
    let client = Client::builder(fake.clone()).connect().await.unwrap();
    let client = client.with(CallOptions::default().with_idle_timeout(Duration::from_secs(7)));
    let subscribing = client.subscribe(Interests::default());
    let chatting = async {
        loop {
            tokio::time::sleep(Duration::from_secs(5)).await;
            let server = fake.last();
            let id = server.seen().pop().unwrap()["id"].clone();
            let params = json!({"progressToken": id, "progress": 1});
            let method = "notifications/progress";
            server.say(json!({"jsonrpc": "2.0", "method": method, "params": params}));
        }
    };
    let began = tokio::time::Instant::now();
    let error = tokio::select! {
        subscribed = subscribing => subscribed.unwrap_err(),
        () = chatting => return,
    };
    assert!(matches!(error, CallError::Timeout { .. }), "{error}");
    assert_eq!(began.elapsed().as_secs(), 70);
}

/// The ids of all subscriptions so far.
fn listens(server: &Fake) -> Vec<Value> {
    let seen = server.seen().into_iter();
    seen.filter(|message| message["method"] == "subscriptions/listen")
        .map(|message| message["id"].clone())
        .collect()
}

/// Says that something changed, on this subscription.
fn change(server: &Fake, what: &str, subscription: &Value, mut params: Value) {
    params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": subscription});
    let method = format!("notifications/{what}");
    server.say(json!({"jsonrpc": "2.0", "method": method, "params": params}));
}

#[tokio::test(start_paused = true)]
async fn a_change_goes_to_the_subscription_it_names_and_to_no_other() {
    for shape in [TransportKind::Pipe, TransportKind::Http] {
        let fake = modern(shape, acknowledge);
        let (heard, mut events) = tokio::sync::mpsc::channel(64);
        let client = Client::builder(fake.clone()).on_event(move |event| {
            let _ = heard.try_send(event);
            std::future::ready(())
        });
        let client = client.connect().await.unwrap();
        let tools = || Interests::default().with_tools();
        let mut first = client.subscribe(tools()).await.unwrap();
        let mut second = client.subscribe(tools()).await.unwrap();
        let server = fake.last();
        let ids = listens(&server);
        for foreign in [json!(99), json!("other"), server.seen()[0]["id"].clone()] {
            change(&server, "tools/list_changed", &foreign, json!({}));
        }
        change(
            &server,
            "tools/list_changed",
            &json!(ids[1].to_string()),
            json!({}),
        );
        assert_eq!(second.next().await, Some(ClientEvent::ToolsChanged));
        change(&server, "tools/list_changed", &ids[0], json!({}));
        assert_eq!(first.next().await, Some(ClientEvent::ToolsChanged));
        // The foreign ones reached no one.
        client.close().await;
        assert_eq!(first.next().await, Some(ClientEvent::Gap));
        assert_eq!(second.next().await, Some(ClientEvent::Gap));
        assert_eq!(events.recv().await, Some(ClientEvent::ToolsChanged));
        let more = std::iter::from_fn(|| events.try_recv().ok());
        assert!(more.count() <= 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_goes_to_the_subscribers_of_that_resource() {
    let fake = modern(TransportKind::Pipe, acknowledge);
    let client = Client::builder(fake.clone()).connect().await.unwrap();
    let about = |uri: &str| Interests::default().with_resource(uri);
    let mut a = client.subscribe(about("test://a")).await.unwrap();
    let mut b = client.subscribe(about("test://b")).await.unwrap();
    let server = fake.last();
    let ids = listens(&server);
    let updated = |uri: &str, id: &Value| {
        change(&server, "resources/updated", id, json!({"uri": uri}));
    };
    updated("test://b", &ids[0]);
    updated("test://aa", &ids[0]);
    updated("test://a/part", &ids[0]);
    // Without an id, against the protocol: by its URI.
    let params = json!({"uri": "test://b"});
    server.say(
        json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params}),
    );
    let uri = "test://a/part".to_owned();
    assert_eq!(a.next().await, Some(ClientEvent::ResourceUpdated { uri }));
    let uri = "test://b".to_owned();
    assert_eq!(b.next().await, Some(ClientEvent::ResourceUpdated { uri }));
    client.close().await;
    assert_eq!(a.next().await, Some(ClientEvent::Gap));
    assert_eq!(b.next().await, Some(ClientEvent::Gap));
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_ends_with_the_connection_says_what_ended_that() {
    let exited = || {
        let mut exit = mcp_transport::ProcessExit::new("server");
        exit.code = Some(3);
        exit.stderr = "out of memory".to_owned();
        mcp_transport::Closed::with_error(TransportError::Exited(exit))
    };
    let old = crate::fake::legacy(|_, _| {});
    for (fake, is_lost_before) in [
        (modern(TransportKind::Pipe, acknowledge), false),
        (modern(TransportKind::Http, acknowledge), true),
        (old, false),
    ] {
        let client = Client::builder(fake.clone()).connect().await.unwrap();
        let mut changes = client.subscribe(Interests::default()).await.unwrap();
        let server = fake.last();
        let want = if is_lost_before {
            lose(&server);
            assert_eq!(changes.next().await, Some(ClientEvent::Gap));
            "the stream broke"
        } else {
            "out of memory"
        };
        server.end(exited());
        while changes.next().await.is_some() {}
        let error = changes.error().unwrap();
        let source = std::error::Error::source(error).unwrap().to_string();
        assert!(source.contains(want), "{error}: {source}");
    }
}
