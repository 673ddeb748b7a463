//! Conversations that outgrow the model's context.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_loop::testing::{ScriptedModel, ScriptedTools};
use agent_loop::{Agent, Compaction, Offer, Outcome, Reason, Run, RunEvent, Step, Strategy as Way};
use proptest::prelude::*;
use provider_adapters::{
    AssistantPart, AssistantTurn, Conversation, ErrorKind, Media, ProviderError, Reply, Stop,
    StopReason, ToolResult, Turn, Usage, UserPart, UserTurn,
};
use serde_json::json;

use crate::accepted::accepted;
use crate::kit::{auto, drive, offer, results, tool};

/// A turn of a random history.
#[derive(Clone, Debug)]
enum Kind {
    User(usize),
    Said(usize),
    Called(Vec<usize>),
    /// With a signature of its provider's.
    Signed(usize),
    System,
    Attached(usize),
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        3 => (0_usize..300).prop_map(Kind::User),
        2 => (0_usize..300).prop_map(Kind::Said),
        4 => prop::collection::vec(0_usize..600, 1..4).prop_map(Kind::Called),
        2 => (0_usize..300).prop_map(Kind::Signed),
        1 => Just(Kind::System),
        1 => (0_usize..300).prop_map(Kind::Attached),
    ]
}

fn words(count: usize) -> String {
    "word ".repeat(count)
}

fn history(kinds: &[Kind]) -> Conversation {
    let mut conversation = Conversation::new();
    for (at, kind) in kinds.iter().enumerate() {
        match kind {
            Kind::User(count) => conversation.ask(words(*count + 1)),
            Kind::Said(count) => conversation.push(AssistantTurn::from_text(words(*count + 1))),
            Kind::Called(sizes) => {
                let id = |n: usize| format!("call_{at}_{n}");
                let call = |(n, _): (usize, &usize)| json!({"type": "tool_call", "id": id(n), "name": "read", "arguments": {}});
                let result = |(n, size): (usize, &usize)| ToolResult::text(id(n), words(*size));
                let calls: Vec<_> = sizes.iter().enumerate().map(call).collect();
                let results: Vec<_> = sizes.iter().enumerate().map(result).collect();
                let turn = json!({"parts": calls, "results": results});
                conversation.push(serde_json::from_value::<AssistantTurn>(turn).unwrap());
            }
            Kind::Signed(size) => {
                let id = format!("call_{at}_0");
                let turn = json!({
                    "parts": [
                        {"type": "reasoning", "text": "Hm."},
                        {"type": "tool_call", "id": id, "name": "read", "arguments": {}},
                    ],
                    "results": [ToolResult::text(id.as_str(), words(*size))],
                    "native": {"wire": "anthropic", "items": [
                        {"type": "thinking", "thinking": "Hm.", "signature": format!("sig-{at}")},
                        {"type": "tool_use", "id": id, "name": "read", "input": {}},
                    ]},
                });
                conversation.push(serde_json::from_value::<AssistantTurn>(turn).unwrap());
            }
            Kind::System => conversation.push(provider_adapters::SystemTurn::new("Mind the gap.")),
            Kind::Attached(size) => {
                let image = UserPart::Image(Media::data("image/png", "aGk="));
                conversation.push(UserTurn::new(vec![UserPart::text(words(*size)), image]));
            }
        }
    }
    conversation
}

/// About how many tokens these turns have.
fn tokens(turns: impl IntoIterator<Item = Turn>) -> u64 {
    let mut conversation = Conversation::new();
    turns.into_iter().for_each(|turn| conversation.push(turn));
    Run::new(conversation).context_tokens()
}

/// About how many tokens the definitions of an offer's tools have.
fn tool_tokens(offer: &Offer) -> u64 {
    let mut run = Run::default();
    run.next(offer);
    run.context_tokens()
}

