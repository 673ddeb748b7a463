//! Tests of the crate.
#![allow(clippy::unwrap_used, reason = "tests")]

#[cfg(any(feature = "server", feature = "testing"))]
mod examples;

use switchboard_sdk::prelude::*;

#[cfg(feature = "http")]
#[tokio::test]
async fn the_prelude_is_enough_to_connect_list_and_call() {
    let server = mcp_testkit::Server::default().start_http().await.unwrap();
    let client = Client::http(&server.url())
        .unwrap()
        .connect()
        .await
        .unwrap();
    let tools = client.list_tools().await.unwrap().items;
    assert!(tools.iter().any(|tool| tool.name == "add"));
    let arguments = serde_json::json!({"a": 2, "b": 3});
    let result = client.call_tool("add", arguments).await.unwrap();
    assert!(matches!(&result.content[..], [ContentBlock::Text(text)] if text.text == "5"));
    client.close().await;
}

#[cfg(feature = "agent")]
#[tokio::test]
async fn a_shared_model_is_a_model() {
    use std::sync::Arc;

    use switchboard_sdk::agent::testing::ScriptedModel;

    let model: Arc<dyn Model> = Arc::new(ScriptedModel::new().says("Hello."));
    let boxed: Box<dyn Model> = Box::new(Arc::clone(&model));
    let agent = Agent::new(boxed).tools(LocalTools::new("local"));
    let mut run = Run::default();
    run.ask("Hi!");
    let reason = agent.finish(&mut run).await;
    assert_eq!(reason, Some(switchboard_sdk::agent::Reason::Finished));
}
