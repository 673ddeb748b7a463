//! Every demo tool through the real loop, on every wire.

use std::collections::BTreeMap;
use std::path::Path;

use agent_loop::{Mode, Policy, Reason, Run};
use provider_adapters::Wire;
use serde_json::{Value, json};
use switchboard::demo::{DemoScript, DemoStage};

use crate::program::path;

/// Every tool that answers, and what it is called with.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("add", json!({"a": 2, "b": 40.5})),
        ("echo", json!({"text": "héllo\n😀 <function_call>"})),
        ("write_note", json!({"text": "milk"})),
        ("slow", json!({"ms": 0})),
        ("fail", json!({"reason": "of a test"})),
        ("picture", json!({})),
        ("sound", json!({})),
        ("big", json!({"letters": 20_000})),
        ("ask_name", json!({})),
        ("grow", json!({})),
        (
            "odd",
            json!({"level": 2, "tree": {"label": null, "children": [{"label": "x"}]}, "$top": 5}),
        ),
        ("odd.names", json!({"user-id": "u", "größe": 1})),
    ]
}

#[tokio::test]
async fn every_demo_tool_answers_alike_on_every_wire() {
    let rule = |(tool, arguments): (&str, Value)| json!({"when": [format!("<{tool}>")], "call": [{"tool": tool, "arguments": arguments}]});
    let rules: Vec<Value> = calls().into_iter().map(rule).collect();
    let script = DemoScript::from_json(&json!({ "rules": rules }).to_string()).unwrap();
    let mut first: Option<BTreeMap<&str, Value>> = None;
    for wire in [
        Wire::OpenAiChat,
        Wire::OpenAiResponses,
        Wire::Anthropic,
        Wire::Gemini,
        Wire::Vertex,
        Wire::Prompt,
    ] {
        let stage = DemoStage::start(Path::new(path()), script.clone(), None)
            .await
            .unwrap();
        let agent = stage.agent(wire).unwrap();
        let mut results = BTreeMap::new();
        for (tool, _) in calls() {
            let mut run = Run::default().with_policy(Policy::new(Mode::Auto));
            run.ask(format!("Call [{tool}] <{tool}>"));
            assert_eq!(
                agent.finish(&mut run).await,
                Some(Reason::Finished),
                "{wire}: {tool}"
            );
            let records = run.records();
            assert_eq!(records.len(), 1, "{wire}: {tool}");
            assert_eq!(records[0].tool_name, tool, "{wire}");
            let response: Value = records[0].response.as_ref().unwrap().parse().unwrap();
            results.insert(tool, json!([response, records[0].is_error]));
        }
        stage.stop().await;
        assert_eq!(
            &results,
            first.get_or_insert_with(|| results.clone()),
            "{wire}"
        );
    }
}

/// The loop checks arguments against the tools' own schemas before it calls.
#[tokio::test]
async fn arguments_the_model_makes_up_fit_every_demo_tool() {
    let stage = DemoStage::start(Path::new(path()), DemoScript::default(), None)
        .await
        .unwrap();
    let agent = stage.agent(Wire::OpenAiChat).unwrap();
    for (tool, _) in calls() {
        let mut run = Run::default().with_policy(Policy::new(Mode::Auto));
        let name = tool.replace('.', "_");
        run.ask(format!("Please call {name}"));
        assert_eq!(
            agent.finish(&mut run).await,
            Some(Reason::Finished),
            "{tool}"
        );
        let records = run.records();
        assert_eq!(records[0].tool_name, tool);
        // This one fails by trade, and no one is here whom that one could ask.
        let fails = ["fail", "ask_name"].contains(&tool);
        assert_eq!(
            records[0].is_error,
            Some(fails),
            "{:?}",
            records[0].response_text()
        );
    }
    stage.stop().await;
}

/// Over the demo server, whose clock stands still.
#[tokio::test]
async fn the_get_time_dialogue_runs_through_the_loop() {
    let stage = DemoStage::start(
        Path::new(path()),
        DemoScript::default(),
        Some(1_684_800_000_000),
    )
    .await
    .unwrap();
    for wire in Wire::ALL {
        let agent = stage.agent(wire).unwrap();
        let mut run = Run::default().with_policy(Policy::new(Mode::AutoRead));
        run.ask("请告诉我昨天的日期是什么时候?");
        assert_eq!(
            agent.finish(&mut run).await,
            Some(Reason::Finished),
            "{wire}"
        );
        let records = run.records();
        assert_eq!(records[0].tool_name, "get_time", "{wire}");
        let arguments: Value = serde_json::from_str(records[0].arguments.text()).unwrap();
        assert_eq!(arguments, json!({"offset_ms": -86_400_000}), "{wire}");
        let conversation = serde_json::to_string(run.conversation()).unwrap();
        assert!(conversation.contains("5月22日"), "{wire}: {conversation}");
    }
    stage.stop().await;
}
