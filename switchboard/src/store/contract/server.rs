//! Users, servers, assistants, settings.

use mcp_sandbox::{Network, Profile, SandboxLimits};
use provider_adapters::Effort;
use serde_json::{Value, json};

use super::{fails, other_user};
use crate::store::{
    Assistant, Change, Conversation, Decision, EnvPolicy, Installed, Message, ModelOptions,
    OnLimit, Role, Rule, RuleScope, Server, ServerId, ServerKind, ServerTool, Setting, Span, Store,
    StoreError, StoredValue, Timestamp, TokenRef, ToolCall, Trust, UserId,
};

type Outcome = Result<(), StoreError>;

fn server(name: &str) -> Server {
    Server::new(UserId::local(), name, ServerKind::Stdio)
}

fn put(server: &Server) -> Vec<Change> {
    vec![Change::PutServer(Box::new(server.clone()))]
}

/// Stores a server, and counts on.
async fn keep(store: &dyn Store, server: &mut Server) -> Outcome {
    store.commit(put(server)).await?;
    server.revision += 1;
    Ok(())
}

pub(super) async fn a_fresh_store_has_one_user(store: &dyn Store) -> Outcome {
    let users = store.users().await?;
    assert!(users.iter().map(|user| &user.id).eq([&UserId::local()]));
    assert_eq!(store.servers(&UserId::local()).await?, []);
    Ok(())
}

/// Every column of a server.
pub(super) async fn a_server_keeps_every_field(store: &dyn Store) -> Outcome {
    let mut server = server("files");
    server.kind = ServerKind::StreamableHttp;
    server.is_active = false;
    server.base_url = Some("https://example.com/mcp".to_owned());
    let header = StoredValue::Keyring("files/authorization".to_owned());
    server.headers.insert("Authorization".to_owned(), header);
    server.timeout = Some(90);
    server.command = Some("npx".to_owned());
    server.args = vec!["-y".to_owned(), "a \"b\" \u{1f600}\0".to_owned()];
    let home = StoredValue::Env("HOME".to_owned());
    server.env.insert("ROOT".to_owned(), home);
    let plain = StoredValue::Plain("debug:all".to_owned());
    server.env.insert("LOG".to_owned(), plain);
    server.plain_values = true;
    server.disabled_tools = vec!["rm".to_owned()];
    server.auto_approve_tools = vec!["ls".to_owned()];
    server.source = Some("claude-desktop".to_owned());
    server.trust = Trust::Pending;
    server.cwd = Some("/srv".to_owned());
    server.tool_timeouts.insert("slow".to_owned(), 600);
    server.parallel = true;
    server.always_load = true;
    server.env_policy = EnvPolicy::None;
    let hosts = ["*.example.com:443".parse(), "[::1]".parse()].into_iter();
    let network = Network::Hosts(hosts.flatten().collect());
    let profile = Profile::new().with_read("~/notes").with_network(network);
    server.sandbox = Some(profile.with_limits(SandboxLimits::default().with_memory_bytes(1 << 40)));
    server.installed = Some(Installed {
        name: "com.example/files".to_owned(),
        version: Some("1.0.2".to_owned()),
        kind: "npm".to_owned(),
        package: "@example/files".to_owned(),
        ..Installed::default()
    });
    server.transport_seen = Some("sse".to_owned());
    server.last_error = Some("exit 1".to_owned());
    server.extra = json!({"unknown": [1, 2.5, null]});
    server.sort = -3;
    server.updated_at = Timestamp::from_millis(12);
    keep(store, &mut server).await?;
    let user = UserId::local();
    assert_eq!(
        store.server(&user, &server.id).await?.as_ref(),
        Some(&server)
    );
    server.name = "renamed".to_owned();
    server.headers.clear();
    server.extra = Value::Null;
    server.sandbox = Some(Profile::new());
    keep(store, &mut server).await?;
    assert_eq!(store.servers(&user).await?, [server.clone()]);
    (server.sandbox, server.installed) = (None, None);
    keep(store, &mut server).await?;
    assert_eq!(store.servers(&user).await?, [server]);
    Ok(())
}

