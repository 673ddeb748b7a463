//! What servers ask of the user.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mcp_client::{Host, HostCapabilities, HostError, ServerRequest};
use mcp_jsonrpc::model::{ElicitResult, Root};
use mcp_manager::{
    Elicitation, ElicitationHandler, Manager, ManagerBuilder, ManagerEvent, ManagerLimits,
    NoopElicitation, Wait,
};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::fake::{Fakes, remote};

/// A user who takes a second for each question.
#[derive(Clone, Default)]
struct User {
    asked: Arc<Mutex<Vec<String>>>,
    at_once: Arc<AtomicUsize>,
}

#[async_trait]
impl ElicitationHandler for User {
    async fn elicit(&self, elicitation: Elicitation) -> Result<ElicitResult, HostError> {
        assert_eq!(
            self.at_once.fetch_add(1, Ordering::SeqCst),
            0,
            "one question at a time"
        );
        self.asked.lock().push(elicitation.to_string());
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        Ok(ElicitResult::accept(
            json!({"city": "Oslo"}).as_object().unwrap().clone(),
        ))
    }
}

fn form(field: &str) -> Value {
    let properties = json!({field: {"type": "string"}});
    json!({"message": "Where to?", "requestedSchema": {"type": "object", "properties": properties}})
}

async fn manager(fakes: &Fakes, builder: ManagerBuilder, servers: &[&str]) -> Manager {
    let manager = builder.connector(fakes.clone()).build();
    let startup = manager
        .connect_all(servers.iter().map(|name| remote(name)), Wait::All)
        .await;
    assert_eq!(startup.connected.len(), servers.len());
    manager
}

/// Waits for that number of answers, by their ids.
async fn answers(fakes: &Fakes, count: usize) -> Vec<Value> {
    while fakes.answers.lock().len() < count {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut answers = fakes.answers.lock().clone();
    answers.sort_by_key(|answer| answer["id"].to_string());
    answers
}

#[tokio::test(start_paused = true)]
async fn questions_of_several_servers_queue_up_and_name_their_server() {
    let fakes = Fakes::default();
    let (a, b) = (fakes.add("a", &[]), fakes.add("b", &[]));
    let user = User::default();
    let _manager = manager(
        &fakes,
        Manager::builder().elicitation(user.clone()),
        &["a", "b"],
    )
    .await;
    a.ask("1", "elicitation/create", form("city"));
    tokio::time::sleep(Duration::from_millis(1)).await;
    b.ask("2", "elicitation/create", form("city"));
    for answer in answers(&fakes, 2).await {
        assert_eq!(
            answer["result"],
            json!({"action": "accept", "content": {"city": "Oslo"}})
        );
    }
    assert_eq!(
        *user.asked.lock(),
        ["server 'a' asks: Where to?", "server 'b' asks: Where to?"]
    );
}

#[tokio::test(start_paused = true)]
async fn without_a_user_everything_is_cancelled() {
    let fakes = Fakes::default();
    let a = fakes.add("a", &[]);
    let _manager = manager(
        &fakes,
        Manager::builder().elicitation(NoopElicitation),
        &["a"],
    )
    .await;
    a.ask("1", "elicitation/create", form("city"));
    assert_eq!(
        answers(&fakes, 1).await[0]["result"],
        json!({"action": "cancel"})
    );
}

#[tokio::test(start_paused = true)]
async fn secrets_are_never_asked_in_a_form() {
    let fakes = Fakes::default();
    let a = fakes.add("a", &[]);
    let user = User::default();
    let manager = manager(&fakes, Manager::builder().elicitation(user.clone()), &["a"]).await;
    let mut events = manager.events();
    a.ask("1", "elicitation/create", form("githubToken"));
    assert_eq!(
        answers(&fakes, 1).await[0]["result"],
        json!({"action": "decline"})
    );
    assert!(user.asked.lock().is_empty());
    let refused = loop {
        let event = events.next().await.unwrap();
        if let ManagerEvent::SecretRefused { .. } = event {
            break event;
        }
    };
    assert_eq!(
        refused.data(),
        json!({"server": "a", "fields": ["githubToken"]})
    );
}

#[tokio::test(start_paused = true)]
async fn one_server_cannot_fill_the_queue() {
    let fakes = Fakes::default();
    let (a, b) = (fakes.add("a", &[]), fakes.add("b", &[]));
    let user = User::default();
    let limits = ManagerLimits::default().with_questions_per_server(2);
    let builder = Manager::builder().elicitation(user.clone()).limits(limits);
    let _manager = manager(&fakes, builder, &["a", "b"]).await;
    for id in 1..=5 {
        a.ask(&id.to_string(), "elicitation/create", form("city"));
    }
    tokio::time::sleep(Duration::from_millis(1)).await;
    b.ask("6", "elicitation/create", form("city"));
    let answers = answers(&fakes, 6).await;
    let actions: Vec<_> = answers
        .iter()
        .map(|answer| answer["result"]["action"].clone())
        .collect();
    let cancelled = actions.iter().filter(|action| **action == "cancel").count();
    assert_eq!((cancelled, actions[5].clone()), (3, json!("accept")));
}

/// A host with one root.
struct Home;

#[async_trait]
impl Host for Home {
    async fn list_roots(&self, question: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
        Ok(vec![Root::new(format!("file:///home/{}", question.server))])
    }
}

#[tokio::test(start_paused = true)]
async fn roots_and_samples_are_the_hosts_and_only_what_it_can_is_offered() {
    let fakes = Fakes::default();
    let a = fakes.add("a", &[]);
    let can = HostCapabilities::default().with_roots();
    let builder = Manager::builder()
        .elicitation(NoopElicitation)
        .host(Home, can);
    let _manager = manager(&fakes, builder, &["a"]).await;
    a.ask("1", "roots/list", json!({}));
    a.ask("2", "elicitation/create", form("city"));
    let sample = json!({"messages": [], "maxTokens": 1});
    a.ask("3", "sampling/createMessage", sample);
    let answers = answers(&fakes, 3).await;
    assert_eq!(
        answers[0]["result"],
        json!({"roots": [{"uri": "file:///home/a"}]})
    );
    assert_eq!(answers[1]["result"], json!({"action": "cancel"}));
    assert!(
        answers[2]["error"].is_object(),
        "no one samples here: {}",
        answers[2]
    );
}
