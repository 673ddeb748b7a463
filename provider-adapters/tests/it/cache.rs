//! Prompt caching: where breakpoints are, what stays the same, and what it saves.

mod accounting;

use std::sync::Arc;

use proptest::prelude::*;
use provider_adapters::{
    Adapter, Anthropic, Arguments, AssistantPart, AssistantTurn, Cache, CachePoint, Conversation,
    OpenAiChat, OpenAiResponses, Request, SystemTurn, ToolCall, ToolResult, ToolSpec, Turn,
    UserPart, UserTurn, Wire,
};
use serde_json::{Value, json};

use self::accounting::PromptCache;
use crate::golden::adapter;
use crate::law;

fn body(adapter: &dyn Adapter, request: &Request) -> Value {
    serde_json::from_slice(&adapter.encode(request).unwrap().request.body).unwrap()
}

fn called(round: usize, calls: usize, result: &str) -> AssistantTurn {
    let id = |call: usize| format!("call_{round}_{call}");
    let parts = (0..calls).map(|call| {
        let arguments = Arguments::read(format!("{{\"path\":\"src/file_{round}_{call}.rs\"}}"));
        AssistantPart::from(ToolCall::new(id(call).as_str(), "tool_0", arguments))
    });
    let results = (0..calls).map(|call| ToolResult::text(id(call), format!("{round}: {result}")));
    AssistantTurn::new(parts.collect(), results.collect()).unwrap()
}

/// Tools with a paragraph of description each.
fn tools(count: usize) -> Vec<ToolSpec> {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string","description":"A path below the project."},"limit":{"type":"integer","minimum":1}},"required":["path"]}"#;
    let describe = |number| {
        ToolSpec::new(
            format!("tool_{number}"),
            serde_json::from_str(schema).unwrap(),
        )
        .with_description(format!(
            "Tool {number}: {}",
            "reads a file of the project. ".repeat(6)
        ))
    };
    (0..count).map(describe).collect()
}

fn request(adapter: &dyn Adapter, count: usize) -> Request {
    let mut conversation = Conversation::new().with_system("You read code. ".repeat(100));
    conversation.ask("Which file defines the limits?");
    Request::new("claude-sonnet-5-5", conversation)
        .with_tools(Arc::new(adapter.tools(&tools(count))))
}

/// Where the breakpoints of an Anthropic body are.
fn breakpoints(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut stack = vec![(String::new(), body)];
    while let Some((place, value)) = stack.pop() {
        match value {
            Value::Object(members) => {
                if members.get("cache_control") == Some(&json!({"type": "ephemeral"})) {
                    found.push(place.clone());
                }
                stack.extend(
                    members
                        .iter()
                        .map(|(key, value)| (format!("{place}/{key}"), value)),
                );
            }
            Value::Array(items) => stack.extend(
                items
                    .iter()
                    .enumerate()
                    .map(|(at, value)| (format!("{place}/{at}"), value)),
            ),
            _ => {}
        }
    }
    found.sort();
    found
}

#[test]
fn auto_marks_tools_system_and_the_last_two_user_messages() {
    let anthropic = Anthropic::default();
    let mut request = request(&anthropic, 3);
    assert_eq!(
        breakpoints(&body(&anthropic, &request)),
        ["/messages/0/content/0", "/system/0", "/tools/2"]
    );
    request.conversation.push(called(0, 2, "no"));
    request.conversation.push(called(1, 1, "yes"));
    assert_eq!(
        breakpoints(&body(&anthropic, &request)),
        [
            "/messages/2/content/1",
            "/messages/4/content/0",
            "/system/0",
            "/tools/2"
        ]
    );
}

#[test]
fn off_marks_nothing_and_sends_no_key() {
    let anthropic = Anthropic::default();
    let request = request(&anthropic, 3).with_cache(Cache::Off);
    let sent = body(&anthropic, &request);
    assert!(breakpoints(&sent).is_empty());
    assert!(sent["system"].is_string());
    for adapter in [
        &OpenAiChat::default() as &dyn Adapter,
        &OpenAiResponses::default(),
    ] {
        assert!(body(adapter, &request).get("prompt_cache_key").is_none());
    }
}

