//! Messages are distinguished by their members, whatever their order and surroundings.

use mcp_jsonrpc::{
    DecodeLimits, ErrorCode, Incoming, Message, MessageRef, Notification, Request, RequestId,
    Response, decode,
};

#[track_caller]
fn single(text: &str) -> Message {
    match decode(text.as_bytes(), &DecodeLimits::default()).unwrap() {
        Incoming::Single(message) => message.to_message(),
        Incoming::Batch(_) => panic!("a batch: {text}"),
    }
}

#[track_caller]
fn id_of(text: &str) -> RequestId {
    match single(&format!(r#"{{"jsonrpc":"2.0","id":{text},"result":{{}}}}"#)) {
        Message::Response(Response { id: Some(id), .. }) => id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_method_and_an_id_make_a_request() {
    let Message::Request(request) =
        single(r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}"#)
    else {
        panic!()
    };
    assert_eq!(request.id, "a".into());
    assert_eq!(request.method, "tools/call");
    assert_eq!(request.params.unwrap().get(), r#"{"name":"x"}"#);
}

#[test]
fn a_method_alone_makes_a_notification() {
    let message = single(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let method = "notifications/initialized".to_owned();
    assert_eq!(
        message,
        Message::Notification(Notification {
            method,
            params: None
        })
    );
}

#[test]
fn a_result_makes_a_response() {
    let Message::Response(response) = single(r#"{"jsonrpc":"2.0","id":7,"result":{ "a" : [1] }}"#)
    else {
        panic!()
    };
    assert_eq!(response.id, Some(7.into()));
    assert_eq!(response.outcome.unwrap().get(), r#"{ "a" : [1] }"#);
}

#[test]
fn an_error_makes_a_response_with_or_without_an_id() {
    for (text, want) in [
        (
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}"#,
            Some(7.into()),
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}"#,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"}}"#,
            None,
        ),
    ] {
        let Message::Response(Response {
            id,
            outcome: Err(error),
        }) = single(text)
        else {
            panic!("{text}")
        };
        assert_eq!(id, want, "{text}");
        assert_eq!(error.code, ErrorCode::METHOD_NOT_FOUND);
        assert_eq!(error.message, "no");
    }
}

#[test]
fn an_error_without_a_message_keeps_its_code() {
    let Message::Response(Response {
        outcome: Err(error),
        ..
    }) = single(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000.0,"data":null}}"#)
    else {
        panic!()
    };
    assert_eq!(error.code.get(), -32000);
    assert_eq!(error.message, "");
    assert!(error.data.unwrap().is_null());
}

#[test]
fn ids_keep_their_type() {
    assert_eq!(id_of("7"), 7.into());
    assert_eq!(id_of("\"7\""), "7".into());
    assert_ne!(id_of("7"), id_of("\"7\""));
    assert_eq!(id_of("7").to_string(), "7");
    assert_eq!(id_of("\"7\"").to_string(), "\"7\"");
    assert_eq!(id_of("-3"), (-3).into());
    assert_eq!(id_of(r#""\u0061""#), "a".into());
}

#[test]
fn an_integer_may_be_written_as_a_float() {
    assert_eq!(id_of("7.0"), 7.into());
    assert_eq!(id_of("7e0"), 7.into());
    assert_eq!(id_of("-0.0"), 0.into());
    assert_eq!(id_of("1e2"), 100.into());
}

#[test]
fn the_largest_integers_are_ids() {
    assert_eq!(id_of("9223372036854775807"), i64::MAX.into());
    assert_eq!(id_of("-9223372036854775808"), i64::MIN.into());
    let big = id_of("18446744073709551615");
    assert_eq!(big.to_string(), "18446744073709551615");
    assert_eq!(serde_json::to_string(&big).unwrap(), "18446744073709551615");
}

#[test]
fn ids_sort_and_hash_by_type_first() {
    let mut ids = vec![
        id_of("\"1\""),
        id_of("18446744073709551615"),
        id_of("2"),
        id_of("\"0\""),
    ];
    ids.sort();
    let shown: Vec<String> = ids.iter().map(RequestId::to_string).collect();
    assert_eq!(shown, ["2", "18446744073709551615", "\"0\"", "\"1\""]);
    assert_eq!(
        ids.into_iter()
            .collect::<std::collections::HashSet<_>>()
            .len(),
        4
    );
}

#[test]
fn members_come_in_any_order() {
    let want = single(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#);
    for text in [
        r#"{"params":{},"method":"m","id":1,"jsonrpc":"2.0"}"#,
        r#"{"method":"m","jsonrpc":"2.0","params":{},"id":1}"#,
    ] {
        assert_eq!(single(text), want);
    }
}

#[test]
fn of_members_with_the_same_name_the_last_counts() {
    let message =
        single(r#"{"jsonrpc":"1","id":1,"method":"a","id":2,"method":"b","jsonrpc":"2.0"}"#);
    let method = "b".to_owned();
    assert_eq!(
        message,
        Message::Request(Request {
            id: 2.into(),
            method,
            params: None
        })
    );
}

#[test]
fn unknown_members_and_escapes_do_no_harm() {
    let message = single(
        r#"{"\u006asonrpc":"\u0032.\u0030","x":{"deep":[1,2]},"\ud800":1,"\u0069d":1,"method":"p\u0069ng"}"#,
    );
    let method = "ping".to_owned();
    assert_eq!(
        message,
        Message::Request(Request {
            id: 1.into(),
            method,
            params: None
        })
    );
}

#[test]
fn a_byte_order_mark_and_whitespace_around_are_skipped() {
    let want = single(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    for text in [
        "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n",
        " \t\r\n {\"jsonrpc\" : \"2.0\" ,\n \"id\":1,\"result\": {} }  \n",
    ] {
        assert_eq!(single(text), want, "{text:?}");
    }
}

#[test]
fn null_members_count_as_absent_where_they_mean_nothing() {
    single(r#"{"jsonrpc":"2.0","method":"m","params":null}"#);
    let Message::Response(Response { outcome: Ok(_), .. }) =
        single(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#)
    else {
        panic!()
    };
    let Message::Response(Response {
        outcome: Err(_), ..
    }) = single(r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":""}}"#)
    else {
        panic!()
    };
}

#[test]
fn a_result_may_be_any_json() {
    for result in [
        "null",
        "7",
        "\"x\"",
        "[]",
        "1e400",
        r#""\ud800""#,
        "18446744073709551616",
    ] {
        let Message::Response(Response {
            outcome: Ok(raw), ..
        }) = single(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#))
        else {
            panic!("{result}")
        };
        assert_eq!(raw.get(), result);
    }
}

#[test]
fn a_batch_is_read_and_one_bad_message_does_not_spoil_it() {
    let text = r#" [ {"jsonrpc":"2.0","id":1,"result":{}}, {"id":2}, 7,
        {"jsonrpc":"2.0","method":"m"} ] "#;
    let Incoming::Batch(batch) = decode(text.as_bytes(), &DecodeLimits::default()).unwrap() else {
        panic!()
    };
    assert_eq!(batch.len(), 4);
    assert!(matches!(&batch[0], Ok(MessageRef::Response { id: Some(id), .. }) if *id == 1.into()));
    assert_eq!(batch[1].as_ref().unwrap_err().id(), Some(&2.into()));
    assert_eq!(batch[2].as_ref().unwrap_err().id(), None);
    assert!(matches!(&batch[3], Ok(MessageRef::Notification { .. })));
}
