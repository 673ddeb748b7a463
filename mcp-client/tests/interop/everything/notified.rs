//! What `server-everything` tells on its own account, or while it works.

use std::sync::Arc;

use mcp_client::{CallOptions, ClientEvent};
use mcp_jsonrpc::model::{LoggingLevel, Subscribe, SubscribeParams, Unsubscribe};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::Notify;

use crate::session::Session;

const URIS: [&str; 4] = [
    "demo://resource/dynamic/text/1",
    "demo://resource/dynamic/text/2",
    "demo://resource/dynamic/text/3",
    "demo://resource/dynamic/text/4",
];

/// Packing a file makes a resource, which is a change of the list; and a link to it, by which it
/// can be read.
pub(super) async fn changed_lists_are_announced(session: &mut Session) {
    let arguments = json!({"name": "hi.gz", "data": "data:text/plain,hi"});
    let result = session.call("gzip-file-as-resource", arguments).await;
    let link = serde_json::to_value(&result.content[0]).unwrap();
    assert_eq!(link["uri"], "demo://resource/session/hi.gz");
    session
        .event(|event| (event == ClientEvent::ResourcesChanged).then_some(()))
        .await;
    let listed = session.client.list_resources().await.unwrap();
    assert!(listed.items.iter().any(|one| one.name == "hi.gz"));
    let uri = "demo://resource/session/hi.gz";
    let read = session.client.read_resource(uri).await.unwrap();
    let blob = read.contents[0].blob.as_deref().unwrap();
    assert!(blob.starts_with("H4sI"), "{blob}");
    assert_eq!(
        read.contents[0].mime_type.as_deref(),
        Some("application/gzip")
    );
}

/// The server logs each subscription as `info`.
pub(super) async fn logging_heeds_the_level(session: &mut Session) {
    let level = |level| session.client.set_log_level(level);
    level(LoggingLevel::Error).await.unwrap();
    subscribe(session, URIS[0]).await;
    level(LoggingLevel::Info).await.unwrap();
    subscribe(session, URIS[1]).await;
    let first = session
        .event(|event| logged(event, "Received Subscribe"))
        .await;
    assert!(first.contains(URIS[1]), "{first}");

    session
        .client
        .set_log_level(LoggingLevel::Debug)
        .await
        .unwrap();
    session.call("toggle-simulated-logging", json!({})).await;
    session.event(|event| logged(event, "level")).await;
    let said = session.say("toggle-simulated-logging", json!({})).await;
    assert!(said.starts_with("Stopped"), "{said}");
}

pub(super) async fn updates_of_subscribed_resources_are_announced(session: &mut Session) {
    session.call("toggle-subscriber-updates", json!({})).await;
    assert_eq!(session.event(updated).await, URIS[0]);
    assert_eq!(session.event(updated).await, URIS[1]);

    let params = SubscribeParams::new(URIS[0]);
    session
        .client
        .request::<Unsubscribe>(&params)
        .await
        .unwrap();
    session.call("toggle-subscriber-updates", json!({})).await;
    subscribe(session, URIS[2]).await;
    // Whatever was reported before the third subscription was logged belongs to the time before.
    session.event(|event| logged(event, URIS[2])).await;
    session.call("toggle-subscriber-updates", json!({})).await;
    assert_eq!(session.event(updated).await, URIS[1]);
    assert_eq!(session.event(updated).await, URIS[2]);
    let said = session.say("toggle-subscriber-updates", json!({})).await;
    assert!(said.starts_with("Stopped"), "{said}");
}

pub(super) async fn progress_rises_to_its_end(session: &Session) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&reports);
    let options = CallOptions::default()
        .with_progress(move |report| heard.lock().push((report.progress, report.total)));
    let client = session.client.with(options);
    let arguments = json!({"duration": 1, "steps": 4});
    let result = client
        .call_tool("trigger-long-running-operation", arguments)
        .await;
    let text = "Long running operation completed. Duration: 1 seconds, Steps: 4.";
    assert_eq!(result.unwrap().content[0].as_text(), Some(text));
    let reports = reports.lock();
    assert_eq!(reports.last(), Some(&(4.0, Some(4.0))));
    assert!(reports.is_sorted(), "{reports:?}");
}

pub(super) async fn a_dropped_call_is_cancelled(session: &Session) {
    let begun = Arc::new(Notify::new());
    let heard = Arc::clone(&begun);
    let options = CallOptions::default().with_progress(move |_| heard.notify_one());
    let client = session.client.with(options);
    let arguments = json!({"duration": 20, "steps": 200});
    tokio::select! {
        done = client.call_tool("trigger-long-running-operation", arguments) => panic!("{done:?}"),
        () = begun.notified() => {}
    }
    let call = session
        .sent(|message| message["params"]["arguments"]["steps"] == 200)
        .await;
    let cancelled = session
        .sent(|message| message["method"] == "notifications/cancelled")
        .await;
    assert_eq!(cancelled["params"]["requestId"], call["id"]);
    // The server goes on reporting progress, which no one wants any more.
    let said = session.say("echo", json!({"message": "still here"})).await;
    assert_eq!(said, "Echo: still here");
}

async fn subscribe(session: &Session, uri: &str) {
    let params = SubscribeParams::new(uri);
    session.client.request::<Subscribe>(&params).await.unwrap();
}

fn updated(event: ClientEvent) -> Option<String> {
    match event {
        ClientEvent::ResourceUpdated { uri } => Some(uri),
        _ => None,
    }
}

/// The text of a log message that has `part` in it.
pub(super) fn logged(event: ClientEvent, part: &str) -> Option<String> {
    let ClientEvent::Log(message) = event else {
        return None;
    };
    let text: String = message.data.parse().ok()?;
    text.contains(part).then_some(text)
}
