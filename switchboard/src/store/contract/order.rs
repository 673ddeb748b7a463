//! Order, whatever the clock says: each claim is tried with one that goes backwards.

use serde_json::json;

use crate::store::{
    Change, Conversation, ConversationId, Decision, Message, Pending, PendingKind, Role, Rule,
    RuleScope, Run, Store, StoreError, Timestamp, UserId,
};

type Outcome = Result<(), StoreError>;

/// A moment before all earlier ones.
fn earlier(count: u64) -> Timestamp {
    Timestamp::from_millis(1_000_000 - 1000 * count)
}

fn conversation(title: &str, at: u64) -> Conversation {
    let mut conversation = Conversation::new(UserId::local(), title);
    (conversation.created_at, conversation.updated_at) = (earlier(at), earlier(at));
    conversation
}

pub(super) async fn the_latest_run_is_the_last_one_added(store: &dyn Store) -> Outcome {
    let (user, one, two) = (
        UserId::local(),
        conversation("one", 0),
        conversation("two", 0),
    );
    let conversations =
        [&one, &two].map(|conversation| Change::PutConversation(conversation.clone()));
    store.commit(conversations.to_vec()).await?;
    let mut last = None;
    for count in 1..4 {
        for conversation in [&one, &two] {
            let mut run = Run::new(conversation.id.clone(), "{}");
            (run.created_at, run.updated_at) = (earlier(count), earlier(count));
            store
                .commit(vec![Change::PutRun(Box::new(run.clone()))])
                .await?;
            assert_eq!(store.latest_run(&conversation.id).await?, Some(run.clone()));
            last = Some(run);
        }
    }
    let ids = [one.id, two.id];
    assert_eq!(store.unfinished(&user).await?, ids, "each once");
    if let Some(mut run) = last {
        (run.finish, run.revision) = (Some("done".to_owned()), 2);
        store.commit(vec![Change::PutRun(Box::new(run))]).await?;
    }
    let open = store.standings(&ids).await?;
    let open: Vec<bool> = open.into_iter().map(|it| it.open).collect();
    assert_eq!(open, [true, false], "the last run says how it stands");
    Ok(())
}

pub(super) async fn questions_and_rules_come_as_they_were_added(store: &dyn Store) -> Outcome {
    let (user, conversation) = (UserId::local(), conversation("conversation", 0));
    store
        .commit(vec![Change::PutConversation(conversation.clone())])
        .await?;
    let (mut questions, mut rules) = (Vec::new(), Vec::new());
    for count in 0..4 {
        let mut question =
            Pending::new(conversation.id.clone(), PendingKind::Approval, json!(count));
        let mut rule = Rule::new(user.clone(), RuleScope::Tool, Decision::Allow);
        (question.created_at, rule.created_at) = (earlier(count), earlier(count));
        let changes = vec![
            Change::PutPending(question.clone()),
            Change::PutRule(rule.clone()),
        ];
        store.commit(changes).await?;
        questions.push(question);
        rules.push(rule);
    }
    assert_eq!(store.open_questions(&conversation.id).await?, questions);
    if let Some(first) = rules.first_mut() {
        // A rule that is changed keeps its place.
        first.decision = Decision::Deny;
        store.commit(vec![Change::PutRule(first.clone())]).await?;
    }
    assert_eq!(store.rules(&user).await?, rules);
    Ok(())
}

pub(super) async fn conversations_come_as_they_were_used(store: &dyn Store) -> Outcome {
    let user = UserId::local();
    let mut conversations = [
        conversation("a", 1),
        conversation("b", 2),
        conversation("c", 3),
    ];
    for conversation in &conversations {
        store
            .commit(vec![Change::PutConversation(conversation.clone())])
            .await?;
    }
    let titles = async |after: Option<&Conversation>, limit| {
        let page = store.conversations(&user, after, limit).await?;
        Ok::<String, StoreError>(
            page.into_iter()
                .map(|conversation| conversation.title)
                .collect(),
        )
    };
    assert_eq!(titles(None, 9).await?, "cba");
    let [a, b, c] = &mut conversations;
    a.updated_at = earlier(4);
    store
        .commit(vec![Change::PutConversation(a.clone())])
        .await?;
    assert_eq!(titles(None, 9).await?, "acb");
    let said = Message::new(b.id.clone(), 1, Role::User);
    store
        .commit(vec![Change::PutMessage(Box::new(said))])
        .await?;
    assert_eq!(titles(None, 9).await?, "bac");
    c.options = json!({"model": "demo"});
    store
        .commit(vec![Change::PutConversation(c.clone())])
        .await?;
    assert_eq!(titles(None, 9).await?, "bac", "a change is no use");
    assert_eq!(titles(None, 1).await?, "b");
    assert_eq!(titles(Some(b), 1).await?, "a");
    assert_eq!(titles(Some(a), 9).await?, "c");
    let gone = Conversation {
        id: ConversationId::fresh(),
        updated_at: Timestamp::now(),
        ..c.clone()
    };
    assert_eq!(
        titles(Some(&gone), 9).await?,
        "bac",
        "a lost place loses nothing"
    );
    Ok(())
}
