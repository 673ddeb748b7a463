//! Many tools: searched by the provider or by ours, and what they do to its cache.

#[path = "../../../provider-adapters/tests/it/cache/accounting.rs"]
mod accounting;

use agent_loop::testing::ScriptedTools;
use agent_loop::{Agent, Deferral, Offer, Outcome, RunLimits, ToolInfo};
use provider_adapters::server::ScriptedReply;
use provider_adapters::{Adapter, Anthropic, OpenAiChat, Wire};
use serde_json::Value;

use self::accounting::PromptCache;
use crate::kit::{auto, drive, results, tool};
use crate::provider::Provider;

fn many(count: usize) -> Vec<ToolInfo> {
    (0..count)
        .map(|n| tool("files", &format!("tool_{n}")).read_only())
        .collect()
}

fn toolbox(tools: Vec<ToolInfo>) -> ScriptedTools {
    tools.into_iter().fold(ScriptedTools::new(), |all, tool| {
        all.with_answer(tool, |call| Outcome::text(format!("{} ran", call.tool)))
    })
}

fn deferral() -> Deferral {
    Deferral::default().native(true).with_always("tool_7")
}

/// The names of a request's tools, and which of them are deferred.
fn offered(body: &Value) -> (Vec<String>, Vec<String>) {
    let tools = body["tools"].as_array().unwrap();
    let name = |tool: &Value| {
        tool["name"]
            .as_str()
            .or(tool["type"].as_str())
            .unwrap()
            .to_owned()
    };
    let deferred = |tool: &&Value| tool["defer_loading"] == true;
    (
        tools.iter().filter(|it| !deferred(it)).map(name).collect(),
        tools.iter().filter(deferred).map(name).collect(),
    )
}

/// What a run with this many tools offers in each request, once it has called one of them.
async fn run(wire: Wire, model: &str, count: usize, call: (&str, &str)) -> Vec<Value> {
    let provider = Provider::start(vec![
        ScriptedReply::new().with_call("call_a", call.0, call.1),
        ScriptedReply::new().with_text("Done."),
    ])
    .await;
    let agent = Agent::new(provider.model(wire))
        .with_model_name(model)
        .with_deferral(deferral())
        .tools(toolbox(many(count)));
    let mut run = auto("Call one of them.");
    drive(&agent, &mut run).await;
    assert_eq!(results(&run), ["tool_99 ran"], "{wire}");
    provider.bodies()
}

#[tokio::test]
async fn a_provider_that_searches_itself_gets_all_tools_and_calls_them_by_name() {
    for (wire, model, count, search) in [
        (
            Wire::Anthropic,
            "claude-sonnet-5-5",
            500,
            "tool_search_tool_bm25",
        ),
        (Wire::OpenAiResponses, "gpt-5.6", 120, "tool_search"),
    ] {
        for body in run(wire, model, count, ("tool_99", "{}")).await {
            let (mut listed, deferred) = offered(&body);
            assert_eq!(deferred.len(), count - 1, "{wire}");
            listed.sort_unstable();
            assert_eq!(listed, ["read_output", "tool_7", search], "{wire}");
        }
    }
}

#[tokio::test]
async fn a_provider_that_takes_fewer_tools_gets_two_that_stand_in_for_them() {
    let call = ("tool_call", r#"{"name": "tool_99", "arguments": {}}"#);
    for body in run(Wire::OpenAiResponses, "gpt-5.6", 500, call).await {
        let (listed, deferred) = offered(&body);
        assert_eq!(
            listed,
            ["tool_search", "tool_call", "read_output", "tool_7"]
        );
        assert_eq!(deferred, [""; 0]);
    }
}

#[test]
fn our_search_stands_in_where_the_provider_has_none() {
    let tools = many(500);
    let names = |adapter: &dyn Adapter, model: &str, deferral: &Deferral| {
        let offer = Offer::new(&tools, adapter, model, deferral, false);
        let names: Vec<String> = offer.tool_set().names().map(str::to_owned).collect();
        (names.len(), names.contains(&"tool_search".to_owned()))
    };
    let anthropic = Anthropic::default();
    assert_eq!(
        names(&anthropic, "claude-sonnet-5-5", &deferral()),
        (501, false)
    );
    // Not wanted, an old model, a wire without a search.
    let ours = (4, true);
    assert_eq!(
        names(&anthropic, "claude-sonnet-5-5", &deferral().native(false)),
        ours
    );
    assert_eq!(
        names(&anthropic, "claude-3-5-haiku-latest", &deferral()),
        ours
    );
    assert_eq!(names(&OpenAiChat::default(), "gpt-5.6", &deferral()), ours);
}

/// The share of input tokens read from the cache in a run of 200 rounds with 50 tools, one of whose
/// results is so long that it is stored and read on.
#[tokio::test]
async fn a_long_run_reads_its_prefix_from_the_cache_though_a_result_is_stored() {
    let long = "a line of code\n".repeat(20_000);
    let tools = many(49)
        .into_iter()
        .fold(ScriptedTools::new(), |all, tool| {
            all.with_answer(tool, |call| {
                Outcome::text(format!("{}: a line", call.arguments))
            })
        });
    let tools = tools.with_answer(tool("files", "big").read_only(), move |_| {
        Outcome::text(&long)
    });
    let rounds = (0..200).map(|n| {
        let id = format!("call_{n}");
        match n {
            100 => ScriptedReply::new().with_call(id, "big", "{}"),
            101 => ScriptedReply::new().with_call(
                id,
                "read_output",
                r#"{"id": "output-1", "offset": 5000, "length": 100}"#,
            ),
            n => ScriptedReply::new().with_call(
                id,
                format!("tool_{}", n % 49),
                format!("{{\"n\":{n}}}"),
            ),
        }
    });
    let replies = rounds.chain([ScriptedReply::new().with_text("Done.")]);
    let provider = Provider::start(replies.collect()).await;
    let agent = Agent::new(provider.model(Wire::Anthropic))
        .with_model_name("claude-sonnet-5-5")
        .with_deferral(Deferral::never())
        .tools(tools);
    let limits = RunLimits::default().with_rounds(0);
    let mut run = auto("Which file defines the limits?").with_limits(limits);
    drive(&agent, &mut run).await;
    assert!(results(&run)[101].contains("a line of code"));
    let (mut cache, mut read, mut all) = (PromptCache::default(), 0, 0);
    for (second, body) in (0..).step_by(20).zip(provider.bodies()) {
        let bill = cache.bill(&body, second).unwrap();
        assert!(second == 0 || bill.read > 0, "round {}", second / 20);
        read += bill.read;
        all += bill.read + bill.write + bill.fresh;
    }
    assert!(read * 100 >= all * 90, "{read} of {all}");
}
