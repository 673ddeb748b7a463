//! Arbitrary values of ours are what the official schema of their revision says, and read back as
//! what they were.

use mcp_jsonrpc::model::*;
use mcp_jsonrpc::{Revision, TaskForm};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::arbitrary::client_side::*;
use crate::arbitrary::content::*;
use crate::arbitrary::lifecycle::*;
use crate::arbitrary::server_side::*;
use crate::arbitrary::{Gen, task as tasks};
use crate::round_trip::{any_message, body, error_response, notification, request, response};

/// A definition of a schema, and how to make a value of it.
pub(crate) type Entry = (&'static str, fn(&mut Gen) -> Value);

macro_rules! entries {
    ($($name:literal => $make:expr),* $(,)?) => {
        [$(($name, (|g| $make(g)) as fn(&mut Gen) -> Value)),*]
    };
}

/// All messages and objects of the core, by their names in the schemas. A name that several
/// revisions have stands for what each of them makes of it.
pub(crate) fn core() -> Vec<Entry> {
    let shared = entries![
        "Annotations" => |g| body(g, annotations),
        "AudioContent" => |g| body(g, audio_content),
        "BlobResourceContents" => |g| body(g, blob_resource),
        "BooleanSchema" => |g| body(g, boolean),
        "CallToolRequest" => |g| request::<CallTool>(g, call_tool),
        "CallToolResult" => |g| body(g, call_result),
        "CancelledNotification" => |g| notification::<Cancelled>(g, cancelled),
        "ClientCapabilities" => |g| body(g, client_capabilities),
        "CompleteRequest" => |g| request::<Complete>(g, complete_params),
        "CompleteResult" => |g| body(g, complete_result),
        "ContentBlock" => |g| body(g, block),
        "CreateMessageRequest" => server_request_message,
        "CreateMessageResult" => |g| body(g, message_result),
        "ElicitRequest" => server_request_elicit,
        "ElicitResult" => |g| body(g, elicit_result),
        "EmbeddedResource" => |g| body(g, embedded_resource),
        "EmptyResult" => |g| body(g, empty_result),
        "EnumSchema" => |g| body(g, named_select),
        "GetPromptRequest" => |g| request::<GetPrompt>(g, get_prompt),
        "GetPromptResult" => |g| body(g, prompt_result),
        "ImageContent" => |g| body(g, image_content),
        "Implementation" => |g| body(g, implementation),
        "InitializeRequest" => |g| request::<Initialize>(g, initialize_params),
        "InitializeResult" => |g| body(g, initialize_result),
        "InitializedNotification" => |g| notification::<Initialized>(g, notification_params),
        "JSONRPCError" => error_response,
        "JSONRPCMessage" => any_message,
        "JSONRPCNotification" => |g| notification::<LogMessage>(g, log_message),
        "JSONRPCRequest" => |g| request::<ListTools>(g, page_params),
        "JSONRPCResponse" => |g| response::<ListTools>(g, list_tools),
        "ListPromptsRequest" => |g| request::<ListPrompts>(g, page_params),
        "ListPromptsResult" => |g| body(g, list_prompts),
        "ListResourceTemplatesRequest" => |g| request::<ListResourceTemplates>(g, page_params),
        "ListResourceTemplatesResult" => |g| body(g, list_templates),
        "ListResourcesRequest" => |g| request::<ListResources>(g, page_params),
        "ListResourcesResult" => |g| body(g, list_resources),
        "ListRootsRequest" => server_request_roots,
        "ListRootsResult" => |g| body(g, list_roots),
        "ListToolsRequest" => |g| request::<ListTools>(g, page_params),
        "ListToolsResult" => |g| body(g, list_tools),
        "LoggingMessageNotification" => |g| notification::<LogMessage>(g, log_message),
        "ModelHint" => |g| body(g, model_hint),
        "ModelPreferences" => |g| body(g, model_preferences),
        "NumberSchema" => |g: &mut Gen| if g.bool() { body(g, number) } else { body(g, integer) },
        "PingRequest" => |g| request::<Ping>(g, empty_params),
        "PrimitiveSchemaDefinition" => |g| body(g, field),
        "ProgressNotification" => |g| notification::<Progress>(g, progress),
        "Prompt" => |g| body(g, prompt),
        "PromptArgument" => |g| body(g, prompt_argument),
        "PromptListChangedNotification" => |g| notification::<PromptListChanged>(g, notification_params),
        "PromptMessage" => |g| body(g, prompt_message),
        "PromptReference" => |g| body(g, prompt_reference),
        "ReadResourceRequest" => |g| request::<ReadResource>(g, read_resource),
        "ReadResourceResult" => |g| body(g, read_result),
        "Resource" => |g| body(g, resource),
        "ResourceLink" => |g| body(g, resource_link),
        "ResourceListChangedNotification" => |g| notification::<ResourceListChanged>(g, notification_params),
        "ResourceReference" => |g| body(g, resource_reference),
        "ResourceTemplate" => |g| body(g, resource_template),
        "ResourceTemplateReference" => |g| body(g, resource_reference),
        "ResourceUpdatedNotification" => |g| notification::<ResourceUpdated>(g, resource_updated),
        "Root" => |g| body(g, root),
        "RootsListChangedNotification" => |g| notification::<RootsListChanged>(g, notification_params),
        "SamplingMessage" => |g| body(g, sampling_message),
        "ServerCapabilities" => |g| body(g, server_capabilities),
        "SetLevelRequest" => |g| request::<SetLevel>(g, set_level),
        "StringSchema" => |g| body(g, plain_string),
        "SubscribeRequest" => |g| request::<Subscribe>(g, subscribe),
        "TextContent" => |g| body(g, text_content),
        "TextResourceContents" => |g| body(g, text_resource),
        "Tool" => |g| body(g, tool),
        "ToolAnnotations" => |g| body(g, tool_annotations),
        "ToolListChangedNotification" => |g| notification::<ToolListChanged>(g, notification_params),
        "UnsubscribeRequest" => |g| request::<Unsubscribe>(g, subscribe),
    ];
    shared
        .into_iter()
        .chain(since_2025_11_25())
        .chain(since_2026_07_28())
        .collect()
}

fn since_2025_11_25() -> impl IntoIterator<Item = Entry> {
    use mcp_jsonrpc::model::experimental_task::*;
    entries![
        "CallToolRequestParams" => |g| body(g, call_tool),
        "CancelTaskRequest" => |g| request::<TaskCancel>(g, tasks::id_params),
        "CancelTaskResult" => |g| body(g, tasks::experimental_with_meta),
        "CancelledNotificationParams" => |g| body(g, cancelled),
        "CompleteRequestParams" => |g| body(g, complete_params),
        "CreateMessageRequestParams" => |g| body(g, create_message),
        "CreateTaskResult" => |g| body(g, tasks::experimental_created),
        "ElicitRequestFormParams" => |g| body(g, elicit_form),
        "ElicitRequestParams" => |g| body(g, elicit),
        "ElicitRequestURLParams" => |g| body(g, elicit_url),
        "ElicitationCompleteNotification" => |g| notification::<ElicitationComplete>(g, elicitation_complete),
        "Error" => |g| body(g, tasks::error),
        "GetPromptRequestParams" => |g| body(g, get_prompt),
        "GetTaskPayloadRequest" => |g| request::<TaskResult>(g, tasks::id_params),
        "GetTaskPayloadResult" => |g| body(g, call_result),
        "GetTaskRequest" => |g| request::<TaskGet>(g, tasks::id_params),
        "GetTaskResult" => |g| body(g, tasks::experimental_with_meta),
        "Icon" => |g| body(g, icon),
        "InitializeRequestParams" => |g| body(g, initialize_params),
        "JSONRPCErrorResponse" => error_response,
        "JSONRPCResultResponse" => |g| response::<ListTools>(g, list_tools),
        "LegacyTitledEnumSchema" => |g| body(g, named_select),
        "ListTasksRequest" => |g| request::<TaskList>(g, page_params),
        "ListTasksResult" => |g| body(g, tasks::experimental_list),
        "LoggingMessageNotificationParams" => |g| body(g, log_message),
        "MultiSelectEnumSchema" => |g: &mut Gen| {
            if g.bool() { body(g, titled_multi) } else { body(g, untitled_multi) }
        },
        "NotificationParams" => |g| body(g, notification_params),
        "PaginatedRequestParams" => |g| body(g, page_params),
        "ProgressNotificationParams" => |g| body(g, progress),
        "ReadResourceRequestParams" => |g| body(g, read_resource),
        "RelatedTaskMetadata" => |g| body(g, tasks::related),
        "RequestParams" => |g| body(g, empty_params),
        "ResourceUpdatedNotificationParams" => |g| body(g, resource_updated),
        "SamplingMessageContentBlock" => |g| body(g, sampling_content),
        "SetLevelRequestParams" => |g| body(g, set_level),
        "SingleSelectEnumSchema" => |g: &mut Gen| {
            if g.bool() { body(g, titled_select) } else { body(g, untitled_select) }
        },
        "SubscribeRequestParams" => |g| body(g, subscribe),
        "Task" => |g| body(g, tasks::experimental),
        "TaskMetadata" => |g| body(g, task_metadata),
        "TaskStatusNotification" => |g| notification::<TaskStatusChanged>(g, tasks::experimental_with_meta),
        "TaskStatusNotificationParams" => |g| body(g, tasks::experimental_with_meta),
        "TitledMultiSelectEnumSchema" => |g| body(g, titled_multi),
        "TitledSingleSelectEnumSchema" => |g| body(g, titled_select),
        "ToolChoice" => |g| body(g, tool_choice),
        "ToolExecution" => |g| body(g, tool_execution),
        "ToolResultContent" => |g| body(g, tool_result),
        "ToolUseContent" => |g| body(g, tool_use),
        "URLElicitationRequiredError" => url_elicitation_required,
        "UnsubscribeRequestParams" => |g| body(g, subscribe),
        "UntitledMultiSelectEnumSchema" => |g| body(g, untitled_multi),
        "UntitledSingleSelectEnumSchema" => |g| body(g, untitled_select),
    ]
}

fn since_2026_07_28() -> impl IntoIterator<Item = Entry> {
    entries![
        "CallToolResultResponse" => |g| response::<CallTool>(g, call_result),
        "CompleteResultResponse" => |g| response::<Complete>(g, complete_result),
        "DiscoverRequest" => |g| request::<Discover>(g, empty_params),
        "DiscoverResult" => |g| body(g, discover_result),
        "DiscoverResultResponse" => |g| response::<Discover>(g, discover_result),
        "GetPromptResultResponse" => |g| response::<GetPrompt>(g, prompt_result),
        "InputRequest" => |g: &mut Gen| match g.below(3) {
            0 => body(g, elicitation_input),
            1 => body(g, sampling_input),
            _ => body(g, roots_input),
        },
        "InputRequests" => |g| body(g, input_required)["inputRequests"].as_object().cloned()
            .unwrap_or_default().into(),
        "InputRequiredResult" => |g| body(g, input_required),
        "InputResponses" => |g| body(g, input_responses),
        "ListPromptsResultResponse" => |g| response::<ListPrompts>(g, list_prompts),
        "ListResourceTemplatesResultResponse" => |g| response::<ListResourceTemplates>(g, list_templates),
        "ListResourcesResultResponse" => |g| response::<ListResources>(g, list_resources),
        "ListToolsResultResponse" => |g| response::<ListTools>(g, list_tools),
        "ReadResourceResultResponse" => |g| response::<ReadResource>(g, read_result),
        "SubscriptionFilter" => |g| body(g, filter),
        "SubscriptionsAcknowledgedNotification" => |g| notification::<SubscriptionsAcknowledged>(g, acknowledged),
        "SubscriptionsAcknowledgedNotificationParams" => |g| body(g, acknowledged),
        "SubscriptionsListenRequest" => |g| request::<SubscriptionsListen>(g, listen),
        "SubscriptionsListenRequestParams" => |g| body(g, listen),
        "SubscriptionsListenResult" => |g| body(g, listen_result),
        "SubscriptionsListenResultResponse" => |g| response::<SubscriptionsListen>(g, listen_result),
    ]
}

/// The extension's definitions of its own; the rest of its schema repeats the core's.
pub(crate) fn tasks_extension() -> Vec<Entry> {
    use mcp_jsonrpc::model::task::*;
    entries![
        "CancelTaskRequest" => |g| request::<TaskCancel>(g, tasks::id_params),
        "CancelTaskResult" => |g| body(g, empty_result),
        "CancelledTask" => |g| body(g, |g| tasks::detailed_as(g, TaskStatus::Cancelled)),
        "CompletedTask" => |g| body(g, |g| tasks::detailed_as(g, TaskStatus::Completed)),
        "CreateTaskResult" => |g| body(g, tasks::created),
        "DetailedTask" => |g| body(g, tasks::detailed),
        "FailedTask" => |g| body(g, |g| tasks::detailed_as(g, TaskStatus::Failed)),
        "GetTaskRequest" => |g| request::<TaskGet>(g, tasks::id_params),
        "GetTaskResult" => |g| body(g, tasks::got),
        "InputRequiredTask" => |g| body(g, |g| tasks::detailed_as(g, TaskStatus::InputRequired)),
        "Task" => |g| body(g, tasks::plain),
        "TaskStatusNotification" => |g| notification::<TaskChanged>(g, tasks::detailed),
        "TaskStatusNotificationParams" => |g| body(g, tasks::detailed),
        "TaskSubscriptionAcknowledgedNotifications" => task_subscription,
        "TaskSubscriptionNotifications" => task_subscription,
        "UpdateTaskRequest" => |g| request::<TaskUpdate>(g, tasks::update),
        "UpdateTaskResult" => |g| body(g, empty_result),
        "WorkingTask" => |g| body(g, |g| tasks::detailed_as(g, TaskStatus::Working)),
    ]
    .into()
}

/// Up to 2025-11-25 the server sends a request; after, it stands inside a result.
fn server_request_message(g: &mut Gen) -> Value {
    if g.revision.has_server_requests() {
        request::<CreateMessage>(g, create_message)
    } else {
        body(g, sampling_input)
    }
}

fn server_request_elicit(g: &mut Gen) -> Value {
    if g.revision.has_server_requests() {
        request::<ElicitationCreate>(g, elicit)
    } else {
        body(g, elicitation_input)
    }
}

fn server_request_roots(g: &mut Gen) -> Value {
    if g.revision.has_server_requests() {
        request::<ListRoots>(g, empty_params)
    } else {
        body(g, roots_input)
    }
}

fn url_elicitation_required(g: &mut Gen) -> Value {
    let elicitations = g.list(elicit_url);
    let data = UrlElicitationData::new(elicitations);
    let error = mcp_jsonrpc::ErrorObject::new(-32042, g.text())
        .with_data(&data)
        .unwrap();
    assert_eq!(error.data_as::<UrlElicitationData>(), Some(data));
    json!({ "jsonrpc": "2.0", "id": g.id(), "error": error })
}

fn task_subscription(g: &mut Gen) -> Value {
    body(g, |g| {
        let mut filter = SubscriptionFilter::default();
        filter.task_ids = g.maybe(|g| g.list(Gen::text));
        filter
    })
}

/// Judges objects whose members are values of the definitions they are named after.
pub(crate) fn validator(schema: &Value) -> jsonschema::Validator {
    let folder = if schema.get("$defs").is_some() {
        "$defs"
    } else {
        "definitions"
    };
    let names = definitions(schema).keys();
    let properties: serde_json::Map<String, Value> = names
        .map(|name| {
            (
                name.clone(),
                json!({ "$ref": format!("#/{folder}/{name}") }),
            )
        })
        .collect();
    let mut all = schema.clone();
    all["properties"] = properties.into();
    jsonschema::validator_for(&all).unwrap()
}

pub(crate) fn definitions(schema: &Value) -> &serde_json::Map<String, Value> {
    schema
        .get("$defs")
        .or_else(|| schema.get("definitions"))
        .unwrap()
        .as_object()
        .unwrap()
}

pub(crate) fn schema_of(revision: Revision) -> Value {
    let text = match revision {
        Revision::V2024_11_05 => include_str!("spec/2024-11-05.json"),
        Revision::V2025_03_26 => include_str!("spec/2025-03-26.json"),
        Revision::V2025_06_18 => include_str!("spec/2025-06-18.json"),
        Revision::V2025_11_25 => include_str!("spec/2025-11-25.json"),
        Revision::V2026_07_28 => include_str!("spec/2026-07-28.json"),
        other => panic!("no schema for {other}"),
    };
    serde_json::from_str(text).unwrap()
}

pub(crate) fn tasks_schema() -> Value {
    serde_json::from_str(include_str!("spec/ext-tasks-draft.json")).unwrap()
}

/// Makes a value of every entry the schema defines, and has the schema judge them.
#[track_caller]
fn check(schema: &Value, mut entries: Vec<Entry>, revision: Revision) {
    entries.retain(|(name, _)| definitions(schema).contains_key(*name));
    let validator = validator(schema);
    proptest!(ProptestConfig::with_cases(64), |(seed in any::<u64>())| {
        let made = entries
            .iter()
            .map(|(name, make)| ((*name).to_owned(), make(&mut Gen::new(seed, revision))));
        let values = Value::Object(made.collect());
        if let Some(error) = validator.iter_errors(&values).next() {
            let place = error.instance_path().to_string();
            prop_assert!(false, "{revision}{place}: {error}\n{:#}", values.pointer(&place).unwrap());
        }
    });
}

#[test]
fn values_of_2024_11_05_are_accepted_by_its_schema() {
    check(
        &schema_of(Revision::V2024_11_05),
        core(),
        Revision::V2024_11_05,
    );
}

#[test]
fn values_of_2025_03_26_are_accepted_by_its_schema() {
    check(
        &schema_of(Revision::V2025_03_26),
        core(),
        Revision::V2025_03_26,
    );
}

#[test]
fn values_of_2025_06_18_are_accepted_by_its_schema() {
    check(
        &schema_of(Revision::V2025_06_18),
        core(),
        Revision::V2025_06_18,
    );
}

#[test]
fn values_of_2025_11_25_are_accepted_by_its_schema() {
    check(
        &schema_of(Revision::V2025_11_25),
        core(),
        Revision::V2025_11_25,
    );
}

#[test]
fn values_of_2026_07_28_are_accepted_by_its_schema() {
    check(
        &schema_of(Revision::V2026_07_28),
        core(),
        Revision::V2026_07_28,
    );
}

#[test]
fn values_of_the_tasks_extension_are_accepted_by_its_schema() {
    assert_eq!(Revision::LATEST.has_tasks(), TaskForm::Extension);
    check(&tasks_schema(), tasks_extension(), Revision::LATEST);
}
