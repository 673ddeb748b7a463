//! Every public async method, and how it is called.

use std::fmt::{Debug, Display};
use std::pin::Pin;
use std::time::Duration;

use mcp_client::{
    Client, ClientLimits, EraMode, Host, HostCapabilities, HostError, Interests, Parked,
    ServerRequest, Started, TaskHandle,
};
use mcp_jsonrpc::Revision;
use mcp_jsonrpc::model::{
    CallTool, CallToolParams, CompleteParams, ElicitAction, ElicitFormParams, ElicitResult,
    ElicitUrlParams, InputResponses, LoggingLevel, RootsListChanged,
};
use serde_json::json;

use super::server::Scripted;

/// Which era is spoken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// What became of a method.
pub(crate) enum End {
    /// It returned this, of which results are part.
    Value(String),
    /// It returned nothing, because one of these requests was answered; or none was needed.
    Done(&'static [&'static str]),
    Error,
}

type Work = Pin<Box<dyn Future<Output = End>>>;

/// One method: its name, and how it is called. All is well until [`Bench::misbehave`].
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) run: fn(Bench) -> Work,
}

/// What a method is called on.
pub(crate) struct Bench {
    pub(crate) era: Era,
    pub(crate) server: Scripted,
    pub(crate) misbehave: Box<dyn FnOnce()>,
}

/// The limits of all clients here.
pub(crate) fn limits() -> ClientLimits {
    ClientLimits::default()
        .with_connect_timeout(Duration::from_secs(30))
        .with_call_idle_timeout(Duration::from_secs(10))
        .with_input_timeout(Duration::from_secs(60))
        .with_rounds(3)
        .with_list_timeout(Duration::from_secs(30))
        .with_task_timeout(Duration::from_secs(300))
        .with_resubscribe_attempts(3)
}

/// A user who never fills in a form, but goes wherever they are sent.
struct Absent;

#[async_trait::async_trait]
impl Host for Absent {
    async fn elicit_form(
        &self,
        _: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        std::future::pending().await
    }

    async fn elicit_url(
        &self,
        _: ServerRequest<ElicitUrlParams>,
    ) -> Result<ElicitAction, HostError> {
        Ok(ElicitAction::Accept)
    }
}

impl Bench {
    fn builder(&self, mode: EraMode) -> mcp_client::ClientBuilder {
        let can = HostCapabilities::default()
            .with_forms()
            .with_urls()
            .with_roots();
        Client::builder(self.server.clone())
            .tasks()
            .era(mode)
            .limits(limits())
            .host(Absent, can)
    }

    async fn client(&self) -> Client {
        let mode = match self.era {
            Era::Legacy => EraMode::Legacy,
            Era::Modern => EraMode::Pinned(Revision::LATEST),
        };
        self.builder(mode).connect().await.unwrap()
    }

    /// A client of a server that misbehaves from now on.
    async fn ready(self) -> Client {
        let client = self.client().await;
        (self.misbehave)();
        client
    }

    /// A task of such a server's.
    async fn task(self) -> TaskHandle {
        let client = self.client().await;
        let started = client.start_tool("chore", json!({}), None).await.unwrap();
        (self.misbehave)();
        match started {
            Started::Task(task) => task,
            Started::Done(result) => panic!("{result:?}"),
        }
    }
}

fn value<T: Debug, E: Display>(outcome: Result<T, E>) -> End {
    match outcome {
        Ok(value) => End::Value(format!("{value:?}")),
        Err(error) => failed(&error),
    }
}

fn done<E: Display>(outcome: Result<(), E>, answered: &'static [&'static str]) -> End {
    match outcome {
        Ok(()) => End::Done(answered),
        Err(error) => failed(&error),
    }
}

fn failed(error: &impl Display) -> End {
    assert!(!error.to_string().is_empty(), "an error has words");
    End::Error
}

/// What came of starting a call.
fn outcome_of(started: Started) -> String {
    match started {
        Started::Done(result) => format!("{result:?}"),
        Started::Task(task) => task.ticket().task_id.clone(),
    }
}

fn parked() -> Parked {
    serde_json::from_value(json!({
        "server": "s", "method": "tools/call", "params": {"name": "x"}, "questions": {},
        "answers": {}, "state": "s", "rounds": 0,
    }))
    .unwrap()
}

/// Declares a row: the bench is turned into what the method is called on.
macro_rules! rows {
    ($($name:literal => |$bench:ident| $call:expr;)*) => {
        [$(Row { name: $name, run: |$bench| Box::pin(async move { $call }) }),*]
    };
}

