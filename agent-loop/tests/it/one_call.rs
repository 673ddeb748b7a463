//! A question in one call, and runs with an owner.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use agent_loop::testing::{ScriptedModel, ScriptedTools};
use agent_loop::{
    Agent, Answer, AskError, Decision, LimitKind, Outcome, Reason, Run, RunEvent, RunLimits, Status,
};
use futures_core::Stream as _;
use mcp_manager::ServerConfig;
use mcp_testkit::{Script, Server, Tool};
use parking_lot::Mutex;
use provider_adapters::server::ScriptedReply;
use provider_adapters::{ToolChoice, Wire};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Notify;

use crate::kit::{asking, ends, object, results, tool};
use crate::provider::{Provider, WIRES};

fn two_calls() -> ScriptedModel {
    ScriptedModel::new()
        .calls([("write", json!({"n": 1})), ("write", json!({"n": 2}))])
        .says("Done.")
}

fn writer() -> ScriptedTools {
    ScriptedTools::new().with_answer(tool("files", "write"), |call| {
        Outcome::text(format!("wrote {}", call.arguments))
    })
}

#[tokio::test]
async fn a_question_has_its_answer_in_one_call() {
    let model = ScriptedModel::new().says("Hello.").says("Still here.");
    let agent = Agent::new(model.clone()).with_instructions("Be brief.");
    let mut run = agent.ask("Hi!").await.unwrap();
    assert_eq!(run.text(), "Hello.");
    assert_eq!(model.requests()[0].conversation.system(), Some("Be brief."));
    assert_eq!(model.requests()[0].model, "scripted");
    run.ask("And now?");
    assert_eq!(run.text(), "");
    assert_eq!(agent.finish(&mut run).await, Some(Reason::Finished));
    assert_eq!(run.text(), "Still here.");
}

#[tokio::test]
async fn calls_that_need_approval_are_asked_for_one_at_a_time_and_in_order() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let agent = Agent::new(two_calls())
        .tools(writer())
        .on_approval(move |approval| {
            let seen = Arc::clone(&seen);
            async move {
                seen.lock().push(approval.record.number.get());
                tokio::task::yield_now().await;
                seen.lock().push(approval.record.number.get());
                match approval.record.number.get() {
                    1 => Answer::Once,
                    _ => Answer::Deny,
                }
            }
        });
    let run = agent.ask("Go").await.unwrap();
    assert_eq!(*asked.lock(), [1, 1, 2, 2]);
    assert_eq!(ends(&run), [Status::Done, Status::Denied]);
}

#[tokio::test]
async fn without_anyone_to_ask_the_error_names_the_call_and_keeps_the_run() {
    let agent = Agent::new(two_calls()).tools(writer());
    let error = agent.ask("Go").await.unwrap_err();
    assert!(
        error.to_string().contains("\"write\" needs approval"),
        "{error}"
    );
    let mut run = error.into_run().unwrap();
    let reason = agent.run_with(&mut run, async |_| Answer::Once).await;
    assert_eq!(reason, Some(Reason::Finished));
    assert_eq!(results(&run), [r#"wrote {"n":1}"#, r#"wrote {"n":2}"#]);
}

#[tokio::test]
async fn edited_arguments_that_do_not_fit_deny_the_call() {
    let agent = Agent::new(two_calls()).tools(writer());
    let mut run = asking("Go");
    let bad = object(&json!({"n": "one"}));
    let reason = agent
        .run_with(&mut run, async |_| {
            Decision::from(Answer::Once).with_arguments(bad.clone())
        })
        .await;
    assert_eq!(reason, Some(Reason::Finished));
    assert_eq!(ends(&run), [Status::Denied, Status::Denied]);
    assert!(
        results(&run)[0].contains("do not fit"),
        "{:?}",
        results(&run)
    );
}

#[tokio::test]
async fn a_run_that_stops_early_is_an_error_with_the_reason() {
    let limits = RunLimits::default().with_rounds(1);
    let agent = Agent::new(two_calls()).tools(writer()).with_limits(limits);
    let error = agent.ask("Go").await.unwrap_err();
    assert!(
        matches!(
            &error,
            AskError::Stopped(Reason::Limit(LimitKind::Rounds), _)
        ),
        "{error}"
    );
}

#[tokio::test]
async fn an_agents_servers_are_connected_when_they_are_needed_and_a_missing_one_is_an_error() {
    let hello = json!({"content": [{"type": "text", "text": "hello"}]});
    let say = Tool::new("say").answering(move |_| hello.clone());
    let server = Server::new(Script::minimal().with_tool(say))
        .start_http()
        .await
        .unwrap();
    let model = ScriptedModel::new()
        .calls([("mcp__kit__say", json!({}))])
        .says("Done.");
    let kit = ServerConfig::url("kit", server.url()).unwrap();
    let agent = Agent::new(model)
        .servers([kit.clone()])
        .on_approval(async |_| Answer::Once);
    let run = agent.ask("Go").await.unwrap();
    assert_eq!(results(&run), ["hello"]);
    agent.close().await;

    let gone = ServerConfig::url("gone", "http://127.0.0.1:1/").unwrap();
    let agent = Agent::new(ScriptedModel::new().says("Hi.")).servers([kit, gone]);
    let error = agent.ask("Go").await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("servers cannot be connected: gone: "),
        "{error}"
    );
    agent.close().await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_tool_choice_is_for_the_first_reply_and_a_hook_may_change_every_request() {
    let model = two_calls();
    let agent = Agent::new(model.clone())
        .tools(writer())
        .with_tool_choice(ToolChoice::Required)
        .on_approval(async |_| Answer::Once)
        .on_step(|next| next.model = format!("model-{}", next.round));
    agent.ask("Go").await.unwrap();
    let asked = model.requests();
    assert_eq!(asked[0].choice, ToolChoice::Required);
    assert_eq!(asked[1].choice, ToolChoice::Auto);
    let names: Vec<&str> = asked.iter().map(|request| request.model.as_str()).collect();
    assert_eq!(names, ["model-1", "model-2"]);
}

#[tokio::test]
async fn a_spawned_run_is_followed_answered_and_returned() {
    let agent = Agent::new(two_calls()).tools(writer());
    let mut spawned = agent.spawn(asking("Go"));
    let handle = spawned.handle();
    let mut asked = 0;
    while let Some(event) = spawned.next().await {
        if let RunEvent::Approval(approval) = event {
            asked += 1;
            handle
                .answer(&approval.consent(), Answer::Once)
                .await
                .unwrap();
        }
    }
    let run = spawned.finish().await.unwrap();
    assert_eq!((asked, run.text()), (2, "Done.".to_owned()));
}

#[tokio::test]
async fn a_session_is_a_stream_of_its_events() {
    let agent = Agent::new(two_calls()).tools(writer());
    let mut run = asking("Go");
    let session = agent.session(&mut run);
    let handle = session.handle();
    let mut stream = session.into_stream();
    let mut texts = Vec::new();
    while let Some(event) = poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)).await {
        match event {
            RunEvent::Approval(_) => handle.cancel(),
            RunEvent::Done { reason } => texts.push(reason.to_string()),
            _ => {}
        }
    }
    assert_eq!(texts, ["cancelled"]);
}

