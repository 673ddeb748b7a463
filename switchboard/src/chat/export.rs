//! Export of a conversation.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::conversation::attachment::{Attached, Files, attached};
use crate::display::untrusted;
use crate::store::{Conversation, Message, Role, ToolCall};

/// As markdown, every message with its number.
pub(crate) fn export_markdown(
    conversation: &Conversation,
    messages: &[Message],
    files: &Files,
) -> String {
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
            if let Some(result) = files.response(call).and_then(text_of) {
                let fence = fence(&result);
                // Every line is marked: no text of a server's can begin one of ours.
                let result = result.trim_end().replace('\n', "\n  > ");
                let _ = writeln!(out, "\n  > {fence}\n  > {result}\n  > {fence}");
            }
        }
        if !message.tool_calls.is_empty() {
            out.push('\n');
        }
        for file in attached(message) {
            let name = untrusted::line(&file.name);
            let _ = writeln!(out, "- attached: `{name}` ({})\n", file.mime_type);
        }
        if !message.content.is_empty() {
            let _ = writeln!(out, "{}", message.content.trim_end());
        }
    }
    out
}

/// As a web page of its own, with its files in it. It runs nothing and loads nothing.
pub(crate) fn export_html(
    conversation: &Conversation,
    messages: &[Message],
    files: &Files,
) -> String {
    let title = escaped(&conversation.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"und\">\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n<main>\n<h1>{title}</h1>\n"
    );
    for message in messages {
        let (class, who) = match message.role {
            Role::User => ("user", "You"),
            Role::Assistant => ("assistant", "Assistant"),
            Role::System => ("system", "System"),
        };
        let time = message.created_at.rfc3339();
        let _ = writeln!(
            out,
            "<section class=\"{class}\">\n<h2>{who} <time>{time}</time></h2>"
        );
        for call in &message.tool_calls {
            let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
            let _ = writeln!(
                out,
                "<details><summary>{} · {}: {}</summary><pre>{}</pre>{}</details>",
                escaped(&call.server_name),
                escaped(&call.tool),
                call.status.as_str(),
                escaped(&arguments),
                files
                    .response(call)
                    .and_then(text_of)
                    .map_or(String::new(), |result| format!(
                        "<pre>{}</pre>",
                        escaped(&result)
                    ))
            );
        }
        for file in attached(message) {
            let name = escaped(&file.name);
            let kind = escaped(&file.mime_type);
            let shown = match files.base64(&file) {
                Some(data) if kind.starts_with("image/") => {
                    format!("<img alt=\"{name}\" src=\"data:{kind};base64,{data}\">")
                }
                Some(data) => {
                    format!("<a download=\"{name}\" href=\"data:{kind};base64,{data}\">{name}</a>")
                }
                None => name,
            };
            let _ = writeln!(out, "<p>{shown}</p>");
        }
        let _ = writeln!(
            out,
            "<div>{}</div>\n</section>",
            escaped(message.content.trim_end())
        );
    }
    out.push_str("</main>\n</html>\n");
    out
}

/// A call's result as text; where it is shown in part, that part.
pub(crate) fn result_text(call: &ToolCall) -> Option<String> {
    call.response.as_ref().and_then(text_of)
}

fn text_of(response: &Value) -> Option<String> {
    let blocks = response.get("content").and_then(Value::as_array);
    let blocks = blocks.into_iter().flatten().map(|block| {
        let word = |key: &str| block.get(key).and_then(Value::as_str);
        match (word("text"), word("mimeType"), word("uri")) {
            (Some(text), ..) => text.to_owned(),
            (None, _, Some(uri)) => format!("[{uri}]"),
            (None, Some(mime), None) => format!("[{mime}]"),
            _ => block.to_string(),
        }
    });
    let text = blocks.collect::<Vec<_>>().join("\n");
    let text = match (text.is_empty(), response) {
        (false, _) => text,
        (true, Value::String(text)) => text.clone(),
        (true, response) => match response.get("structuredContent") {
            Some(value) => format!("{value:#}"),
            None if response.get("content").is_some() => return None,
            None => response.to_string(),
        },
    };
    Some(text)
}

/// A fence that no line of the text closes.
fn fence(text: &str) -> String {
    let longest = text.split(|sign| sign != '`').map(str::len).max();
    "`".repeat(longest.unwrap_or_default().max(2) + 1)
}

const STYLE: &str = "body{font:16px/1.55 system-ui,sans-serif;margin:2rem auto;max-width:46rem;\
    padding:0 1rem;color-scheme:light dark}h1{font-size:1.3rem}h2{font-size:.8rem;opacity:.7}\
    img{max-width:100%}section{margin:1.5rem 0}section>div,pre{white-space:pre-wrap;overflow-wrap:anywhere}\
    .user{border-left:3px solid;padding-left:1rem}";

/// A text that means nothing but itself in HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            sign => out.push(sign),
        }
    }
    out
}

/// As JSON, with every call and every file whole.
pub(crate) fn export_json(
    conversation: &Conversation,
    messages: &[Message],
    files: &Files,
) -> Value {
    let message_json = |message| message_json(message, files);
    json!({
        "id": conversation.id,
        "title": conversation.title,
        "createdAt": conversation.created_at,
        "updatedAt": conversation.updated_at,
        "parent": conversation.parent,
        "messages": messages.iter().map(message_json).collect::<Vec<_>>(),
    })
}

fn message_json(message: &Message, files: &Files) -> Value {
    let file_json = |file: &Attached| json!({ "name": file.name, "mimeType": file.mime_type, "data": files.base64(file) });
    let call = |call| {
        let mut whole = call_json(call);
        if let (Some(members), Some(response)) = (whole.as_object_mut(), files.response(call)) {
            members.insert("response".to_owned(), response.clone());
        }
        whole
    };
    json!({
        "id": message.id,
        "seq": message.seq,
        "role": message.role,
        "content": message.content,
        "attachments": attached(message).iter().map(file_json).collect::<Vec<_>>(),
        "toolCalls": message.tool_calls.iter().map(call).collect::<Vec<_>>(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::UserId;

    #[test]
    fn nothing_that_was_said_becomes_markup() {
        let row = Conversation::new(UserId::local(), "<b>\"title\"</b>");
        let mut message = Message::new(row.id.clone(), 1, Role::User);
        message.content = "<script>alert(1)</script> & more".to_owned();
        let page = export_html(&row, &[message], &Files::default());
        assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"));
    }
}
