//! Servers that ask: whatever has an id and a method gets an answer, by the one `Host`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_client::{Client, Host, HostCapabilities, HostError, ServerRequest};
use mcp_jsonrpc::model::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams, ElicitResult,
    ElicitUrlParams, Role, Root, TextContent,
};
use mcp_transport::{TransportError, TransportKind};
use serde_json::{Value, json};

use crate::fake::{Fake, FakeConnect, legacy, text};

/// Answers everything.
pub(crate) struct Kind;

#[async_trait]
impl Host for Kind {
    async fn elicit_form(
        &self,
        question: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        match question.params.message.as_str() {
            "never" => std::future::pending().await,
            "no" => Err(HostError::Refused {
                reason: "I would rather not".to_owned(),
            }),
            "later" => Err(HostError::Later),
            "wrong" => Ok(ElicitResult::accept(map(json!({"age": "old"})))),
            "fail" => Err(HostError::Failed("the screen is broken".into())),
            "defaults" => Ok(ElicitResult::accept(map(json!({})))),
            _ => Ok(ElicitResult::accept(map(json!({"age": "42"})))),
        }
    }

    async fn elicit_url(
        &self,
        question: ServerRequest<ElicitUrlParams>,
    ) -> Result<ElicitAction, HostError> {
        assert_eq!(
            (&*question.server, question.params.url.as_str()),
            ("asker", "https://a.example/")
        );
        Ok(ElicitAction::Accept)
    }

    async fn sample(
        &self,
        question: ServerRequest<CreateMessageParams>,
    ) -> Result<CreateMessageResult, HostError> {
        match question.params.max_tokens {
            0 => Err(HostError::Refused {
                reason: "no tokens".to_owned(),
            }),
            _ => Ok(CreateMessageResult::new(
                Role::Assistant,
                TextContent::new("hi"),
                "model",
            )),
        }
    }

    async fn list_roots(&self, _: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
        Ok(vec![Root::new("file:///home")])
    }
}

fn map(value: Value) -> serde_json::Map<String, Value> {
    value.as_object().unwrap().clone()
}

pub(crate) fn all() -> HostCapabilities {
    let all = HostCapabilities::default()
        .with_forms()
        .with_urls()
        .with_roots();
    all.with_sampling().with_sampling_tools()
}

pub(crate) fn form(message: &str) -> Value {
    let age = json!({"type": "integer", "minimum": 18, "default": 30});
    json!({"message": message, "requestedSchema": {"type": "object", "properties": {"age": age}}})
}

/// A server that asks `method` when it is called, and tells what it was answered.
fn asks(method: &'static str, params: Value) -> FakeConnect {
    legacy(move |server, message| {
        if message["method"] == "tools/call" {
            // Ids are per direction: this one is the call's, too.
            let id = &message["id"];
            server.say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        } else if message["method"].is_null() {
            let answer = message
                .get("result")
                .or_else(|| message.get("error"))
                .unwrap();
            server.reply(message, text(&json!(answer.to_string())));
        }
    })
}

/// What a server is answered.
async fn answer(can: HostCapabilities, method: &'static str, params: Value) -> Value {
    let connect = asks(method, params);
    let client = Client::builder(connect)
        .name("asker")
        .host(Kind, can)
        .connect()
        .await
        .unwrap();
    let result = client.call_tool("ask", json!({})).await.unwrap();
    serde_json::from_str(result.content[0].as_text().unwrap()).unwrap()
}

/// A closure is enough for forms, and only forms are advertised.
#[tokio::test]
async fn a_closure_answers_forms() {
    let client = Client::builder(asks("elicitation/create", form("age?")))
        .on_form(|form| async move {
            assert_eq!(form.params.message, "age?");
            ElicitResult::accept(map(json!({"age": 21})))
        })
        .connect()
        .await
        .unwrap();
    let answer = client.call_tool("ask", json!({})).await.unwrap().text();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer, json!({"action": "accept", "content": {"age": 21}}));
}

