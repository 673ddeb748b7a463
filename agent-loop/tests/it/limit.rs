//! Limits, loops, big results, many tools.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agent_loop::testing::{ScriptedModel, ScriptedTools};
use agent_loop::{
    Agent, Deferral, Effect, JoinedTools, LimitKind, LocalTools, Mode, Outcome, Policy, Prices,
    Reason, Rule, RunEvent, RunLimits, Status, ToolInfo,
};
use mcp_jsonrpc::RawJson;
use mcp_jsonrpc::model::{CallToolResult, ContentBlock, ImageContent};
use provider_adapters::{
    Arguments, AssistantPart, CallProblem, Reply, Stop, StopReason, ToolCall, ToolChoice, Turn,
    Usage,
};
use serde_json::json;

use crate::kit::{auto, drive, ends, last_words, results, tool};

fn steps(count: usize) -> ScriptedModel {
    let mut model = ScriptedModel::new();
    for n in 0..count {
        model = model.calls([("step", json!({"n": n}))]);
    }
    model
}

fn stepping() -> ScriptedTools {
    ScriptedTools::new().with_answer(tool("s", "step"), |call| {
        Outcome::text(format!("step {}", call.number))
    })
}

#[tokio::test]
async fn the_limit_on_calls_settles_the_rest() {
    let calls = (0..4).map(|n| ("step", json!({"n": n})));
    let agent = Agent::new(ScriptedModel::new().calls(calls)).tools(stepping());
    let mut run = auto("Go").with_limits(RunLimits::default().with_calls(2));
    drive(&agent, &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::Limit(LimitKind::Calls)));
    let want = [
        Status::Done,
        Status::Done,
        Status::Cancelled,
        Status::Cancelled,
    ];
    assert_eq!(ends(&run), want);
}

fn paid(input: u64, output: u64) -> Reply {
    let mut reply = Reply::default();
    let call = ToolCall::new("c", "step", Arguments::empty());
    reply.parts = vec![AssistantPart::from(call)];
    reply.stop = Some(Stop::new(StopReason::ToolUse, "raw"));
    reply.usage.input = Some(input);
    reply.usage.output = Some(output);
    reply
}

#[tokio::test]
async fn tokens_and_cost_are_counted_and_limited() {
    for (limits, kind) in [
        (RunLimits::default().with_tokens(1_000), LimitKind::Tokens),
        (
            RunLimits::default().with_cost_micros(4_500),
            LimitKind::Cost,
        ),
    ] {
        let model = ScriptedModel::new()
            .replies(paid(500, 100))
            .replies(paid(500, 100));
        let agent = Agent::new(model)
            .tools(stepping())
            .with_prices(Prices::new(3_000_000, 15_000_000));
        let mut run = auto("Go").with_limits(limits);
        let events = drive(&agent, &mut run).await;
        assert_eq!(run.reason(), Some(&Reason::Limit(kind)));
        assert_eq!(ends(&run), [Status::Done, Status::Cancelled]);
        assert_eq!(run.spent().tokens, 1_200);
        assert_eq!(run.spent().cost_micros, 6_000);
        let cancelled = |event: &&RunEvent| {
            matches!(
                event,
                RunEvent::Usage {
                    cost_micros: Some(3_000),
                    ..
                }
            )
        };
        assert_eq!(events.iter().filter(cancelled).count(), 2);
    }
}

#[test]
fn cached_tokens_are_charged_at_their_own_price() {
    let prices = Prices::new(3_000_000, 15_000_000).with_cache(300_000, 3_750_000);
    let mut usage = Usage::default();
    usage.input = Some(1_000_000);
    usage.cache_read = Some(400_000);
    usage.output = Some(0);
    assert_eq!(prices.cost(&usage), 1_800_000 + 120_000);
}

