//! Cancels, crashes and failures leave a history every provider accepts.

use std::sync::Arc;
use std::time::Duration;

use agent_loop::testing::{ScriptedModel, ScriptedTools};
use agent_loop::{
    Agent, Answer, AnswerError, CallContext, CallProgress, Invocation, LocalTools, Outcome, Reason,
    Run, RunEvent, Start, Status, ToolInfo, Toolbox,
};
use async_trait::async_trait;
use mcp_jsonrpc::RawMap;
use serde_json::json;

use crate::accepted::accepted;
use crate::kit::{asking, auto, drive, ends, last_words, results, tool};

#[tokio::test]
async fn a_cancel_in_the_middle_of_a_reply_keeps_the_words_that_were_shown() {
    let agent = Agent::new(ScriptedModel::new().hangs("Well, ")).tools(ScriptedTools::new());
    let mut run = auto("Go");
    let mut session = agent.session(&mut run);
    let handle = session.handle();
    while let Some(event) = session.next().await {
        if matches!(event, RunEvent::Text { .. }) {
            handle.cancel();
        }
    }
    drop(session);
    assert_eq!(run.reason(), Some(&Reason::Cancelled));
    assert_eq!(last_words(&run), "Well, ");
    accepted(run.conversation()).unwrap();
}

#[tokio::test]
async fn a_cancel_while_tools_run_settles_every_call() {
    let tools = ScriptedTools::new()
        .with_hanging(tool("a", "slow"))
        .with(tool("b", "quick"), [Outcome::text("quick")]);
    let model = ScriptedModel::new().calls([("slow", json!({})), ("quick", json!({}))]);
    let agent = Agent::new(model.clone()).tools(tools);
    let mut run = auto("Go");
    let mut session = agent.session(&mut run);
    while let Some(event) = session.next().await {
        if matches!(&event, RunEvent::Call(record) if record.status == Status::Done) {
            session.cancel();
        }
    }
    drop(session);
    assert_eq!(ends(&run), [Status::Cancelled, Status::Done]);
    assert!(results(&run)[0].contains("unknown"));
    accepted(run.conversation()).unwrap();
    // And it goes on from there.
    let _ = model.says("Done.");
    run.ask("Never mind.");
    drive(&agent, &mut run).await;
    assert_eq!(last_words(&run), "Done.");
    accepted(run.conversation()).unwrap();
}

#[tokio::test]
async fn an_answer_to_a_session_that_is_over_is_refused() {
    let tools = ScriptedTools::new().with(tool("a", "quick"), [Outcome::text("quick")]);
    let model = ScriptedModel::new().calls([("quick", json!({}))]);
    let agent = Agent::new(model).tools(tools);
    let mut run = asking("Go");
    let mut session = agent.session(&mut run);
    while let Some(event) = session.next().await {
        if matches!(event, RunEvent::Waiting { .. }) {
            break;
        }
    }
    let handle = session.handle();
    let shown = session.run().approvals()[0].consent();
    let unheard = handle.answer(&shown, Answer::Once);
    let mut unheard = std::pin::pin!(unheard);
    assert!(now(unheard.as_mut()).await.is_none());
    drop(session);
    let not_asked = Err(AnswerError::NotAsked(1.into()));
    assert_eq!(unheard.await, not_asked);
    assert_eq!(handle.answer(&shown, Answer::Once).await, not_asked);
}

/// The future's value if it has one now.
async fn now<F: Future + Unpin>(future: F) -> Option<F::Output> {
    tokio::select! {
        biased;
        value = future => Some(value),
        () = std::future::ready(()) => None,
    }
}

#[tokio::test]
async fn a_dropped_session_interrupts_and_the_run_goes_on() {
    let tools = ScriptedTools::new().with_hanging(tool("a", "slow"));
    let model = ScriptedModel::new()
        .calls([("slow", json!({}))])
        .says("Done.");
    let agent = Agent::new(model).tools(tools);
    let mut run = auto("Go");
    let mut session = agent.session(&mut run);
    while let Some(event) = session.next().await {
        if matches!(&event, RunEvent::Call(record) if record.status == Status::Invoking) {
            break;
        }
    }
    drop(session);
    drive(&agent, &mut run).await;
    assert_eq!(ends(&run), [Status::Error]);
    assert!(results(&run)[0].contains("interrupted"));
    assert_eq!(last_words(&run), "Done.");
}

/// kill -9 while a call runs: the run was stored before it began, and it is not run again.
#[tokio::test]
async fn a_run_stored_before_a_call_began_never_begins_it_again() {
    let tools = ScriptedTools::new().with_answer(tool("a", "pay"), |_| Outcome::text("paid"));
    let model = ScriptedModel::new()
        .calls([("pay", json!({}))])
        .says("Done.");
    let agent = Agent::new(model).tools(tools.clone());
    let mut run = auto("Go");
    let mut session = agent.session(&mut run);
    let mut stored = String::new();
    while let Some(event) = session.next().await {
        if matches!(&event, RunEvent::Call(record) if record.status == Status::Invoking) {
            assert!(event.is_milestone());
            assert!(tools.calls().is_empty(), "the event comes before the call");
            stored = serde_json::to_string(session.run()).unwrap();
            session.next().await;
            break;
        }
    }
    std::mem::forget(session);
    assert_eq!(tools.calls().len(), 1);
    let mut run: Run = serde_json::from_str(&stored).unwrap();
    drive(&agent, &mut run).await;
    assert_eq!(tools.calls().len(), 1);
    assert_eq!(ends(&run), [Status::Error]);
    accepted(run.conversation()).unwrap();
}

