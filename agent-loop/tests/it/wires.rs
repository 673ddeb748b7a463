//! The same conversation over every wire: the same calls, the same history.

use agent_loop::testing::ScriptedTools;
use agent_loop::{Agent, Outcome, Run};
use provider_adapters::server::ScriptedReply;
use provider_adapters::{AssistantPart, Turn};
use serde_json::{Value, json};

use crate::accepted::accepted;
use crate::kit::{auto, drive, tool};
use crate::provider::{Provider, WIRES};

fn script() -> Vec<ScriptedReply> {
    vec![
        ScriptedReply::new()
            .with_text("Let me look.")
            .with_call("call_a", "read", r#"{"n":1}"#)
            .with_call("call_b", "read", r#"{"n":2}"#)
            .with_usage(10, 5),
        ScriptedReply::new()
            .with_call("call_c", "write", r#"{"n":"three"}"#)
            .with_usage(10, 5),
        ScriptedReply::new()
            .with_call("call_d", "write", r#"{"n":3}"#)
            .with_usage(10, 5),
        ScriptedReply::new().with_text("Done.").with_usage(10, 5),
    ]
}

fn tools() -> ScriptedTools {
    ScriptedTools::new()
        .with_answer(tool("files", "read").read_only(), |call| {
            Outcome::text(format!("read {}", call.arguments))
        })
        .with_answer(tool("files", "write"), |_| {
            Outcome::error("The disk is full.")
        })
}

/// A history without what only one provider knows: ids and its own words.
fn plain(run: &Run) -> Value {
    let part = |part: &AssistantPart| match part {
        AssistantPart::Text { text } => json!({"text": text.trim()}),
        AssistantPart::ToolCall(call) => json!({"call": call.name, "with": call.arguments.text()}),
        other => json!(format!("{other:?}")),
    };
    let turn = |turn: &Turn| match turn {
        Turn::Assistant(turn) => {
            let said: Vec<Value> = turn.parts().iter().map(part).collect();
            let results = turn.results().iter();
            let results: Vec<Value> = results
                .map(|result| {
                    let text = provider_adapters::flatten(&result.content);
                    json!({"result": text, "error": result.is_error})
                })
                .collect();
            json!([said, results])
        }
        other => serde_json::to_value(other).unwrap(),
    };
    run.conversation().turns().iter().map(turn).collect()
}

#[tokio::test]
async fn the_same_script_gives_the_same_calls_and_history_on_every_wire() {
    let mut histories = Vec::new();
    for wire in WIRES {
        let provider = Provider::start(script()).await;
        let tools = tools();
        let agent = Agent::new(provider.model(wire))
            .with_model_name("model")
            .tools(tools.clone());
        let mut run = auto("Read two, write one.");
        drive(&agent, &mut run).await;
        let calls: Vec<Value> = tools
            .calls()
            .iter()
            .map(|call| json!([call.tool, call.arguments.get()]))
            .collect();
        accepted(run.conversation()).unwrap();
        assert_eq!(provider.asked().len(), 4, "{wire}: {:?}", run.reason());
        let answered = provider.asked().last().unwrap().answers().len();
        assert_eq!(answered, 4, "{wire}: every call was answered to the model");
        histories.push((wire, json!({"calls": calls, "history": plain(&run)})));
    }
    let (_, first) = &histories[0];
    for (wire, history) in &histories {
        assert_eq!(history, first, "{wire}");
    }
    insta::assert_json_snapshot!(first);
}
