//! What users do: they say something, answer the question, and wait for the outcome, each time at
//! another replica.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::Random;
use crate::replica::Replica;

/// How long a user waits for an outcome before that counts as none.
const OUTCOME_TIMEOUT: Duration = Duration::from_secs(180);
const LOOK: Duration = Duration::from_millis(100);
/// How long a user waits before another call, when the calls are ahead of the disturbances.
const PACE: Duration = Duration::from_secs(1);
/// How long events are read at one replica.
const LAP: Duration = Duration::from_secs(3);
/// How many calls a conversation has.
const TURNS: usize = 5;

/// What is done, and what came of it.
pub(crate) struct Workload<'a> {
    pub(crate) replicas: &'a [Replica],
    pub(crate) calls: usize,
    pub(crate) begun: AtomicUsize,
    /// How each call ended, by its id.
    pub(crate) outcomes: Mutex<BTreeMap<String, String>>,
    pub(crate) conversations: Mutex<Vec<String>>,
    /// Answers that counted.
    pub(crate) answered: AtomicU64,
    pub(crate) ended: AtomicBool,
    /// How many disturbances there were, and how many there will be.
    pub(crate) disturbed: AtomicUsize,
    pub(crate) disturbances: usize,
}

impl Workload<'_> {
    /// Asks replicas at random until one answers with something final.
    fn ask(
        &self,
        random: &mut Random,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> (u16, Value) {
        let until = Instant::now() + OUTCOME_TIMEOUT;
        loop {
            let replica = &self.replicas[random.below(self.replicas.len())];
            match replica.ask(method, path, body) {
                Some((status, value)) if status < 500 && status != 429 => return (status, value),
                _ => std::thread::sleep(LOOK),
            }
            assert!(Instant::now() < until, "no answer to {method} {path}");
        }
    }

    /// One user among several.
    pub(crate) fn user(&self, seed: u64) {
        let mut random = Random::new(seed);
        let mut conversation = String::new();
        loop {
            let disturbed = self.disturbed.load(Ordering::Relaxed);
            let number = self.begun.load(Ordering::Relaxed);
            if number >= self.calls && disturbed >= self.disturbances {
                return;
            }
            // Calls go on for as long as the replicas are disturbed, and do not run ahead of that.
            if number * self.disturbances > self.calls * (disturbed + 1) {
                std::thread::sleep(PACE);
            }
            let number = self.begun.fetch_add(1, Ordering::Relaxed);
            if number.is_multiple_of(TURNS) || conversation.is_empty() {
                let path = "/api/conversations";
                let (status, talk) = self.ask(&mut random, "POST", path, Some(&json!({})));
                assert_eq!(status, 201, "{talk}");
                conversation = talk["id"].as_str().unwrap().to_owned();
                self.conversations.lock().push(conversation.clone());
            }
            self.call(&mut random, &conversation, number);
        }
    }

    /// Has a call made, and waits for its outcome. A reply that breaks off before there is a call
    /// is asked for again, under another id.
    fn call(&self, random: &mut Random, conversation: &str, number: usize) {
        for attempt in 0..20 {
            let id = format!("call-{number}-{attempt}");
            let answer = self.say(random, conversation, &format!("record \"{id}\""));
            let until = Instant::now() + OUTCOME_TIMEOUT;
            let mut asked = None;
            loop {
                assert!(
                    Instant::now() < until,
                    "{id} has no outcome in {conversation}"
                );
                let message = self.message(random, conversation, &answer);
                let call = &message["toolCalls"][0];
                if message["finish"].is_string() {
                    if call.is_object() {
                        let status = call["status"].as_str().unwrap().to_owned();
                        self.outcomes.lock().insert(id, status);
                        return;
                    }
                    break;
                }
                let digest = &call["approval"]["digest"];
                if digest.is_string() && asked.as_ref() != Some(digest) {
                    asked = Some(digest.clone());
                    self.confirm(random, &answer, call);
                } else {
                    std::thread::sleep(LOOK);
                }
            }
        }
        panic!("call {number} was never made in {conversation}");
    }

    /// Says something once, whatever happens to the request. Returns the id of the answer.
    fn say(&self, random: &mut Random, conversation: &str, text: &str) -> String {
        let path = format!("/api/conversations/{conversation}/messages");
        let until = Instant::now() + OUTCOME_TIMEOUT;
        loop {
            assert!(
                Instant::now() < until,
                "cannot say {text} in {conversation}"
            );
            let replica = &self.replicas[random.below(self.replicas.len())];
            let said = replica.ask("POST", &path, Some(&json!({ "content": text })));
            if let Some((202, said)) = &said {
                return said["assistantMessage"]["id"].as_str().unwrap().to_owned();
            }
            // It may have been said, but the reply was lost.
            let (_, page) = self.ask(random, "GET", &path, None);
            let messages = page["items"].as_array().cloned().unwrap_or_default();
            if let [.., user, answer] = messages.as_slice()
                && user["content"] == text
            {
                return answer["id"].as_str().unwrap().to_owned();
            }
            std::thread::sleep(LOOK);
        }
    }

    fn message(&self, random: &mut Random, conversation: &str, id: &str) -> Value {
        let path = format!("/api/conversations/{conversation}/messages?limit=4");
        let (_, page) = self.ask(random, "GET", &path, None);
        let messages = page["items"].as_array().cloned().unwrap_or_default();
        let mut found = messages.into_iter().filter(|message| message["id"] == id);
        found.next().unwrap_or(Value::Null)
    }

    fn confirm(&self, random: &mut Random, message: &str, call: &Value) {
        let path = format!("/api/messages/{message}/tool-confirm");
        let body = json!({
            "position": call["position"],
            "decision": "approve",
            "digest": call["approval"]["digest"],
        });
        let until = Instant::now() + OUTCOME_TIMEOUT;
        loop {
            let (status, reply) = self.ask(random, "POST", &path, Some(&body));
            match (status, reply["error"]["code"].as_str()) {
                (200, _) => {
                    self.answered.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                // The reply to the first try was lost.
                (409, Some("already_answered")) => return,
                _ => {}
            }
            assert!(
                Instant::now() < until,
                "{message} cannot be answered: {status} {reply}"
            );
            std::thread::sleep(LOOK);
        }
    }

    /// Reads all events, at one replica after the other, each time from the last number on.
    /// Returns the numbers.
    pub(crate) fn read_events(&self, seed: u64) -> Vec<u64> {
        let mut random = Random::new(seed);
        let mut numbers: Vec<u64> = Vec::new();
        while !self.ended.load(Ordering::Relaxed) {
            let replica = &self.replicas[random.below(self.replicas.len())];
            let Some(mut lines) = replica.events(numbers.last().copied().unwrap_or(0)) else {
                std::thread::sleep(LOOK);
                continue;
            };
            let (mut line, until) = (String::new(), Instant::now() + LAP);
            while Instant::now() < until && lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                if let Some(number) = line.strip_prefix("id: ") {
                    numbers.push(number.trim().parse().unwrap());
                }
                line.clear();
            }
        }
        numbers
    }
}
