//! Spans by the names of the conventions, and no content in them unless asked for.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use agent_loop::testing::{ScriptedModel, ScriptedTools};
use agent_loop::{Agent, Outcome};
use parking_lot::Mutex;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::kit::{auto, drive, tool};

type Fields = BTreeMap<String, String>;

/// Keeps all spans.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<(&'static str, Fields)>>>);

struct Keep<'a>(&'a mut Fields);

impl Visit for Keep<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target().starts_with("agent_loop")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::new();
        span.record(&mut Keep(&mut fields));
        let mut spans = self.0.lock();
        spans.push((span.metadata().name(), fields));
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let at = usize::try_from(span.into_u64()).unwrap() - 1;
        values.record(&mut Keep(&mut self.0.lock()[at].1));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

async fn spans(content: bool) -> Vec<(&'static str, Fields)> {
    let spans = Spans::default();
    let _watch = tracing::subscriber::set_default(spans.clone());
    let tools = ScriptedTools::new().with(tool("s", "step"), [Outcome::error("secret answer")]);
    let model = ScriptedModel::new()
        .calls([("step", json!({"n": 12345}))])
        .says("secret words");
    let mut agent = Agent::new(model).tools(tools).with_name("helper");
    if content {
        agent = agent.with_traced_content();
    }
    drive(&agent, &mut auto("Go")).await;
    spans.0.lock().clone()
}

#[tokio::test]
async fn spans_have_the_names_of_the_conventions_and_no_content() {
    let spans = spans(false).await;
    let names: Vec<&str> = spans.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["invoke_agent", "chat", "execute_tool", "chat"]);
    let fields = |at: usize, name: &str| spans[at].1.get(name).map(String::as_str);
    assert_eq!(fields(0, "gen_ai.agent.name"), Some("helper"));
    assert_eq!(fields(1, "otel.name"), Some("chat scripted"));
    assert_eq!(fields(1, "gen_ai.provider.name"), Some("openai"));
    assert_eq!(fields(2, "otel.name"), Some("execute_tool step"));
    assert_eq!(fields(2, "error.type"), Some("tool_error"));
    assert_eq!(fields(2, "trace_id"), fields(0, "trace_id"));
    let all = format!("{spans:?}");
    assert!(!all.contains("secret") && !all.contains("12345"), "{all}");
}

#[tokio::test]
async fn content_is_traced_where_asked_for() {
    let all = format!("{:?}", spans(true).await);
    for text in ["secret words", "secret answer", "12345"] {
        assert!(all.contains(text), "{text}: {all}");
    }
}
