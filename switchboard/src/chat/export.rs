//! Export of a conversation.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::display::untrusted;
use crate::store::{Conversation, Message, Role, ToolCall};

/// As markdown, every message with its number.
pub(crate) fn export_markdown(conversation: &Conversation, messages: &[Message]) -> String {
    let mut out = format!("# {}\n", untrusted::line(&conversation.title));
    for message in messages {
        let who = match message.role {
            Role::User => "You",
            Role::Assistant => "Assistant",
            Role::System => "System",
        };
        let _ = write!(out, "\n## {}. {who}\n\n", message.seq);
        for call in &message.tool_calls {
            let _ = writeln!(
                out,
                "- `{}` `{}` {}: {}",
                untrusted::line(&call.server_name),
                untrusted::line(&call.tool),
                call.arguments,
                call.status.as_str()
            );
        }
        if !message.tool_calls.is_empty() {
            out.push('\n');
        }
        if !message.content.is_empty() {
            let _ = writeln!(out, "{}", message.content.trim_end());
        }
    }
    out
}

/// As JSON, with every call whole.
pub(crate) fn export_json(conversation: &Conversation, messages: &[Message]) -> Value {
    json!({
        "id": conversation.id,
        "title": conversation.title,
        "createdAt": conversation.created_at,
        "updatedAt": conversation.updated_at,
        "parent": conversation.parent,
        "messages": messages.iter().map(message_json).collect::<Vec<_>>(),
    })
}

fn message_json(message: &Message) -> Value {
    json!({
        "id": message.id,
        "seq": message.seq,
        "role": message.role,
        "content": message.content,
        "toolCalls": message.tool_calls.iter().map(call_json).collect::<Vec<_>>(),
        "finish": message.finish,
        "createdAt": message.created_at,
    })
}

/// A tool call, by the fields of its record.
pub(crate) fn call_json(call: &ToolCall) -> Value {
    json!({
        "id": call.call_id,
        "serverId": call.server_id,
        "serverName": call.server_name,
        "toolName": call.tool,
        "displayName": call.display_name,
        "arguments": call.arguments,
        "status": call.status,
        "response": call.response,
        "isError": call.is_error,
    })
}