/// Tokens as a provider counts them that counts `rate` thousandths of our estimates.
fn counted(turns: impl IntoIterator<Item = Turn>, rate: u64) -> u64 {
    tokens(turns) * rate / 1_000
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_a_compaction_leaves_is_accepted_small_enough_and_has_what_was_pinned_and_what_fits(
        kinds in prop::collection::vec(kind(), 1..24),
        pins in prop::collection::btree_set(0_usize..24, 0..4),
        at in 200_u64..4_000,
        keep in 0_usize..8,
        drops in any::<bool>(),
        summary in 1_usize..4_000,
        reported in prop::option::of(500_u64..16_000),
    ) {
        let offer = offer(&[tool("files", "read")]);
        let tools = tool_tokens(&offer);
        let rate = reported.unwrap_or(1_000);
        let mut run = Run::new(history(&kinds));
        if reported.is_some() {
            run.ask("Why?");
            run.next(&offer);
            let mut reply = Reply::default();
            reply.parts.push(AssistantPart::text("Because."));
            reply.usage.input = Some(tools + counted(run.conversation().turns().to_vec(), rate));
            run.replied(reply, &offer, None);
        }
        run.ask("And now?");
        let conversation = run.conversation().clone();
        let way = if drops { Way::DropResults } else { Way::Summarise };
        let settings = Compaction::at(at).keep_turns(keep).strategy(way);
        let mut run = run.with_compaction(settings);
        pins.iter().for_each(|turn| run.pin(*turn));
        let turns = conversation.turns();
        let pinned: Vec<Turn> = run.pinned().iter().map(|at| turns[*at].clone()).collect();

        let step = run.next(&offer);
        // Killed now, it goes on in the same way.
        let stored = serde_json::to_string(&run).unwrap();
        let mut restored: Run = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(restored.next(&offer), step.clone());
        if let Step::Compact(turns) = &step {
            prop_assert!(!turns.turns.is_empty());
            let text = words(summary);
            run.summarised(&text, Usage::default(), None);
            restored.summarised(&text, Usage::default(), None);
            let asks = matches!(run.next(&offer), Step::CallModel { .. });
            prop_assert!(asks);
            restored.next(&offer);
        }
        run.take_events();
        restored.take_events();
        prop_assert_eq!(&run, &restored);

        // What rounding to thousandths, and of each turn, makes of it.
        let rounding = tokens(turns.to_vec()) / 500 + 2 * turns.len() as u64 + 2;
        let target = at / 2;
        let reserve = (target / 8 * 1_000 / rate).clamp(40, 2_000) * rate / 1_000;
        if let Some(Reason::Failed { message }) = run.reason() {
            let least = tools + counted(pinned, rate) + 40 * rate / 1_000;
            prop_assert!(least + rounding > target, "{}", message);
            for at in run.pinned() {
                prop_assert!(message.contains(&(at + 1).to_string()), "{}", message);
            }
            prop_assert_eq!(run.conversation(), &conversation);
            return Ok(());
        }
        let before = tools + counted(turns.to_vec(), rate);
        if before + rounding < at {
            prop_assert_eq!(run.conversation(), &conversation);
            return Ok(());
        }
        accepted(run.conversation()).map_err(TestCaseError::fail)?;
        let left = run.conversation().turns();
        let still: Vec<Turn> = run.pinned().iter().map(|at| left[*at].clone()).collect();
        prop_assert_eq!(&still, &pinned);
        let last = turns.last().unwrap().clone();
        prop_assert_eq!(left.last(), Some(&last));
        let fixed = tools + counted(pinned.iter().cloned().chain([last.clone()]), rate) + reserve;
        let after = tools + counted(left.to_vec(), rate);
        let untouched = run.conversation() == &conversation;
        prop_assert!(after <= target.max(fixed) + rounding || untouched, "{after} of {target}");
        // The latest turns are as they were if there is room for them.
        let latest = &turns[turns.len().saturating_sub(keep.max(1))..];
        let kept = tools + counted(pinned.into_iter().chain(latest.to_vec()), rate) + reserve;
        if kept + rounding <= target {
            prop_assert_eq!(&left[left.len() - latest.len()..], latest, "{} of {}", kept, target);
        }
        // What is left of a signed turn still has its signature.
        for turn in left {
            if let Turn::Assistant(turn) = turn
                && turn.parts().iter().any(|part| matches!(part, AssistantPart::Reasoning { .. }))
            {
                prop_assert!(turn.native().is_some());
            }
        }
    }
}

