//! Our client and our server in every pair of eras: whatever is requested, whatever handlers do and
//! callers drop, every request ends in exactly one outcome, and nothing is left running.

use std::time::Duration;

use mcp_client::{CallError, Client, ClientEvent, EraMode, Interests, Started};
use mcp_jsonrpc::ErrorCode;
use mcp_jsonrpc::model::experimental_task::{TaskSupport, ToolExecution};
use mcp_jsonrpc::model::task::TaskStatus;
use mcp_jsonrpc::model::{
    CallToolResult, CompleteParams, CompletionArgument, ElicitUrlParams, LoggingLevel, Prompt,
    PromptArgument, PromptReference, ReadDirectory, ReadDirectoryParams, Resource,
    ResourceTemplate, Tool,
};
use mcp_server::{Context, Eras, Error, Roots, ServerLimits, Service, SkillBundle};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kit::{
    Alive, MODERN, Obliging, any, everything, listen, name_form, sampling, server, text, until,
};

/// What a handler does, as the call's arguments say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    Return,
    Fail,
    Refuse,
    Panic,
    Ask,
    AskTwice,
    AskAtOnce,
    AskModel,
    AskUrl,
    Progress,
    Detach,
    DetachAndAsk,
    Hang,
}

pub(crate) const ACTS: [Act; 13] = [
    Act::Return,
    Act::Fail,
    Act::Refuse,
    Act::Panic,
    Act::Ask,
    Act::AskTwice,
    Act::AskAtOnce,
    Act::AskModel,
    Act::AskUrl,
    Act::Progress,
    Act::Detach,
    Act::DetachAndAsk,
    Act::Hang,
];

/// What a client requests: the whole method table. The first four run an [`Act`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Method {
    CallTool,
    GetPrompt,
    ReadResource,
    /// A call that is asked for as a task where that can be; then `tasks/get`, with `tasks/result` or
    /// `tasks/update`.
    RunTask,
    /// `tasks/get`, `tasks/list` or `tasks/update`, and `tasks/cancel`.
    SteerTask,
    Ping,
    ListSkills,
    GetSkill,
    ReadDirectory,
    ListTools,
    ListPrompts,
    ListResources,
    ListTemplates,
    Complete,
    SetLevel,
    Watch,
}

pub(crate) const METHODS: [Method; 16] = [
    Method::CallTool,
    Method::GetPrompt,
    Method::ReadResource,
    Method::RunTask,
    Method::SteerTask,
    Method::Ping,
    Method::ListSkills,
    Method::GetSkill,
    Method::ReadDirectory,
    Method::ListTools,
    Method::ListPrompts,
    Method::ListResources,
    Method::ListTemplates,
    Method::Complete,
    Method::SetLevel,
    Method::Watch,
];

/// How many of the methods run an [`Act`].
const ACTING: usize = 4;

impl Method {
    pub(crate) fn acts(self) -> bool {
        METHODS[..ACTING].contains(&self)
    }

    /// Whether the era has it at all.
    fn is_known(self, is_modern: bool) -> bool {
        let skills = [Self::ListSkills, Self::GetSkill, Self::ReadDirectory];
        is_modern || !skills.contains(&self)
    }
}

async fn act(act: Act, cx: &Context) -> Result<&'static str, Error> {
    match act {
        Act::Return => {}
        Act::Fail => return Err(Error::failed("failed")),
        Act::Refuse => return Err(Error::code(ErrorCode::new(-7), "refused")),
        Act::Panic => panic!("as planned"),
        Act::Ask => drop(cx.ask("name", name_form()).await?),
        Act::AskTwice => {
            cx.ask("name", name_form()).await?;
            cx.ask("roots", Roots::new()).await?;
        }
        Act::AskAtOnce => {
            let (name, roots) =
                tokio::join!(cx.ask("name", name_form()), cx.ask("roots", Roots::new()));
            name?;
            roots?;
        }
        Act::AskModel => drop(cx.ask("model", sampling()).await?),
        Act::AskUrl => {
            let url = ElicitUrlParams::new("Log in", "https://example.com/login");
            cx.ask("url", url).await?;
        }
        Act::Progress => {
            for step in 0..5 {
                cx.progress(f64::from(step), None, Some("working"));
                cx.log(LoggingLevel::Error, "working");
                tokio::task::yield_now().await;
            }
        }
        Act::Detach => drop(cx.detach().await),
        Act::DetachAndAsk => {
            cx.detach().await;
            cx.ask("name", name_form()).await?;
        }
        Act::Hang => std::future::pending().await,
    }
    Ok("done")
}

/// Runs the act of this index, counted for as long as it runs.
async fn run(index: Option<usize>, alive: Alive, cx: Context) -> Result<&'static str, Error> {
    let _guard = alive.enter();
    act(ACTS[index.unwrap_or(0)], &cx).await
}

