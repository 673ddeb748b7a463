//! What the client asks of `server-everything`.

use std::fs;

use mcp_jsonrpc::model::{
    CompleteParams, CompletionArgument, CompletionContext, CompletionReference, PromptReference,
    ResourceReference,
};
use mcp_jsonrpc::{ErrorCode, OrderedMap};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::installed::{MARK, modules};
use crate::session::{Session, structured};

pub(super) async fn lists_are_whole(session: &Session) {
    let tools = [
        "echo",
        "get-annotated-message",
        "get-env",
        "get-resource-links",
        "get-resource-reference",
        "get-structured-content",
        "get-sum",
        "get-tiny-image",
        "gzip-file-as-resource",
        "toggle-simulated-logging",
        "toggle-subscriber-updates",
        "trigger-long-running-operation",
        "get-roots-list",
        "trigger-elicitation-request",
        "trigger-url-elicitation",
        "trigger-sampling-request",
        "simulate-research-query",
    ];
    assert_eq!(session.tools().await, tools);

    let resources = session.client.list_resources().await.unwrap();
    let mut names: Vec<_> = resources.items.into_iter().map(|one| one.name).collect();
    names.sort();
    let docs = "architecture extension features how-it-works instructions startup structure";
    let docs = docs.split(' ').map(|doc| format!("{doc}.md"));
    assert_eq!(names, docs.collect::<Vec<_>>());

    let templates = session.client.list_resource_templates().await.unwrap();
    let templates = templates.items.into_iter().map(|one| one.uri_template);
    let dynamic =
        ["text", "blob"].map(|kind| format!("demo://resource/dynamic/{kind}/{{resourceId}}"));
    assert_eq!(templates.collect::<Vec<_>>(), dynamic);

    let prompts = session.client.list_prompts().await.unwrap();
    let mut names: Vec<_> = prompts.items.into_iter().map(|one| one.name).collect();
    names.sort();
    assert_eq!(
        names,
        [
            "args-prompt",
            "completable-prompt",
            "resource-prompt",
            "simple-prompt"
        ]
    );
}

/// All but audio, which `server-filesystem` has.
pub(super) async fn every_kind_of_content_arrives(session: &Session) {
    let sum = session.say("get-sum", json!({"a": 2, "b": 40})).await;
    assert_eq!(sum, "The sum of 2 and 40 is 42.");

    let env: Value = serde_json::from_str(&session.say("get-env", json!({})).await).unwrap();
    assert_eq!(env[MARK.0], MARK.1);

    let result = session
        .call("get-structured-content", json!({"location": "New York"}))
        .await;
    let weather = json!({"temperature": 33, "conditions": "Cloudy", "humidity": 82});
    assert_eq!(structured(&result), weather);

    let arguments = json!({"messageType": "error", "includeImage": true});
    let content = content(session, "get-annotated-message", arguments).await;
    let annotations = json!({"priority": 1, "audience": ["user", "assistant"]});
    let text =
        json!({"type": "text", "text": "Error: Operation failed", "annotations": annotations});
    assert_eq!(number_free(&content[0]), number_free(&text));
    assert_eq!(content[0]["annotations"]["priority"].as_f64(), Some(1.0));
    assert_eq!(
        content[1]["annotations"],
        json!({"priority": 0.5, "audience": ["user"]})
    );

    let picture = self::content(session, "get-tiny-image", json!({})).await;
    assert_eq!(picture[1]["type"], "image");
    assert_eq!(picture[1]["mimeType"], "image/png");
    assert_eq!(picture[1]["data"], content[1]["data"]);
    assert!(
        picture[1]["data"]
            .as_str()
            .unwrap()
            .starts_with("iVBORw0KGgo")
    );

    let links = self::content(session, "get-resource-links", json!({"count": 2})).await;
    let link = json!({
        "type": "resource_link",
        "uri": "demo://resource/dynamic/text/2",
        "name": "Text Resource 2",
        "description": "Resource 2: plaintext resource",
        "mimeType": "text/plain",
    });
    assert_eq!((links.as_array().unwrap().len(), &links[2]), (3, &link));

    for (kind, member) in [("Text", "text"), ("Blob", "blob")] {
        let arguments = json!({"resourceType": kind, "resourceId": 7});
        let content = self::content(session, "get-resource-reference", arguments).await;
        assert_eq!(content[1]["type"], "resource");
        let resource = &content[1]["resource"];
        assert_eq!(
            resource["uri"],
            format!("demo://resource/dynamic/{member}/7")
        );
        assert!(resource[member].is_string(), "{resource}");
    }
}

pub(super) async fn failures_are_reported(session: &Session) {
    let wrong = session
        .complaint("get-sum", json!({"a": "2", "b": 40}))
        .await;
    assert!(wrong.contains("-32602"), "{wrong}");
    let unknown = session.complaint("no-such-tool", json!({})).await;
    assert!(unknown.contains("no-such-tool"), "{unknown}");
    let error = session
        .client
        .read_resource("demo://nowhere")
        .await
        .unwrap_err();
    assert_eq!(
        error.peer().unwrap().code,
        ErrorCode::INVALID_PARAMS,
        "{error}"
    );
}