#[tokio::test(start_paused = true)]
async fn the_limit_on_time_stops_what_runs() {
    let tools = ScriptedTools::new().with_hanging(tool("s", "step"));
    let agent = Agent::new(steps(1)).tools(tools);
    let mut run = auto("Go").with_limits(RunLimits::default().with_time(Duration::from_secs(10)));
    let begin = tokio::time::Instant::now();
    drive(&agent, &mut run).await;
    assert_eq!(begin.elapsed().as_secs(), 10);
    assert_eq!(run.reason(), Some(&Reason::Limit(LimitKind::Time)));
    assert_eq!(ends(&run), [Status::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn the_time_people_take_does_not_count() {
    let agent = Agent::new(steps(1).says("Done.")).tools(stepping());
    let mut run = auto("Go")
        .with_policy(Policy::default())
        .with_limits(RunLimits::default().with_time(Duration::from_secs(10)));
    let mut session = agent.session(&mut run);
    let handle = session.handle();
    while let Some(event) = session.next().await {
        if matches!(event, RunEvent::Waiting { .. }) {
            let handle = handle.clone();
            let shown = session.run().approvals()[0].consent();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(1_000)).await;
                handle.answer(&shown, agent_loop::Answer::Once).await
            });
        }
    }
    drop(session);
    assert_eq!(run.reason(), Some(&Reason::Finished));
}

#[tokio::test]
async fn at_a_limit_the_model_may_sum_up_without_tools() {
    let model = steps(2).says("So far: one step.");
    let agent = Agent::new(model.clone()).tools(stepping());
    let mut run = auto("Go").with_limits(RunLimits::default().with_rounds(2).with_summary());
    drive(&agent, &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::Limit(LimitKind::Rounds)));
    assert_eq!(last_words(&run), "So far: one step.");
    assert_eq!(model.requests()[2].choice, ToolChoice::None);
}

#[tokio::test]
async fn the_same_call_with_the_same_result_earns_a_nudge_and_then_the_end() {
    let tools = ScriptedTools::new().with_answer(tool("s", "step"), |_| Outcome::text("same"));
    let mut model = ScriptedModel::new();
    for _ in 0..9 {
        model = model.calls([("step", json!({}))]);
    }
    let agent = Agent::new(model).tools(tools.clone());
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::Loop));
    assert_eq!(tools.calls().len(), 4);
    let nudges = run.conversation().turns().iter();
    assert_eq!(
        nudges
            .filter(|turn| matches!(turn, Turn::System(_)))
            .count(),
        2
    );
}

#[tokio::test]
async fn truncated_calls_are_never_run_nor_are_their_siblings() {
    let cut = || {
        let mut reply = paid(1, 1);
        let mut call = ToolCall::new("d", "step", Arguments::read("{\"n\":"));
        call.problem = Some(CallProblem::Cut);
        reply.parts.push(call.into());
        reply.stop = Some(Stop::new(StopReason::MaxTokens, "length"));
        reply
    };
    let tools = stepping();
    let model = ScriptedModel::new().replies(cut()).says("Done.");
    let agent = Agent::new(model).tools(tools.clone());
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    assert!(tools.calls().is_empty());
    assert_eq!(run.reason(), Some(&Reason::Finished));
    insta::assert_json_snapshot!(results(&run));

    // One more try, not two.
    let model = ScriptedModel::new().replies(cut()).replies(cut());
    let agent = Agent::new(model).tools(tools.clone());
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::Truncated));
    assert!(tools.calls().is_empty());
}

#[tokio::test]
async fn unknown_tools_and_bad_arguments_are_explained() {
    let tools = stepping();
    let calls = [("stepp", json!({})), ("step", json!({"n": "one", "m": 2}))];
    let agent = Agent::new(ScriptedModel::new().calls(calls).says("Done.")).tools(tools.clone());
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    assert!(tools.calls().is_empty());
    insta::assert_json_snapshot!(results(&run));
}

