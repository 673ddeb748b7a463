//! What is no message is a readable error, with the id wherever that could be read.

use std::error::Error as _;

use mcp_jsonrpc::model::CallToolResult;
use mcp_jsonrpc::{
    Body, DecodeError, DecodeLimits, Fault, Incoming, MessageRef, RequestId, Side, decode,
};

#[track_caller]
fn fails(bytes: &[u8]) -> DecodeError {
    decode(bytes, &DecodeLimits::default()).unwrap_err()
}

#[track_caller]
fn check(text: &str, fault: &Fault, id: Option<RequestId>, side: Side) {
    let error = fails(text.as_bytes());
    let DecodeError::Invalid { fault: found, .. } = &error else {
        panic!("{text}: {error}")
    };
    assert_eq!(found, fault, "{text}");
    assert_eq!(error.id(), id.as_ref(), "{text}");
    assert_eq!(error.side(), side, "{text}");
}

#[test]
fn a_bad_response_still_reveals_its_request() {
    let one = || Some(1.into());
    check(
        r#"{"jsonrpc":"2.0","id":1}"#,
        &Fault::NothingToSay,
        one(),
        Side::Unclear,
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
        &Fault::ResultAndError,
        one(),
        Side::Answers,
    );
    check(
        r#"{"id":1,"result":{}}"#,
        &Fault::Version,
        one(),
        Side::Answers,
    );
    check(
        r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
        &Fault::Version,
        one(),
        Side::Answers,
    );
    check(
        r#"{"jsonrpc":2.0,"result":{},"id":1}"#,
        &Fault::Version,
        one(),
        Side::Answers,
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#,
        &Fault::AsksAndAnswers,
        one(),
        Side::Answers,
    );
}

#[test]
fn an_error_that_is_no_error_object_says_why() {
    for (error, why) in [
        ("\"boom\"", "expected an object, found a string"),
        ("{}", "`code` is missing"),
        (
            r#"{"code":"E1","message":""}"#,
            "code: expected an integer, found a string",
        ),
        (
            r#"{"code":1.5,"message":""}"#,
            "code: expected a 64-bit integer, found 1.5",
        ),
        (
            r#"{"code":99999999999999999999,"message":""}"#,
            "code: expected a 64-bit integer, found 99999999999999999999",
        ),
        (
            r#"{"code":1e999,"message":""}"#,
            "code: expected a 64-bit integer, found 1e999",
        ),
        (
            r#"{"code":1,"message":[]}"#,
            "message: expected a string, found an array",
        ),
    ] {
        let error = fails(format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#).as_bytes());
        let DecodeError::Invalid {
            fault: Fault::ErrorObject(reason),
            ..
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!(reason.to_string(), why);
        assert_eq!(error.id(), Some(&1.into()));
        assert_eq!(error.side(), Side::Answers);
    }
}

#[test]
fn a_bad_request_can_be_answered() {
    for params in ["[]", "7", "\"x\"", "true"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":"r","method":"m","params":{params}}}"#);
        check(&text, &Fault::Params, Some("r".into()), Side::Asks);
    }
    check(
        r#"{"jsonrpc":"2.0","id":3,"method":7}"#,
        &Fault::Method,
        Some(3.into()),
        Side::Asks,
    );
    check(
        r#"{"id":3,"method":"m"}"#,
        &Fault::Version,
        Some(3.into()),
        Side::Asks,
    );
}

#[test]
fn what_is_no_id_is_refused() {
    for id in [
        "null",
        "1.5",
        "true",
        "[]",
        "{}",
        "1e300",
        "99999999999999999999",
        r#""\udc00""#,
    ] {
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        check(&request, &Fault::Id, None, Side::Asks);
        let response = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        check(&response, &Fault::Id, None, Side::Answers);
    }
    check(
        r#"{"jsonrpc":"2.0","result":{}}"#,
        &Fault::Id,
        None,
        Side::Answers,
    );
}

#[test]
fn what_is_neither_object_nor_array_is_no_message() {
    for text in ["7", "\"x\"", "null", " true "] {
        check(text, &Fault::NotAnObject, None, Side::Unclear);
    }
}

#[test]
fn truncated_text_reveals_what_came_before() {
    for (text, id, side) in [
        (
            r#"{"jsonrpc":"2.0","id":7,"result":{"a":"#,
            Some(7.into()),
            Side::Answers,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"x","method":"m","par"#,
            Some("x".into()),
            Side::Asks,
        ),
        (r#"{"jsonrpc":"2.0","id":7"#, Some(7.into()), Side::Unclear),
        (
            r#"{"jsonrpc":"2.0","result":{},"id":7} x"#,
            Some(7.into()),
            Side::Answers,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m"}{"#,
            Some(1.into()),
            Side::Asks,
        ),
        (r#"{"jsonrpc":"2.0","method":"m"}{"#, None, Side::Asks),
        ("junk on stdout", None, Side::Unclear),
        ("", None, Side::Unclear),
        ("[", None, Side::Unclear),
    ] {
        let error = fails(text.as_bytes());
        assert!(
            matches!(error, DecodeError::Syntax { .. }),
            "{text}: {error}"
        );
        assert_eq!(error.id(), id.as_ref(), "{text}");
        assert_eq!(error.side(), side, "{text}");
    }
}

#[test]
fn bytes_that_are_not_utf8_fail_with_the_id_before_them() {
    let error = fails(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"\xff\"}");
    assert_eq!(error.id(), Some(&7.into()));
    assert_eq!(error.side(), Side::Answers);
    assert_eq!(
        error.source().unwrap().to_string(),
        "expected UTF-8 at byte 34"
    );
}

#[test]
fn deep_nesting_fails_one_call_wherever_its_id_is() {
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    for text in [
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{open}{close}}}"#),
        format!(r#"{{"result":{{"]":{open}"]["{close}}},"id":7,"jsonrpc":"2.0"}}"#),
    ] {
        let error = fails(text.as_bytes());
        assert!(
            matches!(error, DecodeError::TooDeep { limit: 128, .. }),
            "{error}"
        );
        assert_eq!(error.id(), Some(&7.into()));
        assert_eq!(error.side(), Side::Answers);
    }
}

#[test]
fn depth_is_counted_from_the_message_itself() {
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{open}{close}}}"#)
    };
    let limits = DecodeLimits::default().with_depth(4);
    assert!(decode(nested(3).as_bytes(), &limits).is_ok());
    assert!(decode(nested(4).as_bytes(), &limits).is_err());
    assert!(decode(nested(127).as_bytes(), &DecodeLimits::default()).is_ok());
    assert!(
        decode(
            nested(128).as_bytes(),
            &DecodeLimits::default().with_depth(1000)
        )
        .is_err()
    );
}

