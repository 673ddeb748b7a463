//! Files that earlier versions wrote.

use switchboard::store::{ConversationId, Limits, RunId, Span, SqliteStore, Store, UserId};

/// A file as the version before counters left it: the clock went back between two runs, between two
/// questions and between two rules.
fn old_file(path: &std::path::Path) {
    let raw = rusqlite::Connection::open(path).unwrap();
    raw.execute_batch(include_str!("../../../src/store/sqlite/tables_1.sql"))
        .unwrap();
    raw.execute_batch(include_str!("../../../src/store/sqlite/tables_2.sql"))
        .unwrap();
    raw.execute_batch(
        "PRAGMA user_version = 2;
         INSERT INTO conversations (id, user_id, title, created_at, updated_at) VALUES
             ('old', 'local', 'old', 1, 50), ('new', 'local', 'new', 2, 90);
         INSERT INTO messages (id, conversation_id, seq, role, content, created_at) VALUES
             ('m1', 'old', 1, 'user', 'one', 1), ('m2', 'old', 2, 'assistant', 'two', 2),
             ('m5', 'old', 5, 'user', 'five', 5), ('n1', 'new', 1, 'user', 'one', 1);
         INSERT INTO runs (id, conversation_id, state, revision, round, finish, created_at, updated_at)
             VALUES ('first', 'old', '', 2, 0, 'superseded', 9000, 9000),
                    ('second', 'old', '{}', 1, 0, NULL, 8000, 8000);
         INSERT INTO pending_interactions (id, conversation_id, kind, state, created_at) VALUES
             ('b', 'old', 'approval', 'open', 9), ('a', 'old', 'approval', 'open', 8);
         INSERT INTO approval_rules (id, user_id, scope, server, tool, read_only_hashes, decision,
                 created_at)
             VALUES ('b', 'local', 'tool', '*', '*', '{}', 'ask', 9),
                    ('a', 'local', 'tool', '*', '*', '{}', 'deny', 8);",
    )
    .unwrap();
}

#[tokio::test]
async fn rows_of_earlier_versions_keep_the_order_in_which_they_were_added() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switchboard.db");
    old_file(&path);
    let store = SqliteStore::open(&path, Limits::default()).await.unwrap();
    let (user, old) = (UserId::local(), ConversationId::new("old"));
    let latest = store.latest_run(&old).await.unwrap().unwrap();
    assert_eq!(latest.id, RunId::new("second"));
    let asked = store.open_questions(&old).await.unwrap();
    let asked: Vec<_> = asked.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(asked, ["b", "a"]);
    let rules = store.rules(&user).await.unwrap();
    let rules: Vec<_> = rules.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(rules, ["b", "a"]);
    let talks = store.conversations(&user, None, 9).await.unwrap();
    let talks: Vec<_> = talks.iter().map(|it| it.title.as_str()).collect();
    assert_eq!(talks, ["new", "old"]);
    // Each message follows the one before it, and all are shown.
    let places = store.places(&old).await.unwrap();
    let follows: Vec<_> = places.iter().map(|it| (it.seq, it.follows)).collect();
    assert_eq!(follows, [(1, 0), (2, 1), (5, 2)]);
    let shown = store.messages(&old, Span::Last(9)).await.unwrap();
    assert_eq!(shown.len(), 3);
}
