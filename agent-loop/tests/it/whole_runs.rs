//! The loop from the first request to the last: calls, results, limits, confirmations, chunks.

use std::time::Duration;

use agent_loop::testing::{ScriptedModel, ScriptedTools};
use agent_loop::{
    Agent, Answer, AnswerError, FailureKind, Handle, JoinedTools, LimitKind, LocalTools, Outcome,
    Reason, RunEvent, RunLimits, Selection, Status, setup_tools,
};
use provider_adapters::{
    Anthropic, AssistantPart, Expected, Gemini, OpenAiChat, PromptMode, Reply, Stop, StopReason,
    Turn, messages_of, text_decoder,
};
use serde_json::{Value, json};

use crate::accepted::{accepted, adapters};
use crate::kit::{asking, auto, drive, ends, last_words, results, statuses, tool};

fn scripted(model: ScriptedModel, tools: &ScriptedTools) -> Agent {
    Agent::new(model).tools(tools.clone())
}

/// Without tools the reply passes through.
#[tokio::test]
async fn without_tools_the_reply_passes_through() {
    let model = ScriptedModel::new().says("Hello.");
    let agent = scripted(model.clone(), &ScriptedTools::new());
    let mut run = auto("Hi");
    let events = drive(&agent, &mut run).await;
    assert!(matches!(
        events.last(),
        Some(RunEvent::Done {
            reason: Reason::Finished
        })
    ));
    assert_eq!(last_words(&run), "Hello.");
    assert!(model.requests()[0].tools.is_empty());
}

/// All calls of a turn are executed; one that fails becomes an error result and harms none.
#[tokio::test]
async fn a_failing_call_harms_no_sibling_and_results_keep_the_order() {
    let tools = ScriptedTools::new()
        .with(tool("a", "one"), [Outcome::text("1")])
        .with(
            tool("b", "two"),
            [Outcome::failed(FailureKind::Protocol, "boom")],
        )
        .with(tool("c", "three"), [Outcome::error("no")]);
    let calls = ["one", "two", "three", "four"].map(|name| (name, json!({})));
    let model = ScriptedModel::new().calls(calls).says("Done.");
    let agent = scripted(model.clone(), &tools);
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    insta::assert_json_snapshot!(results(&run));
    let statuses = [Status::Done, Status::Error, Status::Error, Status::Error];
    assert_eq!(ends(&run), statuses);
    assert_eq!(run.reason(), Some(&Reason::Finished));
    // The assistant's turn with its calls and results went back to the model.
    let sent = &model.requests()[1].conversation;
    assert!(matches!(&sent.turns()[1], Turn::Assistant(turn) if turn.exchanges().count() == 4));
}

/// Tools are found by the name the model sees or by their own.
#[tokio::test]
async fn a_tool_is_found_by_name_or_by_its_own_name() {
    let tools = ScriptedTools::new()
        .with_answer(tool("files", "read").with_name("mcp__files__read"), |_| {
            Outcome::text("text")
        });
    let calls = ["mcp__files__read", "read", "MCP__FILES__READ"].map(|name| (name, json!({})));
    let agent = scripted(ScriptedModel::new().calls(calls).says("Done."), &tools);
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    assert_eq!(results(&run), ["text", "text", "text"]);
}

/// Older programs name tools `server__tool`. What two tools could be meant by is no name.
#[tokio::test]
async fn the_older_alias_calls_the_one_tool_it_can_mean() {
    let exposed =
        |server: &str, name: &str| tool(server, name).with_name(format!("{name}-of-{server}"));
    let answer =
        |call: &agent_loop::Invocation| Outcome::text(format!("{}/{}", call.server, call.tool));
    let tools = ScriptedTools::new()
        .with_answer(exposed("files", "read"), answer)
        .with_answer(exposed("mail", "read"), answer)
        .with_answer(exposed("a", "b__c"), answer)
        .with_answer(exposed("a__b", "c"), answer);
    let calls = ["files__read", "mail__read", "a__b__c"].map(|name| (name, json!({})));
    let agent = scripted(ScriptedModel::new().calls(calls).says("Done."), &tools);
    let mut run = auto("Go");
    drive(&agent, &mut run).await;
    let results = results(&run);
    assert_eq!(results[..2], ["files/read", "mail/read"]);
    assert!(results[2].contains("a__b__c"), "{results:?}");
    assert_eq!(tools.calls().len(), 2, "an ambiguous alias calls nothing");
}

