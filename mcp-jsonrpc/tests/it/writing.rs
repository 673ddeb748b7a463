//! What is written fits on a line, and nothing half-written stays.

use std::collections::HashMap;

use mcp_jsonrpc::model::{CallToolParams, ProgressParams};
use mcp_jsonrpc::{
    ErrorObject, RawJson, encode_error, encode_notification, encode_request, encode_result,
};
use serde_json::json;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn raw_json_with_line_breaks_is_written_on_one_line() {
    let pretty: RawJson =
        serde_json::from_str("{\r\n  \"text\": \"a\\nb\",\n  \"n\": [1,\n2]\n}").unwrap();
    let line = written(|out| encode_result(out, &1.into(), &pretty).unwrap());
    assert!(!line.contains(['\n', '\r']), "{line}");
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value["result"], json!({"text": "a\nb", "n": [1, 2]}));
}

#[test]
fn params_that_are_null_are_left_away() {
    let line = written(|out| encode_request(out, &1.into(), "ping", &()).unwrap());
    assert_eq!(line, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let none: Option<ProgressParams> = None;
    let line = written(|out| encode_notification(out, "x", &none).unwrap());
    assert_eq!(line, r#"{"jsonrpc":"2.0","method":"x"}"#);
}

#[test]
fn an_error_without_an_id_is_written_without_one() {
    let line =
        written(|out| encode_error(out, None, &ErrorObject::new(-32700, "no JSON")).unwrap());
    assert_eq!(
        line,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no JSON"}}"#
    );
}

#[test]
fn messages_are_appended_and_a_failure_leaves_nothing_behind() {
    let mut out = b"before".to_vec();
    let unwritable: HashMap<Vec<u8>, u8> = HashMap::from([(vec![1], 1)]);
    assert!(encode_request(&mut out, &1.into(), "m", &unwritable).is_err());
    let error = encode_notification(&mut out, "m", &ProgressParams::new(1, f64::NAN)).unwrap_err();
    assert_eq!(error.to_string(), "the message cannot be written as JSON");
    assert_eq!(out, b"before");
    encode_notification(&mut out, "m", &()).unwrap();
    assert_eq!(out, br#"before{"jsonrpc":"2.0","method":"m"}"#);
}

#[test]
fn a_result_without_an_id_cannot_be_written() {
    let outcome = Ok(RawJson::null());
    let message = mcp_jsonrpc::Message::Response(mcp_jsonrpc::Response { id: None, outcome });
    let mut out = Vec::new();
    assert!(message.encode(&mut out).is_err());
    assert!(out.is_empty());
}

#[test]
fn members_are_written_in_the_order_of_the_declaration() {
    let mut params = CallToolParams::new("t");
    params.request_state = Some("s".to_owned());
    params.extra.set("x-1", &1).unwrap();
    params.arguments = Some(mcp_jsonrpc::RawObject::empty());
    let line = serde_json::to_string(&params).unwrap();
    assert_eq!(
        line,
        r#"{"name":"t","arguments":{},"requestState":"s","x-1":1}"#
    );
}

#[test]
fn whole_floats_are_written_as_integers() {
    let text = |progress: f64| serde_json::to_string(&ProgressParams::new("p", progress)).unwrap();
    assert_eq!(text(50.0), r#"{"progressToken":"p","progress":50}"#);
    assert_eq!(text(0.1), r#"{"progressToken":"p","progress":0.1}"#);
    assert_eq!(text(-0.0), r#"{"progressToken":"p","progress":0}"#);
    assert_eq!(text(1.5e-9), r#"{"progressToken":"p","progress":1.5e-9}"#);
}
