//! Random programs of client actions, run against a server directly and through the gateway in all
//! four cells: what the client sees is the same, up to names.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use mcp_client::{
    CallError, CallOptions, Client, EraMode, Host, HostError, Interests, ServerRequest,
    Subscription,
};
use mcp_jsonrpc::model::{
    CallToolResult, CompleteParams, CompletionArgument, CreateMessageParams, CreateMessageResult,
    ElicitAction, ElicitFormParams, ElicitResult, ElicitUrlParams, Implementation, LoggingLevel,
    Prompt, PromptReference, Resource, ResourceTemplate, Role, Root, TextContent, Tool,
};
use mcp_jsonrpc::{ErrorCode, RawObject};
use mcp_server::{Context, Eras, Error, Roots, Server, Service};
use parking_lot::Mutex;
use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::kit::{CELLS, everything, gateway, listen, name_form};

/// What a client does.
#[derive(Clone, Debug)]
enum Action {
    List(u8),
    Call(&'static str, Value),
    Prompt(&'static str, String),
    Read(String),
    Complete(String),
    SetLevel(LoggingLevel),
    Watch,
    Together(Vec<Action>),
}

/// The answers of a client's user.
#[derive(Clone, Copy, Debug)]
enum Manner {
    Accepts,
    Declines,
    Cancels,
}

fn arguments() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\"\\\\\u{e9}\n]{0,6}".prop_map(Value::from),
    ];
    prop::collection::btree_map("[a-z_]{1,4}", leaf, 0..3).prop_map(|it| json!(it))
}

fn action() -> impl Strategy<Value = Action> {
    let tools = prop::sample::select(vec![
        "echo", "fail", "refuse", "progress", "log", "form", "url", "sample", "roots", "many",
        "rounds", "missing",
    ]);
    let levels = vec![LoggingLevel::Debug, LoggingLevel::Warning];
    let single = prop_oneof![
        2 => (0..4_u8).prop_map(Action::List),
        8 => (tools, arguments()).prop_map(|(tool, arguments)| Action::Call(tool, arguments)),
        2 => (prop::sample::select(vec!["greet", "ask", "missing"]), "[a-z]{1,3}")
            .prop_map(|(prompt, who)| Action::Prompt(prompt, who)),
        2 => prop::sample::select(vec!["test://note", "test://ask", "test://item/7", "test://none"])
            .prop_map(|uri| Action::Read(uri.to_owned())),
        1 => "[a-z]{0,3}".prop_map(Action::Complete),
        1 => prop::sample::select(levels).prop_map(Action::SetLevel),
        1 => Just(Action::Watch),
    ];
    let calls = prop::sample::select(vec!["echo", "fail", "refuse"]);
    let call = (calls, arguments()).prop_map(|(tool, arguments)| Action::Call(tool, arguments));
    prop_oneof![
        5 => single,
        1 => prop::collection::vec(call, 2..5).prop_map(Action::Together),
    ]
}

fn manner() -> impl Strategy<Value = Manner> {
    prop::sample::select(vec![Manner::Accepts, Manner::Declines, Manner::Cancels])
}

fn tool(name: &str) -> Tool {
    serde_json::from_value(json!({
        "name": name, "title": "T", "description": "d", "vendor": {"a": [1, null]},
        "inputSchema": {"type": "object", "x-unknown": true},
        "annotations": {"readOnlyHint": true}, "_meta": {"example.org/a": 1},
    }))
    .unwrap()
}