/// The loop recurses up to its limit; there every open call gets a result, and the run
/// can be continued.
#[tokio::test]
async fn at_the_depth_limit_open_calls_are_settled_and_the_run_can_go_on() {
    let tools = ScriptedTools::new().with_answer(tool("s", "step"), |call| {
        Outcome::text(format!("step {}", call.number))
    });
    let mut model = ScriptedModel::new();
    for n in 0..4 {
        model = model.calls([("step", json!({"n": n}))]);
    }
    let agent = scripted(model.says("Done."), &tools);
    let mut run = auto("Go").with_limits(RunLimits::default().with_rounds(3));
    drive(&agent, &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::Limit(LimitKind::Rounds)));
    assert_eq!(ends(&run), [Status::Done, Status::Done, Status::Cancelled]);
    assert_eq!(tools.calls().len(), 2);
    run.proceed();
    drive(&agent, &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::Finished));
    assert_eq!(last_words(&run), "Done.");
}

/// Current models of Anthropic and Google refuse a request that ends with the model's own words.
#[tokio::test]
async fn no_request_ends_with_the_models_own_words() {
    let reply = |reason: StopReason, text: &str| {
        let mut reply = Reply::default();
        reply.parts.push(AssistantPart::text(text));
        reply.stop = Some(Stop::new(reason, "x"));
        reply
    };
    let model = ScriptedModel::new()
        .replies(reply(StopReason::MalformedToolCall, "I look it up."))
        .replies(reply(StopReason::MaxTokens, "Once upon a"))
        .says("time.");
    let agent = Agent::new(model.clone());
    let mut run = auto("Tell a story.");
    drive(&agent, &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::Truncated));
    run.proceed();
    drive(&agent, &mut run).await;
    assert_eq!(run.text(), "time.");
    let requests = model.requests();
    let instructions: Vec<String> = requests
        .iter()
        .map(|request| match request.conversation.turns().last() {
            Some(Turn::System(turn)) => turn.text.clone(),
            turn => format!("{turn:?}"),
        })
        .collect();
    assert!(
        instructions[1].contains("Make them again"),
        "{}",
        instructions[1]
    );
    assert!(instructions[2].contains("Go on"), "{}", instructions[2]);
    for request in &requests {
        accepted(&request.conversation).unwrap();
        for adapter in adapters() {
            let encoded = adapter.encode(request).unwrap();
            let last: Value = messages_of(&encoded.request)
                .last()
                .unwrap()
                .parse()
                .unwrap();
            assert!(
                ![json!("assistant"), json!("model")].contains(&last["role"]),
                "{last}"
            );
        }
    }
}

/// The default is 20 rounds, and 0 is no limit.
#[tokio::test]
async fn twenty_rounds_by_default_and_zero_is_no_limit() {
    for (limits, rounds) in [
        (RunLimits::default(), 20),
        (RunLimits::default().with_rounds(0), 40),
    ] {
        let tools = ScriptedTools::new().with_answer(tool("s", "step"), |call| {
            Outcome::text(format!("step {}", call.number))
        });
        let mut model = ScriptedModel::new();
        for n in 0..39 {
            model = model.calls([("step", json!({"n": n}))]);
        }
        let agent = scripted(model.says("Done."), &tools);
        let mut run = auto("Go").with_limits(limits);
        drive(&agent, &mut run).await;
        assert_eq!(run.spent().rounds, rounds);
    }
}