/// The table. A test holds it against the crate's public API.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::from(rows! {
        "ClientBuilder::connect" => |bench| {
            let builder = bench.builder(EraMode::Auto);
            (bench.misbehave)();
            value(builder.connect().await.map(|client| client.server()))
        };
        "Client::reconnect" => |bench| {
            let fresh = bench.ready().await.reconnect().await;
            value(fresh.map(|client| client.server()))
        };
        "Client::close" => |bench| {
            let client = bench.ready().await;
            client.close().await;
            assert!(!client.is_alive());
            End::Done(&[])
        };
        "Client::notify" => |bench| {
            let client = bench.ready().await;
            done(client.notify::<RootsListChanged>(&Default::default()).await, &[])
        };
        "Client::notify_raw" => |bench| {
            done(bench.ready().await.notify_raw("vendor/notified", &()).await, &[])
        };
        "Client::roots_changed" => |bench| done(bench.ready().await.roots_changed().await, &[]);
        "Client::ping" => |bench| {
            done(bench.ready().await.ping().await, &["ping", "server/discover"])
        };
        "Client::set_log_level" => |bench| {
            let needed: &[&str] = if bench.era == Era::Legacy { &["logging/setLevel"] } else { &[] };
            done(bench.ready().await.set_log_level(LoggingLevel::Info).await, needed)
        };
        "Client::lower_log_level" => |bench| {
            let needed: &[&str] = if bench.era == Era::Legacy { &["logging/setLevel"] } else { &[] };
            done(bench.ready().await.lower_log_level(LoggingLevel::Info).await, needed)
        };
        "Client::request" => |bench| {
            let params = CallToolParams::new("x");
            value(bench.ready().await.request::<CallTool>(&params).await)
        };
        "Client::request_raw" => |bench| {
            let raw = bench.ready().await.request_raw("vendor/anything", &()).await;
            match raw {
                // Whatever was sent is what is returned.
                Ok(raw) if raw.get().contains("odd") => End::Done(&["vendor/anything"]),
                raw => value(raw),
            }
        };
        "Client::reissue" => |bench| {
            let call = |client: Client| async move { client.list_tools().await };
            value(bench.ready().await.reissue(call).await)
        };
        "Client::call_tool" => |bench| {
            value(bench.ready().await.call_tool("x", json!({})).await)
        };
        "Client::start_tool" => |bench| {
            let started = bench.ready().await.start_tool("chore", json!({}), None).await;
            value(started.map(outcome_of))
        };
        "Client::resume" => |bench| {
            let client = bench.ready().await;
            value(client.resume::<CallTool>(parked(), InputResponses::new()).await)
        };
        "Client::resume_tool" => |bench| {
            let client = bench.ready().await;
            let resumed = client.resume_tool(parked(), InputResponses::new()).await;
            value(resumed.map(outcome_of))
        };
        "Client::list_tools" => |bench| value(bench.ready().await.list_tools().await);
        "Client::list_prompts" => |bench| value(bench.ready().await.list_prompts().await);
        "Client::list_resources" => |bench| value(bench.ready().await.list_resources().await);
        "Client::list_resource_templates" => |bench| {
            value(bench.ready().await.list_resource_templates().await)
        };
        "Client::list_tasks" => |bench| {
            let listed = bench.ready().await.list_tasks().await;
            let ticket = |task: &TaskHandle| task.ticket().clone();
            value(listed.map(|listed| listed.items.iter().map(ticket).collect::<Vec<_>>()))
        };
        "Client::read_resource" => |bench| value(bench.ready().await.read_resource("a:b").await);
        "Client::get_prompt" => |bench| {
            value(bench.ready().await.get_prompt("x", [("a", "b")]).await)
        };
        "Client::complete" => |bench| {
            let params: CompleteParams = serde_json::from_value(json!({
                "ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""},
            })).unwrap();
            value(bench.ready().await.complete(&params).await)
        };
        "Client::subscribe" => |bench| {
            let interests = Interests::default().with_tools().with_resource("a:b");
            let subscription = bench.ready().await.subscribe(interests).await;
            done(subscription.map(drop), &["subscriptions/listen", "resources/subscribe"])
        };
        "Subscription::next" => |bench| {
            let client = bench.client().await;
            let interests = Interests::default().with_tools().with_resource("a:b");
            let mut subscription = client.subscribe(interests).await.unwrap();
            (bench.misbehave)();
            // It lasts as long as the server lets it, and no longer than the connection.
            client.close().await;
            while subscription.next().await.is_some() {}
            End::Done(&[])
        };
        "TaskHandle::state" => |bench| value(bench.task().await.state().await);
        "TaskHandle::get" => |bench| value(bench.task().await.get().await);
        "TaskHandle::update" => |bench| {
            let task = bench.task().await;
            done(task.update(InputResponses::new()).await, &["tasks/update"])
        };
        "TaskHandle::cancel" => |bench| done(bench.task().await.cancel().await, &["tasks/cancel"]);
        "TaskHandle::wait" => |bench| value(bench.task().await.wait().await);
    });
    rows.extend(skills());
    rows
}

#[cfg(not(feature = "skills"))]
fn skills() -> Vec<Row> {
    Vec::new()
}

#[cfg(feature = "skills")]
fn skills() -> Vec<Row> {
    use mcp_jsonrpc::model::Skill;

    fn skill() -> Skill {
        serde_json::from_value(json!({
            "uri": "skill://x/SKILL.md", "frontmatter": {"name": "x"}, "resources": "dynamic",
        }))
        .unwrap()
    }
    Vec::from(rows! {
        "Client::list_skills" => |bench| value(bench.ready().await.list_skills().await);
        "Client::get_skill" => |bench| {
            value(bench.ready().await.get_skill("skill://x/SKILL.md").await)
        };
        "Client::load_skill" => |bench| {
            let loaded = bench.ready().await.load_skill(&skill()).await;
            value(loaded.map(|loaded| loaded.text().to_owned()))
        };
        "LoadedSkill::read" => |bench| {
            let loaded = bench.client().await.load_skill(&skill()).await.unwrap();
            (bench.misbehave)();
            let read = loaded.read("skill://x/other").await;
            value(read.map(|bytes| String::from_utf8(bytes).unwrap()))
        };
    })
}