fn reader(size: usize) -> ScriptedTools {
    ScriptedTools::new().with_answer(tool("files", "read").read_only(), move |call| {
        Outcome::text(format!("{} {}", call.arguments, words(size)))
    })
}

/// A model that reads `rounds` times and then is done.
fn reads(rounds: usize) -> ScriptedModel {
    let model = (0..rounds).fold(ScriptedModel::new(), |model, n| {
        model.calls([("read", json!({"n": n}))])
    });
    model.says("Done.")
}

#[tokio::test]
async fn a_long_run_drops_old_results_and_still_records_them() {
    let settings = Compaction::at(3_000)
        .keep_turns(2)
        .strategy(Way::DropResults);
    let model = reads(8);
    let agent = Agent::new(model.clone()).tools(reader(800));
    let mut run = auto("Read it all.").with_compaction(settings);
    let events = drive(&agent, &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::Finished));
    let compacted = events
        .iter()
        .filter(|it| matches!(it, RunEvent::Compacted { .. }));
    assert!(compacted.count() >= 2, "{events:?}");
    let seen = provider_adapters::flatten(&match &model.requests()[8].conversation.turns()[1] {
        Turn::Assistant(turn) => turn.results()[0].content.clone(),
        turn => panic!("{turn:?}"),
    });
    assert!(seen.contains("Dropped to save space"), "{seen}");
    let results = results(&run);
    assert_eq!(results.len(), 8);
    assert!(results.iter().all(|result| result.len() > 3_000));
}

#[tokio::test]
async fn the_model_summarises_what_is_cut_and_goes_on_with_the_summary() {
    let settings = Compaction::at(3_000).keep_turns(1);
    let model = ScriptedModel::improvising(|request| {
        let turns = request.conversation.turns();
        let asked = serde_json::to_string(&turns[0]).unwrap();
        let mut reply = Reply::default();
        reply.stop = Some(Stop::new(StopReason::End, "x"));
        if asked.contains("Summarise the conversation") {
            reply
                .parts
                .push(AssistantPart::text("They read on and on."));
            reply.usage = Usage::default();
            reply.usage.input = Some(100);
        } else if asked.contains("They read on and on.") {
            reply.parts.push(AssistantPart::text("Done."));
        } else {
            let call = provider_adapters::Arguments::read(format!(r#"{{"n":{}}}"#, turns.len()));
            let call = provider_adapters::ToolCall::new(format!("c{}", turns.len()), "read", call);
            reply.parts.push(call.into());
        }
        reply
    });
    let agent = Agent::new(model).tools(reader(1_500));
    let mut run = auto("Read it all.").with_compaction(settings);
    let events = drive(&agent, &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::Finished), "{events:?}");
    assert_eq!(run.text(), "Done.");
    let at = |is: fn(&RunEvent) -> bool| events.iter().position(is).unwrap();
    let began = at(|event| matches!(event, RunEvent::Compacting { .. }));
    let ended = at(|event| matches!(event, RunEvent::Compacted { turns: 1.., .. }));
    assert!(began < ended);
    assert_eq!(run.spent().tokens, 100, "the summary is paid for");
}

#[tokio::test]
async fn a_function_may_summarise_instead_of_the_model() {
    let model = reads(4);
    let agent = Agent::new(model.clone())
        .tools(reader(1_500))
        .on_compaction(async |turns| Ok::<_, String>(format!("{} turns", turns.turns.len())));
    let mut run = auto("Read it all.").with_compaction(Compaction::at(3_000).keep_turns(1));
    drive(&agent, &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::Finished));
    let last = serde_json::to_string(&model.requests().last().unwrap().conversation.turns()[0]);
    let last = last.unwrap();
    assert!(
        last.contains("[Summary of the conversation so far]"),
        "{last}"
    );
    assert!(last.contains(" turns"), "{last}");
}

