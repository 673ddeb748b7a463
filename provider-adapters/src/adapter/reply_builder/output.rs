//! The structured output of a reply.

use mcp_jsonrpc::RawJson;
use serde_json::Value;

use super::{Draft, PartIndex, ReplyBuilder, TextKind};
use crate::output::invalid::InvalidOutput;
use crate::reply::event::ReplyEvent;
use crate::reply::stop::StopReason;

/// How far the structured output has been reported.
#[derive(Debug, Default)]
pub(super) struct Progress {
    bytes: usize,
    value: Option<Value>,
}

impl ReplyBuilder {
    /// A new part that holds the structured output, and nothing else.
    pub(crate) fn open_output(&mut self) -> PartIndex {
        let slot = self.open_text(TextKind::Text);
        self.output = Some(slot);
        slot
    }

    /// Whether a tool of this name carries the structured output.
    pub(crate) fn is_output_tool(&self, wire_name: &str) -> bool {
        let output = self.expected.output.as_ref();
        output.and_then(|output| output.tool()) == Some(wire_name)
    }

    /// Reports the structured output so far: once more than an eighth of it is new, so that the
    /// work stays linear.
    pub(super) fn report_output(&mut self, slot: PartIndex) {
        let (Some(output), Some(Draft::Text { text, .. })) =
            (&self.expected.output, self.drafts.get(slot.0))
        else {
            return;
        };
        if text.len() < self.progress.bytes + (self.progress.bytes / 8).max(1) {
            return;
        }
        self.progress.bytes = text.len();
        let value = output.partial(text);
        if value.is_some() && value != self.progress.value {
            self.progress.value.clone_from(&value);
            let value = value.unwrap_or_default();
            self.events.push(ReplyEvent::PartialOutput { value });
        }
    }

    /// The structured output of a reply that has ended.
    pub(super) fn read_output(&self) -> Option<Result<RawJson, InvalidOutput>> {
        let output = self.expected.output.as_ref()?;
        let reason = self.stop_reason();
        let refused = self.drafts.iter().any(Draft::is_refusal);
        if self.has_failed()
            || self.calls > 0
            || refused
            || reason.is_some_and(StopReason::declines)
        {
            return None;
        }
        let text = match self.output {
            Some(slot) => self.text_at(slot).to_owned(),
            None => self.drafts.iter().filter_map(Draft::said).collect(),
        };
        Some(match reason.filter(|reason| reason.cuts()) {
            None => output.read(&text),
            Some(_) => {
                let stop = self.stop.as_ref().map_or("", |stop| stop.raw.as_str());
                let violation = format!("the output was cut off ({stop})");
                Err(InvalidOutput::new(&text, vec![violation]))
            }
        })
    }
}
