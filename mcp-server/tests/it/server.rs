//! Tools, resources, prompts, lists and changes, in both eras over an in-memory pair.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mcp_client::{CallError, ClientEvent, Interests};
use mcp_jsonrpc::model::{
    CallToolResult, CompleteParams, CompletionArgument, ContentBlock, Implementation,
    ListCapability, ListResources, ListTools, ListToolsResult, PageParams, Prompt, PromptArgument,
    PromptReference, Resource, ResourceTemplate, ServerCapabilities,
};
use mcp_jsonrpc::{ErrorCode, RawJson, RawObject};
use mcp_server::{Context, Error, Handler, Json, Server, ServerLimits};
use serde_json::{Value, json};

use crate::kit::{Alive, ERAS, any, arguments, connect, server, text, until};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    sum: i64,
}

fn code(error: &CallError) -> Option<ErrorCode> {
    error.peer().map(|error| error.code)
}

#[tokio::test]
async fn a_typed_tool_is_listed_with_its_schemas_and_called_in_both_eras() {
    let service = server()
        .tool("add", "Adds", |add: Add, _: Context| async move {
            Json(Sum { sum: add.a + add.b })
        })
        .build();
    for era in ERAS {
        let client = connect(&service, era).await;
        let tools = client.list_tools().await.unwrap().items;
        let input: Value = tools[0].input_schema.parse().unwrap();
        assert_eq!(input["required"], json!(["a", "b"]));
        let output: Value = tools[0].output_schema.as_ref().unwrap().parse().unwrap();
        assert_eq!(output["properties"]["sum"]["type"], "integer");
        let result = client
            .call_tool("add", json!({"a": 2, "b": 3}))
            .await
            .unwrap();
        assert_eq!(result.structured_content.unwrap().get(), r#"{"sum":5}"#);
        let wrong = client.call_tool("add", json!({"a": "two"})).await.unwrap();
        assert!(wrong.failed() && text(&wrong).starts_with("invalid arguments:"));
    }
}

#[tokio::test]
async fn failures_reach_the_model_and_protocol_errors_the_caller() {
    let service = server()
        .tool_with_schema(any("io"), |_: Value, _| async {
            Err::<(), _>(std::io::Error::other("disk on fire"))
        })
        .tool_with_schema(any("rpc"), |_: Value, _| async {
            Err::<(), _>(Error::code(ErrorCode::new(-5), "no"))
        })
        .build();
    for era in ERAS {
        let client = connect(&service, era).await;
        let failed = client.call_tool("io", arguments()).await.unwrap();
        assert!(failed.failed());
        assert_eq!(text(&failed), "disk on fire");
        let error = client.call_tool("rpc", arguments()).await.unwrap_err();
        assert_eq!(code(&error), Some(ErrorCode::new(-5)));
        let error = client.call_tool("none", arguments()).await.unwrap_err();
        assert_eq!(code(&error), Some(ErrorCode::INVALID_PARAMS));
    }
}

#[tokio::test]
async fn a_panicking_handler_is_an_error_reply_and_the_connection_lives_on() {
    let service = server()
        .tool_with_schema(any("panic"), |_: Value, _| async {
            if true {
                panic!("a secret");
            }
        })
        .tool_with_schema(any("fine"), |_: Value, _| async { "fine" })
        .build();
    for era in ERAS {
        let client = connect(&service, era).await;
        let error = client.call_tool("panic", arguments()).await.unwrap_err();
        assert_eq!(code(&error), Some(ErrorCode::INTERNAL_ERROR));
        assert!(!error.to_string().contains("a secret"));
        let result = client.call_tool("fine", arguments()).await.unwrap();
        assert_eq!(text(&result), "fine");
    }
}

#[tokio::test]
async fn arguments_and_structured_content_are_checked_against_their_schemas() {
    let number =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let schema = RawObject::from_serialize(&number).unwrap();
    let mut tool = any("check");
    tool.input_schema = schema.clone();
    tool.output_schema = Some(schema);
    let service = server()
        .tool_with_schema(tool, |arguments: Value, _| async move {
            let mut result = CallToolResult::new(vec![ContentBlock::text("n")]);
            let n = if arguments["n"] == 1 {
                json!(1)
            } else {
                json!("one")
            };
            result.structured_content = Some(RawJson::from_serialize(&json!({"n": n})).unwrap());
            result
        })
        .build();
    for era in ERAS {
        let client = connect(&service, era).await;
        assert!(
            !client
                .call_tool("check", json!({"n": 1}))
                .await
                .unwrap()
                .failed()
        );
        assert!(
            client
                .call_tool("check", json!({"n": "1"}))
                .await
                .unwrap()
                .failed()
        );
        let error = client
            .call_tool("check", json!({"n": 2}))
            .await
            .unwrap_err();
        assert_eq!(code(&error), Some(ErrorCode::INTERNAL_ERROR));
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_past_its_time_is_dropped_and_answered_for() {
    let alive = Alive::default();
    let guard = alive.clone();
    let service = server()
        .tool_with_schema(any("hang"), move |_: Value, _| {
            let guard = guard.enter();
            async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }
        })
        .limits(ServerLimits::default().with_request_time(Duration::from_secs(1)))
        .build();
    for era in ERAS {
        let client = connect(&service, era).await;
        let error = client.call_tool("hang", arguments()).await.unwrap_err();
        assert_eq!(code(&error), Some(ErrorCode::INTERNAL_ERROR));
        assert_eq!(alive.count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_drops_its_handler() {
    let alive = Alive::default();
    let guard = alive.clone();
    let service = server()
        .tool_with_schema(any("hang"), move |_: Value, _| {
            let guard = guard.enter();
            async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }
        })
        .build();
    for era in ERAS {
        let client = connect(&service, era).await;
        let running = tokio::spawn({
            let client = client.clone();
            async move { client.call_tool("hang", arguments()).await }
        });
        until(|| alive.count() == 1).await;
        running.abort();
        until(|| alive.count() == 0).await;
        client.close().await;
    }
}

#[tokio::test]
async fn resources_templates_prompts_and_completions_are_served_in_both_eras() {
    let mut argument = PromptArgument::new("who");
    argument.required = Some(true);
    let mut prompt = Prompt::new("hello");
    prompt.arguments = Some(vec![argument]);
    let service = server()
        .resource(Resource::new("test://text", "text"), |_| async {
            "some text"
        })
        .resource(Resource::new("test://blob", "blob"), |_| async {
            vec![1_u8, 2, 3]
        })
        .resource_template(
            ResourceTemplate::new("test://item/{id}", "item"),
            |found, _| async move { format!("item {}", found.get("id").unwrap()) },
        )
        .prompt(prompt, |given, _| async move {
            format!("Hello, {}", given.get("who").unwrap())
        })
        .completion(|params, _| async move { Ok(vec![params.argument.value; 150]) })
        .limits(ServerLimits::default().with_page_len(1))
        .build();
    for era in ERAS {
        let client = connect(&service, era).await;
        assert_eq!(
            client.list_resources().await.unwrap().items.len(),
            2,
            "two pages"
        );
        let read = |uri| client.read_resource(uri);
        assert_eq!(
            read("test://text").await.unwrap().contents[0]
                .text
                .as_deref(),
            Some("some text")
        );
        assert_eq!(
            read("test://blob").await.unwrap().contents[0]
                .blob
                .as_deref(),
            Some("AQID")
        );
        assert_eq!(
            read("test://item/7").await.unwrap().contents[0]
                .text
                .as_deref(),
            Some("item 7")
        );
        let missing = read("test://none").await.unwrap_err();
        let want = client.revision().resource_not_found();
        assert_eq!(code(&missing), Some(want));
        let prompt = client.get_prompt("hello", [("who", "Ann")]).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("Hello, Ann"));
        let none: [(&str, &str); 0] = [];
        assert!(client.get_prompt("hello", none).await.is_err());
        let argument = CompletionArgument::new("who", "A");
        let params = CompleteParams::new(PromptReference::new("hello"), argument);
        let completion = client.complete(&params).await.unwrap().completion;
        assert_eq!(
            (completion.values.len(), completion.total),
            (100, Some(150))
        );
        assert_eq!(completion.has_more, Some(true));
    }
}

#[tokio::test]
async fn changes_reach_whoever_subscribed_in_both_eras() {
    let service = server()
        .tool_with_schema(any("tool"), |_: Value, _| async {})
        .resource(Resource::new("test://a", "a"), |_| async { "a" })
        .resource(Resource::new("test://b", "b"), |_| async { "b" })
        .build();
    for era in ERAS {
        let client = connect(&service, era).await;
        let interests = Interests::default().with_tools().with_resource("test://a");
        let mut changes = client.subscribe(interests).await.unwrap();
        let notifier = service.notifier();
        notifier.resource_updated("test://b");
        notifier.resource_updated("test://a");
        let first = changes.next().await.unwrap();
        assert!(
            matches!(&first, ClientEvent::ResourceUpdated { uri, .. } if uri == "test://a"),
            "{first:?}"
        );
        notifier.tools_changed();
        let second = changes.next().await.unwrap();
        assert!(matches!(second, ClientEvent::ToolsChanged), "{second:?}");
    }
}

#[cfg(feature = "skills")]
#[tokio::test]
async fn a_skill_is_listed_and_its_files_match_their_digests() {
    use mcp_server::SkillBundle;
    let manifest = "---\nname: greet\ndescription: Greets\n---\nHello\n";
    let files = [
        ("SKILL.md", manifest.as_bytes().to_vec()),
        ("data/words.txt", b"hello".to_vec()),
    ];
    let service = server()
        .skill(SkillBundle::new("acme/greet", files).unwrap())
        .build();
    let client = connect(&service, crate::kit::MODERN).await;
    let skills = client.list_skills().await.unwrap().items;
    let loaded = client.load_skill(&skills[0]).await.unwrap();
    assert!(loaded.text().contains("Hello"));
    let words = loaded
        .read("skill://acme/greet/data/words.txt")
        .await
        .unwrap();
    assert_eq!(words, b"hello");
    let bad = [(
        "SKILL.md",
        b"---\nname: other\ndescription: x\n---\n".to_vec(),
    )];
    assert!(SkillBundle::new("acme/greet", bad).is_err());
}

#[tokio::test]
async fn a_tool_that_is_filtered_out_is_neither_listed_nor_callable() {
    let shown = Arc::new(AtomicBool::new(false));
    let visible = Arc::clone(&shown);
    let service = server()
        .tool_with_schema(any("always"), |_: Value, _: Context| async {})
        .tool_with_schema(any("sometimes"), |_: Value, _: Context| async {})
        .filter_tools(move |tool, _| tool.name == "always" || visible.load(Ordering::SeqCst))
        .build();
    for era in ERAS {
        shown.store(false, Ordering::SeqCst);
        let client = connect(&service, era).await;
        assert_eq!(client.list_tools().await.unwrap().items.len(), 1);
        let refused = client
            .call_tool("sometimes", arguments())
            .await
            .unwrap_err();
        assert_eq!(code(&refused), Some(ErrorCode::INVALID_PARAMS));
        shown.store(true, Ordering::SeqCst);
        assert_eq!(client.list_tools().await.unwrap().items.len(), 2);
        assert!(client.call_tool("sometimes", arguments()).await.is_ok());
    }
}

/// Counts how often it is asked for its two pages of tools.
struct Fixed(Arc<AtomicUsize>, bool);

#[async_trait]
impl Handler for Fixed {
    fn info(&self) -> Implementation {
        Implementation::new("fixed", "1")
    }

    fn capabilities(&self) -> ServerCapabilities {
        let mut all = ServerCapabilities::default();
        all.tools = Some(ListCapability::default());
        all
    }

    fn has_fixed_tools(&self) -> bool {
        self.1
    }

    async fn list_tools(&self, params: PageParams, _: Context) -> Result<ListToolsResult, Error> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let first = params.cursor.is_none();
        let name = if first { "first" } else { "second" };
        let mut result = ListToolsResult::new(vec![any(name)]);
        result.next_cursor = first.then(|| "2".to_owned());
        Ok(result)
    }
}

#[tokio::test]
async fn a_fixed_list_of_tools_is_made_once_for_each_era_and_any_other_each_time() {
    for (fixed, wanted) in [(true, 4), (false, 12)] {
        let asked = Arc::new(AtomicUsize::new(0));
        let service = Server::with_handler(Fixed(Arc::clone(&asked), fixed)).build();
        for era in ERAS {
            let client = connect(&service, era).await;
            for _ in 0..3 {
                let tools = client.list_tools().await.unwrap().items;
                let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
                assert_eq!(names, ["first", "second"]);
            }
        }
        assert_eq!(asked.load(Ordering::SeqCst), wanted);
    }
}

#[tokio::test]
async fn every_list_has_pages_of_the_same_length() {
    let service = server()
        .tool_with_schema(any("a"), |_: Value, _| async {})
        .tool_with_schema(any("b"), |_: Value, _| async {})
        .resource(Resource::new("test://a", "a"), |_| async { "a" })
        .resource(Resource::new("test://b", "b"), |_| async { "b" })
        .limits(ServerLimits::default().with_page_len(1))
        .build();
    let client = connect(&service, ERAS[0]).await;
    let empty = PageParams::default();
    let tools = client.request::<ListTools>(&empty).await.unwrap();
    assert_eq!(
        (tools.tools.len(), tools.next_cursor.as_deref()),
        (1, Some("at-1"))
    );
    let resources = client.request::<ListResources>(&empty).await.unwrap();
    assert_eq!(
        (resources.resources.len(), resources.next_cursor.is_some()),
        (1, true)
    );
}