/// Stored as a program stores it: at milestones.
#[tokio::test]
async fn a_run_that_is_killed_while_a_summary_is_written_ends_as_if_it_had_not_been() {
    let end = async |kill: bool| {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let agent = Agent::new(reads(4))
            .tools(reader(1_500))
            .on_compaction(move |turns| {
                let number = counter.fetch_add(1, Ordering::SeqCst);
                async move {
                    if kill && number == 0 {
                        std::future::pending::<()>().await;
                    }
                    Ok::<_, String>(format!("{} turns", turns.turns.len()))
                }
            });
        let mut run = auto("Read it all.").with_compaction(Compaction::at(3_000).keep_turns(1));
        if kill {
            let mut stored = String::new();
            let mut session = agent.session(&mut run);
            while asked.load(Ordering::SeqCst) == 0 {
                tokio::select! {
                    biased;
                    event = session.next() => if event.unwrap().is_milestone() {
                        stored = serde_json::to_string(session.run()).unwrap();
                    },
                    () = tokio::task::yield_now() => {}
                }
            }
            drop(session);
            run = serde_json::from_str(&stored).unwrap();
        }
        let before = asked.load(Ordering::SeqCst);
        drive(&agent, &mut run).await;
        assert!(
            asked.load(Ordering::SeqCst) > before,
            "the summary is asked for again"
        );
        (
            run.reason().cloned(),
            results(&run),
            run.conversation().clone(),
        )
    };
    let whole = end(false).await;
    assert_eq!(whole.0, Some(Reason::Finished));
    assert_eq!(end(true).await, whole);
}

fn too_long() -> Reply {
    let mut reply = Reply::default();
    reply.error = Some(ProviderError::new(
        ErrorKind::ContextWindow,
        "prompt is too long",
    ));
    reply
}

#[tokio::test]
async fn a_full_context_is_compacted_once_and_the_model_asked_again() {
    let settings = Compaction::when_full()
        .keep_turns(1)
        .strategy(Way::DropResults);
    let calls = |model: ScriptedModel| model.calls([("read", json!({"n": 1}))]);
    let model = calls(ScriptedModel::new())
        .replies(too_long())
        .says("Done.");
    let mut run = auto("Go").with_compaction(settings);
    drive(&Agent::new(model).tools(reader(900)), &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::Finished));

    let model = calls(ScriptedModel::new())
        .replies(too_long())
        .replies(too_long());
    let mut run = auto("Go").with_compaction(settings);
    drive(&Agent::new(model).tools(reader(900)), &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::ContextFull));

    let model = calls(ScriptedModel::new()).replies(too_long());
    let mut run = auto("Go");
    drive(&Agent::new(model).tools(reader(900)), &mut run).await;
    assert_eq!(run.reason(), Some(&Reason::ContextFull));
}

#[tokio::test]
async fn a_run_that_is_over_is_compacted_on_request_and_stays_over() {
    let model = reads(4).says("A summary.");
    let agent = Agent::new(model).tools(reader(500));
    let mut run = auto("Read it all.").with_compaction(Compaction::when_full().keep_turns(1));
    drive(&agent, &mut run).await;
    let before = run.context_tokens();
    assert_eq!(run.compact(), Ok(true));
    let events = drive(&agent, &mut run).await;
    assert!(
        matches!(
            events.as_slice(),
            [
                RunEvent::Compacting { .. },
                RunEvent::Usage { .. },
                RunEvent::Compacted { .. },
                RunEvent::Done {
                    reason: Reason::Finished
                },
            ]
        ),
        "{events:?}"
    );
    assert!(run.context_tokens() < before / 2);
    assert_eq!(run.records().len(), 4);
    assert_eq!(run.compact(), Ok(false), "there is nothing left to remove");
}

