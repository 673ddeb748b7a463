//! Agents as tools of other agents.

use std::sync::Arc;

use agent_loop::testing::{ScriptedModel, ScriptedTools};
use agent_loop::{
    Agent, Answer, LimitKind, LocalTools, Mode, Outcome, Policy, Prices, Reason, Run, RunEvent,
    RunLimits, Status,
};
use proptest::prelude::*;
use provider_adapters::{Arguments, AssistantPart, Reply, Stop, StopReason, ToolCall, Usage};
use serde_json::json;

use crate::kit::{asking, auto, drive, ends, results, tool};

fn usage(input: u64, output: u64) -> Usage {
    let mut usage = Usage::default();
    usage.input = Some(input);
    usage.output = Some(output);
    usage
}

fn reply(part: AssistantPart, usage: Usage) -> Reply {
    let mut reply = Reply::default();
    reply.stop = Some(Stop::new(StopReason::End, "x"));
    reply.parts.push(part);
    reply.usage = usage;
    reply
}

fn calls(id: usize, name: &str, arguments: &serde_json::Value) -> AssistantPart {
    let arguments = Arguments::read(arguments.to_string());
    ToolCall::new(format!("call_{id}"), name, arguments).into()
}

fn task() -> serde_json::Value {
    json!({"task": "Do it."})
}

fn pusher() -> ScriptedTools {
    ScriptedTools::new().with_answer(tool("git", "push"), |_| Outcome::text("pushed"))
}

/// An agent that has another one push.
fn delegating(tools: &ScriptedTools) -> (Agent, ScriptedModel) {
    let nested = ScriptedModel::new()
        .calls([("push", json!({}))])
        .says("I pushed.");
    let sub = Agent::new(nested)
        .tools(tools.clone())
        .into_tool("delegate", "Does it.");
    let model = ScriptedModel::new()
        .calls([("delegate", task())])
        .says("Done.");
    (Agent::new(model.clone()).tools(sub), model)
}

#[tokio::test]
async fn a_sub_agents_last_reply_is_the_result_and_its_events_are_passed_on() {
    let tools = pusher();
    let nested = ScriptedModel::new()
        .calls([("push", json!({}))])
        .says("I pushed.");
    let sub = Agent::new(nested.clone())
        .tools(tools.clone())
        .with_instructions("You push.")
        .with_policy(Policy::new(Mode::Auto))
        .into_tool("delegate", "Does it.");
    let model = ScriptedModel::new()
        .calls([("delegate", task())])
        .says("Done.");
    let mut run = auto("Go");
    let events = drive(&Agent::new(model).tools(sub), &mut run).await;
    assert_eq!(results(&run), ["I pushed."]);
    assert_eq!(
        nested.requests()[0].conversation.system(),
        Some("You push.")
    );
    assert_eq!(tools.calls().len(), 1);
    let nested: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Delegated { event, .. } => Some(json!(event)["type"].as_str()?.to_owned()),
            _ => None,
        })
        .collect();
    insta::assert_json_snapshot!(nested);
}

#[tokio::test]
async fn a_sub_agents_approval_is_asked_for_above_and_survives_a_restart() {
    let tools = pusher();
    let (agent, _) = delegating(&tools);
    let mut run = auto("Go");
    let events = drive(&agent, &mut run).await;
    assert!(
        matches!(events.last(), Some(RunEvent::Waiting { .. })),
        "{events:?}"
    );
    let stored = serde_json::to_string(&run).unwrap();

    let mut run: Run = serde_json::from_str(&stored).unwrap();
    let asked = run.approvals();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].via, ["delegate"]);
    assert_eq!(asked[0].record.tool_name, "push");
    let mut session = agent.session(&mut run);
    session
        .answer(&asked[0].consent(), Answer::Once)
        .await
        .unwrap();
    let again = session.answer(&asked[0].consent(), Answer::Once).await;
    assert!(again.is_err(), "it was answered");
    while session.next().await.is_some() {}
    drop(session);
    assert_eq!(results(&run), ["I pushed."]);
    assert_eq!(tools.calls().len(), 1);
    assert_eq!(run.text(), "Done.");
}

