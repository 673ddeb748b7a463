//! Conversations that are compacted: with a notice, on request, and killed meanwhile.

use std::sync::Arc;

use agent_loop::testing::{ScriptedModel, ScriptedTools};
use agent_loop::{Agent, Answer, Compaction, Mode, Outcome, Policy, RunEvent, RunLimits, ToolInfo};
use provider_adapters::{
    Arguments, AssistantPart, ErrorKind, ProviderError, Reply, Request, Stop, StopReason, ToolCall,
};
use switchboard::conversation::DurableConversation;
use switchboard::store::{Span, UserId};

use super::{MODEL, begin, drive, store};

/// A model that reads something long and then answers as the replies say.
fn reading(replies: impl FnOnce(ScriptedModel) -> ScriptedModel) -> Agent {
    let schema = serde_json::from_str(r#"{"type":"object"}"#).unwrap();
    let read = ToolInfo::new("files", "read", schema).read_only();
    let tools = ScriptedTools::new().with_answer(read, |_| Outcome::text("word ".repeat(3_000)));
    let model = ScriptedModel::new().calls([("read", serde_json::json!({}))]);
    Agent::new(replies(model)).tools(tools)
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_compacted_with_a_notice() {
    let mut refused = Reply::default();
    let error = ProviderError::new(ErrorKind::ContextWindow, "prompt is too long");
    refused.error = Some(error);
    let is_refused = reading(|model| model.replies(refused).says("Done."));
    let is_known = reading(|model| model.says("Done."));
    // The result alone is longer than that.
    let is_known = is_known.with_compaction(Compaction::at(2_000));
    for agent in [is_refused, is_known] {
        let store = store().await;
        let id = begin(&store).await.conversation().id.clone();
        let user = UserId::local();
        let mut talk = DurableConversation::load_watched(Arc::clone(&store), &user, &id)
            .await
            .unwrap();
        talk.govern(Policy::new(Mode::Auto), RunLimits::default());
        let (mut yes, mut never) = (std::iter::repeat(Answer::Once), std::iter::repeat(false));
        let over = drive(&mut talk, &agent, &mut yes, &mut never).await;
        assert!(over.unwrap());
        assert_eq!(talk.run().text(), "Done.");
        let events = store.events(&user, Some(&id), 0, 99).await.unwrap();
        let notices = events.iter().filter(|event| event.kind == "run.notice");
        let notices: Vec<String> = notices.map(|event| event.data.to_string()).collect();
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(
            notices[0].contains("was compacted from about"),
            "{notices:?}"
        );
    }
}

#[tokio::test]
async fn a_conversation_is_compacted_on_request_and_its_answers_stay() {
    let store = store().await;
    let mut talk = begin(&store).await;
    talk.govern(Policy::new(Mode::Auto), RunLimits::default());
    let agent = reading(|model| model.says("Done.").says("Still here."));
    let (mut yes, mut never) = (std::iter::repeat(Answer::Once), std::iter::repeat(false));
    assert!(!talk.compact().await.unwrap(), "the answer is not over");
    let over = drive(&mut talk, &agent, &mut yes, &mut never).await;
    assert!(over.unwrap());
    let before = talk.run().context_tokens();
    let id = talk.conversation().id.clone();
    let stored = store.messages(&id, Span::Last(9)).await.unwrap();
    assert!(talk.compact().await.unwrap());
    let over = drive(&mut talk, &agent, &mut yes, &mut never).await;
    assert!(over.unwrap());
    assert!(talk.run().context_tokens() < before / 2);
    assert_eq!(store.messages(&id, Span::Last(9)).await.unwrap(), stored);

    let user = UserId::local();
    let mut talk = DurableConversation::load(Arc::clone(&store), &user, &id)
        .await
        .unwrap();
    assert!(talk.run().context_tokens() < before / 2);
    talk.ask("And now?").await.unwrap();
    let over = drive(&mut talk, &agent, &mut yes, &mut never).await;
    assert!(over.unwrap());
    assert_eq!(talk.run().text(), "Still here.");
}

/// A model that reads once, sums up where it is asked to, and is done. It looks at what was said only.
fn reads_once(request: &Request) -> Reply {
    let turns = request.conversation.turns();
    let asked = serde_json::to_string(&turns[0]).unwrap();
    let mut reply = Reply::default();
    reply.stop = Some(Stop::new(StopReason::End, "scripted"));
    reply
        .parts
        .push(if asked.contains("Summarise the conversation") {
            AssistantPart::text("They read.")
        } else if asked.contains("They read.") || turns.len() > 1 {
            AssistantPart::text("Done.")
        } else {
            ToolCall::new("call_1", "read", Arguments::read("{}".to_owned())).into()
        });
    reply
}

#[tokio::test]
async fn a_conversation_killed_while_it_is_compacted_goes_on_to_the_same_end() {
    let schema = serde_json::from_str(r#"{"type":"object"}"#).unwrap();
    let read = ToolInfo::new("files", "read", schema).read_only();
    let tools = ScriptedTools::new().with_answer(read, |_| Outcome::text("word ".repeat(3_000)));
    let agent = Agent::new(ScriptedModel::improvising(reads_once))
        .tools(tools)
        .with_compaction(Compaction::at(2_000).keep_turns(0));
    let end = async |kill: Option<usize>| {
        let store = store().await;
        let mut talk = begin(&store).await;
        let id = talk.conversation().id.clone();
        let mut events = Vec::new();
        loop {
            talk.govern(Policy::new(Mode::Auto), RunLimits::default());
            let mut turn = talk.turn(&agent, MODEL);
            let mut is_killed = false;
            while let Some(event) = turn.next().await.unwrap() {
                let is_last = matches!(event, RunEvent::Done { .. });
                is_killed = kill == Some(events.len());
                events.push(event);
                if is_killed || is_last {
                    break;
                }
            }
            drop(turn);
            if !is_killed {
                break;
            }
            drop(talk);
            talk = DurableConversation::load_watched(Arc::clone(&store), &UserId::local(), &id)
                .await
                .unwrap();
        }
        (events, talk.run().conversation().clone())
    };
    let (events, whole) = end(None).await;
    let at = |is: fn(&RunEvent) -> bool| events.iter().position(is).unwrap();
    let begun = at(|event| matches!(event, RunEvent::Compacting { .. }));
    let over = at(|event| matches!(event, RunEvent::Compacted { .. }));
    assert!(
        serde_json::to_string(&whole)
            .unwrap()
            .contains("They read.")
    );
    for kill in begun..=over {
        assert_eq!(end(Some(kill)).await.1, whole, "killed at event {kill}");
    }
}
