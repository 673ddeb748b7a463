//! Conversations, messages, calls, blobs.

use serde_json::json;

use super::fails;
use crate::store::{
    Assistant, Blob, BlobId, CallStatus, Change, Conversation, ConversationId, Decision, Message,
    MessageId, NewEvent, Pending, PendingKind, Role, Rule, RuleScope, Run, RunId, SearchWords,
    Setting, Span, Store, StoreError, Timestamp, ToolCall, Usage, UserId,
};

type Outcome = Result<(), StoreError>;

fn conversation(title: &str) -> Conversation {
    Conversation::new(UserId::local(), title)
}

fn said(conversation: &ConversationId, seq: u64, text: &str) -> Message {
    let mut message = Message::new(conversation.clone(), seq, Role::User);
    text.clone_into(&mut message.content);
    message
}

fn put(message: &Message) -> Change {
    Change::PutMessage(Box::new(message.clone()))
}

pub(super) async fn a_commit_is_made_whole_or_not_at_all(store: &dyn Store) -> Outcome {
    let conversation = conversation("conversation");
    let nowhere = said(&ConversationId::fresh(), 1, "hello?");
    let changes = vec![
        Change::PutConversation(conversation.clone()),
        put(&said(&conversation.id, 1, "hello")),
        Change::PutSetting(Setting::new(UserId::local(), "model", "demo")),
        put(&nowhere),
    ];
    fails!(store, changes, StoreError::Missing { .. });
    assert_eq!(
        store
            .conversation(&UserId::local(), &conversation.id)
            .await?,
        None
    );
    assert_eq!(store.messages(&conversation.id, Span::Last(9)).await?, []);
    assert_eq!(store.settings(&UserId::local()).await?, []);
    Ok(())
}

