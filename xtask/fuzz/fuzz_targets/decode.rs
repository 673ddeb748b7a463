//! Any bytes: the decoder does not panic, takes as JSON what serde_json takes, says what a plain
//! reading says, and what it read can be written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_jsonrpc::model::{CallToolResult, ElicitParams, InputRequiredResult, ListToolsResult};
use mcp_jsonrpc::{Body, DecodeLimits, Incoming, Message, RawJson, RawRef, decode};
use serde_json::Value;
use serde_json::value::RawValue;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        same_json(text);
    }
    match decode(bytes, &DecodeLimits::default()) {
        Ok(Incoming::Single(message)) => check(&message.to_message(), plainly(bytes)),
        Ok(Incoming::Batch(batch)) => {
            for message in batch.into_iter().flatten() {
                check(&message.to_message(), None);
            }
        }
        Err(error) => drop(error.to_string()),
    }
});

/// Our reader and serde_json's agree on what is JSON, but for the depth.
fn same_json(text: &str) {
    match (
        RawRef::from_text(text),
        serde_json::from_str::<&RawValue>(text),
    ) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours.get(), theirs.get()),
        (Ok(ours), Err(error)) => panic!("we took {ours:?}: {error}"),
        (Err(error), Ok(_)) => assert!(error.to_string().ends_with("nested too deep"), "{error}"),
        (Err(_), Err(_)) => {}
    }
}

fn plainly(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)).ok()
}

fn check(message: &Message, plain: Option<Value>) {
    if let Some(plain) = plain {
        assert_eq!(plain["jsonrpc"], "2.0");
        match message {
            Message::Request(request) => assert_eq!(plain["method"], request.method),
            Message::Notification(notification) => {
                assert_eq!(plain["method"], notification.method);
            }
            Message::Response(response) => {
                if let Ok(result) = &response.outcome {
                    assert_eq!(plain["result"], result.parse::<Value>().unwrap());
                }
            }
        }
    }
    let body = match message {
        Message::Request(request) => request.params.as_ref(),
        Message::Notification(notification) => notification.params.as_ref(),
        Message::Response(response) => response.outcome.as_ref().ok(),
    };
    if let Some(body) = body {
        typed(body, |_: &mut CallToolResult| {});
        typed(body, |list: &mut ListToolsResult| list.rejected.clear());
        typed(body, |_: &mut InputRequiredResult| {});
        typed(body, |_: &mut ElicitParams| {});
    }
    let mut out = Vec::new();
    message.encode(&mut out).unwrap();
    assert!(!out.contains(&b'\n'));
    match decode(&out, &DecodeLimits::default()) {
        Ok(Incoming::Single(again)) => assert_same(&again.to_message(), message),
        other => panic!("{other:?}"),
    }
}

/// Line breaks between tokens of raw JSON are written as spaces; else nothing changes.
fn assert_same(again: &Message, message: &Message) {
    let flat = |message: &Message| format!("{message:?}").replace(['\n', '\r'], " ");
    assert_eq!(flat(again), flat(message));
}

/// What can be read can be written, and is then the same, but for what is not on the wire.
fn typed<T: Body + PartialEq + std::fmt::Debug>(body: &RawJson, strip: fn(&mut T)) {
    if let Ok(mut read) = T::read(body.as_ref()) {
        strip(&mut read);
        let text = serde_json::to_string(&read).unwrap();
        let again = T::read(RawRef::from_text(&text).unwrap()).unwrap();
        assert_eq!(again, read);
    }
}