fn with_tasks(name: &str) -> Tool {
    let mut tool = any(name);
    let mut execution = ToolExecution::default();
    execution.task_support = Some(TaskSupport::Optional);
    tool.execution = Some(execution);
    tool
}

fn skill() -> SkillBundle {
    let manifest = b"---\nname: greet\ndescription: Greets\n---\nHello\n".to_vec();
    SkillBundle::new("acme/greet", [("SKILL.md", manifest)]).unwrap()
}

pub(crate) fn service(eras: Eras, alive: &Alive) -> Service {
    let (calls, prompts, reads) = (alive.clone(), alive.clone(), alive.clone());
    let jobs = alive.clone();
    let mut prompt = Prompt::new("act");
    prompt.arguments = Some(vec![PromptArgument::new("act")]);
    let number = |text: Option<&String>| text.and_then(|text| text.parse::<usize>().ok());
    server()
        .tool_with_schema(with_tasks("job"), move |_: Value, cx: Context| {
            let guard = jobs.enter();
            async move {
                let _guard = guard;
                cx.detach().await;
                std::future::pending::<()>().await;
            }
        })
        .skill(skill())
        .tool_with_schema(with_tasks("act"), move |arguments: Value, cx: Context| {
            let index = arguments["act"].as_u64();
            run(
                index.and_then(|it| usize::try_from(it).ok()),
                calls.clone(),
                cx,
            )
        })
        .prompt(prompt, move |arguments, cx| {
            let running = run(number(arguments.get("act")), prompts.clone(), cx);
            async move { running.await.map(str::to_owned) }
        })
        .resource(Resource::new("act://watched", "watched"), |_| async { "" })
        .resource_template(
            ResourceTemplate::new("act://run/{act}", "run"),
            move |variables, cx| run(number(variables.get("act")), reads.clone(), cx),
        )
        .completion(|params, _| async move { Ok(vec![params.argument.value]) })
        .eras(eras)
        // Each request may ask two questions at once.
        .limits(ServerLimits::default().with_questions(2))
        .build()
}

/// The four cells: what the client tries, what the server speaks.
const CELLS: [(EraMode, Eras); 6] = [
    (EraMode::Legacy, Eras::Legacy),
    (MODERN, Eras::Modern),
    (EraMode::PreferModern, Eras::Legacy),
    (EraMode::Auto, Eras::Modern),
    (EraMode::Legacy, Eras::Both),
    (MODERN, Eras::Both),
];

/// The folder of the one skill.
const SKILL: &str = "skill://acme/greet";

/// The longest plan.
const MAX_REQUESTS: usize = 23;

/// One request: its method, what its handler does, and after how many polls its caller drops it, if
/// ever.
type Plan = Vec<(usize, usize, Option<u32>)>;

fn plan() -> impl Strategy<Value = Plan> {
    let polls = prop_oneof![2 => Just(None), 1 => (0u32..12).prop_map(Some)];
    // Half of the requests run an act.
    let method = prop_oneof![0..ACTING, ACTING..METHODS.len()];
    prop::collection::vec((method, 0..ACTS.len(), polls), 1..=MAX_REQUESTS)
}

/// Makes a request, and tells its result in a word.
pub(crate) async fn request(
    client: Client,
    service: Service,
    method: Method,
    index: usize,
) -> Result<String, CallError> {
    let count = |items: usize| format!("{items} items");
    let shown = |result: &CallToolResult| format!("{} {}", result.failed(), text(result));
    Ok(match method {
        Method::CallTool => shown(&client.call_tool("act", json!({"act": index})).await?),
        Method::RunTask => match client
            .start_tool("act", json!({"act": index}), None)
            .await?
        {
            Started::Done(result) => shown(&result),
            Started::Task(task) => shown(&task.wait().await?),
        },
        Method::SteerTask => {
            let Started::Task(task) = client.start_tool("job", json!({}), None).await? else {
                return Ok("it is no task".to_owned());
            };
            let status = task.state().await?.status;
            if client.revision().is_modern() {
                task.update(Default::default()).await?;
            } else if client.list_tasks().await?.items.is_empty() {
                return Ok("it is not listed".to_owned());
            }
            task.cancel().await?;
            let ended = task.wait().await;
            let cancelled = matches!(ended, Err(CallError::TaskCancelled { .. }));
            count(usize::from(status == TaskStatus::Working && cancelled))
        }
        Method::Ping => {
            client.ping().await?;
            count(1)
        }
        Method::ListSkills => count(client.list_skills().await?.items.len()),
        Method::GetSkill => {
            let skill = client.get_skill(&format!("{SKILL}/SKILL.md")).await?;
            count(usize::from(skill.name() == Some("greet")))
        }
        Method::ReadDirectory => {
            let params = ReadDirectoryParams::new(SKILL);
            count(
                client
                    .request::<ReadDirectory>(&params)
                    .await?
                    .resources
                    .len(),
            )
        }
        Method::GetPrompt => {
            let arguments = [("act", index.to_string())];
            let prompt = client.get_prompt("act", arguments).await?;
            let text = prompt.messages[0].content.as_text();
            format!("false {}", text.unwrap_or_default())
        }
        Method::ReadResource => {
            let result = client.read_resource(&format!("act://run/{index}")).await?;
            let text = result.contents[0].text.as_deref();
            format!("false {}", text.unwrap_or_default())
        }
        Method::ListTools => count(client.list_tools().await?.items.len() - 1),
        Method::ListPrompts => count(client.list_prompts().await?.items.len()),
        Method::ListResources => count(client.list_resources().await?.items.len() - 1),
        Method::ListTemplates => count(client.list_resource_templates().await?.items.len()),
        Method::Complete => {
            let reference = PromptReference::new("act");
            let argument = CompletionArgument::new("act", "7");
            let params = CompleteParams::new(reference, argument);
            count(client.complete(&params).await?.completion.values.len())
        }
        Method::SetLevel => {
            client.set_log_level(LoggingLevel::Debug).await?;
            count(1)
        }
        Method::Watch => {
            let interests = Interests::default().with_resource("act://watched");
            let mut changes = client.subscribe(interests).await?;
            service.notifier().resource_updated("act://watched");
            let updates = |change: &ClientEvent| matches!(change, ClientEvent::ResourceUpdated { uri } if uri == "act://watched");
            count(usize::from(
                changes.next().await.is_some_and(|it| updates(&it)),
            ))
        }
    })
}