pub(super) async fn a_sight_of_a_server_changes_nothing_else(store: &dyn Store) -> Outcome {
    let mut files = server("files");
    keep(store, &mut files).await?;
    let saw = |transport: Option<&str>, error: Option<&str>| Change::SawServer {
        id: files.id.clone(),
        transport: transport.map(str::to_owned),
        error: error.map(str::to_owned),
    };
    let (reached, lost) = (saw(Some("sse"), None), saw(None, Some("exit 1")));
    store.commit(vec![reached, lost]).await?;
    let gone = Change::SawServer {
        id: ServerId::fresh(),
        transport: None,
        error: None,
    };
    store.commit(vec![gone]).await?;
    files.transport_seen = Some("sse".to_owned());
    files.last_error = Some("exit 1".to_owned());
    assert_eq!(store.servers(&UserId::local()).await?, [files]);
    Ok(())
}

pub(super) async fn a_server_read_before_the_last_change_is_not_stored(
    store: &dyn Store,
) -> Outcome {
    let user = UserId::local();
    let mut files = server("files");
    keep(store, &mut files).await?;
    // Two read it at the same time.
    let (mut one, mut other) = (files.clone(), files.clone());
    one.disabled_tools = vec!["rm".to_owned()];
    other.is_active = false;
    keep(store, &mut one).await?;
    fails!(store, put(&other), StoreError::Conflict { .. });
    assert_eq!(store.servers(&user).await?, [one.clone()]);
    // As if it were new.
    other.revision = 0;
    fails!(store, put(&other), StoreError::Conflict { .. });
    // One that was removed does not come back.
    let gone = Change::DeleteServer(user.clone(), one.id.clone());
    store.commit(vec![gone]).await?;
    fails!(store, put(&one), StoreError::Conflict { .. });
    assert_eq!(store.servers(&user).await?, []);
    Ok(())
}

/// What was allowed was allowed for the endpoint; a no is for whatever bears the name.
pub(super) async fn another_endpoint_ends_what_was_allowed(store: &dyn Store) -> Outcome {
    let user = UserId::local();
    let mut files = server("files");
    files.command = Some("run".to_owned());
    keep(store, &mut files).await?;
    let decisions = [Decision::Allow, Decision::Deny, Decision::Ask];
    let rules = decisions.map(|decision| {
        let mut rule = Rule::new(user.clone(), RuleScope::Tool, decision);
        (rule.server_id, rule.server) = (Some(files.id.clone()), "files".to_owned());
        Change::PutRule(rule)
    });
    let mut elsewhere = Rule::new(user.clone(), RuleScope::Tool, Decision::Allow);
    elsewhere.server = "other".to_owned();
    store.commit(rules.to_vec()).await?;
    store.commit(vec![Change::PutRule(elsewhere)]).await?;
    let left = async || -> Result<Vec<(String, Decision)>, StoreError> {
        let rules = store.rules(&user).await?.into_iter();
        Ok(rules.map(|rule| (rule.server, rule.decision)).collect())
    };
    // The environment and the name do not belong to the endpoint.
    let home = StoredValue::Env("HOME".to_owned());
    files.env.insert("ROOT".to_owned(), home);
    files.name = "renamed".to_owned();
    keep(store, &mut files).await?;
    let all = |of: &[Decision]| -> Vec<(String, Decision)> {
        let named = of.iter().map(|it| ("renamed".to_owned(), *it));
        let other = ("other".to_owned(), Decision::Allow);
        named.chain([other]).collect()
    };
    assert_eq!(left().await?, all(&decisions));
    files.args = vec!["--elsewhere".to_owned()];
    keep(store, &mut files).await?;
    assert_eq!(left().await?, all(&[Decision::Deny, Decision::Ask]));
    Ok(())
}

pub(super) async fn servers_come_in_the_users_order(store: &dyn Store) -> Outcome {
    for (name, sort) in [("b", 1), ("c", 0), ("a", 1)] {
        let mut server = server(name);
        server.sort = sort;
        store.commit(put(&server)).await?;
    }
    let servers = store.servers(&UserId::local()).await?;
    assert!(
        servers
            .iter()
            .map(|server| &*server.name)
            .eq(["c", "a", "b"])
    );
    Ok(())
}

pub(super) async fn a_users_servers_have_different_names(store: &dyn Store) -> Outcome {
    let (first, mut second) = (server("one"), server("one"));
    store.commit(put(&first)).await?;
    fails!(store, put(&second), StoreError::Conflict { .. });
    second.name = "two".to_owned();
    keep(store, &mut second).await?;
    second.name = "one".to_owned();
    fails!(store, put(&second), StoreError::Conflict { .. });
    let mut theirs = server("one");
    theirs.user_id = other_user(store).await?;
    store.commit(put(&theirs)).await.map(drop)
}

