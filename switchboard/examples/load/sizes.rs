//! A very long conversation, and a long reply in small pieces.

use std::path::Path;
use std::time::Instant;

use serde_json::json;
use switchboard::store::{
    Change, Conversation, Limits, Message, Role, SqliteStore, Store as _, UserId,
};

use crate::model::{REPLY_BYTES, REPLY_DELTAS, long_model};
use crate::server::Server;

/// How many messages the long conversation has.
const MESSAGES: u64 = 10_000;

impl Server {
    /// What a long reply in many pieces writes to the store.
    pub(super) fn long_reply(&self) {
        let endpoint = json!({ "endpoints.long.base_url": long_model() });
        self.door().done("PUT", "/api/settings", Some(&endpoint));
        let events = self.door().events();
        let model = json!({"model": "long/text"});
        let talk = self.door().done("POST", "/api/conversations", Some(&model));
        let path = format!(
            "/api/conversations/{}/messages",
            talk["id"].as_str().unwrap()
        );
        let (began, cpu, written) = (Instant::now(), self.cpu(), self.written());
        self.door()
            .done("POST", &path, Some(&json!({"content": "go"})));
        let mut deltas = 0;
        loop {
            let (kind, data) = events.next();
            match kind.as_str() {
                "message.delta" => deltas += 1,
                "run.finished" => {
                    assert_eq!(data["reason"], "done", "{data}");
                    break;
                }
                _ => {}
            }
        }
        let page = self.door().done("GET", &path, None);
        assert_eq!(
            page["items"][1]["content"].as_str().unwrap().len(),
            REPLY_BYTES
        );
        println!(
            "a reply of {REPLY_BYTES} bytes in {REPLY_DELTAS} deltas: {} bytes written to the \
             store, {deltas} events, {:.2} s of CPU in {:.2?}",
            self.written() - written,
            self.cpu() - cpu,
            began.elapsed()
        );
    }

    /// A conversation of very many messages, read page by page.
    pub(super) fn long_conversation(&self, home: &Path) {
        let talk = Conversation::new(UserId::local(), "long");
        let id = talk.id.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let file = home.join("switchboard.db");
            let store = SqliteStore::open(file, Limits::default()).await.unwrap();
            let mut changes = vec![Change::PutConversation(talk)];
            for seq in 1..=MESSAGES {
                let role = if seq % 2 == 1 {
                    Role::User
                } else {
                    Role::Assistant
                };
                let mut message = Message::new(id.clone(), seq, role);
                message.content = format!("Message {seq}. {}", "Some words. ".repeat(20));
                changes.push(Change::PutMessage(Box::new(message)));
            }
            store.commit(changes).await.unwrap();
            store.close().await.unwrap();
        });
        let (mut before, mut times, mut read) = (String::new(), Vec::new(), 0);
        loop {
            let path = format!("/api/conversations/{id}/messages?limit=50{before}");
            let began = Instant::now();
            let page = self.door().done("GET", &path, None);
            times.push(began.elapsed());
            read += page["items"].as_array().unwrap().len();
            match page["next"].as_u64() {
                Some(next) => before = format!("&before={next}"),
                None => break,
            }
        }
        assert_eq!(read as u64, MESSAGES);
        let opened = times[0];
        times.sort();
        println!(
            "{MESSAGES} messages: opened in {opened:.2?}; {} pages of 50, median {:.2?}, slowest \
             {:.2?}; memory {} KiB",
            times.len(),
            times[times.len() / 2],
            times[times.len() - 1],
            self.memory()
        );
    }
}