fn stops(reason: StopReason) -> Reply {
    let mut reply = Reply::default();
    reply.parts.push(AssistantPart::text("I cannot help with"));
    reply.stop = Some(Stop::new(reason, "x"));
    reply.usage.input = Some(70);
    reply
}

#[tokio::test]
async fn where_a_summary_fails_is_refused_or_is_cut_results_are_dropped_instead() {
    type Fails = fn(ScriptedModel) -> ScriptedModel;
    let scripts: [(Fails, &str); 4] = [
        (|model| model.fails("no summary today"), "no summary today"),
        (
            |model| model.replies(stops(StopReason::Refusal)),
            "declined",
        ),
        (
            |model| model.replies(stops(StopReason::MaxTokens)),
            "cut off",
        ),
        (|model| model.says(" "), "empty"),
    ];
    for (script, why) in scripts {
        let model = script(reads_once()).says("Done.");
        let agent = Agent::new(model.clone()).tools(reader(1_500));
        let mut run = auto("Read.").with_compaction(Compaction::at(1_000).keep_turns(0));
        let events = drive(&agent, &mut run).await;
        assert_eq!(run.reason(), Some(&Reason::Finished), "{events:?}");
        assert_eq!(run.text(), "Done.");
        let warned = |event: &RunEvent| matches!(event, RunEvent::Warning { message } if message.contains(why));
        assert!(events.iter().any(warned), "{why}: {events:?}");
        let sent = serde_json::to_string(&model.requests()[2].conversation).unwrap();
        assert!(sent.contains("Dropped to save space"), "{sent}");
        assert!(!sent.contains("I cannot help with"), "{sent}");
        let paid = if why == "declined" || why == "cut off" {
            70
        } else {
            0
        };
        assert_eq!(run.spent().tokens, paid, "{why}");
    }
}

fn reads_once() -> ScriptedModel {
    ScriptedModel::new().calls([("read", json!({"n": 0}))])
}

#[tokio::test]
async fn a_run_that_is_over_keeps_its_conversation_where_a_summary_fails() {
    let model = reads_once().says("Done.").fails("no summary today");
    let agent = Agent::new(model).tools(reader(1_500));
    let mut run = auto("Read.").with_compaction(Compaction::when_full().keep_turns(0));
    drive(&agent, &mut run).await;
    let conversation = run.conversation().clone();
    assert_eq!(run.compact(), Ok(true));
    let events = drive(&agent, &mut run).await;
    let warned = |event: &RunEvent| matches!(event, RunEvent::Warning { .. });
    assert!(events.iter().any(warned), "{events:?}");
    assert_eq!(run.reason(), Some(&Reason::Finished));
    assert_eq!(run.conversation(), &conversation);
}

/// A model that reports no usage.
#[tokio::test]
async fn the_definitions_of_tools_count_where_no_usage_is_reported() {
    let tools = |description: &str| {
        let described = tool("files", "read")
            .read_only()
            .with_description(description);
        ScriptedTools::new().with_answer(described, |_| Outcome::text(words(200)))
    };
    let settings = Compaction::at(3_000)
        .keep_turns(1)
        .strategy(Way::DropResults);
    for (description, compacts) in [(String::new(), false), (words(2_500), true)] {
        let agent = Agent::new(reads(5)).tools(tools(&description));
        let mut run = auto("Read it all.").with_compaction(settings);
        let events = drive(&agent, &mut run).await;
        let compacted = |event: &RunEvent| matches!(event, RunEvent::Compacted { .. });
        assert_eq!(
            events.iter().any(compacted),
            compacts,
            "{}",
            description.len()
        );
    }
}
