//! The official samples of 2026-07-28: each decodes to its type and encodes back to an equal value.

use mcp_jsonrpc::model::*;
use mcp_jsonrpc::{
    Body, DecodeLimits, ErrorObject, Incoming, MessageRef, Method, NotificationMethod, decode,
    encode_error, encode_notification, encode_request, encode_result, parse_params,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

const SAMPLES: &str = include_str!("spec/2026-07-28-examples.json");

#[test]
fn all_129_official_samples_survive_their_type() {
    let samples: Map<String, Value> = serde_json::from_str(SAMPLES).unwrap();
    assert_eq!(samples.len(), 129);
    for (path, sample) in samples {
        let kind = path.split('/').next().unwrap();
        let back = through(kind, &sample).unwrap_or_else(|| panic!("{path}: no type for {kind}"));
        assert_eq!(back, sample, "{path}");
    }
}

/// Reads a sample as the type its name says and writes it again.
fn through(kind: &str, sample: &Value) -> Option<Value> {
    Some(match kind {
        "AudioContent" => known::<ContentBlock, AudioContent>(sample),
        "BlobResourceContents" | "TextResourceContents" => value::<ResourceContents>(sample),
        "BooleanSchema" => known::<FieldSchema, BooleanSchema>(sample),
        "CallToolRequest" => request::<CallTool>(sample),
        "CallToolRequestParams" => value::<CallToolParams>(sample),
        "CallToolResult" => value::<CallToolResult>(sample),
        "CallToolResultResponse" => response::<CallTool>(sample),
        "CancelledNotification" => notification::<Cancelled>(sample),
        "CancelledNotificationParams" => value::<CancelledParams>(sample),
        "ClientCapabilities" => value::<ClientCapabilities>(sample),
        "CompleteRequest" => request::<Complete>(sample),
        "CompleteRequestParams" => value::<CompleteParams>(sample),
        "CompleteResult" => value::<CompleteResult>(sample),
        "CompleteResultResponse" => response::<Complete>(sample),
        "CreateMessageRequest" => known::<InputRequest, SamplingInput>(sample),
        "CreateMessageRequestParams" => value::<CreateMessageParams>(sample),
        "CreateMessageResult" => value::<CreateMessageResult>(sample),
        "DiscoverRequest" => request::<Discover>(sample),
        "DiscoverResult" => value::<DiscoverResult>(sample),
        "DiscoverResultResponse" => response::<Discover>(sample),
        "ElicitRequest" => known::<InputRequest, ElicitationInput>(sample),
        "ElicitRequestFormParams" => known::<ElicitParams, ElicitFormParams>(sample),
        "ElicitRequestURLParams" => known::<ElicitParams, ElicitUrlParams>(sample),
        "ElicitResult" => value::<ElicitResult>(sample),
        "EmbeddedResource" => known::<ContentBlock, EmbeddedResource>(sample),
        "GetPromptRequest" => request::<GetPrompt>(sample),
        "GetPromptRequestParams" => value::<GetPromptParams>(sample),
        "GetPromptResult" => value::<GetPromptResult>(sample),
        "GetPromptResultResponse" => response::<GetPrompt>(sample),
        "HeaderMismatchError"
        | "MissingRequiredClientCapabilityError"
        | "UnsupportedProtocolVersionError" => failure(sample),
        "ImageContent" => known::<ContentBlock, ImageContent>(sample),
        "InputRequests" => value::<InputRequests>(sample),
        "InputRequiredResult" => value::<InputRequiredResult>(sample),
        "InputResponses" => value::<InputResponses>(sample),
        "InternalError" | "InvalidParamsError" | "MethodNotFoundError" | "ParseError" => {
            value::<ErrorObject>(sample)
        }
        "ListPromptsRequest" => request::<ListPrompts>(sample),
        "ListPromptsResult" => value::<ListPromptsResult>(sample),
        "ListPromptsResultResponse" => response::<ListPrompts>(sample),
        "ListResourceTemplatesRequest" => request::<ListResourceTemplates>(sample),
        "ListResourceTemplatesResult" => value::<ListResourceTemplatesResult>(sample),
        "ListResourceTemplatesResultResponse" => response::<ListResourceTemplates>(sample),
        "ListResourcesRequest" => request::<ListResources>(sample),
        "ListResourcesResult" => value::<ListResourcesResult>(sample),
        "ListResourcesResultResponse" => response::<ListResources>(sample),
        "ListRootsRequest" => known::<InputRequest, RootsInput>(sample),
        "ListRootsResult" => value::<ListRootsResult>(sample),
        "ListToolsRequest" => request::<ListTools>(sample),
        "ListToolsResult" => value::<ListToolsResult>(sample),
        "ListToolsResultResponse" => response::<ListTools>(sample),
        "LoggingMessageNotification" => notification::<LogMessage>(sample),
        "LoggingMessageNotificationParams" => value::<LogMessageParams>(sample),
        "ModelPreferences" => value::<ModelPreferences>(sample),
        "NumberSchema" => known::<FieldSchema, NumberSchema>(sample),
        "PaginatedRequestParams" => value::<PageParams>(sample),
        "ProgressNotification" => notification::<Progress>(sample),
        "ProgressNotificationParams" => value::<ProgressParams>(sample),
        "PromptListChangedNotification" => notification::<PromptListChanged>(sample),
        "ReadResourceRequest" => request::<ReadResource>(sample),
        "ReadResourceResult" => value::<ReadResourceResult>(sample),
        "ReadResourceResultResponse" => response::<ReadResource>(sample),
        "Resource" => value::<Resource>(sample),
        "ResourceLink" => known::<ContentBlock, ResourceLink>(sample),
        "ResourceListChangedNotification" => notification::<ResourceListChanged>(sample),
        "ResourceUpdatedNotification" => notification::<ResourceUpdated>(sample),
        "ResourceUpdatedNotificationParams" => value::<ResourceUpdatedParams>(sample),
        "Root" => value::<Root>(sample),
        "SamplingMessage" => value::<SamplingMessage>(sample),
        "ServerCapabilities" => value::<ServerCapabilities>(sample),
        "StringSchema" | "TitledSingleSelectEnumSchema" | "UntitledSingleSelectEnumSchema" => {
            known::<FieldSchema, StringSchema>(sample)
        }
        "SubscriptionsAcknowledgedNotification" => {
            notification::<SubscriptionsAcknowledged>(sample)
        }
        "SubscriptionsListenRequest" => request::<SubscriptionsListen>(sample),
        "SubscriptionsListenResult" => value::<EmptyResult>(sample),
        "SubscriptionsListenResultResponse" => response::<SubscriptionsListen>(sample),
        "TextContent" => known::<ContentBlock, TextContent>(sample),
        "TitledMultiSelectEnumSchema" | "UntitledMultiSelectEnumSchema" => {
            known::<FieldSchema, MultiSelectSchema>(sample)
        }
        "Tool" => value::<Tool>(sample),
        "ToolListChangedNotification" => notification::<ToolListChanged>(sample),
        "ToolResultContent" => known::<SamplingContent, ToolResultContent>(sample),
        "ToolUseContent" => known::<SamplingContent, ToolUseContent>(sample),
        _ => return None,
    })
}

fn value<T: Serialize + DeserializeOwned>(sample: &Value) -> Value {
    let typed: T = serde_json::from_str(&sample.to_string()).unwrap();
    serde_json::to_value(&typed).unwrap()
}

/// As [`value`], and as a union, which must recognise the same kind.
fn known<U, T>(sample: &Value) -> Value
where
    U: Serialize + DeserializeOwned + From<T> + PartialEq + std::fmt::Debug,
    T: Serialize + DeserializeOwned,
{
    let typed: T = serde_json::from_str(&sample.to_string()).unwrap();
    let union: U = serde_json::from_str(&sample.to_string()).unwrap();
    let back = serde_json::to_value(&typed).unwrap();
    assert_eq!(union, U::from(typed));
    back
}

fn request<M: Method>(sample: &Value) -> Value {
    let text = sample.to_string();
    let Incoming::Single(MessageRef::Request { id, method, params }) =
        decode(text.as_bytes(), &DecodeLimits::default()).unwrap()
    else {
        panic!("not a request: {text}")
    };
    assert_eq!(method, M::NAME);
    let params: M::Params = parse_params(params).unwrap();
    let mut out = Vec::new();
    encode_request(&mut out, &id, M::NAME, &params).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn notification<N: NotificationMethod>(sample: &Value) -> Value {
    let text = sample.to_string();
    let Incoming::Single(MessageRef::Notification { method, params }) =
        decode(text.as_bytes(), &DecodeLimits::default()).unwrap()
    else {
        panic!("not a notification: {text}")
    };
    assert_eq!(method, N::NAME);
    let params: N::Params = parse_params(params).unwrap();
    let mut out = Vec::new();
    encode_notification(&mut out, N::NAME, &params).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn response<M: Method>(sample: &Value) -> Value {
    let text = sample.to_string();
    let Incoming::Single(MessageRef::Response {
        id: Some(id),
        outcome: Ok(result),
    }) = decode(text.as_bytes(), &DecodeLimits::default()).unwrap()
    else {
        panic!("not a result: {text}")
    };
    let result = M::Output::read(result).unwrap();
    let mut out = Vec::new();
    encode_result(&mut out, &id, &result).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn failure(sample: &Value) -> Value {
    let text = sample.to_string();
    let Incoming::Single(MessageRef::Response {
        id,
        outcome: Err(error),
    }) = decode(text.as_bytes(), &DecodeLimits::default()).unwrap()
    else {
        panic!("not an error: {text}")
    };
    let mut out = Vec::new();
    encode_error(&mut out, id.as_ref(), &error).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn error_data_of_the_official_samples_is_read() {
    let samples: Map<String, Value> = serde_json::from_str(SAMPLES).unwrap();
    let error = |path: &str| -> ErrorObject {
        serde_json::from_value(samples[path]["error"].clone()).unwrap()
    };
    let unsupported: UnsupportedVersionData =
        error("UnsupportedProtocolVersionError/unsupported-version.json")
            .data_as()
            .unwrap();
    assert_eq!(unsupported.supported, ["2026-07-28", "2025-11-25"]);
    assert_eq!(unsupported.requested.as_deref(), Some("1900-01-01"));
    let missing: MissingCapabilityData =
        error("MissingRequiredClientCapabilityError/missing-elicitation-capability.json")
            .data_as()
            .unwrap();
    assert_eq!(
        serde_json::to_value(&missing.required_capabilities).unwrap(),
        json!({"elicitation": {}})
    );
}
