//! Responses whose id does not match the request.

use serde_json::{Value, json};

use crate::Refusal;
use crate::fault::Fault;
use crate::fault::twist::{Asked, Times};
use crate::protocol::{Piece, error, result};

pub(super) const FAULTS: &[Fault] = &[
    Fault::twist(
        "answers-twice",
        "answers every call a second time, with the text DUPLICATE",
        &["tools/call"],
        Times::Every,
        |asked| vec![asked.good(), asked.result_text("DUPLICATE")],
    ),
    Fault::call(
        "unknown-id",
        "sends answers to ids that were never used, with the text STRAY, before the good one",
        |asked| {
            vec![
                stray(&987_654_321.into(), "STRAY"),
                stray(&"no-such-id".into(), "STRAY"),
                (&error(&(-5).into(), &Refusal::new(-32000, "stray error"))).into(),
                asked.good(),
            ]
        },
    ),
    Fault::twist(
        "pre-answered",
        "answers ids that were not used yet, with the text POISON, together with the first list",
        &["tools/list"],
        Times::First,
        |asked| {
            let first = asked.id().as_i64().unwrap_or(1_000_000);
            let early = (1..20).map(|n| stray(&(first + n).into(), "POISON"));
            early.chain([asked.good()]).collect()
        },
    ),
    Fault::call(
        "id-swapped-type",
        "answers the first call with its number as a string, or its string as a number",
        |asked| {
            let swapped = match asked.id() {
                Value::String(text) => text
                    .parse()
                    .map_or_else(|_| text.as_str().into(), |n: i64| n.into()),
                other => Value::from(other.to_string()),
            };
            vec![stray(&swapped, asked.text())]
        },
    ),
    Fault::call(
        "id-float",
        "answers the first call with the id 7.0 for 7",
        |asked| {
            let id = match asked.id() {
                Value::Number(number) => format!("{number}.0"),
                other => other.to_string(),
            };
            let message = result(&Value::from("FLOAT"), &good_result(asked)).to_string();
            vec![Piece::Message(
                message.replacen("\"FLOAT\"", &id, 1).into_bytes(),
            )]
        },
    ),
    Fault::call(
        "id-null-error",
        "answers the first call with an error without an id",
        |_| vec![(&error(&Value::Null, &Refusal::new(-32700, "Parse error"))).into()],
    ),
    Fault::call(
        "id-null-then-ok",
        "sends two errors without an id before the good answer to the first call",
        |asked| {
            let no_id =
                json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": "no id at all"}});
            vec![
                (&error(&Value::Null, &Refusal::new(-32700, "Parse error"))).into(),
                (&no_id).into(),
                asked.good(),
            ]
        },
    ),
];

fn stray(id: &Value, text: &str) -> Piece {
    (&result(
        id,
        &json!({"content": [{"type": "text", "text": text}], "resultType": "complete"}),
    ))
        .into()
}

fn good_result(asked: &Asked<'_>) -> Value {
    asked.good.get("result").cloned().unwrap_or_default()
}