pub(super) async fn resources_are_read(session: &Session) {
    let uri = "demo://resource/static/document/features.md";
    let read = session.client.read_resource(uri).await.unwrap();
    let file = modules().join("server-everything/dist/docs/features.md");
    assert_eq!(
        read.contents[0].text,
        Some(fs::read_to_string(file).unwrap())
    );
    assert_eq!(read.contents[0].mime_type.as_deref(), Some("text/markdown"));

    let uri = "demo://resource/dynamic/text/3";
    let read = session.client.read_resource(uri).await.unwrap();
    let text = read.contents[0].text.as_deref().unwrap();
    assert!(
        text.starts_with("Resource 3: This is a plaintext resource"),
        "{text}"
    );

    let uri = "demo://resource/dynamic/blob/3";
    let read = session.client.read_resource(uri).await.unwrap();
    let blob = read.contents[0].blob.as_deref().unwrap();
    assert!(blob.starts_with("UmVzb3VyY2UgMzog"), "{blob}");
}

pub(super) async fn prompts_are_filled_in(session: &Session) {
    let none: [(&str, &str); 0] = [];
    let place = [("city", "Paris"), ("state", "TX")];
    let team = [("department", "Sales"), ("name", "Eve")];
    assert_eq!(
        [
            prompt(session, "simple-prompt", &none).await,
            prompt(session, "args-prompt", &place).await,
            prompt(session, "completable-prompt", &team).await,
        ],
        [
            "This is a simple prompt without arguments.",
            "What's weather in Paris, TX?",
            "Please promote Eve to the head of the Sales team.",
        ]
    );
    let resource = [("resourceType", "Text"), ("resourceId", "5")];
    let filled = session
        .client
        .get_prompt("resource-prompt", resource)
        .await
        .unwrap();
    let content = serde_json::to_value(&filled.messages[1].content).unwrap();
    assert_eq!(content["resource"]["uri"], "demo://resource/dynamic/text/5");
    let error = session
        .client
        .get_prompt("args-prompt", none)
        .await
        .unwrap_err();
    assert_eq!(
        error.peer().unwrap().code,
        ErrorCode::INVALID_PARAMS,
        "{error}"
    );
}

async fn prompt(session: &Session, name: &str, arguments: &[(&str, &str)]) -> String {
    let arguments = arguments.iter().copied();
    let filled = session.client.get_prompt(name, arguments).await.unwrap();
    filled.messages[0].content.as_text().unwrap().to_owned()
}

pub(super) async fn arguments_are_completed(session: &Session) {
    let team = || CompletionReference::Prompt(PromptReference::new("completable-prompt"));
    let complete = async |of, name: &str, value: &str, context| {
        let mut params = CompleteParams::new(of, CompletionArgument::new(name, value));
        params.context = context;
        let result = session.client.complete(&params).await.unwrap();
        result.completion.values
    };
    assert_eq!(
        complete(team(), "department", "S", None).await,
        ["Sales", "Support"]
    );
    let mut context = CompletionContext::default();
    let known = [("department".to_owned(), "Sales".to_owned())];
    context.arguments = Some(known.into_iter().collect::<OrderedMap<String>>());
    assert_eq!(
        complete(team(), "name", "", Some(context)).await,
        ["David", "Eve", "Frank"]
    );
    let template = ResourceReference::new("demo://resource/dynamic/text/{resourceId}");
    let template = CompletionReference::Resource(template);
    assert_eq!(complete(template, "resourceId", "12", None).await, ["12"]);
}

pub(super) async fn large_results_arrive_whole(session: &Session) {
    let message = "größer ✓ ".repeat(1 << 17);
    let said = session.say("echo", json!({"message": message})).await;
    assert!(
        said == format!("Echo: {message}"),
        "{} bytes came",
        said.len()
    );
}

pub(super) async fn calls_in_flight_together_keep_apart(session: &Session) {
    let mut calls = JoinSet::new();
    for n in 0..32 {
        let client = session.client.clone();
        calls.spawn(async move {
            let result = client
                .call_tool("get-sum", json!({"a": n, "b": 1000}))
                .await;
            let sum = result.unwrap().content[0].as_text().unwrap().to_owned();
            assert_eq!(sum, format!("The sum of {n} and 1000 is {}.", n + 1000));
        });
    }
    calls.join_all().await;
}

async fn content(session: &Session, tool: &str, arguments: Value) -> Value {
    let result = session.call(tool, arguments).await;
    serde_json::to_value(&result.content).unwrap()
}

/// Without the priority: 1 and 1.0 are the same number, but not the same JSON.
fn number_free(block: &Value) -> Value {
    let mut block = block.clone();
    block["annotations"]["priority"] = Value::Null;
    block
}
