//! Runs, questions, usage, events, and using the store itself.

use std::sync::Arc;

use serde_json::json;

use super::{fails, other_user};
use crate::store::{
    CallStatus, Change, Conversation, EventBounds, Message, MessageId, NewEvent, Pending,
    PendingKind, PendingState, Role, Run, RunId, Standing, Store, StoreError, Timestamp, ToolCall,
    Usage, UsageTotal, UserId,
};

type Outcome = Result<(), StoreError>;

async fn conversation(store: &dyn Store) -> Result<Conversation, StoreError> {
    let conversation = Conversation::new(UserId::local(), "conversation");
    store
        .commit(vec![Change::PutConversation(conversation.clone())])
        .await?;
    Ok(conversation)
}

/// An approval survives until it is answered, and is answered once.
pub(super) async fn a_question_is_settled_once(store: &dyn Store) -> Outcome {
    let conversation = conversation(store).await?;
    let payload = json!({"tool": "write", "arguments": {}});
    let mut first = Pending::new(conversation.id.clone(), PendingKind::Approval, payload);
    first.call_id = Some("call_1".to_owned());
    first.created_at = Timestamp::from_millis(1);
    let second = Pending::new(conversation.id.clone(), PendingKind::Elicitation, json!({}));
    let both = [&second, &first].map(|question| Change::PutPending(question.clone()));
    store.commit(both.to_vec()).await?;
    let open = store.open_questions(&conversation.id).await?;
    assert_eq!(open, [second.clone(), first.clone()]);
    let settle = |state| Change::Settle {
        id: first.id.clone(),
        state,
        answer: Some(json!({"decision": "once"})),
        at: Timestamp::from_millis(7),
    };
    store.commit(vec![settle(PendingState::Answered)]).await?;
    assert_eq!(store.open_questions(&conversation.id).await?, [second]);
    fails!(
        store,
        vec![settle(PendingState::Withdrawn)],
        StoreError::Conflict { .. }
    );
    let stored = store.question(&first.id).await?;
    first.state = PendingState::Answered;
    first.answer = Some(json!({"decision": "once"}));
    first.settled_at = Some(Timestamp::from_millis(7));
    assert_eq!(stored.as_ref(), Some(&first));
    fails!(
        store,
        vec![Change::PutPending(first)],
        StoreError::Conflict { .. }
    );
    Ok(())
}