#[tokio::test]
async fn approvals_of_agents_two_levels_down_are_answered_in_one_call() {
    let tools = pusher();
    let (middle, _) = delegating(&tools);
    let model = ScriptedModel::new()
        .calls([("top", task())])
        .says("All done.");
    let agent = Agent::new(model)
        .tools(middle.into_tool("top", "Delegates."))
        .on_approval(async |approval| match approval.via.len() {
            0 | 1 => Answer::Once,
            _ => {
                assert_eq!(approval.via, ["top", "delegate"]);
                Answer::Once
            }
        });
    let run = agent.ask("Go").await.unwrap();
    assert_eq!(run.text(), "All done.");
    assert_eq!(tools.calls().len(), 1);
}

#[tokio::test]
async fn a_sub_agent_that_dies_in_a_call_goes_on_and_never_repeats_it() {
    let tools = ScriptedTools::new().with_hanging(tool("git", "push"));
    let nested = ScriptedModel::new()
        .calls([("push", json!({}))])
        .says("I will look first.");
    let sub = Agent::new(nested)
        .tools(tools.clone())
        .with_policy(Policy::new(Mode::Auto))
        .into_tool("delegate", "Does it.");
    let model = ScriptedModel::new()
        .calls([("delegate", task())])
        .says("Done.");
    let agent = Agent::new(model).tools(sub);
    let mut run = auto("Go");
    let mut stored = String::new();
    let mut session = agent.session(&mut run);
    while let Some(event) = session.next().await {
        if event.is_milestone() {
            stored = serde_json::to_string(session.run()).unwrap();
        }
        if let RunEvent::Delegated { event, .. } = &event
            && matches!(&**event, RunEvent::Call(call) if call.status == Status::Invoking)
        {
            break; // The power fails.
        }
    }
    drop(session);
    assert!(
        tools.calls().is_empty(),
        "it starts only once its start was stored"
    );

    let mut run: Run = serde_json::from_str(&stored).unwrap();
    drive(&agent, &mut run).await;
    assert_eq!(results(&run), ["I will look first."]);
    assert!(tools.calls().is_empty());
    assert_eq!(run.reason(), Some(&Reason::Finished));
}

