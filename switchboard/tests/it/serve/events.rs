//! Live events: replayed, in order, never doubled.

use std::sync::Arc;

use serde_json::json;
use switchboard::home;
use switchboard::serve::{Options, Serve};
use switchboard::store::{Change, NewEvent, Store, UserId};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::House;
use crate::mortal::Mortal;

#[test]
fn a_reader_that_comes_back_gets_what_it_missed_and_nothing_twice() {
    let house = House::open();
    let mut live = house.events("");
    let chat = house.say(&json!({"approvalMode": "auto"}), "2 plus 3");
    let all = live.until("run.finished");
    for place in 0..all.len() - 1 {
        let last = all[place].id.to_string();
        let mut again = house.events_as("local", "", &[("Last-Event-ID", &last)]);
        assert_eq!(again.until("run.finished"), all[place + 1..]);
    }
    // What a page was read with is where it goes on from.
    let page = house.get(&format!("/api/conversations/{}/messages", chat.id));
    let last = page["lastEventId"].as_u64().unwrap();
    assert!(last >= all.last().unwrap().id);
    let other = house.say(&json!({}), "hello");
    let mut here = house.events(&format!("conversation={}&after={last}", chat.id));
    let mut there = house.events(&format!("conversation={}&after={last}", other.id));
    there.until("run.finished");
    house.post(
        &format!("/api/conversations/{}/messages", chat.id),
        &json!({"content": "hi"}),
    );
    let ours = here.until("run.finished");
    assert!(ours.iter().all(|event| {
        let id = &event.data["conversationId"];
        id.is_null() || id == chat.id.as_str()
    }));
    assert_eq!(
        ours[0].kind, "message.created",
        "nothing of the other conversation"
    );
}

#[test]
fn a_reader_that_was_away_too_long_must_load_again() {
    let house = House::open();
    let mut live = house.events("");
    house.say(&json!({}), "hello");
    let all = live.until("run.finished");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = home::store(Some(&house.desk.store())).await.unwrap();
        let prune = Change::PruneEvents(UserId::local(), 2);
        store.commit(vec![prune]).await.unwrap();
        store.close().await.unwrap();
    });
    let mut late = house.events(&format!("after={}", all[0].id));
    let first = late.next().unwrap();
    assert_eq!(first.kind, "reset");
    assert!(first.id >= all.last().unwrap().id);
    house.say(&json!({}), "hello");
    assert_eq!(late.next().unwrap().kind, "conversation.updated");
}

#[test]
fn a_reader_that_does_not_read_holds_no_one_up() {
    let house = House::open();
    let mut slow = house.events("");
    let mut live = house.events("");
    for _ in 0..3 {
        house.say(&json!({"approvalMode": "auto"}), "something big, please");
        live.until("run.finished");
    }
    let mut ends = Vec::new();
    let mut last = 0;
    while ends.len() < 3 {
        for event in slow.until("run.finished") {
            assert!(event.id > last, "in order, and once");
            last = event.id;
            if event.kind == "run.finished" {
                ends.push(event.id);
            }
        }
    }
}

#[test]
fn users_at_their_limit_of_readers_leave_the_service_to_others() {
    let house = House::with(&["--user", "ann", "--user", "bob", "--user", "cat"]);
    let mut held = Vec::new();
    for user in ["ann", "bob", "cat"] {
        let readers = std::iter::from_fn(|| house.try_events_as(user, "", &[]));
        let readers: Vec<_> = readers.collect();
        assert!(!readers.is_empty(), "{user} is let in");
        held.push(readers);
        let (status, _) = house.ask_as(user, "GET", "/api/events", None);
        assert_eq!(status, 429);
    }
    let host = format!("127.0.0.1:{}", house.port);
    let alive = house.send("GET", "/healthz", &[("Host", &host)], "");
    assert_eq!(alive.status, 200);
    drop(held);
}

/// A reader of the service's events, up to their beginning.
async fn reader(serve: &Serve) -> BufReader<TcpStream> {
    let (_, token) = serve.links()[0].url.split_once("#token=").unwrap();
    let mut stream = TcpStream::connect(serve.address()).await.unwrap();
    let request = format!(
        "GET /api/events HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
        serve.address()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut reader = BufReader::new(stream);
    until(&mut reader, ": open").await;
    reader
}

async fn until(reader: &mut BufReader<TcpStream>, begin: &str) {
    let mut line = String::new();
    while !line.starts_with(begin) {
        line.clear();
        assert!(reader.read_line(&mut line).await.unwrap() > 0, "no {begin}");
    }
}

#[tokio::test]
async fn one_read_of_the_store_is_for_all_readers_of_a_user() {
    let folder = tempfile::tempdir().unwrap();
    let store = Mortal::open(&folder.path().join("switchboard.db")).await;
    let options = Options::new(folder.path().join("tokens.json"));
    let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
    let serve = Serve::start(shared, options).await.unwrap();
    let mut readers = Vec::new();
    for _ in 0..50 {
        readers.push(reader(&serve).await);
    }
    let before = store.read("events");
    for number in 0..20 {
        let event = NewEvent::new(UserId::local(), None, "test", json!({"number": number}));
        store
            .commit(vec![Change::AppendEvent(event)])
            .await
            .unwrap();
        for reader in &mut readers {
            until(reader, &format!("data: {{\"number\":{number}}}")).await;
        }
    }
    let reads = store.read("events") - before;
    assert!(
        (20..30).contains(&reads),
        "{reads} reads of 20 events by 50 readers"
    );
    drop(readers);
    serve.stop().await;
}