/// Across servers side by side; within a server in turn, unless all only read.
#[tokio::test(start_paused = true)]
async fn calls_run_side_by_side_where_that_is_safe() {
    let elapsed = |tools: Vec<ToolInfo>| async move {
        let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
        let mut servers: BTreeMap<String, LocalTools> = BTreeMap::new();
        for tool in tools {
            let server = tool.server.clone();
            let local = servers.remove(&server);
            let local = local.unwrap_or_else(|| LocalTools::new(server.clone()));
            let local = local.with(tool, |_, _| async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                "done"
            });
            servers.insert(server, local);
        }
        let joined = servers
            .into_values()
            .fold(JoinedTools::new(), JoinedTools::with);
        let calls = names.iter().map(|name| (name.clone(), json!({})));
        let agent = Agent::new(ScriptedModel::new().calls(calls).says("Done.")).tools(joined);
        let mut run = auto("Go");
        let begin = tokio::time::Instant::now();
        drive(&agent, &mut run).await;
        assert!(ends(&run).iter().all(|status| *status == Status::Done));
        begin.elapsed().as_secs()
    };
    let (a, b) = (tool("a", "w1"), tool("a", "w2"));
    assert_eq!(
        elapsed(vec![a.clone(), b.clone()]).await,
        2,
        "one server, writing"
    );
    assert_eq!(
        elapsed(vec![a.clone(), tool("b", "w2")]).await,
        1,
        "two servers"
    );
    let (r, s) = (tool("a", "r1").read_only(), tool("a", "r2").read_only());
    assert_eq!(
        elapsed(vec![r.clone(), s.clone()]).await,
        1,
        "one server, reading"
    );
    assert_eq!(
        elapsed(vec![r.clone(), a.clone(), s]).await,
        3,
        "no read overtakes a write"
    );
    let mut both = [a, b];
    both.iter_mut().for_each(|tool| tool.parallel = true);
    assert_eq!(
        elapsed(both.to_vec()).await,
        1,
        "a server that takes several"
    );
    let many = (0..9)
        .map(|n| tool(&format!("s{n}"), &format!("t{n}")))
        .collect();
    assert_eq!(elapsed(many).await, 2, "eight at a time");
}

/// Calls that are started together are tasks of their own; they queue in the model's order anyway.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_of_one_server_run_in_the_models_order() {
    let order = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let seen = Arc::clone(&order);
    let tools = LocalTools::new("s").with(tool("s", "step"), move |arguments, _| {
        let seen = Arc::clone(&seen);
        async move {
            let n: serde_json::Value = arguments.parse().unwrap();
            tokio::task::yield_now().await;
            seen.lock().push(n["n"].as_u64().unwrap());
            "done"
        }
    });
    for _ in 0..20 {
        let calls = (0..8).map(|n| ("step", json!({"n": n})));
        let model = ScriptedModel::new().calls(calls).says("Done.");
        drive(&Agent::new(model).tools(tools.clone()), &mut auto("Go")).await;
        assert_eq!(
            std::mem::take(&mut *order.lock()),
            (0..8).collect::<Vec<u64>>()
        );
    }
}

#[tokio::test]
async fn big_results_are_stored_shown_in_part_and_read_on() {
    let long: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    let image = ContentBlock::Image(ImageContent::new("A".repeat(90_000), "image/png"));
    let result = CallToolResult::new(vec![ContentBlock::text(&long), image]);
    let tools = ScriptedTools::new().with(tool("s", "step"), [Outcome::Result(result)]);
    let model = ScriptedModel::new()
        .calls([("step", json!({}))])
        .calls([(
            "read_output",
            json!({"id": "output-1", "offset": 100, "length": 20}),
        )])
        .says("Done.");
    let agent = Agent::new(model.clone()).tools(tools);
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    let results = results(&run);
    assert!(results[0].len() < 4_000 && results[0].contains("read_output"));
    assert!(results[0].starts_with("line 0") && results[0].contains("line 19999"));
    assert!(results[0].ends_with("[Image: image/png]"));
    assert!(results[1].ends_with(&long[100..120]), "{}", results[1]);
    let offered = |at: usize| {
        model.requests()[at]
            .tools
            .names()
            .any(|name| name == "read_output")
    };
    assert!(offered(0) && offered(1));
}

