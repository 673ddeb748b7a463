//! JSON views of rows, for the API and its events.

use agent_loop::{AskReason, LimitKind, Reason};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::conversation::attachment::{Attached, attached};
use crate::conversation::live_question::live;
use crate::store::{
    Conversation, Message, Pending, PendingKind, Standing, Timestamp, ToolCall, UsageTotal,
};

/// A conversation.
pub(crate) fn conversation(row: &Conversation, standing: &Standing) -> Value {
    json!({
        "id": row.id,
        "assistantId": row.assistant_id,
        "title": row.title,
        "pinned": is_pinned(row),
        "parent": row.parent,
        "model": row.options.get("model"),
        "approvalMode": row.options.get("approvalMode"),
        "modelOptions": row.options.get("modelOptions"),
        "switchedOff": row.options.get("switchedOff"),
        "createdAt": row.created_at.rfc3339(),
        "updatedAt": row.updated_at.rfc3339(),
        "running": standing.open,
        "waiting": standing.waiting,
        "finish": standing.finish.as_deref().map(finish),
    })
}

/// Whether a conversation is kept at the top of lists.
pub(crate) fn is_pinned(row: &Conversation) -> bool {
    row.options.get("pinned") == Some(&Value::Bool(true))
}

/// A message with its calls; what is asked about them is among the open questions.
pub(crate) fn message(row: &Message, questions: &[Pending]) -> Value {
    let calls = row.tool_calls.iter().map(|row| {
        let asked = questions.iter().find(|question| is_about(question, row));
        call(row, asked.map(|question| &question.payload))
    });
    let files = attached(row);
    json!({
        "id": row.id,
        "conversationId": row.conversation_id,
        "seq": row.seq,
        "role": row.role,
        "content": row.content,
        "versions": [],
        "attachments": files.iter().map(Attached::view).collect::<Vec<_>>(),
        "toolCalls": calls.collect::<Vec<_>>(),
        "finish": row.finish.as_deref().map(finish),
        "finishMessage": row.finish,
        "usage": null,
        "createdAt": row.created_at.rfc3339(),
    })
}

fn is_about(question: &Pending, call: &ToolCall) -> bool {
    question.kind == PendingKind::Approval
        && question.message_id.as_ref() == Some(&call.message_id)
        && question.call_id.as_deref() == Some(call.position.to_string().as_str())
}

/// A tool call, with the question about it if there is one.
pub(crate) fn call(row: &ToolCall, asked: Option<&Value>) -> Value {
    let moment = |moment: Option<Timestamp>| moment.map(|moment| moment.rfc3339());
    let mut reported = json!({
        "id": row.call_id,
        "messageId": row.message_id,
        "position": row.position,
        "round": row.round,
        "offset": row.text_offset,
        "serverId": row.server_id,
        "serverName": row.server_name,
        "toolName": row.tool,
        "displayName": row.display_name,
        "arguments": row.arguments,
        "status": row.status,
        "queued": row.queued,
        "approvedBy": row.approved_by,
        "response": row.response,
        "isError": row.is_error,
        "resultBlob": row.result_blob,
        "startedAt": moment(row.started_at),
        "endedAt": moment(row.ended_at),
    });
    if let (Some(asked), Some(members)) = (asked, reported.as_object_mut()) {
        members.insert("approval".to_owned(), approval(asked));
    }
    reported
}

/// What is asked about a call, and how it can be answered.
pub(crate) fn approval(payload: &Value) -> Value {
    let read_only = payload.get("read_only") == Some(&Value::Bool(true));
    let why = payload.get("why").and_then(Value::as_str);
    let choices = match (is_for_one_call(payload), read_only) {
        (true, _) => vec!["once"],
        (_, true) => vec!["once", "conversation", "tool", "server"],
        (_, false) => vec!["once", "conversation", "tool"],
    };
    let alarm = payload.get("alarm").and_then(|alarm| alarm.get("reason"));
    let tools = payload.get("read_only_tools").and_then(Value::as_object);
    let tools: Vec<&String> = tools.into_iter().flat_map(Map::keys).collect();
    json!({
        "digest": payload.get("digest"),
        "reason": why,
        "choices": choices,
        "readOnly": read_only,
        "readOnlyTools": tools,
        "description": payload.get("description"),
        "alarm": alarm.filter(|_| why == Some("alarm")),
        "secret": payload.get("secret").filter(|_| why == Some("secret")),
        "changes": payload.get("changes").unwrap_or(&Value::Array(Vec::new())),
        "definitionChanged": why == Some("changed"),
    })
}

/// Whether an answer to what is asked counts for the call alone.
fn is_for_one_call(payload: &Value) -> bool {
    let why = payload.get("why").map(AskReason::deserialize);
    why.is_some_and(|why| why.is_ok_and(AskReason::is_for_one_call))
}