/// Forms are completed, typed and checked.
#[tokio::test]
async fn a_form_is_answered_typed_and_complete() {
    let accepted = |age: Value| json!({"action": "accept", "content": {"age": age}});
    assert_eq!(
        answer(all(), "elicitation/create", form("age?")).await,
        accepted(json!(42))
    );
    assert_eq!(
        answer(all(), "elicitation/create", form("defaults")).await,
        accepted(json!(30))
    );
    assert_eq!(
        answer(all(), "elicitation/create", form("no")).await,
        json!({"action": "decline"})
    );
    assert_eq!(
        answer(all(), "elicitation/create", form("later")).await,
        json!({"action": "cancel"})
    );
    let wrong = answer(all(), "elicitation/create", form("wrong")).await;
    assert_eq!(wrong["code"], -32603);
    assert!(
        wrong["message"]
            .as_str()
            .unwrap()
            .contains("age: must be a whole number"),
        "{wrong}"
    );
    let failed = answer(all(), "elicitation/create", form("fail")).await;
    assert_eq!(
        (&failed["code"], &failed["message"]),
        (&json!(-32603), &json!("the screen is broken"))
    );
}

#[tokio::test]
async fn urls_sampling_and_roots_are_answered() {
    let url =
        json!({"mode": "url", "message": "go", "url": "https://a.example/", "elicitationId": "e"});
    assert_eq!(
        answer(all(), "elicitation/create", url).await,
        json!({"action": "accept"})
    );
    let sampling = json!({"messages": [], "maxTokens": 9, "tools": []});
    let sampled = answer(all(), "sampling/createMessage", sampling).await;
    assert_eq!(sampled["content"], json!({"type": "text", "text": "hi"}));
    let refused = answer(
        all(),
        "sampling/createMessage",
        json!({"messages": [], "maxTokens": 0}),
    )
    .await;
    assert_eq!(
        (&refused["code"], &refused["message"]),
        (&json!(-1), &json!("no tokens"))
    );
    assert_eq!(
        answer(all(), "roots/list", json!({})).await,
        json!({"roots": [{"uri": "file:///home"}]})
    );
}

/// Without a handler an elicitation is cancelled, so that the server can go on.
#[tokio::test]
async fn without_a_handler_an_elicitation_is_cancelled_and_the_rest_refused() {
    let none = HostCapabilities::default();
    assert_eq!(
        answer(none, "elicitation/create", form("x")).await,
        json!({"action": "cancel"})
    );
    assert_eq!(answer(none, "roots/list", json!({})).await["code"], -32601);
    let sampling = json!({"messages": [], "maxTokens": 9});
    assert_eq!(
        answer(none, "sampling/createMessage", sampling).await["code"],
        -32601
    );
    let url = json!({"mode": "url", "message": "go", "url": "https://a.example/"});
    let forms = HostCapabilities::default().with_forms();
    assert_eq!(
        answer(forms, "elicitation/create", url).await["code"],
        -32602
    );
}

#[tokio::test]
async fn bad_and_unknown_requests_are_answered_too() {
    assert_eq!(
        answer(all(), "roots/list", json!([1])).await["code"],
        -32602
    );
    assert_eq!(
        answer(all(), "sampling/createMessage", json!({})).await["code"],
        -32602
    );
    assert_eq!(
        answer(
            all(),
            "elicitation/create",
            json!({"mode": "telepathy", "message": "?"})
        )
        .await["code"],
        -32602
    );
    assert_eq!(answer(all(), "acme/what", json!({})).await["code"], -32601);
    assert_eq!(answer(all(), "ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn only_what_has_a_handler_is_advertised() {
    async fn advertised(can: HostCapabilities) -> Value {
        let connect = legacy(|_, _| {});
        Client::builder(connect.clone())
            .host(Kind, can)
            .connect()
            .await
            .unwrap();
        connect.last().seen()[0]["params"]["capabilities"].clone()
    }
    assert_eq!(advertised(HostCapabilities::default()).await, json!({}));
    let forms = HostCapabilities::default().with_forms();
    assert_eq!(
        advertised(forms).await,
        json!({"elicitation": {"form": {}}})
    );
    let want = json!({
        "roots": {"listChanged": true},
        "sampling": {"tools": {}},
        "elicitation": {"form": {}, "url": {}},
    });
    assert_eq!(advertised(all()).await, want);
}

#[tokio::test]
async fn a_ping_is_answered_before_the_handshake_is_done() {
    let connect = FakeConnect::new(TransportKind::Pipe, |server: &Fake, message: &Value| {
        match message["method"].as_str() {
            Some("initialize") => {
                server.say(json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}))
            }
            None => {
                let initialize = &server.seen()[0];
                server.reply(
                    initialize,
                    crate::fake::initialize_result(&json!("2025-11-25")),
                );
            }
            _ => {}
        }
    });
    Client::builder(connect.clone()).connect().await.unwrap();
    assert_eq!(
        connect.last().seen()[1],
        json!({"jsonrpc": "2.0", "id": "p", "result": {}})
    );
}

