//! Answers of 2026-07-28 are distinguished by their `resultType`.

use mcp_jsonrpc::model::*;
use mcp_jsonrpc::{Body, RawJson, RawRef, Reply, ResultBody, ResultType};
use serde::{Deserialize, Serialize};

#[track_caller]
fn reply<T: ResultBody>(text: &str) -> Reply<T> {
    Reply::read(RawRef::from_text(text).unwrap()).unwrap()
}

#[test]
fn a_result_without_a_type_or_of_type_complete_is_complete() {
    for text in [
        r#"{"content":[]}"#,
        r#"{"content":[],"resultType":"complete"}"#,
    ] {
        assert!(matches!(reply::<CallToolResult>(text), Reply::Complete(_)));
        assert!(matches!(reply::<RawJson>(text), Reply::Complete(_)));
        assert!(matches!(
            reply::<serde_json::Value>(text),
            Reply::Complete(_)
        ));
    }
}

#[test]
fn input_required_is_seen_whatever_the_result_would_have_been() {
    let text = r#"{"inputRequests":{
        "z":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}},
        "a":{"method":"roots/list"},
        "n":{"method":"new/kind","params":{"x":1}}
    },"requestState":"s","resultType":"input_required"}"#;
    for asked in [
        match reply::<CallToolResult>(text) {
            Reply::InputRequired(asked) => asked,
            other => panic!("{other:?}"),
        },
        match reply::<ReadResourceResult>(text) {
            Reply::InputRequired(asked) => asked,
            other => panic!("{other:?}"),
        },
        match reply::<RawJson>(text) {
            Reply::InputRequired(asked) => asked,
            other => panic!("{other:?}"),
        },
    ] {
        let requests = asked.input_requests.unwrap();
        assert_eq!(requests.keys().collect::<Vec<_>>(), ["z", "a", "n"]);
        assert!(matches!(
            requests.get("z"),
            Some(InputRequest::Elicitation(_))
        ));
        assert!(matches!(requests.get("a"), Some(InputRequest::Roots(_))));
        assert!(matches!(requests.get("n"), Some(InputRequest::Unknown(_))));
        assert_eq!(asked.request_state.as_deref(), Some("s"));
    }
}

#[test]
fn a_task_is_seen() {
    let text = r#"{"resultType":"task","taskId":"7","status":"working","createdAt":"a","lastUpdatedAt":"b","ttlMs":null,"pollIntervalMs":100}"#;
    let Reply::Task(task) = reply::<CallToolResult>(text) else {
        panic!()
    };
    assert_eq!(task.task_id, "7");
    assert_eq!(task.result_type(), Some(ResultType::Task));
}

#[test]
fn an_unknown_type_is_kept() {
    let text = r#"{"resultType":"oracle","content":[]}"#;
    let Reply::Unknown { result_type, raw } = reply::<CallToolResult>(text) else {
        panic!()
    };
    assert_eq!((result_type.as_str(), raw.get()), ("oracle", text));
}

#[test]
fn a_bad_result_of_type_complete_fails_with_its_own_reason() {
    let raw = RawRef::from_text(r#"{"resultType":"complete"}"#).unwrap();
    let error = Reply::<ListToolsResult>::read(raw).unwrap_err();
    assert_eq!(error.to_string(), "`tools` is missing");
}

/// Whatever a type reads of a result, one that is not complete never is its value.
#[test]
fn only_a_result_that_is_complete_reads_as_one() {
    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Lenient {
        #[serde(default)]
        answer: u8,
    }
    impl Body for Lenient {}
    impl ResultBody for Lenient {}
    fn is_complete<T: ResultBody>(text: &str) -> bool {
        let raw = RawRef::from_text(text).unwrap();
        matches!(Reply::<T>::read(raw), Ok(Reply::Complete(_)))
    }
    for tag in [r#""input_required""#, r#""task""#, r#""new""#, "7", "[]"] {
        let text = format!(r#"{{"resultType":{tag},"content":[]}}"#);
        assert!(!is_complete::<Lenient>(&text), "{text}");
        assert!(!is_complete::<EmptyResult>(&text), "{text}");
        assert!(!is_complete::<CallToolResult>(&text), "{text}");
        assert!(!is_complete::<RawJson>(&text), "{text}");
        assert!(!is_complete::<serde_json::Value>(&text), "{text}");
    }
    let twice = r#"{"resultType":"task","resultType":"task"}"#;
    assert!(!is_complete::<RawJson>(twice));
    for text in [
        r#"{"resultType":"complete"}"#,
        "{}",
        r#"{"resultType":null}"#,
    ] {
        assert!(is_complete::<Lenient>(text), "{text}");
        assert!(is_complete::<RawJson>(text), "{text}");
        assert!(is_complete::<serde_json::Value>(text), "{text}");
    }
}

#[test]
fn a_tools_result_is_distinguished_from_any_other_object() {
    let read = |text| RawRef::from_text(text).and_then(CallToolResult::read);
    for other in ["{}", r#"{"tools":[]}"#, r#"{"_meta":{}}"#] {
        assert_eq!(
            read(other).unwrap_err().to_string(),
            "`content` is missing",
            "{other}"
        );
    }
    for result in [
        r#"{"content":[]}"#,
        r#"{"content":null}"#,
        r#"{"structuredContent":{"a":1}}"#,
        r#"{"structuredContent":null}"#,
        r#"{"isError":true}"#,
    ] {
        assert_eq!(read(result).unwrap().content, [], "{result}");
    }
}

#[test]
fn a_type_of_ones_own_gets_by_with_serde() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Mine {
        answer: u8,
    }
    impl Body for Mine {}
    impl ResultBody for Mine {}
    assert_eq!(
        reply(r#"{"answer":42}"#),
        Reply::Complete(Mine { answer: 42 })
    );
    let raw = RawRef::from_text(r#"{"resultType":"input_required"}"#).unwrap();
    assert!(matches!(
        Reply::<Mine>::read(raw),
        Ok(Reply::InputRequired(_))
    ));
}