/// Prompt mode calls the same tools in the same loop.
#[tokio::test]
async fn prompt_mode_runs_the_same_loop() {
    let reply = |text: &str| {
        let mut decoder = text_decoder(Expected::default());
        let mut events = Vec::new();
        decoder.push(text.as_bytes(), &mut events);
        decoder.finish(&mut events)
    };
    let wish =
        "Let me look.\n<tool_use><name>step</name><arguments>{\"n\":1}</arguments></tool_use>";
    let tools = ScriptedTools::new().with(tool("s", "step"), [Outcome::text("one")]);
    let model = ScriptedModel::new()
        .with_adapter(PromptMode::new(OpenAiChat::default()))
        .replies(reply(wish))
        .replies(reply("Done."));
    let agent = scripted(model, &tools);
    let mut run = auto("Go");
    let events = drive(&agent, &mut run).await;
    assert_eq!(
        statuses(&events),
        ["step pending", "step invoking", "step done"]
    );
    assert_eq!(last_words(&run), "Done.");
    assert!(events.contains(&RunEvent::Text {
        text: "Let me look.\n".to_owned()
    }));
}

/// Events come in order, and each is a chunk with a name of its own.
#[tokio::test]
async fn chunks_come_in_order_by_their_names() {
    let tools = ScriptedTools::new()
        .with(tool("a", "good"), [Outcome::text("yes")])
        .with(tool("a", "bad"), [Outcome::error("no")]);
    let model = ScriptedModel::new()
        .calls([("good", json!({"n": 1})), ("bad", json!({}))])
        .says("Done.");
    let agent = scripted(model, &tools);
    let mut run = auto("Go");
    let events = drive(&agent, &mut run).await;
    let chunks: Vec<_> = events.iter().filter_map(RunEvent::chunk).collect();
    insta::assert_json_snapshot!(serde_json::to_value(&chunks).unwrap());
}

/// A call waits for a yes; approved it runs, denied the model reads that.
#[tokio::test]
async fn a_call_waits_for_confirmation() {
    let tools = ScriptedTools::new().with_answer(tool("s", "write"), |_| Outcome::text("written"));
    let model = ScriptedModel::new()
        .calls([("write", json!({"n": 1})), ("write", json!({"n": 2}))])
        .says("Done.");
    let agent = scripted(model, &tools);
    let mut run = asking("Go");
    let mut session = agent.session(&mut run);
    let mut events = Vec::new();
    while let Some(event) = session.next().await {
        if let RunEvent::Approval(approval) = &event {
            let number = approval.record.number;
            let answer = if number.get() == 1 {
                Answer::Once
            } else {
                Answer::Deny
            };
            session.answer(&approval.consent(), answer).await.unwrap();
        }
        events.push(event);
    }
    drop(session);
    let want = [
        "write pending",
        "write pending",
        "write denied",
        "write invoking",
        "write done",
    ];
    assert_eq!(statuses(&events), want);
    assert_eq!(tools.calls().len(), 1);
    assert!(results(&run)[1].contains("declined"));
    assert_eq!(last_words(&run), "Done.");
}

/// The answer may come from another task, and a second one does not count.
#[tokio::test]
async fn an_answer_from_another_task_counts_once() {
    let tools = ScriptedTools::new().with_answer(tool("s", "write"), |_| Outcome::text("written"));
    let model = ScriptedModel::new()
        .calls([("write", json!({}))])
        .says("Done.");
    let agent = scripted(model, &tools);
    let mut run = asking("Go");
    let mut session = agent.session(&mut run);
    let handle: Handle = session.handle();
    let mut person = None;
    while let Some(event) = session.next().await {
        if matches!(event, RunEvent::Waiting { .. }) {
            let handle = handle.clone();
            let shown = session.run().approvals()[0].consent();
            person = Some(tokio::spawn(async move {
                let first = handle.answer(&shown, Answer::Once);
                let second = handle.answer(&shown, Answer::Once);
                tokio::join!(first, second)
            }));
        }
    }
    drop(session);
    let (first, second) = person.unwrap().await.unwrap();
    assert_eq!(
        (first, second),
        (Ok(()), Err(AnswerError::NotAsked(1.into())))
    );
    assert_eq!(ends(&run), [Status::Done]);
}