#[test]
fn breakpoints_go_where_they_are_asked_for_and_the_last_four_count() {
    let anthropic = Anthropic::default();
    let mut request = request(&anthropic, 3);
    request.conversation.push(called(0, 2, "no"));
    request.conversation.ask("And now?");
    let points = vec![CachePoint::Turn(1), CachePoint::System];
    request.cache = Cache::Breakpoints(points);
    // The results and the question are one message; the breakpoint is between them.
    assert_eq!(
        breakpoints(&body(&anthropic, &request)),
        ["/messages/2/content/1", "/system/0"]
    );
    request.cache = Cache::Breakpoints(vec![
        CachePoint::Tools,
        CachePoint::System,
        CachePoint::Turn(0),
        CachePoint::Turn(1),
        CachePoint::Turn(2),
    ]);
    let encoded = anthropic.encode(&request).unwrap();
    assert_eq!(
        encoded.omitted,
        [provider_adapters::Omitted::Option("cache")]
    );
    assert_eq!(breakpoints(&body(&anthropic, &request)).len(), 4);
}

#[test]
fn a_conversation_keeps_its_cache_key() {
    let adapter = OpenAiResponses::default();
    let mut request = request(&adapter, 3);
    let key = |request: &Request| body(&adapter, request)["prompt_cache_key"].clone();
    let first = key(&request);
    assert!(first.is_string());
    request.conversation.push(called(0, 1, "no"));
    assert_eq!(key(&request), first);
    let mut other = Conversation::new();
    other.ask("Something else");
    assert_ne!(key(&Request::new("any", other)), first);
    assert_eq!(
        body(&OpenAiChat::default(), &request)["prompt_cache_key"],
        first
    );
}

/// A body without breakpoints, up to the last of them; up to the last message, without what closes
/// it, where there are none.
fn prefix(body: &str) -> String {
    const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
    let messages = body.split(r#","prompt_cache_key":"#).next().unwrap();
    let end = body
        .rfind(MARK)
        .unwrap_or_else(|| messages.trim_end_matches(['}', ']', '"']).len());
    body[..end].replace(MARK, "")
}

/// A user's turn, an assistant's or instructions, as they follow each other in a conversation.
fn growth() -> impl Strategy<Value = Vec<Turn>> {
    let user =
        "[a-z ]{1,20}".prop_map(|text| Turn::from(UserTurn::new(vec![UserPart::text(text)])));
    let system = Just(Turn::from(SystemTurn::new("Be brief.")));
    let turn = prop_oneof![2 => user, 1 => system, 3 => law::turns().prop_map(Turn::from)];
    prop::collection::vec(turn, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_request_starts_with_the_one_before_up_to_its_last_breakpoint(turns in growth()) {
        for adapter in Wire::ALL.map(adapter) {
            let mut conversation = Conversation::new().with_system("Be brief.");
            conversation.ask("Hello?");
            let mut request = Request::new("any", conversation).with_tools(law::tools(adapter.as_ref()));
            let text = |request: &Request| {
                String::from_utf8(adapter.encode(request).unwrap().request.body).unwrap()
            };
            let mut before = text(&request);
            for turn in &turns {
                request.conversation.push(turn.clone());
                let after = text(&request);
                let unmarked = after.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
                let start = prefix(&before);
                prop_assert!(unmarked.starts_with(&start), "{}\n{start}\n{unmarked}", adapter.wire());
                before = after;
            }
        }
    }
}

/// The share of input tokens billed as read from the cache, in a loop of 200 rounds with 50 tools.
fn share(cache: Cache) -> f64 {
    let anthropic = Anthropic::default();
    let mut request = request(&anthropic, 50).with_cache(cache);
    let mut provider = PromptCache::default();
    let (mut read, mut all) = (0, 0);
    for round in 0..200 {
        let bill = provider
            .bill(&body(&anthropic, &request), round * 20)
            .unwrap();
        read += bill.read;
        all += bill.read + bill.write + bill.fresh;
        // Now and then more calls than a breakpoint looks back.
        let number = usize::try_from(round).unwrap();
        let calls = if round % 10 == 9 { 12 } else { 1 + number % 3 };
        request
            .conversation
            .push(called(number, calls, &"a line of code\n".repeat(6)));
    }
    f64::from(u32::try_from(read).unwrap()) / f64::from(u32::try_from(all).unwrap())
}

#[test]
fn a_long_loop_reads_its_prefix_from_the_cache() {
    let (off, auto) = (share(Cache::Off), share(Cache::Auto));
    assert!(auto >= 0.9, "{auto}");
    insta::assert_snapshot!(format!("off {:.1} %, auto {:.1} %", off * 100.0, auto * 100.0), @"off 0.0 %, auto 99.1 %");
}