#[tokio::test]
async fn dropping_a_spawned_run_stops_it_and_its_handle_cancels_it() {
    let stopped = Arc::new(Notify::new());
    struct OnDrop(Arc<Notify>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let guard = Arc::clone(&stopped);
    let waits = move |_: agent_loop::Approval| {
        let guard = OnDrop(Arc::clone(&guard));
        async move {
            let _guard = guard;
            std::future::pending::<Answer>().await
        }
    };
    let agent = Agent::new(two_calls()).tools(writer()).on_approval(waits);
    let mut spawned = agent.spawn(asking("Go"));
    while !matches!(spawned.next().await, Some(RunEvent::Waiting { .. })) {}
    drop(spawned);
    stopped.notified().await;

    let spawned = Agent::new(ScriptedModel::new().hangs("Well")).spawn(asking("Go"));
    spawned.handle().cancel();
    let run = spawned.finish().await.unwrap();
    assert_eq!(run.reason(), Some(&Reason::Cancelled));
}

#[tokio::test]
async fn a_rebuilt_run_keeps_its_records_and_what_was_stored_can_be_read() {
    let long = "line\n".repeat(40_000);
    let tools = ScriptedTools::new().with(tool("files", "write"), [Outcome::text(long)]);
    let model = ScriptedModel::new()
        .calls([("write", json!({}))])
        .says("Done.")
        .says("Again.")
        .says("And again.");
    let agent = Agent::new(model.clone())
        .tools(tools)
        .on_approval(async |_| Answer::Once);
    let run = agent.ask("Go").await.unwrap();
    let records = run.records();
    let words = run.conversation().clone().with_system("Be brief.");

    let mut fresh = Run::new(words.clone());
    fresh.ask("Read on.");
    agent.finish(&mut fresh).await;
    let reads = |at: usize| {
        model.requests()[at]
            .tools
            .names()
            .any(|name| name == "read_output")
    };
    assert!(reads(0) && reads(1) && reads(2));

    let mut again = run.with_conversation(words);
    assert_eq!(again.records(), records);
    again.ask("Read on.");
    agent.finish(&mut again).await;
    assert!(reads(3));
    assert_eq!(again.records(), records);
    assert_eq!(model.requests()[3].conversation.system(), Some("Be brief."));
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Invoice {
    number: String,
    total: f64,
}

#[tokio::test]
async fn an_answer_is_a_rust_type_on_every_wire_and_one_that_does_not_fit_is_asked_for_again() {
    for wire in WIRES {
        let good = r#"{"number":"17","total":20.5}"#;
        let script = vec![
            ScriptedReply::new().with_text(r#"{"number":17}"#),
            ScriptedReply::new().with_text(good),
        ];
        let provider = Provider::start(script).await;
        let agent = Agent::new(provider.model(wire)).with_model_name("model");
        let invoice: Invoice = agent.ask_as("Which invoice?").await.unwrap();
        let want = Invoice {
            number: "17".to_owned(),
            total: 20.5,
        };
        assert_eq!(invoice, want, "{wire}");
        assert_eq!(provider.asked().len(), 2, "{wire}");
    }
}

#[tokio::test]
async fn an_answer_that_never_fits_is_an_error_that_says_what_is_wrong() {
    let bad = || ScriptedReply::new().with_text(r#"{"number":17}"#);
    let provider = Provider::start(vec![bad(), bad()]).await;
    let agent = Agent::new(provider.model(Wire::OpenAiChat)).with_model_name("model");
    let error = agent.ask_as::<Invoice>("Which invoice?").await.unwrap_err();
    assert!(error.to_string().contains("total"), "{error}");
    let run = error.into_run().unwrap();
    assert!(matches!(run.reason(), Some(Reason::InvalidOutput { .. })));
    assert_eq!(run.text(), r#"{"number":17}"#);
}
