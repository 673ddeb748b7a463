//! A whole store, copied and checked.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use switchboard::store::archive::{check, copy};
use switchboard::store::{
    Blob, Change, Conversation, Limits, Message, NewEvent, Pending, PendingKind, Role, Run, Server,
    ServerKind, Setting, SqliteStore, Store, StoreError, Timestamp, ToolCall, Usage, User, UserId,
};

/// Puts something in every table that users fill, in an order that no clock tells.
async fn fill(store: &dyn Store) {
    let user = UserId::new("anna");
    let put = Change::PutUser(User::new(user.clone(), "Anna"));
    store.commit(vec![put]).await.unwrap();
    let server = Server::new(user.clone(), "files", ServerKind::StreamableHttp);
    store
        .commit(vec![Change::PutServer(Box::new(server))])
        .await
        .unwrap();
    let mut last = None;
    for number in 0..250 {
        let mut talk = Conversation::new(user.clone(), format!("talk {number}"));
        talk.parent = last.replace(talk.id.clone());
        let mut said = Message::new(talk.id.clone(), 1, Role::User);
        said.content = "NUL \0, escape \u{e000}, emoji 🦀".to_owned();
        let mut answer = Message::new(talk.id.clone(), 2, Role::Assistant);
        let mut call = ToolCall::new(answer.id.clone(), "call", "read");
        call.arguments = json!({"path": "/a", "number": number});
        answer.tool_calls.push(call);
        let mut run = Run::new(talk.id.clone(), "{}");
        run.message_id = Some(answer.id.clone());
        let mut asked = Pending::new(
            talk.id.clone(),
            PendingKind::Approval,
            json!({"digest": "1"}),
        );
        asked.message_id = Some(answer.id.clone());
        let blob = Blob::new(talk.id.clone(), "image/png", vec![0, 1, 255]);
        let usage = Usage::new(user.clone(), talk.id.clone(), run.id.clone(), 1, "demo");
        let event = NewEvent::new(
            user.clone(),
            Some(talk.id.clone()),
            "test",
            json!({"n": number}),
        );
        let more = Change::AppendContent(answer.id.clone(), "more".to_owned());
        let changes = vec![
            Change::PutConversation(talk),
            Change::PutMessage(Box::new(said)),
            Change::PutMessage(Box::new(answer)),
            more,
            Change::PutBlob(blob),
            Change::PutRun(Box::new(run)),
            Change::PutPending(asked),
            Change::PutUsage(usage),
            Change::AppendEvent(event),
        ];
        store.commit(changes).await.unwrap();
    }
    let setting = Setting::new(user.clone(), "model", "demo");
    let prune = Change::PruneEvents(user, 100);
    store
        .commit(vec![Change::PutSetting(setting), prune])
        .await
        .unwrap();
}

async fn open(path: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(path, Limits::default()).await.unwrap())
}

/// What a user sees.
async fn seen(store: &dyn Store) -> String {
    let user = UserId::new("anna");
    let talks = store.conversations(&user, None, 1000).await.unwrap();
    let mut text = format!("{talks:#?}");
    for talk in &talks {
        let snapshot = store.snapshot(&user, &talk.id).await.unwrap();
        text.push_str(&format!("{snapshot:#?}"));
    }
    let events = store.events(&user, None, 0, 1000).await.unwrap();
    let servers = store.servers(&user).await.unwrap();
    let usage = store.usage(&user, None, None).await.unwrap();
    let unfinished = store.unfinished(&user).await.unwrap();
    let bounds = store.event_bounds(&user).await.unwrap();
    text + &format!("{events:#?} {servers:#?} {usage:#?} {unfinished:#?} {bounds:#?}")
}

/// Where a copy goes: a file, or an empty database.
async fn round_trip(between: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let (from, back) = (folder.path().join("from.db"), folder.path().join("back.db"));
    let store = open(&from).await;
    fill(&*store).await;
    let before = seen(&*store).await;
    store.close().await.unwrap();
    let there = copy(&from, between).await.unwrap();
    let refused = copy(&from, between).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::Conflict { what: "target" }),
        "{refused:?}"
    );
    let back_again = copy(between, &back).await.unwrap();
    assert_eq!(there, back_again);
    let rows = |name| there.tables.iter().find(|it| it.0 == name).unwrap().1;
    assert_eq!((rows("messages"), rows("events")), (500, 100));
    let store = open(&back).await;
    assert_eq!(seen(&*store).await, before);
    // Counters go on.
    let event = NewEvent::new(UserId::new("anna"), None, "test", json!({}));
    let number = store
        .commit(vec![Change::AppendEvent(event)])
        .await
        .unwrap();
    assert_eq!(number, [251]);
    store.close().await.unwrap();
    for store in [between, &back] {
        assert_eq!(check(store).await.unwrap(), []);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_in_another_file_is_the_same_to_its_user() {
    let folder = tempfile::tempdir().unwrap();
    round_trip(&folder.path().join("between.db")).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_by_way_of_postgres_is_the_same_to_its_user() {
    let Some(server) = super::postgres::Server::find().await else {
        return;
    };
    round_trip(Path::new(&server.database().await)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contradictions_are_found_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = open(&path).await;
    fill(&*store).await;
    let user = UserId::new("anna");
    let talk = store.conversations(&user, None, 1).await.unwrap().remove(0);
    let mut run = store.latest_run(&talk.id).await.unwrap().unwrap();
    (run.finish, run.revision) = (Some("done".to_owned()), run.revision + 1);
    run.updated_at = Timestamp::now();
    store
        .commit(vec![Change::PutRun(Box::new(run))])
        .await
        .unwrap();
    store.close().await.unwrap();
    let found = check(&path).await.unwrap();
    let found: Vec<(&str, u64)> = found.iter().map(|it| (&*it.problem, it.rows)).collect();
    assert_eq!(
        found,
        [
            ("a question is open, but its answer is over", 1),
            ("a call is open, but its answer is over", 1),
        ]
    );
}