/// Polls a request as often as its caller wants to; `None` if it was dropped.
async fn requested(
    requesting: impl Future<Output = Result<String, CallError>>,
    polls: Option<u32>,
) -> Option<Result<String, CallError>> {
    let mut requesting = std::pin::pin!(requesting);
    let Some(polls) = polls else {
        return Some(requesting.await);
    };
    for _ in 0..polls {
        let polled =
            std::future::poll_fn(|cx| std::task::Poll::Ready(requesting.as_mut().poll(cx)));
        if let std::task::Poll::Ready(outcome) = polled.await {
            return Some(outcome);
        }
        tokio::task::yield_now().await;
    }
    None
}

fn is_right(
    method: Method,
    act: Act,
    is_modern: bool,
    outcome: &Result<String, CallError>,
) -> bool {
    let is = |want: &str| matches!(outcome, Ok(text) if text == want);
    let code = |want: ErrorCode| matches!(outcome, Err(error) if error.peer().map(|error| error.code) == Some(want));
    if !method.is_known(is_modern) {
        let unknown = matches!(outcome, Err(CallError::Unsupported { .. }));
        return unknown || code(ErrorCode::METHOD_NOT_FOUND);
    }
    if !method.acts() {
        return is("1 items");
    }
    match act {
        // Only a tool's failure is a result.
        Act::Fail if matches!(method, Method::CallTool | Method::RunTask) => is("true failed"),
        Act::Fail | Act::Panic => code(ErrorCode::INTERNAL_ERROR),
        Act::Refuse => code(ErrorCode::new(-7)),
        Act::Hang => false,
        _ => is("false done"),
    }
}

fn check(cell: usize, plan: &Plan) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let (mode, eras) = CELLS[cell];
        let alive = Alive::default();
        let service = service(eras, &alive);
        let client = Client::builder(listen(&service))
            .era(mode)
            .host(Obliging::default(), everything())
            .tasks()
            .connect()
            .await
            .unwrap();
        let is_modern = client.revision().is_modern();
        let requests: Vec<_> = plan
            .iter()
            .map(|&(method, index, polls)| {
                let (method, act) = (METHODS[method], ACTS[index]);
                let hangs = act == Act::Hang && method.acts();
                let polls = polls.or(hangs.then_some(30));
                let request = request(client.clone(), service.clone(), method, index);
                (method, act, tokio::spawn(requested(request, polls)))
            })
            .collect();
        for (method, act, running) in requests {
            if let Some(outcome) = running.await.unwrap() {
                prop_assert!(
                    is_right(method, act, is_modern, &outcome),
                    "{mode:?} {eras:?} {method:?} {act:?}: {outcome:?}"
                );
            }
        }
        // What was dropped is cancelled: at once or, if it became a task whose handle was lost, once
        // its time is up.
        tokio::time::sleep(Duration::from_secs(2 * 3600)).await;
        until(|| alive.count() == 0).await;
        // And the connection is as good as new.
        let after = request(client.clone(), service, Method::CallTool, 0).await;
        prop_assert!(
            is_right(Method::CallTool, Act::Return, is_modern, &after),
            "{after:?}"
        );
        client.close().await;
        Ok(())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_request_of_every_method_ends_in_one_outcome_in_every_pair_of_eras(plan in plan()) {
        for cell in 0..CELLS.len() {
            check(cell, &plan)?;
        }
    }
}