#[tokio::test]
async fn a_tool_that_panics_affects_no_other_call() {
    let crash = |_, _| async { panic!("on purpose") as &'static str };
    let tools = LocalTools::new("local").with(tool("local", "crash"), crash);
    let model = ScriptedModel::new()
        .calls([("crash", json!({}))])
        .says("Done.");
    let agent = Agent::new(model).tools(tools);
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    assert!(results(&run)[0].contains("crashed"));
    assert_eq!(last_words(&run), "Done.");
}

#[tokio::test]
async fn a_model_that_fails_ends_the_run_which_can_be_continued() {
    let model = ScriptedModel::new().fails("overloaded").says("Done.");
    let agent = Agent::new(model).tools(ScriptedTools::new());
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    assert!(
        matches!(run.reason(), Some(Reason::Failed { message }) if message.contains("overloaded"))
    );
    run.proceed();
    drive(&agent, &mut run).await;
    assert_eq!(last_words(&run), "Done.");
}

#[tokio::test]
async fn a_run_that_was_cancelled_outside_of_a_session_can_be_asked_again() {
    let model = ScriptedModel::new().says("Done.");
    let agent = Agent::new(model).tools(ScriptedTools::new());
    let mut run = auto("Go");
    run.cancel("");
    run.ask("Once more.");
    drive(&agent, &mut run).await;
    assert_eq!(last_words(&run), "Done.");
}

/// A toolbox whose calls take time, park, and become tasks.
#[derive(Default)]
struct Slow;

#[async_trait]
impl Toolbox for Slow {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        ["work", "ask", "task"]
            .map(|name| tool("slow", name))
            .into()
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        match (call.tool.as_str(), call.start) {
            ("work", _) => {
                let work = async {
                    for percent in [25.0, 50.0, 75.0] {
                        tokio::time::sleep(Duration::from_secs(100)).await;
                        context.progress(CallProgress::new(percent, Some(100.0), None));
                    }
                    tokio::time::sleep(Duration::from_secs(100)).await;
                    assert!(context.meta().traceparent().unwrap().starts_with("00-"));
                    Outcome::text("worked")
                };
                context.enforce_timeouts("slow", "work", work).await
            }
            ("ask", Start::Call) => {
                let parked = json!({
                    "server": "slow", "method": "tools/call", "params": {}, "rounds": 1,
                    "questions": {}, "answers": {}, "state": "secret",
                });
                Outcome::Parked(serde_json::from_value(parked).unwrap())
            }
            ("ask", Start::Resume { parked, answers }) => {
                assert_eq!(parked.state.as_deref(), Some("secret"));
                Outcome::text(format!("answered {}", answers.len()))
            }
            ("task", Start::Call) => {
                let ticket = json!({"server": "slow", "task_id": "t1"});
                Outcome::Task(serde_json::from_value(ticket).unwrap())
            }
            ("task", Start::Await(ticket)) => {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                Outcome::text(format!("{} is done", ticket.task_id))
            }
            (tool, start) => panic!("{tool} {start:?}"),
        }
    }
}

/// Progress keeps a call alive beyond its time limit.
#[tokio::test(start_paused = true)]
async fn progress_keeps_a_call_alive() {
    let model = ScriptedModel::new()
        .calls([("work", json!({}))])
        .says("Done.");
    let agent = Agent::new(model).tools(Slow);
    let mut run = auto("Go");
    let events = drive(&agent, &mut run).await;
    assert_eq!(results(&run), ["worked"]);
    let progress = |event: &&RunEvent| matches!(event, RunEvent::Progress { .. });
    assert_eq!(events.iter().filter(progress).count(), 3);
}

#[tokio::test]
async fn a_parked_call_is_answered_in_another_process() {
    let model = ScriptedModel::new()
        .calls([("ask", json!({}))])
        .says("Done.");
    let agent = Agent::new(model).tools(Slow);
    let mut run = auto("Go");
    let events = drive(&agent, &mut run).await;
    assert!(
        events
            .iter()
            .any(|event| matches!(event, RunEvent::Elicitation { .. }))
    );
    let stored = serde_json::to_string(&run).unwrap();

    let mut run: Run = serde_json::from_str(&stored).unwrap();
    let mut session = agent.session(&mut run);
    let mut answers = RawMap::new();
    answers.set("name", &json!({"action": "accept"})).unwrap();
    session.supply(1.into(), answers).unwrap();
    while session.next().await.is_some() {}
    drop(session);
    assert_eq!(results(&run), ["answered 1"]);
}

#[tokio::test(start_paused = true)]
async fn a_task_is_taken_up_again_by_its_ticket() {
    let model = ScriptedModel::new()
        .calls([("task", json!({}))])
        .says("Done.");
    let agent = Agent::new(model).tools(Slow);
    let mut run = auto("Go");
    let mut session = agent.session(&mut run);
    let mut invoking = 0;
    while let Some(event) = session.next().await {
        invoking += usize::from(
            matches!(&event, RunEvent::Call(record) if record.status == Status::Invoking),
        );
        if invoking == 3 {
            break;
        }
    }
    let stored = serde_json::to_string(session.run()).unwrap();
    drop(session);
    let mut run: Run = serde_json::from_str(&stored).unwrap();
    drive(&agent, &mut run).await;
    assert_eq!(results(&run), ["t1 is done"]);
}