#[test]
fn a_message_over_the_size_limit_is_not_read() {
    let text = br#"{"jsonrpc":"2.0","method":"m"}"#;
    let limits = DecodeLimits::default().with_message_bytes(text.len());
    assert!(decode(text, &limits).is_ok());
    let error = decode(text, &limits.with_message_bytes(text.len() - 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a message of 30 bytes is over the limit of 29"
    );
}

#[test]
fn a_batch_is_neither_empty_nor_endless() {
    let limits = DecodeLimits::default().with_batch_len(2);
    let batch = |n: usize| {
        format!(
            "[{}]",
            vec![r#"{"jsonrpc":"2.0","method":"m"}"#; n].join(",")
        )
    };
    assert!(decode(batch(2).as_bytes(), &limits).is_ok());
    let many = decode(batch(3).as_bytes(), &limits).unwrap_err();
    assert_eq!(many.to_string(), "the batch holds more than 2 messages");
    let none = decode(b" [ ] ", &limits).unwrap_err();
    assert_eq!(none.to_string(), "the batch holds no message");
}

#[test]
fn half_of_a_surrogate_pair_fails_the_body_and_not_the_envelope() {
    let text = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":"\ud800","_meta":{"\udc00":1}}}"#;
    let Incoming::Single(MessageRef::Response {
        id,
        outcome: Ok(result),
    }) = decode(text, &DecodeLimits::default()).unwrap()
    else {
        panic!()
    };
    assert_eq!(id, Some(7.into()));
    let error = CallToolResult::read(result).unwrap_err();
    assert_eq!(
        error.to_string(),
        "_meta: a string holds half of a surrogate pair"
    );
}

#[test]
fn errors_read_well() {
    let shown: Vec<String> = [
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":"a","result":1,"error":{"code":1}}"#,
        r#"{"id":1,"method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"x","result":1}"#,
        r#"{"jsonrpc":"2.0","id":[],"method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":"boom"}"#,
        "7",
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":tru}}"#,
        "Server started on port 3000",
        r#"{"jsonrpc":"2.0","id":1,"result":"a
b"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":"\x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":01}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},}"#,
    ]
    .into_iter()
    .map(|text| {
        let error = fails(text.as_bytes());
        let source = error
            .source()
            .map(|source| format!(" <- {source}"))
            .unwrap_or_default();
        format!("{text}\n    {error}{source}")
    })
    .collect();
    insta::assert_snapshot!(shown.join("\n"));
}