pub(super) async fn users_are_separated(store: &dyn Store) -> Outcome {
    let (user, other) = (UserId::local(), other_user(store).await?);
    let mut mine = server("mine");
    let conversation = Conversation::new(user.clone(), "mine");
    let rule = Rule::new(user.clone(), RuleScope::Pattern, Decision::Allow);
    let mut changes = put(&mine);
    changes.push(Change::PutConversation(conversation.clone()));
    changes.push(Change::PutRule(rule.clone()));
    store.commit(changes).await?;
    assert_eq!(store.servers(&other).await?, []);
    assert_eq!(store.server(&other, &mine.id).await?, None);
    assert_eq!(store.conversation(&other, &conversation.id).await?, None);
    assert_eq!(store.conversations(&other, None, 9).await?, []);
    assert_eq!(store.rules(&other).await?, []);
    let theft = vec![
        Change::DeleteServer(other.clone(), mine.id.clone()),
        Change::DeleteConversation(other.clone(), conversation.id.clone()),
        Change::DeleteRule(other.clone(), rule.id.clone()),
    ];
    store.commit(theft).await?;
    assert_eq!(store.servers(&user).await?.len(), 1);
    assert_eq!(store.conversations(&user, None, 9).await?.len(), 1);
    assert_eq!(store.rules(&user).await?.len(), 1);
    mine.user_id = other;
    fails!(store, put(&mine), StoreError::Conflict { .. });
    Ok(())
}

pub(super) async fn plain_values_need_the_users_word(store: &dyn Store) -> Outcome {
    let mut server = server("one");
    let plain = StoredValue::Plain("sk-1".to_owned());
    server.headers.insert("X-Key".to_owned(), plain);
    fails!(store, put(&server), StoreError::PlainSecret { .. });
    server.plain_values = true;
    store.commit(put(&server)).await?;
    let mut key = Setting::new(UserId::local(), "model.key", "plain:sk-1");
    fails!(
        store,
        vec![Change::PutSetting(key.clone())],
        StoreError::PlainSecret { .. }
    );
    key.plain_secret = true;
    store.commit(vec![Change::PutSetting(key)]).await.map(drop)
}

pub(super) async fn a_server_takes_what_belongs_to_it_along(store: &dyn Store) -> Outcome {
    let user = UserId::local();
    let server = server("one");
    let id = server.id.clone();
    let tool = ServerTool::new(id.clone(), "b", json!({"name": "b"}), "hash", 7);
    let first = ServerTool::new(id.clone(), "a", json!({"name": "a"}), "hash", 7);
    let token = TokenRef::new("https://issuer", id.clone(), "keyring:1");
    let mut rule = Rule::new(user.clone(), RuleScope::Tool, Decision::Allow);
    rule.server_id = Some(id.clone());
    rule.server = "one".to_owned();
    rule.read_only_hashes
        .insert("a".to_owned(), "hash".to_owned());
    let conversation = Conversation::new(user.clone(), "conversation");
    let mut message = Message::new(conversation.id.clone(), 1, Role::Assistant);
    let mut call = ToolCall::new(message.id.clone(), "call_1", "b");
    call.server_id = Some(id.clone());
    message.tool_calls.push(call);
    let mut changes = put(&server);
    changes.extend([
        Change::PutServerTools(id.clone(), vec![tool.clone(), first.clone()]),
        Change::PutToken(token.clone()),
        Change::PutRule(rule),
        Change::PutConversation(conversation.clone()),
        Change::PutMessage(Box::new(message.clone())),
    ]);
    store.commit(changes).await?;
    assert_eq!(store.server_tools(&id).await?, [first, tool.clone()]);
    let fewer = Change::PutServerTools(id.clone(), vec![tool.clone()]);
    store.commit(vec![fewer]).await?;
    assert_eq!(store.server_tools(&id).await?.len(), 1);
    assert_eq!(store.tokens(&id).await?, [token]);
    let mut renamed = server;
    (renamed.name, renamed.revision) = ("two".to_owned(), 1);
    store.commit(put(&renamed)).await?;
    let rules = store.rules(&user).await?;
    assert!(
        rules.iter().map(|rule| &*rule.server).eq(["two"]),
        "{rules:?}"
    );
    store
        .commit(vec![Change::DeleteServer(user.clone(), id.clone())])
        .await?;
    assert_eq!(store.server_tools(&id).await?, []);
    assert_eq!(store.tokens(&id).await?, []);
    assert_eq!(store.rules(&user).await?, []);
    assert_eq!(
        store.messages(&conversation.id, Span::Last(9)).await?,
        [message]
    );
    let late = vec![Change::PutServerTools(id, vec![tool])];
    fails!(store, late, StoreError::Missing { .. });
    Ok(())
}