/// What a tool answers is kept, typed and whole; it is not paid for twice.
#[tokio::test]
async fn content_is_kept_typed_and_structured_content_is_not_paid_twice() {
    let long = json!({"rows": (0..20_000).collect::<Vec<u32>>()});
    let mut both = CallToolResult::new(vec![ContentBlock::text(long.to_string())]);
    both.structured_content = Some(RawJson::from_serialize(&long).unwrap());
    let mut bare = CallToolResult::new(vec![]);
    bare.structured_content = Some(RawJson::from_serialize(&long).unwrap());
    let tools = ScriptedTools::new().with(
        tool("s", "step"),
        [Outcome::Result(both), Outcome::Result(bare)],
    );
    let agent = Agent::new(steps(2).says("Done.")).tools(tools);
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    for record in run.records() {
        let response = record.response.unwrap();
        assert!(response.get().len() < 5_000);
        assert!(!response.get().contains("structuredContent"));
    }
}

fn many(count: usize) -> ScriptedTools {
    let mut tools = ScriptedTools::new();
    for n in 0..count {
        let about = if n == 77 {
            "Translates a text."
        } else {
            "Does something."
        };
        let info = tool("many", &format!("tool_{n}")).with_description(about);
        tools = tools.with_answer(info, |call| Outcome::text(format!("{} ran", call.tool)));
    }
    tools
}

#[tokio::test]
async fn many_tools_are_searched_for_and_called_by_any_provider() {
    let tools = many(500);
    let model = ScriptedModel::new()
        .calls([("tool_search", json!({"query": "translate text"}))])
        .calls([
            (
                "tool_call",
                json!({"name": "tool_77", "arguments": {"n": 1}}),
            ),
            (
                "tool_call",
                json!({"name": "tool_77", "arguments": {"n": "x"}}),
            ),
            ("tool_9", json!({})),
        ])
        .says("Done.");
    let deferral = Deferral::default().with_always("tool_3");
    let agent = Agent::new(model.clone())
        .tools(tools.clone())
        .with_deferral(deferral);
    let rule = Rule::new(Effect::Deny, "many", "tool_9");
    let mut run = auto("Go").with_policy(Policy::new(Mode::Auto).with_rule(rule));
    drive(&agent, &mut run).await;
    let offered: Vec<String> = model.requests()[0]
        .tools
        .names()
        .map(str::to_owned)
        .collect();
    assert_eq!(
        offered,
        ["tool_search", "tool_call", "read_output", "tool_3"]
    );
    let results = results(&run);
    assert!(results[0].contains("tool_77"), "{}", results[0]);
    assert_eq!(results[1], "tool_77 ran");
    assert!(results[2].contains("must be"), "{}", results[2]);
    assert!(
        results[3].contains("forbids"),
        "the inner tool is judged: {}",
        results[3]
    );
    let record = &run.records()[1];
    assert_eq!(
        (record.tool_name.as_str(), record.arguments.text()),
        ("tool_77", r#"{"n":1}"#)
    );
}

#[tokio::test]
async fn few_tools_are_listed() {
    let model = ScriptedModel::new().says("Hm.");
    let agent = Agent::new(model.clone()).tools(many(30));
    drive(&agent, &mut auto("Go")).await;
    assert_eq!(model.requests()[0].tools.len(), 31, "and read_output");
    let model = ScriptedModel::new().says("Hm.");
    let agent = Agent::new(model.clone())
        .tools(many(10))
        .with_deferral(Deferral::default().with_context_tokens(2_000));
    drive(&agent, &mut auto("Go")).await;
    assert_eq!(
        model.requests()[0].tools.len(),
        3,
        "a tenth of the context is too little"
    );
}
