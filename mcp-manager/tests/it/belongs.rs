//! A question belongs to its call: whom it is asked, who is queued meanwhile, and how it ends.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_client::{Caller, HostError};
use mcp_jsonrpc::model::{CallToolResult, ElicitResult};
use mcp_manager::{
    CallOptions, Elicitation, ElicitationHandler, Manager, ManagerError, ManagerEvent, QueueReason,
    Queued, ServerConfig, Wait,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::fake::{Fake, Fakes, Manner, remote};

/// A user who answers on the test's signal.
#[derive(Clone, Default)]
struct User(Arc<Mutex<Vec<Asked>>>);

struct Asked {
    /// The conversation, and its calls.
    calls: Vec<Caller>,
    answer: Option<oneshot::Sender<ElicitResult>>,
}

#[async_trait]
impl ElicitationHandler for User {
    async fn elicit(&self, elicitation: Elicitation) -> Result<ElicitResult, HostError> {
        let (answer, wait) = oneshot::channel();
        let calls = elicitation.calls.iter().map(|caller| Caller::clone(caller));
        self.0.lock().push(Asked {
            calls: calls.collect(),
            answer: Some(answer),
        });
        Ok(wait.await.unwrap_or_else(|_| ElicitResult::cancel()))
    }
}

impl User {
    /// Who was asked so far: the conversation of each question, with its calls.
    fn asked(&self) -> Vec<Vec<Caller>> {
        self.0.lock().iter().map(|it| it.calls.clone()).collect()
    }

    fn answer(&self, which: usize) {
        let answer = self.0.lock()[which].answer.take().unwrap();
        answer.send(ElicitResult::decline()).unwrap();
    }

    /// Whether a question is still open.
    fn is_open(&self, which: usize) -> bool {
        let asked = self.0.lock();
        asked[which]
            .answer
            .as_ref()
            .is_some_and(|it| !it.is_closed())
    }
}

struct House {
    manager: Manager,
    fakes: Fakes,
    fake: Arc<Fake>,
    user: User,
}

/// What was reported about a call in the queue.
type Reported = Arc<Mutex<Vec<Option<Queued>>>>;

type Call = JoinHandle<Result<CallToolResult, ManagerError>>;

impl House {
    async fn with(config: ServerConfig) -> Self {
        let (fakes, user) = (Fakes::default(), User::default());
        let fake = fakes.add("a", &["work"]);
        fake.set_manner(Manner::Slowly(Duration::from_secs(10)));
        let builder = Manager::builder().connector(fakes.clone());
        let manager = builder.elicitation(user.clone()).build();
        let startup = manager.connect_all([config], Wait::All).await;
        assert!(startup.errors.is_empty());
        Self {
            manager,
            fakes,
            fake,
            user,
        }
    }

    async fn new() -> Self {
        Self::with(remote("a")).await
    }

    /// Makes a call of a conversation, and lets it get as far as it gets.
    async fn call(&self, conversation: &str, number: u32) -> (Call, Reported) {
        let reported = Reported::default();
        let (manager, note) = (self.manager.clone(), Arc::clone(&reported));
        let options = CallOptions::default()
            .with_caller(Caller::new(conversation, number.to_string()))
            .with_queued(move |queued| note.lock().push(queued.cloned()));
        let call = tokio::spawn(async move {
            let call = manager.call_tool_with("a", "work", json!({}), options);
            call.await
        });
        settle().await;
        (call, reported)
    }

    async fn ask(&self, id: &str) {
        let properties = json!({"city": {"type": "string"}});
        let schema = json!({"type": "object", "properties": properties});
        let form = json!({"message": "Where to?", "requestedSchema": schema});
        self.fake.ask(id, "elicitation/create", form);
        settle().await;
    }

    /// What the server was answered.
    fn answers(&self) -> Vec<(Value, Value)> {
        let answers = self.fakes.answers.lock();
        let action = |it: &Value| (it["id"].clone(), it["result"]["action"].clone());
        answers.iter().map(action).collect()
    }
}

async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

fn queued(reason: QueueReason, conversation: &str) -> Option<Queued> {
    Some(Queued::new("a", reason, Some(conversation.to_owned())))
}

#[tokio::test(start_paused = true)]
async fn a_question_is_asked_in_the_conversation_whose_call_is_open() {
    let house = House::new().await;
    let (call, _) = house.call("x", 7).await;
    house.ask("q").await;
    assert_eq!(house.user.asked(), [vec![Caller::new("x", "7")]]);
    house.user.answer(0);
    call.await.unwrap().unwrap();
    assert_eq!(house.answers(), [(json!("q"), json!("decline"))]);
}

/// A call that has to wait learns for which one, and why.
#[tokio::test(start_paused = true)]
async fn once_a_server_asks_other_conversations_are_queued_with_the_reason() {
    let house = House::new().await;
    let (first, _) = house.call("x", 1).await;
    house.ask("q").await;
    let (second, reported) = house.call("y", 1).await;
    assert_eq!(*reported.lock(), [queued(QueueReason::Answer, "x")]);
    assert_eq!(house.fake.seen("tools/call"), 1);
    house.user.answer(0);
    settle().await;
    let last = reported.lock().last().cloned().unwrap();
    assert_eq!(last, queued(QueueReason::Conversation, "x"));
    assert_eq!(
        last.unwrap().to_string(),
        "a asks questions, so it serves one conversation at a time; \
         it is now serving another conversation"
    );
    first.await.unwrap().unwrap();
    settle().await;
    assert_eq!(*reported.lock().last().unwrap(), None, "it is its turn");
    second.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn until_a_server_asks_conversations_do_not_wait_for_each_other() {
    let house = House::new().await;
    let (first, _) = house.call("x", 1).await;
    let (second, reported) = house.call("y", 1).await;
    assert_eq!(house.fake.seen("tools/call"), 2);
    assert!(reported.lock().is_empty());
    let (third, reported) = house.call("x", 2).await;
    assert_eq!(house.fake.seen("tools/call"), 2);
    let reason = reported.lock()[0].clone().unwrap();
    assert_eq!(
        (reason.reason, reason.conversation),
        (QueueReason::Turn, None)
    );
    for call in [first, second, third] {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_may_be_of_two_conversations_is_asked_in_none_and_declined() {
    let house = House::new().await;
    let mut events = house.manager.events();
    let (first, _) = house.call("x", 1).await;
    let (second, _) = house.call("y", 1).await;
    house.ask("q").await;
    assert!(house.user.asked().is_empty());
    assert_eq!(house.answers(), [(json!("q"), json!("decline"))]);
    let declined = loop {
        let event = events.next().await.unwrap();
        if let ManagerEvent::QuestionDeclined { .. } = event {
            break event;
        }
    };
    let data = json!({"server": "a", "conversations": ["x", "y"]});
    assert_eq!(declined.data(), data);
    let (third, reported) = house.call("z", 1).await;
    assert!(
        reported.lock()[0].is_some(),
        "from now on it serves one at a time"
    );
    for call in [first, second, third] {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_of_several_calls_of_one_conversation_names_them_all() {
    let house = House::with(remote("a").parallel()).await;
    let (first, _) = house.call("x", 1).await;
    let (second, _) = house.call("x", 2).await;
    house.ask("q").await;
    let both = vec![Caller::new("x", "1"), Caller::new("x", "2")];
    assert_eq!(house.user.asked(), [both]);
    first.abort();
    settle().await;
    assert!(house.user.is_open(0), "the other call may have caused it");
    second.abort();
    settle().await;
    assert!(!house.user.is_open(0));
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_when_its_call_is_cancelled_and_when_its_server_dies() {
    let house = House::new().await;
    let (call, _) = house.call("x", 1).await;
    house.ask("q").await;
    call.abort();
    settle().await;
    assert!(!house.user.is_open(0));
    assert_eq!(house.answers(), [(json!("q"), json!("cancel"))]);
    let (call, _) = house.call("x", 2).await;
    house.ask("r").await;
    assert!(house.user.is_open(1));
    house.fake.crash();
    assert!(call.await.unwrap().is_err());
    settle().await;
    assert!(!house.user.is_open(1));
}

#[tokio::test(start_paused = true)]
async fn questions_of_two_conversations_are_open_at_the_same_time() {
    let house = House::new().await;
    let other = house.fakes.add("b", &["work"]);
    other.set_manner(Manner::Slowly(Duration::from_secs(10)));
    house.manager.connect_one(remote("b")).await.unwrap();
    let (_first, _) = house.call("x", 1).await;
    house.ask("q").await;
    let manager = house.manager.clone();
    let options = CallOptions::default().with_caller(Caller::new("y", "1"));
    let _second = tokio::spawn(async move {
        let call = manager.call_tool_with("b", "work", json!({}), options);
        call.await
    });
    settle().await;
    let schema = json!({"type": "object", "properties": {}});
    let form = json!({"message": "And you?", "requestedSchema": schema});
    other.ask("r", "elicitation/create", form);
    settle().await;
    let asked: Vec<_> = house.user.asked().concat();
    assert_eq!(asked, [Caller::new("x", "1"), Caller::new("y", "1")]);
}
