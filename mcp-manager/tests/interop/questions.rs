//! A real server on stdio asks two conversations: each its own, one after the other.

use std::time::Duration;

use async_trait::async_trait;
use mcp_client::{Caller, HostError};
use mcp_jsonrpc::model::ElicitResult;
use mcp_manager::{
    CallOptions, Elicitation, ElicitationHandler, Manager, QueueReason, Queued, ServerConfig, Wait,
    flatten,
};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use crate::installed::node;

/// A question's conversation, and where its answer goes.
type Asked = (String, oneshot::Sender<ElicitResult>);

/// Hands on what is asked.
struct User(mpsc::Sender<Asked>);

#[async_trait]
impl ElicitationHandler for User {
    async fn elicit(&self, elicitation: Elicitation) -> Result<ElicitResult, HostError> {
        let (answer, wait) = oneshot::channel();
        let conversation = elicitation.calls[0].conversation.clone();
        self.0.send((conversation, answer)).await.unwrap();
        Ok(wait.await.unwrap_or_else(|_| ElicitResult::cancel()))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_asks_each_conversation_its_own_question() {
    let (ask, mut asked) = mpsc::channel(4);
    let manager = Manager::builder().elicitation(User(ask)).build();
    let endpoint = node("server-everything").with_args(["stdio"]);
    let config = ServerConfig::stdio("everything".parse().unwrap(), endpoint)
        .with_connect_timeout(Duration::from_secs(120));
    let startup = manager.connect_all([config], Wait::All).await;
    assert!(startup.errors.is_empty(), "{:?}", startup.errors);
    let (note, mut reported) = mpsc::unbounded_channel::<Option<Queued>>();
    let call = |conversation: &str| {
        let (manager, note) = (manager.clone(), note.clone());
        let options = CallOptions::default()
            .with_caller(Caller::new(conversation, "1"))
            .with_queued(move |queued| drop(note.send(queued.cloned())));
        tokio::spawn(async move {
            let tool = "trigger-elicitation-request";
            let call = manager.call_tool_with("everything", tool, json!({}), options);
            flatten(&call.await.unwrap().content)
        })
    };
    let first = call("x");
    let (conversation, answer) = asked.recv().await.unwrap();
    assert_eq!(conversation, "x");
    let second = call("y");
    let queued = reported.recv().await.unwrap();
    let reason = Queued::new("everything", QueueReason::Answer, Some("x".to_owned()));
    assert_eq!(queued, Some(reason));
    answer.send(ElicitResult::decline()).unwrap();
    assert!(first.await.unwrap().contains("declined"));
    let (conversation, answer) = asked.recv().await.unwrap();
    assert_eq!(conversation, "y");
    answer.send(ElicitResult::cancel()).unwrap();
    assert!(second.await.unwrap().contains("cancel"));
    manager.shutdown().await;
}
