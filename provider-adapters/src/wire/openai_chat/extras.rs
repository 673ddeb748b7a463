//! Items that a compatible server requires back and that have no neutral form.

use mcp_jsonrpc::{RawJson, RawMap};
use serde_json::value::RawValue;

use crate::conversation::part::AssistantPart;
use crate::json::text::keep;
use crate::reply::Reply;

/// Reasoning under the server's own name for it, its details, and what hangs on the calls.
///
/// Kept as one item: `{"reasoning_content": …, "reasoning_details": […], "tool_calls": […]}`, a
/// call being its id and what the server added to it.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    reasoning_field: Option<&'static str>,
    details: Vec<RawMap>,
    calls: Vec<RawMap>,
}

impl Extras {
    pub(crate) fn reasoning_field(&mut self, name: &'static str) {
        self.reasoning_field.get_or_insert(name);
    }

    /// A piece of OpenRouter's details: text is sent in pieces, which belong together.
    pub(crate) fn reasoning_detail(&mut self, raw: &RawValue) {
        let Ok(new) = keep(raw).parse::<RawMap>() else {
            return;
        };
        let same = |key: &str, old: &RawMap| old.get(key) == new.get(key);
        if let Some(old) = self.details.last_mut()
            && same("type", old)
            && same("index", old)
            && same("format", old)
        {
            for (key, value) in new.iter() {
                let joined = match (key, old.read_as::<String>(key), value.parse::<String>()) {
                    ("text" | "summary" | "data", Some(before), Ok(more)) => {
                        RawJson::from_serialize(&(before + &more)).unwrap_or_else(|_| value.clone())
                    }
                    _ if value.is_null() => continue,
                    _ => value.clone(),
                };
                old.insert(key, joined);
            }
            return;
        }
        self.details.push(new);
    }

    pub(crate) fn call(&mut self, id: &str, extra: &RawValue) {
        let known = |call: &RawMap| call.read_as::<String>("id").as_deref() == Some(id);
        if self.calls.iter().any(known) {
            return;
        }
        let mut call = RawMap::new();
        if call.set("id", id).is_ok() {
            call.insert("extra_content", keep(extra));
            self.calls.push(call);
        }
    }

    /// Everything, as one item; nothing if there is nothing.
    pub(crate) fn item(&self, reply: &Reply) -> Option<RawJson> {
        let mut item = RawMap::new();
        if let Some(field) = self.reasoning_field {
            let text: String = reply.parts.iter().filter_map(reasoning).collect();
            item.set(field, &text).ok()?;
        }
        if !self.details.is_empty() {
            item.set("reasoning_details", &self.details).ok()?;
        }
        if !self.calls.is_empty() {
            item.set("tool_calls", &self.calls).ok()?;
        }
        (!item.is_empty())
            .then(|| RawJson::from_serialize(&item).ok())
            .flatten()
    }
}

fn reasoning(part: &AssistantPart) -> Option<&str> {
    match part {
        AssistantPart::Reasoning { text } => Some(text),
        _ => None,
    }
}