/// Two who load the same run cannot both take it a step further.
pub(super) async fn a_run_that_was_overtaken_is_rejected(store: &dyn Store) -> Outcome {
    let (user, conversation) = (UserId::local(), conversation(store).await?);
    let mut run = Run::new(conversation.id.clone(), r#"{"step": 1}"#);
    run.created_at = Timestamp::from_millis(1);
    let put = |run: &Run| vec![Change::PutRun(Box::new(run.clone()))];
    store.commit(put(&run)).await?;
    assert_eq!(
        store.unfinished(&user).await?,
        std::slice::from_ref(&conversation.id)
    );
    fails!(store, put(&run), StoreError::Conflict { .. });
    run.revision = 2;
    run.state = r#"{"step": 2}"#.to_owned();
    store.commit(put(&run)).await?;
    let mut late = run.clone();
    late.state = r#"{"step": "another"}"#.to_owned();
    fails!(store, put(&late), StoreError::Conflict { .. });
    late.revision = 4;
    fails!(store, put(&late), StoreError::Conflict { .. });
    assert_eq!(store.latest_run(&conversation.id).await?, Some(run.clone()));
    run.revision = 3;
    run.finish = Some("done".to_owned());
    let next = Run::new(conversation.id.clone(), "{}");
    store.commit([put(&run), put(&next)].concat()).await?;
    assert_eq!(
        store.latest_run(&conversation.id).await?,
        Some(next.clone())
    );
    assert_eq!(store.unfinished(&user).await?, [conversation.id]);
    Ok(())
}

pub(super) async fn usage_is_summed_by_model(store: &dyn Store) -> Outcome {
    let (user, other) = (UserId::local(), other_user(store).await?);
    let (one, two) = (conversation(store).await?, conversation(store).await?);
    let run = RunId::fresh();
    let row = |conversation: &Conversation, run: &RunId, round, model: &str, cost, at| {
        let mut row = Usage::new(
            user.clone(),
            conversation.id.clone(),
            run.clone(),
            round,
            model,
        );
        (row.input, row.output, row.cache_read, row.cache_write) = (100, 10, 5, 1);
        row.cost_micros = cost;
        row.created_at = Timestamp::from_millis(at);
        row
    };
    let mut theirs = row(&two, &RunId::fresh(), 1, "a", None, 9);
    theirs.user_id = other;
    let rows = [
        row(&one, &run, 1, "b", Some(7), 1),
        row(&one, &run, 2, "b", None, 2),
        row(&one, &run, 2, "b", Some(8), 2), // the same round again replaces it
        row(&two, &RunId::fresh(), 1, "a", None, 3),
        theirs,
    ];
    store.commit(rows.map(Change::PutUsage).to_vec()).await?;
    let all = store.usage(&user, None, None).await?;
    let brief = |totals: &[crate::store::UsageTotal]| -> Vec<_> {
        let rows = totals.iter();
        rows.map(|t| {
            (
                t.model.clone(),
                t.rounds,
                t.input,
                t.cost_micros,
                t.unpriced_rounds,
            )
        })
        .collect()
    };
    let a = ("a".to_owned(), 1, 100, 0, 1);
    let b = ("b".to_owned(), 2, 200, 15, 0);
    assert_eq!(brief(&all), [a.clone(), b.clone()]);
    assert_eq!(brief(&store.usage(&user, Some(&one.id), None).await?), [b]);
    let recent = store
        .usage(&user, None, Some(Timestamp::from_millis(3)))
        .await?;
    assert_eq!(brief(&recent), [a]);
    // Of an answer are the rounds of all runs that wrote it.
    let answer = Message::new(one.id.clone(), 1, Role::Assistant);
    let mut wrote = Run::new(one.id.clone(), "{}");
    (wrote.id, wrote.message_id) = (run, Some(answer.id.clone()));
    let stored = vec![
        Change::PutMessage(Box::new(answer.clone())),
        Change::PutRun(Box::new(wrote)),
    ];
    store.commit(stored).await?;
    let of = store
        .usage_of(&[MessageId::fresh(), answer.id.clone()])
        .await?;
    let (ids, totals): (Vec<MessageId>, Vec<UsageTotal>) = of.into_iter().unzip();
    assert_eq!(ids, [answer.id]);
    assert_eq!(brief(&totals), [("b".to_owned(), 2, 200, 15, 0)]);
    Ok(())
}

pub(super) async fn events_are_numbered_and_replayed(store: &dyn Store) -> Outcome {
    let (user, other) = (UserId::local(), other_user(store).await?);
    let (one, two) = (conversation(store).await?, conversation(store).await?);
    let event = |user: &UserId, conversation: Option<&Conversation>, text: &str| {
        let conversation = conversation.map(|conversation| conversation.id.clone());
        Change::AppendEvent(NewEvent::new(
            user.clone(),
            conversation,
            "message.delta",
            json!(text),
        ))
    };
    let changes = vec![
        event(&user, Some(&one), "a"),
        event(&user, Some(&two), "b"),
        event(&other, None, "theirs"),
        event(&user, None, "c"),
        event(&user, Some(&one), "d"),
    ];
    let numbers = store.commit(changes).await?;
    assert!(
        numbers.len() == 5 && numbers.is_sorted_by(|a, b| a < b),
        "{numbers:?}"
    );
    let all = store.events(&user, None, 0, 9).await?;
    let texts = |events: &[crate::store::Event]| -> String {
        events
            .iter()
            .filter_map(|event| event.data.as_str())
            .collect()
    };
    assert_eq!(texts(&all), "abcd");
    let Some(second) = all.get(1) else {
        return Ok(());
    };
    assert_eq!(
        texts(&store.events(&user, None, second.seq, 9).await?),
        "cd"
    );
    assert_eq!(texts(&store.events(&user, None, second.seq, 1).await?), "c");
    assert_eq!(
        texts(&store.events(&user, Some(&one.id), 0, 9).await?),
        "acd",
        "a conversation's events come with those of none"
    );
    assert_eq!(
        texts(&store.events(&user, Some(&one.id), 0, 2).await?),
        "ac"
    );
    assert_eq!(
        texts(&store.events(&other, Some(&one.id), 0, 9).await?),
        "theirs"
    );
    let last = numbers.last().copied().unwrap_or_default();
    let bounds = store.event_bounds(&user).await?;
    assert_eq!(
        bounds,
        EventBounds::new(0, last),
        "nothing is forgotten yet"
    );
    store
        .commit(vec![Change::PruneEvents(user.clone(), 1)])
        .await?;
    assert_eq!(texts(&store.events(&user, None, 0, 9).await?), "d");
    let bounds = store.event_bounds(&user).await?;
    let forgotten = all.get(2).map_or(0, |third| third.seq);
    assert_eq!(bounds, EventBounds::new(forgotten, last));
    assert_eq!(store.event_bounds(&other).await?.forgotten, 0);
    assert_eq!(texts(&store.events(&other, None, 0, 9).await?), "theirs");
    store
        .commit(vec![Change::PruneEvents(user.clone(), 0)])
        .await?;
    assert_eq!(
        store.event_bounds(&user).await?,
        EventBounds::new(last, last)
    );
    let after = store.commit(vec![event(&user, None, "e")]).await?;
    assert!(
        after.first() > numbers.last(),
        "a number is never used twice"
    );
    Ok(())
}

/// After a signal the event can be read; events of other users and conversations are not signalled.
pub(super) async fn new_events_are_heard_of(store: &dyn Store) -> Outcome {
    let (user, other) = (UserId::local(), other_user(store).await?);
    let (one, two) = (conversation(store).await?, conversation(store).await?);
    let event = |user: &UserId, conversation: Option<&Conversation>| {
        let conversation = conversation.map(|conversation| conversation.id.clone());
        Change::AppendEvent(NewEvent::new(
            user.clone(),
            conversation,
            "message.delta",
            json!(1),
        ))
    };
    let (mut all, mut here, mut idle) = (
        store.event_cursor(),
        store.event_cursor(),
        store.event_cursor(),
    );
    store
        .commit(vec![event(&other, None), event(&user, Some(&two))])
        .await?;
    assert!(all.appended(&user, None).await);
    assert_eq!(store.events(&user, None, 0, 9).await?.len(), 1);
    store.commit(vec![event(&user, Some(&one))]).await?;
    assert!(here.appended(&user, Some(&one.id)).await);
    assert_eq!(store.events(&user, Some(&one.id), 0, 9).await?.len(), 1);
    store.commit(vec![event(&user, None)]).await?;
    assert!(here.appended(&user, Some(&one.id)).await);
    assert_eq!(store.events(&user, Some(&one.id), 0, 9).await?.len(), 2);
    for _ in 0..3 {
        let many = (0..1000).map(|_| event(&user, None)).collect();
        store.commit(many).await?;
    }
    assert!(
        idle.appended(&other, None).await,
        "the slower one must load again"
    );
    Ok(())
}

pub(super) async fn a_conversation_tells_how_it_stands(store: &dyn Store) -> Outcome {
    let (fresh, open, done) = (
        conversation(store).await?,
        conversation(store).await?,
        conversation(store).await?,
    );
    let put = |run: &Run| Change::PutRun(Box::new(run.clone()));
    let mut past = Run::new(open.id.clone(), "");
    past.created_at = Timestamp::from_millis(1);
    past.finish = Some("finished".to_owned());
    let mut ended = Run::new(done.id.clone(), "");
    ended.finish = Some("cancelled".to_owned());
    let question = || {
        let asked = Pending::new(open.id.clone(), PendingKind::Approval, json!({}));
        (asked.id.clone(), Change::PutPending(asked))
    };
    let ((settled, first), (_, second)) = (question(), question());
    let mut answer = Message::new(open.id.clone(), 1, Role::Assistant);
    for (position, status) in [CallStatus::Invoking, CallStatus::Done]
        .into_iter()
        .enumerate()
    {
        let mut call = ToolCall::new(answer.id.clone(), "call", "act");
        (call.position, call.status) = (position as u32, status);
        answer.tool_calls.push(call);
    }
    let mut going = Run::new(open.id.clone(), "{}");
    going.message_id = Some(answer.id.clone());
    let answer = Change::PutMessage(Box::new(answer));
    let changes = vec![put(&past), answer, put(&going), put(&ended), first, second];
    store.commit(changes).await?;
    let settle = Change::Settle {
        id: settled,
        state: PendingState::Answered,
        answer: None,
        at: Timestamp::from_millis(7),
    };
    store.commit(vec![settle]).await?;
    let nowhere = crate::store::ConversationId::new("nowhere");
    let asked = [done.id.clone(), nowhere, open.id.clone(), fresh.id.clone()];
    let reported = store.standings(&asked).await?;
    let mut of_done = Standing::new(done.id);
    of_done.finish = Some("cancelled".to_owned());
    let mut of_open = Standing::new(open.id);
    (of_open.open, of_open.waiting, of_open.invoking) = (true, 1, 1);
    assert_eq!(reported, [of_done, of_open, Standing::new(fresh.id)]);
    Ok(())
}

pub(super) async fn commits_at_once_are_all_made(store: Arc<dyn Store>) -> Outcome {
    let user = UserId::local();
    let tasks = (0..100).map(|number| {
        let (store, user) = (store.clone(), user.clone());
        tokio::spawn(async move {
            let event = NewEvent::new(user, None, "message.delta", json!(number));
            store.commit(vec![Change::AppendEvent(event)]).await
        })
    });
    let mut numbers = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        let made = task
            .await
            .map_err(|error| StoreError::Failed(error.into()))?;
        numbers.extend(made?);
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 100);
    assert_eq!(store.events(&user, None, 0, 200).await?.len(), 100);
    Ok(())
}

pub(super) async fn a_closed_store_returns_closed(store: &dyn Store) -> Outcome {
    store.close().await?;
    assert!(matches!(store.users().await, Err(StoreError::Closed)));
    assert!(matches!(store.close().await, Err(StoreError::Closed)));
    Ok(())
}
