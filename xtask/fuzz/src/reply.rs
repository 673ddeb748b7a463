//! What holds for every reply, on every wire.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use provider_adapters::{Adapter, AssistantPart, Expected, Reply, ReplyEvent, ToolSpec};

use crate::however_cut;

const SCHEMA: &str = r#"{"type":"object","properties":{"city":{"type":"string"},"n":{"type":"integer"}},"required":["city"],"additionalProperties":false}"#;

/// A wire whose replies are checked.
pub struct Replies {
    adapter: Box<dyn Adapter>,
    expected: Expected,
}

impl Replies {
    /// Of this wire, to a request with two tools.
    pub fn of(adapter: impl Adapter + 'static) -> Self {
        let tools = ["get_weather", "f"]
            .map(|name| ToolSpec::new(name, serde_json::from_str(SCHEMA).unwrap()));
        let expected = Expected::new(Arc::new(adapter.tools(&tools)));
        Self {
            adapter: Box::new(adapter),
            expected,
        }
    }

    /// Decodes a stream: it ends in one outcome, tells the same as events and as a reply, and is
    /// the same however it was cut.
    pub fn check(&self, bytes: &[u8]) {
        let (reported, reply) = however_cut(bytes, |pieces| {
            let mut decoder = self.adapter.decoder(self.expected.clone());
            let mut events = Vec::new();
            for piece in pieces {
                decoder.push(piece, &mut events);
            }
            let reply = decoder.finish(&mut events);
            (Reported::by(&events), reply)
        });
        reported.check(&reply);
    }
}

/// What events amount to. Where text is cut into events is no one's business.
#[derive(Debug, Default, PartialEq)]
struct Reported {
    text: usize,
    reasoning: usize,
    refusal: usize,
    media: usize,
    /// Calls that have begun: their arguments so far, and how they ended.
    calls: HashMap<String, (String, Option<(String, bool)>)>,
    stops: usize,
    errors: usize,
}

impl Reported {
    fn by(events: &[ReplyEvent]) -> Self {
        let mut reported = Self::default();
        for event in events {
            match event {
                ReplyEvent::Text { text } => reported.text += text.len(),
                ReplyEvent::Reasoning { text } => reported.reasoning += text.len(),
                ReplyEvent::Refusal { text } => reported.refusal += text.len(),
                ReplyEvent::Media(_) => reported.media += 1,
                ReplyEvent::ToolCallStart { tool_call_id, .. } => {
                    let begun = reported
                        .calls
                        .insert(tool_call_id.as_str().to_owned(), Default::default());
                    assert!(begun.is_none(), "{tool_call_id:?} begins twice");
                }
                ReplyEvent::ToolCallChunk {
                    tool_call_id,
                    tool_call_arguments_chunk,
                } => {
                    let call = reported
                        .calls
                        .get_mut(tool_call_id.as_str())
                        .expect("begun");
                    assert!(call.1.is_none(), "{tool_call_id:?} goes on after its end");
                    call.0.push_str(tool_call_arguments_chunk);
                }
                ReplyEvent::ToolCallEnd {
                    tool_call_id,
                    tool_call_arguments_complete,
                    complete,
                    ..
                } => {
                    let call = reported
                        .calls
                        .get_mut(tool_call_id.as_str())
                        .expect("begun");
                    assert!(call.1.is_none(), "{tool_call_id:?} ends twice");
                    call.1 = Some((tool_call_arguments_complete.clone(), *complete));
                }
                ReplyEvent::Stop(_) => reported.stops += 1,
                ReplyEvent::Error(_) => reported.errors += 1,
                _ => {}
            }
        }
        reported
    }

    fn check(&self, reply: &Reply) {
        assert_eq!(self.stops, usize::from(reply.stop.is_some()));
        assert_eq!(self.errors, usize::from(reply.error.is_some()));
        assert!(self.stops + self.errors > 0, "no outcome");
        let (mut text, mut reasoning, mut refusal, mut media) = (0, 0, 0, 0);
        for part in &reply.parts {
            match part {
                AssistantPart::Text { text: said } => text += said.len(),
                AssistantPart::Reasoning { text: said } => reasoning += said.len(),
                AssistantPart::Refusal { text: said } => refusal += said.len(),
                AssistantPart::ToolCall(_) => {}
                _ => media += 1,
            }
        }
        assert_eq!(
            (self.text, self.reasoning, self.refusal, self.media),
            (text, reasoning, refusal, media),
            "events and text"
        );
        let mut ids = HashSet::new();
        for call in reply.calls() {
            assert!(ids.insert(call.id.as_str()), "{:?} twice", call.id);
            let ended = self
                .calls
                .get(call.id.as_str())
                .and_then(|reported| reported.1.as_ref());
            let (_, complete) = ended.expect("a call that was announced");
            if call.executable().is_some() {
                assert!(complete, "{:?} was announced as incomplete", call.id);
                assert!(reply.error.is_none(), "a failed reply has calls to execute");
            }
        }
        assert_eq!(ids.len(), self.calls.len(), "calls announced and kept");
    }
}
