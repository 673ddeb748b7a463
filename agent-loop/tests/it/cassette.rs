//! Whole runs on a cassette.

use agent_loop::testing::{Cassette, ScriptedModel, ScriptedTools};
use agent_loop::{Agent, Outcome, Reason};
use provider_adapters::Cache;
use serde_json::json;

use crate::kit::{auto, drive, results, tool};

#[tokio::test(start_paused = true)]
async fn a_run_is_recorded_and_played_back_without_model_and_tools() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let record = Cassette::record(&file).unwrap();
    let model = ScriptedModel::new()
        .calls([("one", json!({"n": 1})), ("one", json!({"n": 2}))])
        .says("Done.");
    let tools = ScriptedTools::new().with_answer(tool("s", "one"), |call| {
        Outcome::text(format!("for {}", call.arguments))
    });
    let agent = Agent::new(record.model(model))
        .tools(record.tools(tools))
        .with_cache(Cache::Off);
    let mut run = auto("Go");
    let events = drive(&agent, &mut run).await;
    drop(agent);

    let play = || {
        let cassette = Cassette::play(&file).unwrap();
        let model = cassette.model(ScriptedModel::new());
        // A cache key would be the first difference.
        Agent::new(model)
            .tools(cassette.tools(ScriptedTools::new()))
            .with_cache(Cache::Off)
    };
    let mut again = auto("Go");
    assert_eq!(drive(&play(), &mut again).await, events);
    assert_eq!(again.conversation(), run.conversation());
    assert_eq!(results(&again), [r#"for {"n":1}"#, r#"for {"n":2}"#]);

    let mut other = auto("Stop");
    drive(&play(), &mut other).await;
    let Some(Reason::Failed { message }) = other.reason() else {
        panic!("{:?}", other.reason());
    };
    assert!(
        message.contains("\"Go") && message.contains("Stop"),
        "{message}"
    );
}

#[test]
fn a_file_that_is_no_cassette_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    std::fs::write(&file, "{\"listed\":[]}\nnonsense\n").unwrap();
    let error = Cassette::play(&file).unwrap_err();
    assert_eq!(error.to_string(), "line 2 of the cassette is invalid");
}
