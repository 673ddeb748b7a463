//! Whatever is committed, and whenever the process dies, the store loads and has it.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard::store::{
    Change, Conversation, ConversationId, Decision, Limits, Message, MessageId, NewEvent, Pending,
    PendingId, PendingKind, PendingState, Role, Rule, RuleScope, Run, RunId, Server, ServerId,
    ServerKind, Setting, Span, SqliteStore, Store, Timestamp, ToolCall, Usage, UserId,
};

/// Few ids, so that changes meet.
fn few() -> impl Strategy<Value = u8> {
    0..3u8
}

fn change() -> impl Strategy<Value = Change> {
    let user = UserId::local;
    let talk = |n: u8| ConversationId::new(format!("talk{n}"));
    let message = |n: u8| MessageId::new(format!("message{n}"));
    let at = Timestamp::from_millis(1);
    prop_oneof![
        (few(), few(), few()).prop_map(move |(id, name, revision)| {
            let mut server = Server::new(user(), format!("server{name}"), ServerKind::Stdio);
            server.id = ServerId::new(format!("server{id}"));
            server.revision = u64::from(revision);
            (server.created_at, server.updated_at) = (at, at);
            Change::PutServer(Box::new(server))
        }),
        few().prop_map(move |n| {
            Change::DeleteServer(user(), ServerId::new(format!("server{n}")))
        }),
        (few(), ".{0,8}").prop_map(move |(n, title)| {
            let mut row = Conversation::new(user(), title);
            row.id = talk(n);
            (row.created_at, row.updated_at) = (at, at);
            Change::PutConversation(row)
        }),
        few().prop_map(move |n| Change::DeleteConversation(user(), talk(n))),
        (few(), few(), 1..4u64, 0..3u32).prop_map(move |(id, talk_id, seq, calls)| {
            let mut row = Message::new(talk(talk_id), seq, Role::Assistant);
            row.id = message(id);
            row.created_at = at;
            row.tool_calls = (0..calls)
                .map(|place| {
                    let mut call = ToolCall::new(message(id), format!("call{place}"), "add");
                    call.position = place;
                    call
                })
                .collect();
            Change::PutMessage(Box::new(row))
        }),
        (few(), few()).prop_map(move |(n, call)| {
            let call = ToolCall::new(message(n), format!("call{call}"), "write");
            Change::PutToolCall(Box::new(call))
        }),
        (few(), few()).prop_map(move |(n, talk_id)| {
            let mut row = Pending::new(talk(talk_id), PendingKind::Approval, json!({"n": n}));
            row.id = PendingId::new(format!("question{n}"));
            row.created_at = at;
            Change::PutPending(row)
        }),
        few().prop_map(move |n| Change::Settle {
            id: PendingId::new(format!("question{n}")),
            state: PendingState::Answered,
            answer: Some(json!(n)),
            at,
        }),
        (few(), few(), 1..4u64).prop_map(move |(n, talk_id, revision)| {
            let mut row = Run::new(talk(talk_id), format!("{revision}"));
            row.id = RunId::new(format!("run{n}"));
            row.revision = revision;
            (row.created_at, row.updated_at) = (at, at);
            Change::PutRun(Box::new(row))
        }),
        (few(), few()).prop_map(move |(n, round)| {
            let run = RunId::new(format!("run{n}"));
            let mut row = Usage::new(user(), talk(n), run, round.into(), "demo");
            row.created_at = at;
            Change::PutUsage(row)
        }),
        few().prop_map(move |n| {
            let mut event = NewEvent::new(user(), None, "message.delta", json!(n));
            event.created_at = at;
            Change::AppendEvent(event)
        }),
        few().prop_map(move |n| Change::PruneEvents(user(), n.into())),
        (few(), few()).prop_map(move |(n, talk_id)| {
            let mut rule = Rule::new(user(), RuleScope::Conversation, Decision::Allow);
            rule.id = switchboard::store::RuleId::new(format!("rule{n}"));
            rule.conversation_id = Some(talk(talk_id));
            rule.created_at = at;
            Change::PutRule(rule)
        }),
        (few(), any::<i64>()).prop_map(move |(n, value)| {
            Change::PutSetting(Setting::new(user(), format!("key{n}"), value))
        }),
    ]
}

/// All there is to read.
async fn dump(store: &SqliteStore) -> Value {
    let user = UserId::local();
    let talks = store.conversations(&user, None, 99).await.unwrap();
    let mut inner = Vec::new();
    for talk in &talks {
        let messages = store.messages(&talk.id, Span::Last(99)).await.unwrap();
        let questions = store.open_questions(&talk.id).await.unwrap();
        let run = store.latest_run(&talk.id).await.unwrap();
        inner.push(json!({ "messages": messages, "questions": questions, "run": run }));
    }
    json!({
        "servers": store.servers(&user).await.unwrap(),
        "talks": talks,
        "inner": inner,
        "rules": store.rules(&user).await.unwrap(),
        "runs": store.unfinished(&user).await.unwrap(),
        "usage": store.usage(&user, None, None).await.unwrap(),
        "events": store.events(&user, None, 0, 99).await.unwrap(),
        "settings": store.settings(&user).await.unwrap(),
    })
}

/// The file and its log as a process that dies now leaves them, the log cut off after a part of
/// it, as when the machine dies too.
fn leave_behind(from: &Path, to: &Path, part: f64) {
    std::fs::copy(from.join("switchboard.db"), to.join("switchboard.db")).unwrap();
    let log = std::fs::read(from.join("switchboard.db-wal")).unwrap();
    let kept = (log.len() as f64 * part) as usize;
    std::fs::write(to.join("switchboard.db-wal"), &log[..kept]).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn what_was_committed_is_there_after_a_crash(
        commits in prop::collection::vec(prop::collection::vec(change(), 1..5), 1..20),
        part in prop_oneof![Just(1.0), 0.0..1.0f64],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let alive = tempfile::tempdir().unwrap();
            let dead = tempfile::tempdir().unwrap();
            let file = |folder: &Path| folder.join("switchboard.db");
            let store = SqliteStore::open(file(alive.path()), Limits::default()).await.unwrap();
            let mut states = vec![dump(&store).await];
            for changes in commits {
                let made = store.commit(changes).await.is_ok();
                let now = dump(&store).await;
                match made {
                    true => states.push(now),
                    false => assert_eq!(Some(&now), states.last(), "a failed commit changed it"),
                }
            }
            leave_behind(alive.path(), dead.path(), part);
            let reopened = SqliteStore::open(file(dead.path()), Limits::default()).await.unwrap();
            let found = dump(&reopened).await;
            if part >= 1.0 {
                assert_eq!(Some(&found), states.last());
            } else {
                assert!(states.contains(&found), "a part of a commit was made");
            }
            let setting = Setting::new(UserId::local(), "after", "the crash");
            reopened.commit(vec![Change::PutSetting(setting)]).await.unwrap();
        });
    }
}