/// The server that programs run against.
fn fixture(eras: Eras) -> Service {
    Server::new(Implementation::new("fixture", "1"))
        .tool_with_schema(tool("echo"), |arguments: Value, _: Context| async move {
            let result: CallToolResult = serde_json::from_value(json!({
                "content": [
                    {"type": "text", "text": arguments.to_string(), "vendor": 1},
                    {"type": "resource_link", "uri": "test://x", "name": "x"},
                ],
                "structuredContent": {"got": arguments}, "_meta": {"example.org/b": [arguments]},
                "vendor": {"deep": [{"er": null}]},
            }))
            .unwrap();
            result
        })
        .tool_with_schema(tool("fail"), |_: Value, _: Context| async {
            Err::<(), _>(Error::failed("broken"))
        })
        .tool_with_schema(tool("refuse"), |_: Value, _: Context| async {
            let error = mcp_jsonrpc::ErrorObject::new(ErrorCode::new(-7), "refused");
            Err::<(), _>(Error::from(error.with_data(&json!({"a": 1})).unwrap()))
        })
        .tool_with_schema(tool("progress"), |_: Value, cx: Context| async move {
            for step in 1..=3 {
                cx.progress(f64::from(step), Some(3.0), Some("m"));
                tokio::task::yield_now().await;
            }
            "done"
        })
        .tool_with_schema(tool("log"), |_: Value, cx: Context| async move {
            cx.log(LoggingLevel::Debug, "d");
            cx.log(LoggingLevel::Error, json!({"e": 1}));
            "logged"
        })
        .tool_with_schema(tool("form"), |_: Value, cx: Context| async move {
            let answer = cx.ask("name", name_form()).await?;
            Ok::<_, Error>(serde_json::to_string(&answer)?)
        })
        .tool_with_schema(tool("url"), |_: Value, cx: Context| async move {
            let url = ElicitUrlParams::new("Look", "https://example.com/");
            Ok::<_, Error>(format!("{:?}", cx.ask("url", url).await?))
        })
        .tool_with_schema(tool("sample"), |_: Value, cx: Context| async move {
            let params = CreateMessageParams::new(Vec::new(), 10);
            Ok::<_, Error>(serde_json::to_string(&cx.ask("model", params).await?)?)
        })
        .tool_with_schema(tool("roots"), |_: Value, cx: Context| async move {
            Ok::<_, Error>(serde_json::to_string(
                &cx.ask("roots", Roots::new()).await?,
            )?)
        })
        .tool_with_schema(tool("many"), |_: Value, cx: Context| async move {
            let (name, roots) =
                tokio::join!(cx.ask("name", name_form()), cx.ask("roots", Roots::new()));
            Ok::<_, Error>(format!("{:?} {}", name?.action, roots?.len()))
        })
        .tool_with_schema(tool("rounds"), |_: Value, cx: Context| async move {
            let first = cx.ask("first", name_form()).await?;
            let second = cx.ask("second", name_form()).await?;
            Ok::<_, Error>(format!("{:?} {:?}", first.action, second.action))
        })
        .prompt(Prompt::new("greet"), |arguments, _| async move {
            Ok::<_, Error>(format!("{:?}", arguments.get("who")))
        })
        .prompt(Prompt::new("ask"), |_, cx| async move {
            let answer = cx.ask("name", name_form()).await?;
            Ok::<_, Error>(format!("{:?}", answer.action))
        })
        .resource(Resource::new("test://note", "note"), |_| async { "note" })
        .resource(Resource::new("test://ask", "ask"), |cx| async move {
            let answer = cx.ask("name", name_form()).await?;
            Ok::<_, Error>(format!("{:?}", answer.action))
        })
        .resource_template(
            ResourceTemplate::new("test://item/{id}", "item"),
            |variables, _| async move { variables.get("id").cloned().unwrap_or_default() },
        )
        .completion(|params, _| async move { Ok(vec![format!("{}!", params.argument.value)]) })
        .eras(eras)
        .build()
}

/// A user who answers everything in one manner; what was asked is noted.
#[derive(Clone)]
struct User {
    manner: Manner,
    asked: Arc<Mutex<Vec<String>>>,
}

impl User {
    fn note(&self, kind: &str, params: &impl Serialize) {
        let mut params = serde_json::to_value(params).unwrap();
        if let Some(params) = params.as_object_mut() {
            // Ids are each side's own.
            params.remove("elicitationId");
            params.remove("_meta");
        }
        self.asked.lock().push(format!("{kind} {params}"));
    }
}

#[async_trait]
impl Host for User {
    async fn elicit_form(
        &self,
        question: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        self.note("form", &question.params);
        Ok(match self.manner {
            Manner::Accepts => {
                let content = json!({"name": "Ann"});
                ElicitResult::accept(content.as_object().cloned().unwrap())
            }
            Manner::Declines => ElicitResult::decline(),
            Manner::Cancels => ElicitResult::cancel(),
        })
    }

    async fn elicit_url(
        &self,
        question: ServerRequest<ElicitUrlParams>,
    ) -> Result<ElicitAction, HostError> {
        self.note("url", &question.params);
        Ok(match self.manner {
            Manner::Accepts => ElicitAction::Accept,
            Manner::Declines => ElicitAction::Decline,
            Manner::Cancels => ElicitAction::Cancel,
        })
    }

    async fn sample(
        &self,
        question: ServerRequest<CreateMessageParams>,
    ) -> Result<CreateMessageResult, HostError> {
        self.note("sample", &question.params);
        let text = TextContent::new("hi");
        Ok(CreateMessageResult::new(Role::Assistant, text, "model"))
    }

    async fn list_roots(&self, _: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
        self.note("roots", &());
        Ok(vec![Root::new("file:///tmp")])
    }
}

/// A result or error as JSON without what belongs to an era or to the server itself.
fn seen<T: Serialize>(outcome: Result<T, CallError>, prefix: &str) -> Value {
    let mut value = match outcome {
        Ok(result) => serde_json::to_value(result).unwrap(),
        Err(error) => match error.peer() {
            Some(peer) => json!({"code": peer.code, "message": peer.message, "data": peer.data}),
            None => json!({"failed": error.to_string()}),
        },
    };
    if let Some(members) = value.as_object_mut() {
        for era in ["resultType", "ttlMs", "cacheScope"] {
            members.remove(era);
        }
        if let Some(Value::Object(meta)) = members.get_mut("_meta") {
            meta.retain(|key, _| !key.starts_with("io.modelcontextprotocol/"));
            if meta.is_empty() {
                members.remove("_meta");
            }
        }
    }
    serde_json::from_str(&value.to_string().replace(prefix, "")).unwrap()
}