#[tokio::test]
async fn cancelling_a_run_cancels_its_sub_agents() {
    let tools = ScriptedTools::new().with_hanging(tool("git", "push"));
    let nested = ScriptedModel::new().calls([("push", json!({}))]);
    let sub = Agent::new(nested)
        .tools(tools.clone())
        .with_policy(Policy::new(Mode::Auto))
        .into_tool("delegate", "Does it.");
    let model = ScriptedModel::new().calls([("delegate", task())]);
    let agent = Agent::new(model).tools(sub);
    let mut run = auto("Go");
    let mut session = agent.session(&mut run);
    while tools.calls().is_empty() {
        tokio::select! {
            biased;
            event = session.next() => assert!(event.is_some()),
            () = tokio::task::yield_now() => {}
        }
    }
    session.cancel();
    while session.next().await.is_some() {}
    drop(session);
    assert_eq!(run.reason(), Some(&Reason::Cancelled));
    assert_eq!(ends(&run), [Status::Cancelled]);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn cancelling_a_run_drops_the_futures_of_its_sub_agents_tools() {
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    let tools = LocalTools::new("local").tool("wait", "Waits.", move |_: Nothing| {
        let guard = Arc::clone(&inside);
        async move {
            let _guard = guard;
            std::future::pending::<String>().await
        }
    });
    let nested = ScriptedModel::new().calls([("wait", json!({}))]);
    let sub = Agent::new(nested)
        .tools(tools)
        .with_policy(Policy::new(Mode::Auto))
        .into_tool("delegate", "Does it.");
    let model = ScriptedModel::new().calls([("delegate", task())]);
    let agent = Agent::new(model).tools(sub);
    let mut run = auto("Go");
    let mut session = agent.session(&mut run);
    while Arc::strong_count(&held) < 3 {
        tokio::select! {
            biased;
            event = session.next() => assert!(event.is_some()),
            () = tokio::task::yield_now() => {}
        }
    }
    session.cancel();
    while session.next().await.is_some() {}
    drop(session);
    // The task that ran it is aborted, and gone once it is polled no more.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(Arc::strong_count(&held), 2);
}

#[tokio::test]
async fn a_sub_agents_usage_counts_against_the_limits_above_it() {
    let nested = ScriptedModel::improvising(|request| {
        let at = request.conversation.turns().len();
        reply(calls(at, "push", &json!({"n": at})), usage(900, 100))
    });
    let sub = Agent::new(nested)
        .tools(pusher())
        .with_policy(Policy::new(Mode::Auto))
        .into_tool("delegate", "Does it.");
    let model = ScriptedModel::new()
        .calls([("delegate", task())])
        .says("Done.");
    let mut run = auto("Go").with_limits(RunLimits::default().with_tokens(3_500));
    drive(&Agent::new(model).tools(sub), &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::Limit(LimitKind::Tokens)));
    assert_eq!(run.spent().tokens, 4_000);
    assert_eq!(ends(&run), [Status::Cancelled]);
}

/// Replies of this usage: calls of a tool, and at last text.
fn script(
    model: ScriptedModel,
    replies: &[(u64, u64)],
    name: &str,
    arguments: &serde_json::Value,
) -> ScriptedModel {
    let last = replies.len() - 1;
    replies
        .iter()
        .enumerate()
        .fold(model, |model, (at, (input, output))| {
            let part = match at == last {
                true => AssistantPart::text("Done."),
                false => calls(at, name, arguments),
            };
            model.replies(reply(part, usage(*input, *output)))
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_sub_agents_spend_adds_up(
        nested in prop::collection::vec((0_u64..500, 0_u64..500), 1..5),
        outer in prop::collection::vec((0_u64..500, 0_u64..500), 1..5),
        restarts in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let prices = Prices::new(1_000_000, 2_000_000);
        let times = outer.len() - 1;
        let all_nested: Vec<(u64, u64)> = std::iter::repeat_n(nested.clone(), times).flatten().collect();
        let nested_model = (0..times).fold(ScriptedModel::new(), |model, _| {
            script(model, &nested, "push", &json!({}))
        });
        let model = script(ScriptedModel::new(), &outer, "delegate", &task());
        let sub = Agent::new(nested_model).tools(pusher()).with_prices(prices).into_tool("delegate", "Does it.");
        let agent = Agent::new(model).tools(sub).with_prices(prices);
        let mut run = asking("Go").with_limits(RunLimits::default().with_rounds(0));
        runtime.block_on(async {
            loop {
                let reason = agent.run_with(&mut run, async |_| Answer::Once).await;
                if restarts {
                    let stored = serde_json::to_string(&run).unwrap();
                    run = serde_json::from_str(&stored).unwrap();
                }
                if reason.is_some() {
                    break;
                }
            }
        });
        prop_assert_eq!(run.reason(), Some(&Reason::Finished));
        let all = outer.iter().chain(&all_nested);
        let (input, output) = all.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        prop_assert_eq!(run.spent().tokens, input + output);
        prop_assert_eq!(run.spent().cost_micros, input + 2 * output);
        let pushes = times * (nested.len() - 1);
        prop_assert_eq!(run.spent().calls, (times + pushes) as u64);
        let rounds = u32::try_from(outer.len()).unwrap();
        prop_assert_eq!(run.spent().rounds, rounds);
    }
}
