//! Whatever is asked in whatever order, and whenever the program is killed: what is stored can be
//! loaded, and every provider takes it.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use switchboard::conversation::{ConversationError, DurableConversation};
use switchboard::store::{CallStatus, ConversationId, Role, Span, Store, UserId};

use super::House;

#[derive(Clone, Debug)]
enum Step {
    Begin(bool),
    Say(usize, &'static str),
    Approve(usize),
    Deny(usize),
    Cancel(usize),
    Continue(usize),
    Fork(usize),
    Rename(usize),
    Remove(usize),
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    let words = prop::sample::select(vec![
        "write a note",
        "2 plus 3",
        "please be slow",
        "write a note and add 2 and 3",
        "hello",
    ]);
    prop_oneof![
        2 => any::<bool>().prop_map(Step::Begin),
        6 => (0..4usize, words).prop_map(|(chat, words)| Step::Say(chat, words)),
        5 => (0..4usize).prop_map(Step::Approve),
        2 => (0..4usize).prop_map(Step::Deny),
        2 => (0..4usize).prop_map(Step::Cancel),
        2 => (0..4usize).prop_map(Step::Continue),
        1 => (0..4usize).prop_map(Step::Fork),
        1 => (0..4usize).prop_map(Step::Rename),
        1 => (0..4usize).prop_map(Step::Remove),
        3 => Just(Step::Kill),
    ]
}

/// Takes a step. Whether it makes sense is for the server to say: it must say it well.
fn take(house: &mut House, talks: &mut Vec<String>, step: &Step) {
    let of = |place: &usize| talks.get(place % talks.len().max(1)).cloned();
    let ask = |method: &str, path: String, body: Option<serde_json::Value>| {
        let (status, value) = house.ask(method, &path, body.as_ref());
        assert!(status < 500, "{method} {path}: {status} {value}");
        value
    };
    let confirm = |id: String, decision: &str| {
        let page = ask("GET", format!("/api/conversations/{id}/messages"), None);
        for message in page["items"].as_array().into_iter().flatten() {
            for call in message["toolCalls"].as_array().into_iter().flatten() {
                if call["approval"].is_object() {
                    let path = format!(
                        "/api/messages/{}/tool-confirm",
                        message["id"].as_str().unwrap()
                    );
                    let body = json!({
                        "position": call["position"],
                        "decision": decision,
                        "digest": call["approval"]["digest"],
                    });
                    ask("POST", path, Some(body));
                }
            }
        }
    };
    match step {
        Step::Begin(auto) => {
            let mode = if *auto { json!("auto") } else { json!(null) };
            let begun = ask(
                "POST",
                "/api/conversations".to_owned(),
                Some(json!({"approvalMode": mode})),
            );
            talks.push(begun["id"].as_str().unwrap().to_owned());
        }
        Step::Say(place, words) => {
            let Some(id) = of(place) else { return };
            ask(
                "POST",
                format!("/api/conversations/{id}/messages"),
                Some(json!({"content": words})),
            );
        }
        Step::Approve(place) => drop(of(place).map(|id| confirm(id, "approve"))),
        Step::Deny(place) => drop(of(place).map(|id| confirm(id, "deny"))),
        Step::Cancel(place) => {
            drop(of(place).map(|id| ask("POST", format!("/api/conversations/{id}/cancel"), None)));
        }
        Step::Continue(place) => {
            drop(
                of(place).map(|id| ask("POST", format!("/api/conversations/{id}/continue"), None)),
            );
        }
        Step::Fork(place) => {
            let Some(id) = of(place) else { return };
            let copy = ask(
                "POST",
                format!("/api/conversations/{id}/fork"),
                Some(json!({})),
            );
            let copy = copy["id"].as_str().map(str::to_owned);
            talks.extend(copy);
        }
        Step::Rename(place) => {
            let Some(id) = of(place) else { return };
            ask(
                "PATCH",
                format!("/api/conversations/{id}"),
                Some(json!({"title": "renamed"})),
            );
        }
        Step::Remove(place) => {
            let Some(id) = of(place) else { return };
            ask("DELETE", format!("/api/conversations/{id}"), None);
            talks.retain(|chat| *chat != id);
        }
        Step::Kill => {
            house.kill();
            house.start();
        }
    }
}

/// Waits until nothing is under way any more: where machines share the store, what a killed one left
/// behind is gone on with once it is known to be dead.
fn settle(house: &House, talks: &[String]) {
    let is_under_way = |id: &String| {
        let (_, row) = house.ask("GET", &format!("/api/conversations/{id}"), None);
        row["running"] == true && row["waiting"] == 0
    };
    for _ in 0..600 {
        if !talks.iter().any(is_under_way) {
            return;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(50));
    }
    panic!("an answer stays under way");
}

/// Loads a conversation, once the process that drove it is known to be dead.
async fn load(store: &Arc<dyn Store>, user: &UserId, id: &ConversationId) -> DurableConversation {
    for _ in 0..600 {
        match DurableConversation::load(Arc::clone(store), user, id).await {
            Err(ConversationError::Leased) => {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
            loaded => return loaded.unwrap(),
        }
    }
    panic!("{id} stays with a process that is dead");
}

/// Everything that is stored is whole.
async fn assert_whole(file: &std::path::Path) {
    let lease = std::time::Duration::from_secs(1);
    let store = switchboard::home::store_with(Some(file), lease)
        .await
        .unwrap();
    let user = UserId::local();
    for row in store.conversations(&user, None, 100).await.unwrap() {
        let mut chat = load(&store, &user, &row.id).await;
        let waiting = chat.open_questions().await.unwrap().len();
        for message in store.messages(&row.id, Span::Last(100)).await.unwrap() {
            for call in &message.tool_calls {
                let over = !matches!(call.status, CallStatus::Pending | CallStatus::Invoking);
                assert!(
                    over == call.response.is_some(),
                    "a call without a result: {call:?}"
                );
                assert!(over || waiting > 0, "no one is asked about {call:?}");
            }
            let over = message.role != Role::Assistant || message.finish.is_some();
            assert!(over || waiting > 0, "no one goes on with {message:?}");
        }
        // The next message is taken by every provider.
        chat.ask("And now?").await.unwrap();
        crate::accepted::accepted(chat.run().conversation()).unwrap();
    }
    store.close().await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_asked_and_whenever_it_is_killed_the_store_is_whole(
        steps in prop::collection::vec(step(), 1..25)
    ) {
        let mut house = House::open();
        let mut talks = Vec::new();
        take(&mut house, &mut talks, &Step::Begin(false));
        for step in &steps {
            take(&mut house, &mut talks, step);
        }
        house.kill();
        // The next start takes up what was under way.
        house.start();
        settle(&house, &talks);
        house.stop();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(assert_whole(&house.desk.store()));
    }
}
