//! All layers over the transport in memory: a stored conversation, the loop, a manager, a server.

use std::sync::Arc;

use agent_loop::testing::ScriptedModel;
use agent_loop::{Agent, ManagedTools, Mode, Policy, RunEvent, RunLimits};
use async_trait::async_trait;
use mcp_client::ClientBuilder;
use mcp_manager::{Connector, Manager, ServerCommand, ServerConfig, Wait};
use mcp_transport::memory::{self, MemoryConnect, MemoryTransport};
use mcp_transport::{BoxError, Incoming, Outgoing, Transport as _};
use serde_json::{Value, json};
use switchboard::conversation::{DurableConversation, Model};
use switchboard::store::{
    CallStatus, Conversation, Limits as StoreLimits, Span, SqliteStore, Store, UserId,
};

/// Reaches the one server there is.
#[derive(Debug)]
struct InMemory(MemoryConnect);

#[async_trait]
impl Connector for InMemory {
    fn builder(&self, _: &ServerConfig) -> Result<ClientBuilder, BoxError> {
        Ok(ClientBuilder::new(Arc::new(self.0.clone())))
    }
}

/// A server with one tool, which says what time it is.
async fn serve(end: MemoryTransport) {
    while let Incoming::Message { body, .. } = end.recv().await {
        let message: Value = serde_json::from_slice(&body).unwrap();
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "clock", "version": "1"},
            }),
            "tools/list" => json!({
                "tools": [{"name": "time", "inputSchema": {"type": "object"}}],
            }),
            "tools/call" => json!({"content": [{"type": "text", "text": "noon"}]}),
            _ => continue,
        };
        let reply = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        let reply = Outgoing::notification("reply", reply.to_string().into_bytes());
        if end.send(reply).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn a_conversation_calls_a_server_in_memory_and_is_stored() {
    let (connect, mut listener) = memory::listen();
    tokio::spawn(async move {
        while let Some(end) = listener.accept().await {
            tokio::spawn(serve(end));
        }
    });
    let manager = Manager::builder().connector(InMemory(connect)).build();
    let config = ServerConfig::stdio("clock".parse().unwrap(), ServerCommand::new("in memory"));
    let startup = manager.connect_all([config], Wait::All).await;
    assert!(startup.errors.is_empty(), "{:?}", startup.errors);

    let store = SqliteStore::in_memory(StoreLimits::default())
        .await
        .unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    let conversation = Conversation::new(UserId::local(), "");
    let id = conversation.id.clone();
    let mut talk = DurableConversation::begin(Arc::clone(&store), conversation, None);
    talk.govern(Policy::new(Mode::Auto), RunLimits::default());
    talk.ask("What time is it?").await.unwrap();
    let model = ScriptedModel::new()
        .calls([("mcp__clock__time", json!({}))])
        .says("It is noon.");
    let agent = Agent::new(model)
        .with_model_name("scripted")
        .tools(ManagedTools::new(manager.clone()));
    let model = Model {
        name: "scripted",
        servers: &[],
    };
    let mut turn = talk.turn(&agent, model);
    while let Some(event) = turn.next().await.unwrap() {
        if matches!(event, RunEvent::Done { .. }) {
            break;
        }
    }
    drop(turn);
    let messages = store.messages(&id, Span::Last(9)).await.unwrap();
    let calls: Vec<_> = messages
        .iter()
        .flat_map(|message| &message.tool_calls)
        .collect();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].status, CallStatus::Done);
    assert!(format!("{:?}", calls[0]).contains("noon"));
    manager.shutdown().await;
}
