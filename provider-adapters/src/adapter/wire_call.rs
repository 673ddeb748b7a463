//! Past calls, in the form a provider expects.

use std::borrow::Cow;

use crate::adapter::wire_id::{IdRule, WireIds};
use crate::conversation::tool_call::ToolCall;
use crate::json::writer::Object;
use crate::request::tool_set::ToolSet;

/// A call in a provider's words.
#[derive(Clone, Debug)]
pub(crate) struct WireCall<'a> {
    pub(crate) id: String,
    pub(crate) name: String,
    /// A JSON object, as text.
    pub(crate) arguments: Cow<'a, str>,
}

/// Writes the calls of one conversation, in order.
#[derive(Debug)]
pub(crate) struct CallWriter<'a> {
    ids: WireIds,
    tools: &'a ToolSet,
}

impl<'a> CallWriter<'a> {
    pub(crate) fn new(rule: IdRule, tools: &'a ToolSet) -> Self {
        Self {
            ids: WireIds::new(rule),
            tools,
        }
    }

    pub(crate) fn write(&mut self, call: &'a ToolCall) -> WireCall<'a> {
        let arguments = match call.arguments.object() {
            Some(object) => match self.tools.project(&call.name, object) {
                Some(projected) => Cow::Owned(projected.get().to_owned()),
                None => Cow::Borrowed(object.get()),
            },
            None => Cow::Owned(incomplete(call)),
        };
        WireCall {
            id: self.ids.next(&call.id),
            name: self.tools.wire_name(&call.name),
            arguments,
        }
    }
}

/// Half an object, whole: the model sees what it wrote, as text. No provider takes less.
pub(crate) fn incomplete(call: &ToolCall) -> String {
    let object = Object::default().set("incomplete_arguments", call.arguments.text());
    String::from_utf8(object.to_bytes()).unwrap_or_default()
}