struct Run {
    client: Client,
    service: Service,
    user: User,
    era: EraMode,
    prefix: &'static str,
    level: Mutex<LoggingLevel>,
    watches: Mutex<Vec<Subscription>>,
}

impl Run {
    async fn act(&self, action: &Action) -> Value {
        let (client, prefix) = (&self.client, self.prefix);
        match action {
            Action::List(0) => seen(client.list_tools().await.map(|it| it.items), prefix),
            Action::List(1) => seen(client.list_prompts().await.map(|it| it.items), prefix),
            Action::List(2) => seen(client.list_resources().await.map(|it| it.items), prefix),
            Action::List(_) => {
                let listed = client.list_resource_templates().await;
                seen(listed.map(|it| it.items), prefix)
            }
            Action::Call(tool, arguments) => self.call(tool, arguments).await,
            Action::Prompt(prompt, who) => {
                let prompt = format!("{prefix}{prompt}");
                seen(
                    client.get_prompt(&prompt, [("who", who.as_str())]).await,
                    prefix,
                )
            }
            Action::Read(uri) => seen(client.read_resource(uri).await, prefix),
            Action::Complete(value) => {
                let reference = PromptReference::new(format!("{prefix}greet"));
                let argument = CompletionArgument::new("who", value.as_str());
                let params = CompleteParams::new(reference, argument);
                seen(client.complete(&params).await, prefix)
            }
            Action::SetLevel(level) => {
                *self.level.lock() = *level;
                if self.era == EraMode::Legacy {
                    client.set_log_level(*level).await.unwrap();
                }
                Value::Null
            }
            Action::Watch => {
                let interests = Interests::default().with_resource("test://note");
                let mut changes = client.subscribe(interests).await.unwrap();
                self.service.notifier().resource_updated("test://note");
                let change = json!(format!("{:?}", changes.next().await));
                // Ending it is a request beside the next call, whose log messages are unclear then.
                self.watches.lock().push(changes);
                change
            }
            Action::Together(actions) => {
                let calls = actions.iter().map(|action| Box::pin(self.act(action)));
                Value::from(join_all(calls).await)
            }
        }
    }

    async fn call(&self, tool: &str, arguments: &Value) -> Value {
        let (logged, progress) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(None)));
        let (logs, reports) = (Arc::clone(&logged), Arc::clone(&progress));
        let mut meta = mcp_jsonrpc::model::Meta::default();
        meta.insert("example.org/trace", RawObject::empty().as_json().clone());
        let options = CallOptions::default()
            .with_meta(meta)
            .with_log_level(*self.level.lock())
            .with_log(move |message| {
                let text = format!("{} {}", message.level.as_str(), message.data.get());
                logs.lock().push(text);
            })
            .with_progress(move |report| {
                *reports.lock() = Some((report.progress, report.total, report.message));
            });
        let name = format!("{}{tool}", self.prefix);
        let result = self.client.with(options).call_tool(&name, arguments).await;
        let (logged, progress) = (logged.lock().clone(), progress.lock().clone());
        json!([seen(result, self.prefix), logged, progress])
    }
}

/// Runs a program, and returns what its client saw and was asked.
async fn transcript(
    program: &[Action],
    manner: Manner,
    era: EraMode,
    behind: Option<Eras>,
) -> Vec<Value> {
    let service = fixture(behind.unwrap_or(Eras::Both));
    let gateway = match behind {
        Some(_) => Some(gateway(&[("up", None, &service)]).await),
        None => None,
    };
    let user = User {
        manner,
        asked: Arc::default(),
    };
    let front = gateway
        .as_ref()
        .map_or(&service, |gateway| gateway.service());
    let client = Client::builder(listen(front))
        .era(era)
        .host(user.clone(), everything())
        .connect()
        .await
        .unwrap();
    let run = Run {
        client,
        user,
        era,
        prefix: if gateway.is_some() { "up__" } else { "" },
        service,
        level: Mutex::new(LoggingLevel::Warning),
        watches: Mutex::default(),
    };
    let mut transcript = vec![run.act(&Action::SetLevel(LoggingLevel::Warning)).await];
    for action in program {
        let seen = run.act(action).await;
        let mut asked = std::mem::take(&mut *run.user.asked.lock());
        asked.sort();
        transcript.push(json!([format!("{action:?}"), seen, asked]));
    }
    if let Some(gateway) = gateway {
        gateway.shutdown().await;
    }
    transcript
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn through_the_gateway_a_client_sees_what_it_sees_directly(
        program in prop::collection::vec(action(), 1..8),
        manner in manner(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            for (era, behind) in CELLS {
                let direct = transcript(&program, manner, era, None).await;
                let through = transcript(&program, manner, era, Some(behind)).await;
                prop_assert_eq!(direct, through, "{:?} before {:?}", era, behind);
            }
            Ok(())
        })?;
    }
}