/// Servers belong to users, and assistants choose among them.
pub(super) async fn an_assistant_chooses_among_its_users_servers(store: &dyn Store) -> Outcome {
    let (user, other) = (UserId::local(), other_user(store).await?);
    let (one, two) = (server("one"), server("two"));
    let mut theirs = server("three");
    theirs.user_id = other;
    let mut assistant = Assistant::new(user.clone(), "helper");
    assistant.system = Some("Be brief.".to_owned());
    assistant.max_rounds = Some(0);
    assistant.on_limit = Some(OnLimit::Summarize);
    let mut options = ModelOptions::default();
    (options.temperature, options.effort) = (Some(0.3), Some(Effort::Low));
    assistant.model_options = Some(options);
    let id = assistant.id.clone();
    let changes = [put(&one), put(&two), put(&theirs)].concat();
    store.commit(changes).await?;
    let choose = |servers: Vec<ServerId>| Change::SetAssistantServers(id.clone(), servers);
    let both = choose(vec![two.id.clone(), one.id.clone()]);
    store
        .commit(vec![Change::PutAssistant(assistant.clone()), both])
        .await?;
    assert_eq!(store.assistants(&user).await?, [assistant]);
    assert_eq!(
        store.assistant_servers(&id).await?,
        [one.id.clone(), two.id.clone()]
    );
    fails!(
        store,
        vec![choose(vec![theirs.id])],
        StoreError::Missing { .. }
    );
    assert_eq!(store.assistant_servers(&id).await?.len(), 2);
    store
        .commit(vec![Change::DeleteServer(user.clone(), one.id)])
        .await?;
    assert_eq!(store.assistant_servers(&id).await?, [two.id]);
    let mut conversation = Conversation::new(user.clone(), "conversation");
    conversation.assistant_id = Some(id.clone());
    let gone = Change::DeleteAssistant(user.clone(), id.clone());
    store
        .commit(vec![Change::PutConversation(conversation.clone()), gone])
        .await?;
    conversation.assistant_id = None;
    assert_eq!(
        store.conversation(&user, &conversation.id.clone()).await?,
        Some(conversation)
    );
    assert_eq!(store.assistant_servers(&id).await?, []);
    Ok(())
}

pub(super) async fn settings_hold_any_json(store: &dyn Store) -> Outcome {
    let user = UserId::local();
    let values = [
        json!("text"),
        json!("5"),
        json!(5),
        json!(1.5),
        json!(u64::MAX),
        json!(true),
        json!(null),
        json!(["x", {"b": 1, "a": {}}]),
    ];
    let rows: Vec<Setting> = (b'a'..)
        .zip(values)
        .map(|(key, value)| Setting::new(user.clone(), char::from(key).to_string(), value))
        .collect();
    store
        .commit(rows.iter().cloned().map(Change::PutSetting).collect())
        .await?;
    assert_eq!(store.settings(&user).await?, rows);
    store
        .commit(vec![Change::DeleteSetting(user.clone(), "a".to_owned())])
        .await?;
    assert_eq!(store.settings(&user).await?.len(), rows.len() - 1);
    Ok(())
}

pub(super) async fn of_two_who_add_a_setting_one_does(store: &dyn Store) -> Outcome {
    let user = UserId::local();
    let add = |value| Change::AddSetting(Setting::new(user.clone(), "answer", value));
    store.commit(vec![add(json!("first"))]).await?;
    fails!(
        store,
        vec![add(json!("second"))],
        StoreError::Conflict { what: "setting" }
    );
    let first = Setting::new(user.clone(), "answer", "first");
    assert_eq!(store.settings(&user).await?, [first]);
    Ok(())
}
