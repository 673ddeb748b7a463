//! Live events: replayed, in order, never doubled.

use serde_json::json;
use switchboard::store::{Change, Limits, SqliteStore, Store as _, UserId};

use super::House;

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
        .build()
        .unwrap();
    runtime.block_on(async {
        let file = house.desk.home().join("switchboard.db");
        let store = SqliteStore::open(file, Limits::default()).await.unwrap();
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
fn one_user_cannot_take_the_readers_of_another() {
    let house = House::with(&["--user", "ann", "--user", "bob"]);
    let all: Vec<_> = (0..256).map(|_| house.events_as("ann", "", &[])).collect();
    let (status, _) = house.ask_as("ann", "GET", "/api/events", None);
    assert_eq!(status, 429);
    house.events_as("bob", "", &[]);
    drop(all);
}
