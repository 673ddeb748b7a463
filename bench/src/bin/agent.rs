//! The loop itself: what a round costs where the model and the tool answer at once, against
//! rig-agent in one run; with 500 tools at hand; and how a history of a thousand rounds grows.
//!
//! Both loops get a scripted model of their own kind, so neither writes nor reads a wire.

use std::convert::Infallible;
use std::time::Duration;

use agent_loop::testing::ScriptedModel;
use agent_loop::{Agent, RunLimits, LocalTools, Mode, Policy, Run, ToolInfo};
use bench::allocations::Counted;
use bench::contest::{Contest, Plan};
use bench::cpu_time::cpu_time;
use bench::table::{Table, number};
use provider_adapters::{
    Arguments, AssistantPart, Reply, Request, Stop, StopReason, ToolCall, Turn,
};
use rig_agent::AgentBuilder;
use rig_agent::tool::{Tool, ToolContext};
use rig_core::test_utils::{MockCompletionModel, MockTurn};
use serde_json::json;
use tokio::runtime::Runtime;

#[global_allocator]
static HEAP: Counted = Counted;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for (rounds, slice) in [(1, 20), (20, 20), (200, 60)] {
        let (ours, theirs) = (Ours::new(1), Theirs::new());
        Contest::new(format!("{rounds} rounds of one call"))
            .rate("rounds/s", rounds as f64)
            .entrant("agent-loop", || ours.run(&runtime, rounds))
            .entrant("rig-agent 0.46", || theirs.run(&runtime, rounds))
            .run(Plan {
                rounds: 11,
                slice: Duration::from_millis(slice),
            });
    }
    let many = Ours::new(500);
    Contest::new("20 rounds of one call, 500 tools")
        .entrant("agent-loop", || many.run(&runtime, 20))
        .run(Plan {
            rounds: 11,
            slice: Duration::from_millis(60),
        });
    growth(&runtime);
}

/// Time and size by the length of the history: a straight line, or not.
fn growth(runtime: &Runtime) {
    let columns = ["ms in all", "µs a round", "bytes of the stored run"];
    let mut table = Table::new("by the length of the history", &columns);
    let ours = Ours::new(1);
    for rounds in [125, 250, 500, 1000, 2000] {
        let start = cpu_time();
        let run = ours.run(runtime, rounds);
        let time = cpu_time() - start;
        let stored = serde_json::to_string(&run).unwrap().len();
        let (ms, each) = (time.as_secs_f64() * 1e3, time.as_secs_f64() * 1e6 / rounds as f64);
        let values = [number(ms), number(each), stored.to_string()];
        table.row(format!("{rounds} rounds"), values);
    }
    table.print();
}

struct Ours {
    tools: LocalTools,
}

impl Ours {
    fn new(count: usize) -> Self {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let mut tools = LocalTools::new("local");
        for at in 0..count {
            let name = if at == 0 {
                "search".to_owned()
            } else {
                format!("tool_{at}")
            };
            let schema = serde_json::from_str(&schema.to_string()).unwrap();
            let info = ToolInfo::new("local", name, schema).with_description("Search the web");
            tools = tools.with(info, |_, _| async { "a result" });
        }
        Self { tools }
    }

    fn run(&self, runtime: &Runtime, rounds: usize) -> Run {
        let model = ScriptedModel::improvising(move |request| reply(request, rounds));
        let agent = Agent::new(model).tools(self.tools.clone());
        let mut run = Run::default()
            .with_policy(Policy::new(Mode::Auto))
            .with_limits(RunLimits::default().with_rounds(0));
        run.ask("research");
        runtime.block_on(async {
            let mut session = agent.session(&mut run);
            while session.next().await.is_some() {}
        });
        assert_eq!(run.records().len(), rounds);
        run
    }
}

/// A call in every round, and words at the end.
fn reply(request: &Request, rounds: usize) -> Reply {
    let turns = request.conversation.turns();
    let done = turns.len() - 1;
    debug_assert!(
        turns
            .iter()
            .skip(1)
            .all(|turn| matches!(turn, Turn::Assistant(_)))
    );
    let mut reply = Reply::default();
    if done == rounds {
        reply.parts = vec![AssistantPart::text("done")];
        reply.stop = Some(Stop::new(StopReason::End, "end"));
    } else {
        let arguments = Arguments::read(format!("{{\"n\":{done}}}"));
        let call = ToolCall::new(format!("s{done}"), "search", arguments);
        reply.parts = vec![AssistantPart::from(call)];
        reply.stop = Some(Stop::new(StopReason::ToolUse, "tool"));
    }
    reply
}

#[derive(Clone)]
struct Search;

impl Tool for Search {
    const NAME: &'static str = "search";
    type Args = serde_json::Value;
    type Output = &'static str;
    type Error = Infallible;

    fn description(&self) -> String {
        "Search the web".to_owned()
    }

    fn parameters(&self) -> serde_json::Value {
        json!({"type": "object", "properties": {"n": {"type": "integer"}}})
    }

    async fn call(&self, _: &mut ToolContext, _: Self::Args) -> Result<Self::Output, Infallible> {
        Ok("a result")
    }
}

struct Theirs;

impl Theirs {
    fn new() -> Self {
        Self
    }

    fn run(&self, runtime: &Runtime, rounds: usize) -> String {
        let calls =
            (0..rounds).map(|n| MockTurn::tool_call(format!("s{n}"), "search", json!({"n": n})));
        let model = MockCompletionModel::from_turns(calls.chain([MockTurn::text("done")]));
        let agent = AgentBuilder::new(model).tool(Search).build();
        let answer =
            runtime.block_on(async { agent.prompt("research").max_turns(rounds + 1).await });
        let answer = answer.unwrap().to_string();
        assert_eq!(answer, "done");
        answer
    }
}
