//! Lists with unusual paging.

use serde_json::{Value, json};

use crate::Refusal;
use crate::fault::Fault;
use crate::fault::twist::{Asked, Times};
use crate::protocol::{Piece, error};

/// A legal cursor: opaque, with blanks and non-ASCII letters.
const ODD_CURSOR: &str = " odd/cursor==é ";

pub(super) const FAULTS: &[Fault] = &[
    Fault::twist(
        "pagination-ok",
        "lists two pages joined by an odd cursor, echo on the second (no fault)",
        &["tools/list"],
        Times::Every,
        |asked| {
            let tools = asked
                .good
                .pointer("/result/tools")
                .and_then(Value::as_array);
            let (echo, others): (Vec<Value>, Vec<Value>) = tools
                .into_iter()
                .flatten()
                .cloned()
                .partition(|tool| tool.get("name").is_some_and(|name| name == "echo"));
            match asked
                .request
                .pointer("/params/cursor")
                .and_then(Value::as_str)
            {
                None => vec![page(asked, others, Some(ODD_CURSOR))],
                Some(ODD_CURSOR) => vec![page(asked, echo, None)],
                Some(_) => {
                    vec![(&error(asked.id(), &Refusal::new(-32602, "Invalid cursor"))).into()]
                }
            }
        },
    ),
    Fault::twist(
        "cursor-null",
        "lists with nextCursor: null",
        &["tools/list"],
        Times::Every,
        |asked| vec![asked.with("nextCursor", Some(Value::Null))],
    ),
    Fault::twist(
        "pagination-endless",
        "always has one more page, with a new cursor",
        &["tools/list"],
        Times::Every,
        |asked| vec![endless(asked, &format!("page-{}", asked.nth + 1))],
    ),
    Fault::twist(
        "pagination-repeated",
        "always has one more page, with the same cursor",
        &["tools/list"],
        Times::Every,
        |asked| vec![endless(asked, "same")],
    ),
];

fn page(asked: &Asked<'_>, tools: Vec<Value>, cursor: Option<&str>) -> Piece {
    let mut result = json!({"tools": tools, "ttlMs": 0, "cacheScope": "private"});
    if let (Some(members), Some(cursor)) = (result.as_object_mut(), cursor) {
        members.insert("nextCursor".to_owned(), cursor.into());
    }
    asked.result(result)
}

fn endless(asked: &Asked<'_>, cursor: &str) -> Piece {
    let first = asked
        .good
        .pointer("/result/tools")
        .and_then(Value::as_array);
    let mut tools: Vec<Value> = first
        .filter(|_| asked.nth == 1)
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    tools.extend((0..20).map(|n| {
        json!({
            "name": format!("t{}_{n}", asked.nth),
            "description": "d".repeat(400),
            "inputSchema": {"type": "object"},
        })
    }));
    page(asked, tools, Some(cursor))
}
