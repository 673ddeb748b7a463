//! A manager's servers as a toolbox.

use agent_loop::testing::ScriptedModel;
use agent_loop::{Agent, ManagedTools, Run, RunEvent, Status};
use async_trait::async_trait;
use mcp_client::HostError;
use mcp_jsonrpc::RawMap;
use mcp_jsonrpc::model::ElicitResult;
use mcp_manager::{
    Elicitation, ElicitationHandler, Manager, RemoteEndpoint, RemoteKind, ServerConfig, Wait,
};
use mcp_testkit::{Ask, Era, Running, Script, Server, Step, Tool};
use serde_json::json;

use crate::kit::{auto, drive, ends, last_words, results};

/// A user who is away.
struct Away;

#[async_trait]
impl ElicitationHandler for Away {
    async fn elicit(&self, _: Elicitation) -> Result<ElicitResult, HostError> {
        Err(HostError::Later)
    }
}

async fn server() -> Running {
    let text = |text: String| json!({"content": [{"type": "text", "text": text}]});
    let form = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let echo = Tool::new("echo")
        .taking("Says it again.", json!({"text": {"type": "string"}}))
        .with_step(Step::Progress {
            progress: 1.0,
            total: Some(2.0),
            message: None,
        })
        .answering(move |called| text(called.arguments["text"].to_string()));
    let greet = Tool::new("greet")
        .with_step(Step::Ask(Ask::form("who", "Who are you?", form)))
        .answering(move |called| text(called.answer("who")["content"]["name"].to_string()));
    let fail = Tool::new("fail").answering(
        |_| json!({"content": [{"type": "text", "text": "It broke."}], "isError": true}),
    );
    let script = Script::minimal().only(Era::Modern);
    let script = script.with_tool(echo).with_tool(greet).with_tool(fail);
    Server::new(script).start_http().await.unwrap()
}

async fn manager(server: &Running) -> Manager {
    let manager = Manager::builder().elicitation(Away).build();
    let endpoint = RemoteEndpoint::new(server.url()).with_kind(RemoteKind::StreamableHttp);
    let config = ServerConfig::remote("kit".parse().unwrap(), endpoint).trusted();
    let startup = manager.connect_all([config], Wait::All).await;
    assert!(startup.errors.is_empty(), "{:?}", startup.errors);
    manager
}

#[tokio::test]
async fn a_managers_tools_are_called_with_progress_and_trace() {
    let server = server().await;
    let manager = manager(&server).await;
    let model = ScriptedModel::new()
        .calls([
            ("mcp__kit__echo", json!({"text": "hello"})),
            ("mcp__kit__fail", json!({})),
        ])
        .says("Done.");
    let agent = Agent::new(model.clone()).tools(ManagedTools::new(manager.clone()));
    let mut run = auto("Go");
    let events = drive(&agent, &mut run).await;
    assert_eq!(results(&run), ["\"hello\"", "It broke."]);
    assert_eq!(ends(&run), [Status::Done, Status::Error]);
    assert!(
        events
            .iter()
            .any(|event| matches!(event, RunEvent::Progress { .. }))
    );
    let calls = server.log().of_method("tools/call");
    let parent = calls[0]["params"]["_meta"]["traceparent"].as_str().unwrap();
    assert_eq!(parent.len(), 55, "{parent}");
    let described = &model.requests()[0].tools;
    assert!(described.names().any(|name| name == "mcp__kit__greet"));
    manager.shutdown().await;
    server.shutdown().await;
}

#[tokio::test]
async fn servers_get_the_trace_of_whatever_exports_spans() {
    const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let server = server().await;
    let manager = manager(&server).await;
    let model = ScriptedModel::new()
        .calls([("mcp__kit__echo", json!({"text": "hello"}))])
        .says("Done.");
    let agent = Agent::new(model)
        .tools(ManagedTools::new(manager.clone()))
        .with_trace_context(|| Some(TRACE.to_owned()));
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    let calls = server.log().of_method("tools/call");
    assert_eq!(calls[0]["params"]["_meta"]["traceparent"], TRACE);
    manager.shutdown().await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_servers_question_is_parked_stored_and_answered_later() {
    let server = server().await;
    let first = manager(&server).await;
    let script = ScriptedModel::new()
        .calls([("mcp__kit__greet", json!({}))])
        .says("Done.");
    let agent = Agent::new(script.clone()).tools(ManagedTools::new(first.clone()));
    let mut run = auto("Go");
    let events = drive(&agent, &mut run).await;
    let asked = events.iter().find_map(|event| match event {
        RunEvent::Elicitation { number, parked } => Some((*number, parked.open().len())),
        _ => None,
    });
    assert_eq!(asked, Some((1.into(), 1)), "{events:?}");
    let stored = serde_json::to_string(&run).unwrap();
    first.shutdown().await;

    // Days later, in another process.
    let second = manager(&server).await;
    let agent = Agent::new(script).tools(ManagedTools::new(second.clone()));
    let mut run: Run = serde_json::from_str(&stored).unwrap();
    let mut answers = RawMap::new();
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    answers.set("who", &answer).unwrap();
    run.supply(1.into(), answers).unwrap();
    drive(&agent, &mut run).await;
    assert_eq!(results(&run), ["\"Ada\""]);
    assert_eq!(last_words(&run), "Done.");
    second.shutdown().await;
    server.shutdown().await;
}
