//! The page on the neutral JSON says what the code does.

use provider_adapters::{
    AssistantPart, Cache, OpenAiChat, Options, ToolChoice, ToolResult, ToolSpec, Turn, UserPart,
    Wire,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::fixture;

/// The examples under a heading of the page.
fn examples(heading: &str) -> Vec<&'static str> {
    let page = include_str!("../../NEUTRAL.md");
    let (_, section) = page.split_once(&format!("## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let blocks = section.split("```json\n").skip(1);
    let examples: Vec<&str> = blocks
        .map(|block| block.split("\n```").next().unwrap())
        .collect();
    assert!(!examples.is_empty(), "{heading}");
    examples
}

/// Every example is read, and written as it was.
#[track_caller]
fn check<T: DeserializeOwned + Serialize>(heading: &str) {
    for example in examples(heading) {
        let read: T =
            serde_json::from_str(example).unwrap_or_else(|error| panic!("{example}: {error}"));
        let want: Value = serde_json::from_str(example).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), want, "{heading}");
    }
}

#[test]
fn every_example_of_the_neutral_json_is_read_and_written() {
    check::<Cache>("Output schema, cache and deferred tools");
    check::<Turn>("Conversation turns");
    check::<UserPart>("User parts");
    check::<AssistantPart>("Assistant parts");
    check::<ToolResult>("Tool results");
    check::<ToolSpec>("Tools");
    check::<ToolChoice>("Tool choices");
    check::<Options>("Options");
    for request in examples("A request") {
        crate::neutral_json::read(request.as_bytes(), &OpenAiChat::default()).unwrap();
    }
}

#[test]
fn events_and_replies_look_as_the_page_shows_them() {
    let bytes = std::fs::read(fixture::folder().join("anthropic/07-thinking-tools.sse")).unwrap();
    let (events, reply) = fixture::decode(Wire::Anthropic, [bytes.as_slice()]);
    let mut printed: Vec<String> = events
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    printed.push(serde_json::to_string(&reply).unwrap());
    assert_eq!(printed, examples("Events and the reply"));
}
