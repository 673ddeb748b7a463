//! A conversation that is driven, dropped at any moment, and taken up again.

mod compacted;

use std::collections::BTreeSet;
use std::sync::Arc;

use agent_loop::testing::{ScriptedModel, ScriptedTools};
use agent_loop::{Agent, Answer, Approval, Mode, Outcome, Policy, RunEvent, RunLimits, ToolInfo};
use futures_util::FutureExt as _;
use proptest::prelude::*;
use provider_adapters::{
    Arguments, AssistantPart, Reply, Request, Stop, StopReason, ToolCall, Turn as Said,
};
use switchboard::conversation::{ConversationError, DurableConversation, Model, fork};
use switchboard::store::{
    CallStatus, Conversation, Decision as RuleDecision, Limits as StoreLimits, Span, SqliteStore,
    Store, UserId,
};

use crate::mortal::Mortal;

const MODEL: Model<'static> = Model {
    name: "scripted",
    servers: &[],
};

/// A model that makes a number of calls in each round, and then says something. It looks at what was
/// said only, so that it says the same if it is asked again.
fn model(rounds: Vec<usize>) -> ScriptedModel {
    ScriptedModel::improvising(move |request: &Request| {
        let turns = request.conversation.turns();
        let begun = turns.iter().rposition(|turn| matches!(turn, Said::User(_)));
        let round = turns.len() - begun.map_or(0, |place| place + 1);
        let mut reply = Reply::default();
        let calls = rounds.get(round).copied().unwrap_or(0);
        reply
            .parts
            .push(AssistantPart::text(format!("Round {round}.")));
        for call in 0..calls {
            // No two calls are the same: the loop would take them for a circle.
            let arguments = Arguments::read(format!(r#"{{"n":{}}}"#, 10 * round + call));
            let call = ToolCall::new(format!("call_{round}_{call}"), "act", arguments);
            reply.parts.push(AssistantPart::from(call));
        }
        let reason = if calls > 0 {
            StopReason::ToolUse
        } else {
            StopReason::End
        };
        reply.stop = Some(Stop::new(reason, "scripted"));
        reply
    })
}

fn tools() -> ScriptedTools {
    let schema = serde_json::from_str(r#"{"type":"object"}"#).unwrap();
    let act = ToolInfo::new("files", "act", schema).with_fingerprint("1");
    ScriptedTools::new().with_answer(act, |_| Outcome::text("done"))
}

async fn store() -> Arc<dyn Store> {
    let store = SqliteStore::in_memory(StoreLimits::default())
        .await
        .unwrap();
    Arc::new(store)
}

async fn begin(store: &Arc<dyn Store>) -> DurableConversation {
    let conversation = Conversation::new(UserId::local(), "");
    let mut talk = DurableConversation::begin(Arc::clone(store), conversation, Some("Be brief."));
    talk.govern(Policy::new(Mode::Ask), RunLimits::default());
    talk.ask("Go.").await.unwrap();
    talk
}

/// Drives an answer; stops where `crash` asks for it, with everything dropped.
async fn drive(
    talk: &mut DurableConversation,
    agent: &Agent,
    answers: &mut impl Iterator<Item = Answer>,
    crash: &mut impl Iterator<Item = bool>,
) -> Result<bool, ConversationError> {
    let mut turn = talk.turn(agent, MODEL);
    while let Some(event) = turn.next().await? {
        if crash.next() == Some(true) {
            return Ok(false);
        }
        match event {
            RunEvent::Done { .. } => return Ok(true),
            RunEvent::Waiting { numbers } => {
                for number in numbers {
                    let open = turn.run().approvals();
                    let shown = open.iter().find(|it| it.record.number == number);
                    let Some(shown) = shown.map(Approval::consent) else {
                        continue;
                    };
                    let answer = answers.next().unwrap_or(Answer::Once);
                    // A yes for all may have answered this one already.
                    match turn.answer(&shown, answer.into()).await {
                        Ok(()) | Err(ConversationError::Answer(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            _ => {}
        }
    }
    Ok(true)
}

/// A crash right after the answer must not forget it.
#[tokio::test]
async fn a_lasting_answer_is_stored_with_its_rule() {
    for (answer, decision) in [
        (Answer::AlwaysTool, RuleDecision::Allow),
        (Answer::AlwaysDeny, RuleDecision::Deny),
    ] {
        let store = store().await;
        let agent = Agent::new(model(vec![1]))
            .with_model_name("scripted")
            .tools(tools());
        let mut talk = begin(&store).await;
        let mut turn = talk.turn(&agent, MODEL);
        let numbers = loop {
            if let RunEvent::Waiting { numbers } = turn.next().await.unwrap().unwrap() {
                break numbers;
            }
        };
        let shown = turn.run().approvals()[0].consent();
        assert_eq!(numbers, [shown.call]);
        turn.answer(&shown, answer.into()).await.unwrap();
        drop(turn);
        let rules = store.rules(&UserId::local()).await.unwrap();
        let rules: Vec<_> = rules.iter().map(|rule| rule.decision).collect();
        assert_eq!(rules, [decision], "{answer:?}");
    }
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        Just(Answer::Once),
        Just(Answer::ThisRun),
        Just(Answer::AlwaysTool),
        Just(Answer::Deny),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whenever_it_is_dropped_every_call_has_one_result_and_none_runs_twice(
        rounds in prop::collection::vec(1..4usize, 0..4),
        answers in prop::collection::vec(answer(), 0..6),
        crashes in prop::collection::vec(prop::bool::weighted(0.2), 0..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (store, tools) = (store().await, tools());
            let agent = Agent::new(model(rounds.clone())).with_model_name("scripted").tools(tools.clone());
            let (mut answers, mut crashes) = (answers.into_iter(), crashes.into_iter());
            let mut talk = begin(&store).await;
            let id = talk.conversation().id.clone();
            while !drive(&mut talk, &agent, &mut answers, &mut crashes).await.unwrap() {
                talk = DurableConversation::load(Arc::clone(&store), &UserId::local(), &id).await.unwrap();
            }
            let ran: Vec<u64> = tools.calls().iter().map(|call| call.number.get()).collect();
            let once: BTreeSet<u64> = ran.iter().copied().collect();
            assert_eq!(ran.len(), once.len(), "a call ran twice: {ran:?}");
            let messages = store.messages(&id, Span::Last(9)).await.unwrap();
            let [said, answer] = messages.as_slice() else { panic!("{messages:?}") };
            assert_eq!(said.content, "Go.");
            assert_eq!(answer.finish.as_deref(), Some("finished"));
            assert_eq!(answer.tool_calls.len(), rounds.iter().sum::<usize>());
            for call in &answer.tool_calls {
                let over = [CallStatus::Done, CallStatus::Error, CallStatus::Denied, CallStatus::Cancelled];
                assert!(over.contains(&call.status) && call.response.is_some(), "{call:?}");
            }
            // The history is whole: a turn cannot be read if a call has no result.
            let turns: Vec<Said> = serde_json::from_str(answer.provider_raw.as_deref().unwrap()).unwrap();
            assert_eq!(turns.len(), rounds.len() + 1);
            assert!(store.open_questions(&id).await.unwrap().is_empty());
            assert!(store.unfinished(&UserId::local()).await.unwrap().is_empty());
        });
    }
}

#[tokio::test]
async fn of_two_answers_to_the_same_question_one_must_load_again() {
    let (store, tools) = (store().await, tools());
    let agent = Agent::new(model(vec![1]))
        .with_model_name("scripted")
        .tools(tools.clone());
    let mut first = begin(&store).await;
    let id = first.conversation().id.clone();
    let mut turn = first.turn(&agent, MODEL);
    let shown = loop {
        if let RunEvent::Approval(approval) = turn.next().await.unwrap().unwrap() {
            break approval.consent();
        }
    };
    let mut second = DurableConversation::load(Arc::clone(&store), &UserId::local(), &id)
        .await
        .unwrap();
    let (mut yes, mut never) = (std::iter::repeat(Answer::Once), std::iter::repeat(false));
    assert!(
        drive(&mut second, &agent, &mut yes, &mut never)
            .await
            .unwrap()
    );
    let late = turn.answer(&shown, Answer::Once.into()).await;
    assert!(
        matches!(late, Err(ConversationError::Overtaken)),
        "{late:?}"
    );
    assert_eq!(tools.calls().len(), 1);
}

#[tokio::test]
async fn who_approved_a_call_is_stored() {
    for (mode, answer, who) in [
        (Mode::Ask, Answer::Once, Some("user")),
        (Mode::Ask, Answer::Deny, None),
        (Mode::Auto, Answer::Once, Some("policy")),
    ] {
        let store = store().await;
        let agent = Agent::new(model(vec![1]))
            .with_model_name("scripted")
            .tools(tools());
        let mut talk = begin(&store).await;
        talk.govern(Policy::new(mode), RunLimits::default());
        let (mut answers, mut never) = (std::iter::repeat(answer), std::iter::repeat(false));
        assert!(
            drive(&mut talk, &agent, &mut answers, &mut never)
                .await
                .unwrap()
        );
        let id = &talk.conversation().id;
        let messages = store.messages(id, Span::Last(1)).await.unwrap();
        let call = &messages[0].tool_calls[0];
        assert_eq!(call.approved_by.as_deref(), who, "{mode:?} {answer:?}");
    }
}

#[tokio::test]
async fn what_is_said_is_stored_before_the_model_is_asked() {
    let store = store().await;
    let talk = begin(&store).await;
    let id = talk.conversation().id.clone();
    let messages = store.messages(&id, Span::Last(9)).await.unwrap();
    assert_eq!(messages[0].content, "Go.");
    let run = store.latest_run(&id).await.unwrap().unwrap();
    assert_eq!(
        (run.finish, run.message_id),
        (None, Some(messages[1].id.clone()))
    );
    assert!(run.state.contains("Go."));
    let stored = store
        .conversation(&UserId::local(), &id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stored.title, "Go.");
}

#[tokio::test]
async fn a_fork_goes_on_by_itself_with_all_that_was_said() {
    let (store, tools) = (store().await, tools());
    let agent = Agent::new(model(vec![2]))
        .with_model_name("scripted")
        .tools(tools.clone());
    let mut talk = begin(&store).await;
    let (mut yes, mut never) = (std::iter::repeat(Answer::Once), std::iter::repeat(false));
    assert!(
        drive(&mut talk, &agent, &mut yes, &mut never)
            .await
            .unwrap()
    );
    let user = UserId::local();
    let copy = fork(&store, &user, &talk.conversation().id, None)
        .await
        .unwrap();
    let mut copied = DurableConversation::load(Arc::clone(&store), &user, &copy.id)
        .await
        .unwrap();
    assert_eq!(copied.run().conversation(), talk.run().conversation());
    assert_eq!(copied.run().conversation().system(), Some("Be brief."));
    copied.ask("And now?").await.unwrap();
    assert!(
        drive(&mut copied, &agent, &mut yes, &mut never)
            .await
            .unwrap()
    );
    assert_eq!(
        store.messages(&copy.id, Span::Last(9)).await.unwrap().len(),
        4
    );
    let original = &talk.conversation().id;
    assert_eq!(
        store.messages(original, Span::Last(9)).await.unwrap().len(),
        2
    );
    let half = fork(&store, &user, original, Some(1)).await.unwrap();
    assert_eq!(
        store.messages(&half.id, Span::Last(9)).await.unwrap().len(),
        1
    );
}

/// How many bytes are handed to the store while a reply of that many pieces comes, each too long to be
/// joined with the next.
async fn written_for(pieces: usize) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let store = Mortal::open(&folder.path().join("switchboard.db")).await;
    let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
    let id = begin(&shared).await.conversation().id.clone();
    let user = UserId::local();
    let mut talk = DurableConversation::load_watched(shared, &user, &id)
        .await
        .unwrap();
    let mut reply = Reply::default();
    let part = || AssistantPart::text("x".repeat(5000));
    reply.parts.extend((0..pieces).map(|_| part()));
    reply.stop = Some(Stop::new(StopReason::End, "scripted"));
    let agent = Agent::new(ScriptedModel::new().replies(reply))
        .with_model_name("scripted")
        .tools(tools());
    let mut turn = talk.turn(&agent, MODEL);
    let before = store.written();
    let mut reported = 0;
    while let Some(event) = turn.next().await.unwrap() {
        reported += usize::from(matches!(event, RunEvent::Text { .. }));
    }
    assert_eq!(reported, pieces);
    drop(turn);
    let stored = store.messages(&id, Span::Last(1)).await.unwrap();
    assert_eq!(stored[0].content.len(), 5000 * pieces);
    store.written() - before
}

#[tokio::test]
async fn what_is_written_of_a_reply_grows_with_its_length_only() {
    let (once, twice) = (written_for(40).await, written_for(80).await);
    assert!(twice * 10 <= once * 22, "{once} bytes, then {twice}");
}

#[tokio::test]
async fn whoever_takes_up_a_run_asks_whatever_it_waits_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switchboard.db");
    let store = Mortal::open(&path).await;
    let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
    let mut talk = begin(&shared).await;
    let id = talk.conversation().id.clone();
    let agent = Agent::new(model(vec![3]))
        .with_model_name("scripted")
        .tools(tools());
    let mut turn = talk.turn(&agent, MODEL);
    while !matches!(turn.next().await.unwrap(), Some(RunEvent::Approval(_))) {}
    assert_eq!(store.open_questions(&id).await.unwrap().len(), 1);
    store.kill().await;
    drop(turn);
    let next = Mortal::open(&path).await;
    let shared: Arc<dyn Store> = Arc::clone(&next) as Arc<dyn Store>;
    let talk = DurableConversation::load(shared, &UserId::local(), &id)
        .await
        .unwrap();
    assert_eq!(talk.run().approvals().len(), 3);
    let asked = next.open_questions(&id).await.unwrap();
    let mut calls: Vec<_> = asked
        .iter()
        .map(|it| it.call_id.as_deref().unwrap())
        .collect();
    calls.sort_unstable();
    assert_eq!(calls, ["1", "2", "3"]);
}

#[tokio::test]
async fn waiting_for_an_event_may_be_cancelled_and_resumes_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let store = Mortal::open(&folder.path().join("switchboard.db")).await;
    let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
    let id = begin(&shared).await.conversation().id.clone();
    let mut talk = DurableConversation::load(shared, &UserId::local(), &id)
        .await
        .unwrap();
    let agent = Agent::new(model(vec![1]))
        .with_model_name("scripted")
        .tools(tools());
    let mut turn = talk.turn(&agent, MODEL);
    let mut written = BTreeSet::new();
    for _ in 0..50 {
        let _ = turn.ready().now_or_never();
        tokio::task::yield_now().await;
        written.insert(store.written());
    }
    assert_eq!(written.len(), 1, "the lease is acquired once: {written:?}");
}