/// Pending, decided, invoked, answered, all in one message.
pub(super) async fn an_answer_is_one_message_with_all_its_calls(store: &dyn Store) -> Outcome {
    let conversation = conversation("conversation");
    let mut answer = Message::new(conversation.id.clone(), 1, Role::Assistant);
    let mut first = ToolCall::new(answer.id.clone(), "call_b", "write");
    first.arguments = json!({"path": "/tmp/x", "mode": 420});
    first.server_name = "files".to_owned();
    first.display_name = "mcp__files__write".to_owned();
    answer.tool_calls.push(first.clone());
    store
        .commit(vec![
            Change::PutConversation(conversation.clone()),
            put(&answer),
        ])
        .await?;
    for status in [CallStatus::Invoking, CallStatus::Done] {
        first.status = status;
        first.approved_by = Some("user".to_owned());
        first.started_at = Some(Timestamp::from_millis(5));
        let change = Change::PutToolCall(Box::new(first.clone()));
        store.commit(vec![change]).await?;
        let stored = store
            .message(&answer.id)
            .await?
            .map(|message| message.tool_calls);
        assert_eq!(stored, Some(vec![first.clone()]));
    }
    first.response = Some(json!([{"type": "text", "text": "ok"}]));
    first.is_error = Some(false);
    first.ended_at = Some(Timestamp::from_millis(9));
    let mut second = ToolCall::new(answer.id.clone(), "call_a", "read");
    second.position = 1;
    second.round = 1;
    second.status = CallStatus::Cancelled;
    second.is_error = Some(true);
    answer.tool_calls = vec![first, second];
    for (text, whole) in [("Do", "Do"), ("ing", "Doing")] {
        let more = Change::AppendContent(answer.id.clone(), text.to_owned());
        store.commit(vec![more]).await?;
        let stored = store.message(&answer.id).await?;
        let stored = stored.map(|message| message.content);
        assert_eq!(stored.as_deref(), Some(whole));
    }
    let nowhere = Change::AppendContent(MessageId::fresh(), "?".to_owned());
    fails!(store, vec![nowhere], StoreError::Missing { .. });
    answer.content = "Done.".to_owned();
    answer.provider_raw = Some(r#"[{"role": "assistant", "n": 1.50}]"#.to_owned());
    answer.finish = Some("done".to_owned());
    store.commit(vec![put(&answer)]).await?;
    assert_eq!(
        store.messages(&conversation.id, Span::Last(9)).await?,
        [answer]
    );
    Ok(())
}

pub(super) async fn a_number_is_given_to_one_message(store: &dyn Store) -> Outcome {
    let conversation = conversation("conversation");
    let first = said(&conversation.id, 1, "one");
    store
        .commit(vec![
            Change::PutConversation(conversation.clone()),
            put(&first),
        ])
        .await?;
    let late = said(&conversation.id, 1, "also one");
    fails!(store, vec![put(&late)], StoreError::Conflict { .. });
    assert_eq!(
        store.messages(&conversation.id, Span::Last(9)).await?,
        [first]
    );
    Ok(())
}

pub(super) async fn messages_are_read_page_by_page(store: &dyn Store) -> Outcome {
    let conversation = conversation("conversation");
    let mut changes = vec![Change::PutConversation(conversation.clone())];
    changes.extend((1..=10).map(|seq| put(&said(&conversation.id, seq, "…"))));
    store.commit(changes).await?;
    for (span, want) in [
        (Span::Last(3), 8..=10),
        (Span::Last(99), 1..=10),
        (Span::Before(8, 3), 5..=7),
        (Span::Before(2, 3), 1..=1),
        (Span::From(9, 5), 9..=10),
        (Span::From(0, 2), 1..=2),
    ] {
        let page = store.messages(&conversation.id, span).await?;
        assert!(page.iter().map(|message| message.seq).eq(want), "{span:?}");
    }
    Ok(())
}

/// Of several versions of a message one is shown, with what followed it.
pub(super) async fn one_version_of_a_message_is_shown(store: &dyn Store) -> Outcome {
    let (mine, other) = (conversation("mine"), conversation("other"));
    let mut changes = vec![
        Change::PutConversation(mine.clone()),
        Change::PutConversation(other.clone()),
    ];
    // 1 2 3 4, and 5 6 in place of 3 4.
    for (seq, follows) in [(1, 0), (2, 1), (3, 2), (4, 3), (5, 2), (6, 5)] {
        let mut message = said(&mine.id, seq, &format!("word{seq}"));
        message.follows = follows;
        changes.push(put(&message));
        changes.push(put(&said(&other.id, seq, "of another conversation")));
    }
    store.commit(changes).await?;
    let shown = async |of: &Conversation| {
        let page = store.messages(&of.id, Span::Last(99)).await?;
        Ok::<_, StoreError>(page.iter().map(|it| it.seq).collect::<Vec<_>>())
    };
    for (up_to, seqs) in [
        (6, vec![1, 2, 5, 6]),
        (4, vec![1, 2, 3, 4]),
        (4, vec![1, 2, 3, 4]),
        (2, vec![1, 2]),
        (0, vec![]),
        (6, vec![1, 2, 5, 6]),
    ] {
        let show = Change::ShowUpTo(mine.id.clone(), up_to);
        store.commit(vec![show]).await?;
        assert_eq!(shown(&mine).await?, seqs, "up to {up_to}");
        assert_eq!(shown(&other).await?.len(), 6);
    }
    let before = store.messages(&mine.id, Span::Before(6, 1)).await?;
    assert_eq!(before.first().map(|it| it.seq), Some(5));
    let places = store.places(&mine.id).await?;
    let follows: Vec<(u64, u64)> = places.iter().map(|it| (it.seq, it.follows)).collect();
    assert_eq!(follows, [(1, 0), (2, 1), (3, 2), (4, 3), (5, 2), (6, 5)]);
    // What is set aside keeps its number, and is not found.
    store
        .commit(vec![Change::ShowUpTo(mine.id.clone(), 4)])
        .await?;
    let snapshot = store.snapshot(&mine.user_id, &mine.id).await?;
    let snapshot = snapshot.map(|it| (it.last.map(|last| last.seq), it.next_seq));
    assert_eq!(snapshot, Some((Some(4), 7)));
    for (word, count) in [("word4", 1), ("word6", 0)] {
        let found = store
            .search(&mine.user_id, &SearchWords::of(word), 9)
            .await?;
        assert_eq!(found.len(), count, "{word}");
    }
    Ok(())
}

/// Words of any length, in any case, of any language; of the user's own messages only.
pub(super) async fn messages_are_found_by_their_words(store: &dyn Store) -> Outcome {
    let (mine, later) = (conversation("mine"), conversation("later"));
    let other = super::other_user(store).await?;
    let others = Conversation::new(other.clone(), "others");
    let texts = [
        said(&mine.id, 1, "What is the Weather in Berlin?"),
        said(&mine.id, 2, "明天北京的天气怎么样？"),
        said(&mine.id, 3, "100% sure_thing"),
        said(&mine.id, 4, "Über den Wolken"),
        said(&later.id, 1, "The weather again"),
        said(&others.id, 1, "Their weather, 天气"),
    ];
    let mut changes: Vec<Change> = [mine, later, others].map(Change::PutConversation).into();
    changes.extend(texts.iter().map(put));
    store.commit(changes).await?;
    for (query, found) in [
        (
            "weather",
            vec!["The weather again", "What is the Weather in Berlin?"],
        ),
        ("WEATHER berlin", vec!["What is the Weather in Berlin?"]),
        ("天气", vec!["明天北京的天气怎么样？"]),
        ("天气 北京", vec!["明天北京的天气怎么样？"]),
        ("气", vec!["明天北京的天气怎么样？"]),
        ("0%", vec!["100% sure_thing"]),
        ("e_t", vec!["100% sure_thing"]),
        ("über", vec!["Über den Wolken"]),
        ("snow", vec![]),
        (" ", vec![]),
    ] {
        let words = SearchWords::of(query);
        let messages = store.search(&UserId::local(), &words, 9).await?;
        let texts: Vec<&str> = messages.iter().map(|it| it.content.as_str()).collect();
        assert_eq!(texts, found, "{query:?}");
    }
    let words = SearchWords::of("weather");
    assert_eq!(store.search(&UserId::local(), &words, 1).await?.len(), 1);
    assert_eq!(store.search(&other, &words, 9).await?.len(), 1);
    Ok(())
}

pub(super) async fn conversations_come_by_use(store: &dyn Store) -> Outcome {
    let user = UserId::local();
    for (title, used) in [("old", 1), ("new", 3), ("middle", 2), ("old too", 1)] {
        let mut conversation = conversation(title);
        conversation.updated_at = Timestamp::from_millis(used);
        store
            .commit(vec![Change::PutConversation(conversation)])
            .await?;
    }
    let all = store.conversations(&user, None, 9).await?;
    let titles: Vec<_> = all
        .iter()
        .map(|conversation| conversation.title.as_str())
        .collect();
    assert_eq!(titles, ["old too", "middle", "new", "old"]);
    let mut paged = store.conversations(&user, None, 1).await?;
    while let Some(next) = store.conversations(&user, paged.last(), 1).await?.pop() {
        paged.push(next);
    }
    assert_eq!(paged, all);
    Ok(())
}

pub(super) async fn blobs_belong_to_a_conversation(store: &dyn Store) -> Outcome {
    let (conversation, other) = (conversation("conversation"), conversation("other"));
    let blob = Blob::new(conversation.id.clone(), "image/png", vec![0, 159, 146, 150]);
    let changes = vec![
        Change::PutConversation(conversation.clone()),
        Change::PutConversation(other.clone()),
        Change::PutBlob(blob.clone()),
    ];
    store.commit(changes).await?;
    assert_eq!(
        store.blob(&conversation.id, &blob.id).await?.as_ref(),
        Some(&blob)
    );
    assert_eq!(store.blob(&other.id, &blob.id).await?, None);
    assert_eq!(store.blob(&conversation.id, &BlobId::fresh()).await?, None);
    Ok(())
}

pub(super) async fn a_conversation_goes_whole_but_its_usage_stays(store: &dyn Store) -> Outcome {
    let user = UserId::local();
    let (conversation, mut fork) = (conversation("conversation"), conversation("fork"));
    fork.parent = Some(conversation.id.clone());
    let blob = Blob::new(conversation.id.clone(), "text/plain", vec![1]);
    let mut message = Message::new(conversation.id.clone(), 1, Role::Assistant);
    let mut call = ToolCall::new(message.id.clone(), "call_1", "big");
    call.result_blob = Some(blob.id.clone());
    message.tool_calls.push(call);
    let mut question = Pending::new(conversation.id.clone(), PendingKind::Approval, json!({}));
    question.message_id = Some(message.id.clone());
    let mut rule = Rule::new(user.clone(), RuleScope::Conversation, Decision::Allow);
    rule.conversation_id = Some(conversation.id.clone());
    let run = Run::new(conversation.id.clone(), "{}");
    let usage = Usage::new(
        user.clone(),
        conversation.id.clone(),
        RunId::fresh(),
        1,
        "demo",
    );
    let event = NewEvent::new(
        user.clone(),
        Some(conversation.id.clone()),
        "message.created",
        json!(1),
    );
    let changes = vec![
        Change::PutConversation(conversation.clone()),
        Change::PutConversation(fork.clone()),
        Change::PutBlob(blob.clone()),
        Change::PutMessage(Box::new(message.clone())),
        Change::PutPending(question.clone()),
        Change::PutRule(rule),
        Change::PutRun(Box::new(run)),
        Change::PutUsage(usage),
        Change::AppendEvent(event),
    ];
    store.commit(changes).await?;
    let gone = Change::DeleteConversation(user.clone(), conversation.id.clone());
    store.commit(vec![gone]).await?;
    assert_eq!(store.message(&message.id).await?, None);
    assert_eq!(store.blob(&conversation.id, &blob.id).await?, None);
    assert_eq!(store.question(&question.id).await?, None);
    assert_eq!(store.rules(&user).await?, []);
    assert_eq!(store.latest_run(&conversation.id).await?, None);
    assert_eq!(store.unfinished(&user).await?, []);
    assert_eq!(store.events(&user, None, 0, 9).await?, []);
    assert_eq!(
        store
            .usage(&user, Some(&conversation.id), None)
            .await?
            .len(),
        1
    );
    fork.parent = None;
    assert_eq!(store.conversations(&user, None, 9).await?, [fork]);
    Ok(())
}

pub(super) async fn what_could_not_be_read_is_not_written(store: &dyn Store) -> Outcome {
    let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    let user = UserId::local();
    let deep = Setting::new(user.clone(), "deep", nested(90));
    store.commit(vec![Change::PutSetting(deep.clone())]).await?;
    assert_eq!(store.settings(&user).await?, [deep]);
    let deeper = vec![Change::PutSetting(Setting::new(
        user,
        "deeper",
        nested(130),
    ))];
    fails!(store, deeper, StoreError::TooBig { .. });
    Ok(())
}

/// A driver may hold a row from before its assistant and parent were removed.
pub(super) async fn a_conversation_outlives_what_it_names(store: &dyn Store) -> Outcome {
    let user = UserId::local();
    let (parent, mut copy) = (conversation("parent"), conversation("copy"));
    let assistant = Assistant::new(user.clone(), "assistant");
    copy.parent = Some(parent.id.clone());
    copy.assistant_id = Some(assistant.id.clone());
    let put = |row: &Conversation| Change::PutConversation(row.clone());
    let named = vec![
        put(&parent),
        Change::PutAssistant(assistant.clone()),
        put(&copy),
    ];
    store.commit(named).await?;
    assert_eq!(
        store.conversation(&user, &copy.id).await?,
        Some(copy.clone())
    );
    let gone = vec![
        Change::DeleteConversation(user.clone(), parent.id),
        Change::DeleteAssistant(user.clone(), assistant.id),
    ];
    store.commit(gone).await?;
    copy.title = "renamed".to_owned();
    store.commit(vec![put(&copy)]).await?;
    (copy.parent, copy.assistant_id) = (None, None);
    assert_eq!(store.conversation(&user, &copy.id).await?, Some(copy));
    Ok(())
}
