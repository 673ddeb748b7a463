//! `Context::ask` and `Context::step`, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_client::{Client, EraMode};
use mcp_jsonrpc::ErrorCode;
use mcp_jsonrpc::model::{ElicitAction, Prompt};
use mcp_server::http::HttpService;
use mcp_server::{AskError, Context, Error, Roots, ServerLimits, Service};
use serde_json::Value;

use crate::http_kit::call_modern;
use crate::kit::{
    Alive, AliveGuard, ERAS, MODERN, any, arguments, connect, listen, name_form, sampling, server,
    text, until,
};

async fn name(cx: &Context) -> Result<String, Error> {
    let answer = cx.ask("name", name_form()).await?;
    let content = answer.content.unwrap_or_default();
    Ok(content
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or("anonymous")
        .to_owned())
}

#[tokio::test]
async fn questions_one_after_the_other_and_at_once_are_answered_in_both_eras() {
    let service = server()
        .tool_with_schema(any("one_by_one"), |_: Value, cx: Context| async move {
            let name = name(&cx).await?;
            let model = cx.ask("model", sampling()).await?.model;
            let roots = cx.ask("roots", Roots::new()).await?.len();
            Ok::<_, Error>(format!("{name} {model} {roots}"))
        })
        .tool_with_schema(any("at_once"), |_: Value, cx: Context| async move {
            let (name, model, roots) = tokio::join!(
                name(&cx),
                cx.ask("model", sampling()),
                cx.ask("roots", Roots::new())
            );
            Ok::<_, Error>(format!("{} {} {}", name?, model?.model, roots?.len()))
        })
        .prompt(
            Prompt::new("prompt"),
            |_, cx| async move { name(&cx).await },
        )
        .build();
    for era in ERAS {
        let client = connect(&service, era).await;
        for tool in ["one_by_one", "at_once"] {
            let result = client.call_tool(tool, arguments()).await.unwrap();
            assert_eq!(text(&result), "Ann model 1", "{tool} {era:?}");
        }
        let none: [(&str, &str); 0] = [];
        let prompt = client.get_prompt("prompt", none).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("Ann"));
    }
}

#[tokio::test]
async fn calls_that_ask_at_the_same_time_do_not_count_against_each_other() {
    let service = server()
        .tool_with_schema(any("one"), |_: Value, cx: Context| async move {
            name(&cx).await
        })
        .limits(ServerLimits::default().with_questions(1))
        .build();
    for era in ERAS {
        let client = connect(&service, era).await;
        let calls: Vec<_> = (0..8)
            .map(|_| {
                let client = client.clone();
                tokio::spawn(async move { client.call_tool("one", arguments()).await })
            })
            .collect();
        for call in calls {
            assert_eq!(text(&call.await.unwrap().unwrap()), "Ann", "{era:?}");
        }
    }
}

#[tokio::test]
async fn a_step_runs_once_however_many_rounds_a_call_takes() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&runs);
    let service = server()
        .tool_with_schema(any("order"), move |_: Value, cx: Context| {
            let counter = Arc::clone(&counter);
            async move {
                let number: usize = cx
                    .step("number", async {
                        Ok::<_, Error>(counter.fetch_add(1, Ordering::SeqCst))
                    })
                    .await?;
                let name = name(&cx).await?;
                let model = cx.ask("model", sampling()).await?.model;
                Ok::<_, Error>(format!("{number} {name} {model}"))
            }
        })
        .build();
    for (calls, era) in ERAS.into_iter().enumerate() {
        let client = connect(&service, era).await;
        let result = client.call_tool("order", arguments()).await.unwrap();
        assert_eq!(text(&result), format!("{calls} Ann model"));
        assert_eq!(runs.load(Ordering::SeqCst), calls + 1);
    }
}

#[tokio::test]
async fn a_client_that_cannot_answer_is_not_asked() {
    let service = server()
        .tool_with_schema(any("strict"), |_: Value, cx: Context| async move {
            name(&cx).await
        })
        .tool_with_schema(any("lenient"), |_: Value, cx: Context| async move {
            match cx.ask("name", name_form()).await {
                Err(AskError::Unsupported { .. }) => "not asked",
                _ => "asked",
            }
        })
        .build();
    for (era, code) in [
        (EraMode::Legacy, ErrorCode::INVALID_REQUEST),
        (MODERN, ErrorCode::MISSING_CLIENT_CAPABILITY),
    ] {
        let client = Client::builder(listen(&service))
            .era(era)
            .connect()
            .await
            .unwrap();
        let error = client.call_tool("strict", arguments()).await.unwrap_err();
        assert_eq!(error.peer().map(|error| error.code), Some(code));
        let result = client.call_tool("lenient", arguments()).await.unwrap();
        assert_eq!(text(&result), "not asked");
    }
}

#[tokio::test]
async fn a_declined_question_is_an_answer() {
    struct Declining;
    #[async_trait::async_trait]
    impl mcp_client::Host for Declining {
        async fn elicit_form(
            &self,
            _: mcp_client::ServerRequest<mcp_jsonrpc::model::ElicitFormParams>,
        ) -> Result<mcp_jsonrpc::model::ElicitResult, mcp_client::HostError> {
            Ok(mcp_jsonrpc::model::ElicitResult::decline())
        }
    }
    let service = server()
        .tool_with_schema(any("ask"), |_: Value, cx: Context| async move {
            let answer = cx.ask("name", name_form()).await?;
            Ok::<_, Error>(if answer.action == ElicitAction::Decline {
                "declined"
            } else {
                "?"
            })
        })
        .build();
    for era in ERAS {
        let client = Client::builder(listen(&service))
            .era(era)
            .host(Declining, crate::kit::everything())
            .connect()
            .await
            .unwrap();
        let result = client.call_tool("ask", arguments()).await.unwrap();
        assert_eq!(text(&result), "declined");
    }
}

#[tokio::test]
async fn a_held_value_lives_through_the_rounds_of_its_call_and_no_longer() {
    let alive = Alive::default();
    let service = holding(&alive);
    for era in ERAS {
        let client = connect(&service, era).await;
        let result = client.call_tool("hold", arguments()).await.unwrap();
        assert_eq!(text(&result), "1 Ann model", "{era:?}");
        until(|| alive.count() == 0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_held_value_is_dropped_when_no_answer_comes_in_time() {
    let alive = Alive::default();
    let service = HttpService::new(&holding(&alive));
    let reply = call_modern(&service, "hold", serde_json::json!({})).await;
    assert_eq!(reply.json().await["result"]["resultType"], "input_required");
    assert_eq!(alive.count(), 1);
    tokio::time::sleep(ServerLimits::default().answer_time() * 2).await;
    until(|| alive.count() == 0).await;
}

/// A server whose tool `hold` holds one guard and asks twice.
fn holding(alive: &Alive) -> Service {
    let alive = alive.clone();
    server()
        .tool_with_schema(any("hold"), move |_: Value, cx: Context| {
            let alive = alive.clone();
            async move {
                if cx.held::<AliveGuard>("guard").is_none() {
                    cx.hold("guard", Arc::new(alive.enter()));
                }
                let name = name(&cx).await?;
                let model = cx.ask("model", sampling()).await?.model;
                Ok::<_, Error>(format!("{} {name} {model}", alive.count()))
            }
        })
        .build()
}
