//! Many conversations at once, each with an approval, at all replicas.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::door::{Door, next};
use crate::server::Server;

/// Clients that send requests side by side.
const CLIENTS: usize = 16;
/// Events that were not taken yet.
const MAX_EVENTS: usize = 1 << 16;

/// Replicas, and what their users do.
pub(super) struct Wave<'a> {
    pub(super) servers: &'a [Server],
    pub(super) conversations: usize,
}

impl Wave<'_> {
    fn users(&self) -> usize {
        self.servers[0].doors.len()
    }

    /// A user's access to one of the replicas.
    fn door(&self, user: usize, replica: usize) -> &Door {
        &self.servers[replica % self.servers.len()].doors[user]
    }

    /// All conversations, from the first word to the last answer; how long each took. Each step of
    /// a conversation is another replica's.
    pub(super) fn run(&self) -> Vec<Duration> {
        let (send, events) = mpsc::sync_channel(MAX_EVENTS);
        let streams =
            (0..self.users()).map(|user| self.door(user, user).events_into(user, send.clone()));
        let _streams: Vec<_> = streams.collect();
        let (begin, confirm) = (Mutex::new(0..self.conversations), self.calls());
        let owners = Mutex::new(BTreeMap::new());
        let mut begun: BTreeMap<String, Instant> = BTreeMap::new();
        let mut started: BTreeMap<String, i64> = BTreeMap::new();
        let mut running: BTreeSet<String> = BTreeSet::new();
        let mut ended: BTreeSet<String> = BTreeSet::new();
        let mut waits = Vec::new();
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| self.client(&begin, &confirm.1, &owners));
            }
            while ended.len() < self.conversations {
                let (user, kind, data) = next(&events);
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                match kind.as_str() {
                    "message.created" if data["message"]["role"] == "user" => {
                        begun.insert(text(&data["message"]["conversationId"]), Instant::now());
                    }
                    "assistant.toolCall.updated" if data["approval"].is_object() => {
                        let call = (user, data);
                        confirm.0.lock().as_ref().unwrap().send(call).unwrap();
                    }
                    // A call that its server's queue takes back has not started. Why it waits may
                    // be said several times.
                    "assistant.toolCall.updated" if data["status"] == "queued" => {
                        let call = text(&data["messageId"]);
                        let taken_back = running.remove(&call);
                        *started.entry(call).or_default() -= i64::from(taken_back);
                    }
                    "assistant.toolCall.updated" if data["status"] == "invoking" => {
                        let call = text(&data["messageId"]);
                        running.insert(call.clone());
                        *started.entry(call).or_default() += 1;
                    }
                    "run.finished" => {
                        assert_eq!(data["reason"], "done", "{data}");
                        let id = text(&data["conversationId"]);
                        waits.push(begun[&id].elapsed());
                        assert!(ended.insert(id), "ended twice: {data}");
                    }
                    _ => {}
                }
            }
            // No more calls come: the clients may go.
            drop(confirm.0.lock().take());
        });
        assert_eq!(begun.len(), self.conversations, "conversations were lost");
        assert_eq!(started.len(), self.conversations, "calls were lost");
        assert!(
            started.values().all(|times| *times == 1),
            "calls were doubled"
        );
        for (id, (user, replica)) in &*owners.lock() {
            let path = format!("/api/conversations/{id}/messages");
            let page = self.door(*user, *replica).done("GET", &path, None);
            let messages = page["items"].as_array().unwrap();
            assert_eq!(messages.len(), 2);
            let calls = messages[1]["toolCalls"].as_array().unwrap();
            assert!(calls.len() == 1 && calls[0]["status"] == "done", "{page}");
        }
        waits.sort();
        waits
    }

    /// A client: begins conversations as long as there are any, and then answers what they ask.
    fn client(
        &self,
        begin: &Mutex<Range<usize>>,
        confirm: &Mutex<mpsc::Receiver<Call>>,
        owners: &Mutex<BTreeMap<String, (usize, usize)>>,
    ) {
        loop {
            let Some(number) = begin.lock().next() else {
                break;
            };
            let (user, replica) = (number % self.users(), number / self.users());
            let door = self.door(user, replica);
            let talk = door.done("POST", "/api/conversations", Some(&json!({})));
            let id = talk["id"].as_str().unwrap();
            owners.lock().insert(id.to_owned(), (user, replica));
            let path = format!("/api/conversations/{id}/messages");
            let said = json!({"content": "write a note"});
            self.door(user, replica + 1)
                .done("POST", &path, Some(&said));
        }
        for replica in 0.. {
            let next = confirm.lock().recv();
            let Ok((user, call)) = next else { return };
            approve(self.door(user, replica), &call);
        }
    }

    fn calls(&self) -> Shared {
        let (send, receive) = mpsc::sync_channel(self.conversations);
        (Mutex::new(Some(send)), Mutex::new(receive))
    }
}

/// A call that waits for its user.
type Call = (usize, Value);

/// A channel whose ends are shared.
type Shared = (
    Mutex<Option<mpsc::SyncSender<Call>>>,
    Mutex<mpsc::Receiver<Call>>,
);

fn approve(door: &Door, call: &Value) {
    let path = format!(
        "/api/messages/{}/tool-confirm",
        call["messageId"].as_str().unwrap()
    );
    let body = json!({
        "position": call["position"],
        "decision": "approve",
        "digest": call["approval"]["digest"],
    });
    // Twice, as two tabs would: one counts.
    let statuses = [0, 1].map(|_| door.ask("POST", &path, Some(&body)).0);
    assert_eq!(statuses, [200, 409]);
}
