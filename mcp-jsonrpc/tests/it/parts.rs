//! What the crate is made of: messages with raw ids, errors, and the types of the protocol.

use std::collections::BTreeSet;
use std::error::Error;

use mcp_jsonrpc::model::*;
use mcp_jsonrpc::{
    ErrorObject, Message, Notification, RawJson, RawObject, Request, RequestId, Response,
};
use serde_json::json;

/// Requests, responses and notifications, their ids raw: strings or numbers.
#[test]
fn requests_responses_and_notifications_keep_their_ids_raw() {
    for (id, text) in [(RequestId::from(7), "7"), (RequestId::from("7"), "\"7\"")] {
        let params = Some(RawJson::from_serialize(&json!({"name": "x"})).unwrap());
        let method = "tools/call".to_owned();
        let request = Message::Request(Request {
            id: id.clone(),
            method,
            params,
        });
        let mut out = Vec::new();
        request.encode(&mut out).unwrap();
        let want = format!(
            r#"{{"jsonrpc":"2.0","id":{text},"method":"tools/call","params":{{"name":"x"}}}}"#
        );
        assert_eq!(String::from_utf8(out).unwrap(), want);

        let outcome = Ok(RawJson::from_serialize(&json!({})).unwrap());
        let response = Message::Response(Response {
            id: Some(id),
            outcome,
        });
        let mut out = Vec::new();
        response.encode(&mut out).unwrap();
        let want = format!(r#"{{"jsonrpc":"2.0","id":{text},"result":{{}}}}"#);
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }
    let method = "notifications/initialized".to_owned();
    let mut out = Vec::new();
    Message::Notification(Notification {
        method,
        params: None,
    })
    .encode(&mut out)
    .unwrap();
    let want = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(String::from_utf8(out).unwrap(), want);
}

/// The error object has a code, a message and data, and is an error of the language.
#[test]
fn the_error_object_is_an_error() {
    let error = ErrorObject::new(-32602, "Unknown tool: x")
        .with_data(&json!({"tool": "x"}))
        .unwrap();
    assert_eq!(
        error.data_as::<serde_json::Value>(),
        Some(json!({"tool": "x"}))
    );
    let boxed: Box<dyn Error + Send + Sync> = Box::new(error);
    assert_eq!(
        boxed.to_string(),
        "Unknown tool: x (-32602, invalid params)"
    );
    assert_eq!(ErrorObject::new(-32050, "odd").to_string(), "odd (-32050)");
}

/// A crate of data: no framing, no table of open calls; it depends on serde and serde_json.
#[test]
fn the_crate_is_pure_data() {
    let manifest = include_str!("../../Cargo.toml");
    let dependencies: BTreeSet<&str> = manifest
        .split_once("[dependencies]")
        .unwrap()
        .1
        .lines()
        .take_while(|line| !line.starts_with("[dev-dependencies]"))
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['.', ' ']).next())
        .filter(|name| !name.is_empty())
        .collect();
    assert_eq!(
        dependencies,
        BTreeSet::from(["memchr", "schemars", "serde", "serde_json"])
    );
}

/// The types a host works with, with their members.
#[test]
fn every_type_of_the_protocol_has_its_members() {
    let tool = Tool::new("t", RawObject::empty());
    assert_eq!(tool.description, None);
    let resource = Resource::new("file:///a", "a");
    assert_eq!((resource.description, resource.mime_type), (None, None));
    let contents = ResourceContents::new("file:///a");
    assert_eq!(
        (contents.mime_type, contents.text, contents.blob),
        (None, None, None)
    );
    let mut argument = PromptArgument::new("q");
    argument.required = Some(true);
    let mut prompt = Prompt::new("p");
    prompt.arguments = Some(vec![argument]);
    let message = PromptMessage::new(Role::User, TextContent::new("hello"));
    let got = GetPromptResult::new([message]);
    assert_eq!(got.description, None);
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(ListCapability::default());
    let init = InitializeResult::new("2025-11-25", capabilities, Implementation::new("s", "1"));
    assert_eq!(init.capabilities.tools.unwrap().list_changed, None);
    let mut called = CallToolResult::new([ContentBlock::text("x")]);
    assert!(!called.failed());
    called.is_error = Some(true);
    assert!(called.failed());
    assert_eq!(ListToolsResult::new([tool]).tools.len(), 1);
    assert_eq!(ListPromptsResult::new([prompt]).prompts.len(), 1);
    assert_eq!(
        ReadResourceResult::new([ResourceContents::new("u")])
            .contents
            .len(),
        1
    );
}
