//! What holds for every message and for all bytes.

use mcp_jsonrpc::model::{CallToolResult, ContentBlock, ListToolsResult, SkillsGet, SkillsList};
use mcp_jsonrpc::{Body, DecodeLimits, Incoming, Message, RawRef, Revision, decode};
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::arbitrary::message::message;
use crate::arbitrary::{Gen, task};
use crate::round_trip::response;

fn revision() -> impl Strategy<Value = Revision> {
    prop::sample::select(Revision::ALL.to_vec())
}

fn encoded(message: &Message) -> Vec<u8> {
    let mut out = Vec::new();
    message.encode(&mut out).unwrap();
    out
}

/// A message as JSON that a plain reading would give: last of equal names, nulls and all.
fn plainly(bytes: &[u8]) -> Option<Value> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    serde_json::from_slice(bytes).ok()
}

/// What `decode` says must be what a plain reading of the same bytes says.
fn agrees(message: &Message, plain: &Value) -> Result<(), TestCaseError> {
    let value = |raw: &mcp_jsonrpc::RawJson| raw.parse::<Value>().ok();
    prop_assert_eq!(&plain["jsonrpc"], "2.0");
    match message {
        Message::Request(request) => {
            prop_assert!(
                same_id(&request.id, &plain["id"]),
                "{} {}",
                request.id,
                plain["id"]
            );
            prop_assert_eq!(&plain["method"], &request.method);
            let params = request
                .params
                .as_ref()
                .and_then(value)
                .unwrap_or(Value::Null);
            prop_assert_eq!(&plain["params"], &params);
        }
        Message::Notification(notification) => {
            prop_assert!(plain.get("id").is_none());
            prop_assert_eq!(&plain["method"], &notification.method);
            let params = notification
                .params
                .as_ref()
                .and_then(value)
                .unwrap_or(Value::Null);
            prop_assert_eq!(&plain["params"], &params);
        }
        Message::Response(response) => {
            match &response.id {
                Some(id) => prop_assert!(same_id(id, &plain["id"]), "{id} {}", plain["id"]),
                None => prop_assert!(plain["id"].is_null()),
            }
            match &response.outcome {
                Ok(result) => prop_assert_eq!(plain.get("result").cloned(), value(result)),
                Err(error) => {
                    prop_assert_eq!(
                        plain["error"]["code"].as_f64(),
                        Some(error.code.get() as f64)
                    );
                    let message = plain["error"]["message"].as_str().unwrap_or_default();
                    prop_assert_eq!(message, &error.message);
                    let data = error.data.as_ref().and_then(value);
                    prop_assert_eq!(plain["error"].get("data").cloned(), data);
                }
            }
        }
    }
    Ok(())
}

/// `7.0` is read as 7.
fn same_id(id: &mcp_jsonrpc::RequestId, plain: &Value) -> bool {
    serde_json::to_value(id).unwrap() == *plain
        || id
            .as_i64()
            .is_some_and(|n| plain.as_f64() == Some(n as f64))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn decode_inverts_encode(seed: u64, revision in revision()) {
        let message = message(&mut Gen::new(seed, revision));
        let bytes = encoded(&message);
        prop_assert!(!bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r')));
        match decode(&bytes, &DecodeLimits::default()) {
            Ok(Incoming::Single(read)) => prop_assert_eq!(read.to_message(), message),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn every_strict_prefix_of_a_message_is_an_error(seed: u64) {
        let bytes = encoded(&message(&mut Gen::new(seed, Revision::LATEST)));
        for end in 0..bytes.len() {
            prop_assert!(decode(&bytes[..end], &DecodeLimits::default()).is_err(), "{end}");
        }
    }

    #[test]
    fn corrupted_bytes_fail_or_say_what_a_plain_reading_says(
        seed: u64,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..4),
    ) {
        let mut bytes = encoded(&message(&mut Gen::new(seed, Revision::LATEST)));
        for (index, byte, how) in changes {
            let at = index.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => bytes[at] ^= 1 << (byte % 8),
                _ => drop(bytes.remove(at)),
            }
        }
        if let Ok(Incoming::Single(read)) = decode(&bytes, &DecodeLimits::default()) {
            // A plain reading may refuse what no one has read yet: half a pair, a huge number.
            if let Some(plain) = plainly(&bytes) {
                agrees(&read.to_message(), &plain)?;
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        let _ = decode(&bytes, &DecodeLimits::default());
    }

    #[test]
    fn our_reader_takes_exactly_what_serde_json_takes(text in json_like()) {
        let theirs = serde_json::from_str::<&RawValue>(&text).ok();
        let ours = RawRef::from_text(&text).ok();
        prop_assert_eq!(ours.map(RawRef::get), theirs.map(RawValue::get));
    }

    #[test]
    fn our_reader_reads_strings_as_serde_json_does(text in string_like()) {
        let object = format!("{{\"type\":\"text\",\"text\":{text}}}");
        let theirs = serde_json::from_str::<String>(&text).ok();
        let ours = RawRef::from_text(&object).ok().and_then(|raw| {
            match ContentBlock::read(raw) {
                Ok(ContentBlock::Text(content)) => Some(content.text),
                _ => None,
            }
        });
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn typed_reading_never_panics_and_never_loses_an_item(text in json_like()) {
        let Ok(raw) = RawRef::from_text(&text) else { return Ok(()) };
        let _ = CallToolResult::read(raw);
        let object = format!("{{\"tools\":[{text},{text}]}}");
        let list = ListToolsResult::read(RawRef::from_text(&object).unwrap()).unwrap();
        prop_assert_eq!(list.tools.len() + list.rejected.len(), 2);
    }

    #[test]
    fn skills_read_back_as_they_were(seed: u64) {
        response::<SkillsList>(&mut Gen::new(seed, Revision::LATEST), task::list_skills);
        response::<SkillsGet>(&mut Gen::new(seed, Revision::LATEST), task::get_skill);
    }
}

/// Text that is nearly always nearly JSON.
fn json_like() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"type\"",
        "\"text\"",
        "\\",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\ud800",
        "\\n",
        "\\x",
        "0",
        "-",
        "1",
        "12",
        ".",
        "5",
        "e",
        "E",
        "+",
        "true",
        "false",
        "null",
        "nul",
        " ",
        "\r",
        "\n",
        "\t",
        "\u{e9}",
        "\u{1}",
        "\"name\":\"x\"",
        "\"inputSchema\":{}",
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnop",
    ]);
    let noise = prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat());
    let value = any::<u64>()
        .prop_map(|seed| serde_json::to_string(&Gen::new(seed, Revision::LATEST).value()).unwrap());
    prop_oneof![
        noise.clone(),
        value.clone(),
        (value, noise).prop_map(|(a, b)| format!("[{a},{b}]"))
    ]
}

/// Strings with every kind of escape, right and wrong, longer and shorter than a block.
fn string_like() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "\\b",
        "\\f",
        "\\r",
        "\\t",
        "\\u0041",
        "\\u00E9",
        "\\ud83d\\ude00",
        "\\uD83D",
        "\\ude00",
        "\\ud83d\\n",
        "\\ud83d\\ue000",
        "\\udbff\\udfff",
        "\\ud800\\u0041",
        "\\u12g4",
        "\\q",
        "\u{e9}",
        "\u{1f600}",
        "\u{7f}",
        "\u{1f}",
        "some words, and some more of them, to fill a block with",
    ]);
    prop::collection::vec(part, 0..30).prop_map(|parts| format!("\"{}\"", parts.concat()))
}