#[tokio::test(start_paused = true)]
async fn the_clock_of_calls_is_paused_while_a_server_request_is_open() {
    let limits = mcp_client::ClientLimits::default()
        .with_call_idle_timeout(Duration::from_secs(10))
        .with_input_timeout(Duration::from_secs(600));
    let client = Client::builder(asks("elicitation/create", form("never")));
    let client = client
        .host(Kind, all())
        .limits(limits)
        .connect()
        .await
        .unwrap();
    let begun = tokio::time::Instant::now();
    let result = client.call_tool("ask", json!({})).await.unwrap();
    assert_eq!(result.content[0].as_text(), Some(r#"{"action":"cancel"}"#));
    assert_eq!(
        begun.elapsed(),
        Duration::from_secs(600),
        "a person had all the time there is"
    );
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_question_is_dropped_and_not_answered() {
    let connect = legacy(|server, message| {
        if message["method"] == "tools/call" {
            let question = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": form("never")});
            server.say(question);
            let params = json!({"requestId": "q"});
            server.say(
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
            );
            server.reply(message, text(&json!("never mind")));
        }
    });
    let client = Client::builder(connect.clone())
        .host(Kind, all())
        .connect()
        .await
        .unwrap();
    client.call_tool("ask", json!({})).await.unwrap();
    client.close().await;
    assert_eq!(
        connect.last().seen().len(),
        3,
        "{:?}",
        connect.last().seen()
    );
}

#[tokio::test]
async fn a_question_is_answered_even_if_the_host_panics() {
    struct Clumsy;
    #[async_trait]
    impl Host for Clumsy {
        async fn list_roots(&self, _: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
            panic!("stumbled, as this test wants it")
        }
    }
    let client = Client::builder(asks("roots/list", json!({})));
    let client = client.host(Clumsy, HostCapabilities::default().with_roots());
    let result = client
        .connect()
        .await
        .unwrap()
        .call_tool("ask", json!({}))
        .await
        .unwrap();
    assert!(
        result.content[0]
            .as_text()
            .unwrap()
            .contains("the host did not answer")
    );
}

#[tokio::test]
async fn questions_are_bounded() {
    let connect = legacy(|server, message| {
        if message["method"] == "tools/call" {
            for id in 0..20 {
                let params = form("never");
                server.say(json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params}));
            }
        }
        if message["id"] == 19 {
            server.reply(&server.seen()[2], text(&message["error"]["message"]));
        }
    });
    let client = Client::builder(connect)
        .host(Kind, all())
        .connect()
        .await
        .unwrap();
    let result = client.call_tool("ask", json!({})).await.unwrap();
    assert_eq!(
        result.content[0].as_text(),
        Some("too many questions are open")
    );
}

#[tokio::test]
async fn a_modern_server_that_asks_is_not_answered() {
    let connect = crate::fake::modern(TransportKind::Pipe, |server, message| {
        server.say(json!({"jsonrpc": "2.0", "id": "q", "method": "roots/list"}));
        server.say(json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list", "params": []}));
        server.reply(message, text(&json!("ok")));
    });
    let client = Client::builder(connect.clone())
        .host(Kind, all())
        .connect()
        .await
        .unwrap();
    client.call_tool("ask", json!({})).await.unwrap();
    client.close().await;
    assert!(
        connect
            .last()
            .seen()
            .iter()
            .all(|sent| sent["method"].is_string())
    );
}

#[tokio::test]
async fn the_end_of_the_connection_drops_open_questions() {
    struct Watch(Arc<tokio::sync::Notify>);
    #[async_trait]
    impl Host for Watch {
        async fn list_roots(&self, _: ServerRequest<()>) -> Result<Vec<Root>, HostError> {
            struct Dropped(Arc<tokio::sync::Notify>);
            impl Drop for Dropped {
                fn drop(&mut self) {
                    self.0.notify_one();
                }
            }
            let _dropped = Dropped(self.0.clone());
            std::future::pending().await
        }
    }
    let dropped = Arc::new(tokio::sync::Notify::new());
    let client = Client::builder(asks("roots/list", json!({})));
    let client = client.host(
        Watch(dropped.clone()),
        HostCapabilities::default().with_roots(),
    );
    let client = client.connect().await.unwrap();
    let calling = {
        let client = client.clone();
        tokio::spawn(async move { client.call_tool("ask", json!({})).await })
    };
    tokio::task::yield_now().await;
    client.close().await;
    dropped.notified().await;
    let error = calling.await.unwrap().unwrap_err();
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .to_string()
            .contains(&TransportError::Closed.to_string())
    );
}