/// An open question.
pub(crate) fn question(row: &Pending) -> Value {
    let (kind, payload) = match row.kind {
        PendingKind::Approval => {
            let mut payload = approval(&row.payload);
            let record = row.payload.get("record");
            if let (Some(record), Some(members)) = (record, payload.as_object_mut()) {
                members.insert("record".to_owned(), record.clone());
            }
            ("approval", payload)
        }
        PendingKind::Elicitation => ("elicitation", elicitation(row)),
    };
    json!({
        "id": row.id,
        "kind": kind,
        "conversationId": row.conversation_id,
        "messageId": row.message_id,
        "callId": row.call_id.as_ref().and_then(|id| id.parse::<u64>().ok()),
        "payload": payload,
        "createdAt": row.created_at.rfc3339(),
    })
}

/// Whether a question is asked while its call runs.
pub(crate) fn is_live(row: &Pending) -> bool {
    live(row).is_some()
}

/// What a server asks: while its call runs, or before a parked one can go on, and then the first
/// of its open questions.
pub(crate) fn elicitation(row: &Pending) -> Value {
    let live = live(row);
    let parked: Option<mcp_client::Parked> = serde_json::from_value(row.payload.clone()).ok();
    let mut reported = json!({
        "id": row.id,
        "conversationId": row.conversation_id,
        "messageId": row.message_id,
        "callId": row.call_id.as_ref().and_then(|id| id.parse::<u64>().ok()),
        "server": parked.as_ref().map(|parked| &parked.server),
        "message": "",
    });
    let asked = parked.as_ref().and_then(first_question);
    let asked = live.or_else(|| asked.map(|(_, asked)| asked));
    if let (Some(asked), Some(members)) = (asked, reported.as_object_mut()) {
        members.extend(asked);
    }
    reported
}

/// The key of the first open question of a parked call, and its members in an elicitation.
pub(crate) fn first_question(parked: &mcp_client::Parked) -> Option<(String, Map<String, Value>)> {
    use mcp_jsonrpc::model::{ElicitParams, InputRequest};
    parked.open().iter().find_map(|(key, question)| {
        let InputRequest::Elicitation(question) = question else {
            return None;
        };
        let (message, name, value) = match &question.params {
            ElicitParams::Form(form) => (
                &form.message,
                "requestedSchema",
                json!(form.requested_schema),
            ),
            ElicitParams::Url(page) => (&page.message, "url", json!(page.url)),
            _ => return None,
        };
        let mut members = Map::new();
        members.insert("message".to_owned(), message.as_str().into());
        members.insert(name.to_owned(), value);
        Some((key.to_owned(), members))
    })
}

/// What models used, in sum and by model.
pub(crate) fn usage(totals: &[UsageTotal]) -> Value {
    let sum = |part: fn(&UsageTotal) -> u64| totals.iter().map(part).sum::<u64>();
    let of_model = |total: &UsageTotal| {
        json!({
            "model": total.model,
            "rounds": total.rounds,
            "input": total.input,
            "output": total.output,
            "cacheRead": total.cache_read,
            "cacheWrite": total.cache_write,
            "costMicros": total.cost_micros,
            "unpricedRounds": total.unpriced_rounds,
        })
    };
    json!({
        "rounds": sum(|total| total.rounds),
        "input": sum(|total| total.input),
        "output": sum(|total| total.output),
        "cacheRead": sum(|total| total.cache_read),
        "cacheWrite": sum(|total| total.cache_write),
        "costMicros": sum(|total| total.cost_micros),
        "unpricedRounds": sum(|total| total.unpriced_rounds),
        "models": totals.iter().map(of_model).collect::<Vec<_>>(),
    })
}

/// The code for how an answer ended; it is stored as a sentence.
pub(crate) fn finish(stored: &str) -> &'static str {
    let known = [
        (Reason::Finished, "done"),
        (Reason::Truncated, "truncated"),
        (Reason::ContextFull, "context_full"),
        (Reason::Refused, "refused"),
        (Reason::Limit(LimitKind::Rounds), "max_rounds"),
        (Reason::Limit(LimitKind::Calls), "max_calls"),
        (Reason::Limit(LimitKind::Tokens), "max_tokens"),
        (Reason::Limit(LimitKind::Cost), "max_cost"),
        (Reason::Limit(LimitKind::Time), "max_time"),
        (Reason::Loop, "loop"),
        (Reason::Cancelled, "cancelled"),
    ];
    let reason = known
        .into_iter()
        .find(|(reason, _)| reason.to_string() == stored);
    match (reason, stored) {
        (Some((_, word)), _) => word,
        (None, "forked") => "done",
        (None, "superseded" | INTERRUPTED) => "interrupted",
        _ => "error",
    }
}

/// How an answer ends that was cut off by the end of the program.
pub(crate) const INTERRUPTED: &str = "interrupted";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_a_word() {
        assert_eq!(finish("finished"), "done");
        assert_eq!(
            finish(&Reason::Limit(LimitKind::Rounds).to_string()),
            "max_rounds"
        );
        let message = "no key".to_owned();
        assert_eq!(finish(&Reason::Failed { message }.to_string()), "error");
        assert_eq!(finish(INTERRUPTED), "interrupted");
    }
}