/// A call that takes too long becomes a result that names the server and the limit.
#[tokio::test(start_paused = true)]
async fn a_call_is_given_120_seconds_or_its_own_limit() {
    let slow = tool("s", "slow");
    let quick = tool("t", "quick").with_idle_timeout(Duration::from_secs(5));
    let tools = ScriptedTools::new().with_hanging(slow).with_hanging(quick);
    let model = ScriptedModel::new()
        .calls([("slow", json!({})), ("quick", json!({}))])
        .says("Done.");
    let agent = scripted(model, &tools);
    let mut run = auto("Go");
    let begin = tokio::time::Instant::now();
    drive(&agent, &mut run).await;
    assert_eq!(begin.elapsed().as_secs(), 120);
    insta::assert_json_snapshot!(results(&run));
    let mut numbers: Vec<u64> = tools.calls().iter().map(|call| call.number.get()).collect();
    numbers.dedup();
    assert_eq!(numbers, [1, 2], "every call has a fresh number");
}

/// Several boxes join into one; of the same name the first counts and is said so.
#[tokio::test]
async fn toolboxes_join_and_an_existing_name_is_skipped() {
    let servers =
        ScriptedTools::new().with_answer(tool("files", "read"), |_| Outcome::text("file"));
    let local = LocalTools::new("local")
        .with(tool("local", "read"), |_, _| async { "local" })
        .with(tool("local", "now"), |_, _| async {
            Err::<String, _>("no clock")
        });
    let joined = JoinedTools::new().with(servers).with(local);
    let model = ScriptedModel::new()
        .calls([("read", json!({})), ("now", json!({}))])
        .says("Done.");
    let agent = Agent::new(model).tools(joined);
    let mut run = auto("Go");
    let events = drive(&agent, &mut run).await;
    assert_eq!(results(&run), ["file", "no clock"]);
    let warned = |event: &RunEvent| matches!(event, RunEvent::Warning { message } if message.contains("left out"));
    assert_eq!(events.iter().filter(|event| warned(event)).count(), 1);
}

/// Which tools a request carries, in whose words.
#[test]
fn tools_are_set_up_by_selection_and_provider() {
    let tools = [tool("a", "one"), tool("b", "two")];
    let openai = OpenAiChat::default();
    let setup = |selection: &Selection| {
        setup_tools(&tools, selection, &openai).map(|(_, chosen)| chosen.len())
    };
    let read = |text: &str| serde_json::from_str::<Selection>(text).unwrap();
    assert_eq!(setup(&read("{}")), None);
    assert_eq!(setup(&read(r#"{"enabled":false,"mode":"auto"}"#)), None);
    assert_eq!(setup(&read(r#"{"enabled":true}"#)), Some(2));
    assert_eq!(setup(&read(r#"{"enabled":true,"mode":"manual"}"#)), None);
    let manual = read(r#"{"enabled":true,"mode":"manual","selectedServers":["b","zzz"]}"#);
    assert_eq!(setup(&manual), Some(1));
    let less = read(r#"{"enabled":true,"mode":"auto","leftOut":{"a":["one"]}}"#);
    assert_eq!(less, Selection::all().without("a", ["one"]));
    assert_eq!(setup(&less), Some(1));
    assert_eq!(setup(&less.without("b", ["two"])), None);
    let in_words_of = |adapter: &dyn provider_adapters::Adapter| {
        let (definitions, _) = setup_tools(&tools, &manual, adapter).unwrap();
        definitions.parse::<serde_json::Value>().unwrap()
    };
    insta::assert_json_snapshot!([
        in_words_of(&openai),
        in_words_of(&Anthropic::default()),
        in_words_of(&Gemini::developer()),
    ]);
}
