//! Calls that a modern server answers with questions first.

use async_trait::async_trait;
use mcp_client::{CallError, Client, Host, HostCapabilities, HostError, Parked, ServerRequest};
use mcp_jsonrpc::model::{CallTool, ElicitFormParams, ElicitResult, InputResponses, ReadResource};
use mcp_transport::TransportKind;
use serde_json::{Value, json};

use crate::fake::{Fake, FakeConnect, legacy, modern, text};
use crate::server_request::{Kind, all, form};

/// State that looks like JSON, to tempt whoever would parse it.
const STATE: &str = "{\"a\": 1,  \"ü\": \"\\n\"}";

fn asks(message: &str, state: bool) -> Value {
    let question = json!({"method": "elicitation/create", "params": form(message)});
    let mut result = json!({"resultType": "input_required", "inputRequests": {"k": question}});
    if state {
        result["requestState"] = json!(STATE);
    }
    result
}

fn server(shape: TransportKind, message: &'static str) -> FakeConnect {
    modern(shape, move |server, request| {
        match request["params"].get("inputResponses") {
            None => server.reply(request, asks(message, true)),
            Some(answers) => server.reply(request, text(&json!(answers["k"].to_string()))),
        }
    })
}

async fn connect(server: &FakeConnect) -> Client {
    Client::builder(server.clone())
        .name("asker")
        .host(Kind, all())
        .connect()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_round_is_answered_with_a_new_id_and_the_state_untouched() {
    for shape in [TransportKind::Pipe, TransportKind::Http] {
        let server = server(shape, "age?");
        let result = connect(&server)
            .await
            .call_tool("ask", json!({"x": 1}))
            .await
            .unwrap();
        let said = result.content[0].as_text().unwrap();
        assert_eq!(said, r#"{"action":"accept","content":{"age":42}}"#);
        let seen = server.last().seen();
        let [first, again] = &seen[seen.len() - 2..] else {
            panic!()
        };
        assert_ne!(first["id"], again["id"]);
        assert_eq!(again["params"]["requestState"], STATE);
        assert_eq!(first["params"]["arguments"], again["params"]["arguments"]);
        assert!(first["params"].get("requestState").is_none());
    }
}

#[tokio::test]
async fn the_state_goes_back_only_in_the_round_it_came_in() {
    let server = modern(TransportKind::Http, |server, request| {
        match server
            .methods()
            .iter()
            .filter(|method| *method == "tools/call")
            .count()
        {
            1 => server.reply(request, asks("age?", true)),
            2 => server.reply(request, asks("age?", false)),
            _ => server.reply(request, text(&json!("done"))),
        }
    });
    connect(&server)
        .await
        .call_tool("ask", json!({}))
        .await
        .unwrap();
    let seen = server.last().seen();
    assert_eq!(seen[2]["params"]["requestState"], STATE);
    assert!(seen[3]["params"].get("requestState").is_none());
}

#[tokio::test]
async fn parallel_calls_do_not_mix_their_rounds() {
    let server = modern(TransportKind::Pipe, |server, request| {
        let name = request["params"]["name"].as_str().unwrap();
        match request["params"].get("requestState") {
            None => {
                let mut result = asks("age?", false);
                result["requestState"] = json!(name);
                server.reply(request, result);
            }
            Some(state) => {
                assert_eq!(state, name);
                server.reply(request, text(state));
            }
        }
    });
    let client = connect(&server).await;
    let names: Vec<_> = (0..20).map(|n| n.to_string()).collect();
    let calls = names.iter().map(|name| {
        let (client, name) = (client.clone(), name.clone());
        tokio::spawn(async move {
            let result = client.call_tool(&name, json!({})).await.unwrap();
            assert_eq!(result.content[0].as_text(), Some(name.as_str()));
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn rounds_are_capped() {
    let server = modern(TransportKind::Pipe, |server, request| {
        server.reply(
            request,
            json!({"resultType": "input_required", "requestState": "x"}),
        );
    });
    let error = connect(&server)
        .await
        .call_tool("ask", json!({}))
        .await
        .unwrap_err();
    assert!(
        matches!(error, CallError::TooManyRounds { rounds: 10, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn what_a_server_may_not_ask_is_an_invalid_reply() {
    async fn answered(result: Value) -> CallError {
        let server = modern(TransportKind::Pipe, move |server, request| {
            server.reply(request, result.clone())
        });
        let client = Client::builder(server).host(Kind, HostCapabilities::default().with_roots());
        client
            .connect()
            .await
            .unwrap()
            .call_tool("ask", json!({}))
            .await
            .unwrap_err()
    }
    let sampling =
        json!({"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}});
    for result in [
        json!({"resultType": "input_required", "inputRequests": {"k": sampling}}),
        json!({"resultType": "input_required", "inputRequests": {"k": {"method": "acme/x"}}}),
        json!({"resultType": "input_required"}),
        json!({"resultType": "quantum", "content": []}),
    ] {
        let error = answered(result).await;
        assert!(matches!(error, CallError::InvalidReply { .. }), "{error}");
    }
}

#[tokio::test]
async fn only_three_methods_may_ask() {
    let server = modern(TransportKind::Pipe, |server, request| {
        server.reply(request, asks("age?", true))
    });
    let client = connect(&server).await;
    let error = client.list_tools().await.unwrap_err();
    assert!(matches!(error, CallError::InvalidReply { .. }), "{error}");
    assert!(matches!(
        client.read_resource("a:b").await.unwrap_err(),
        CallError::TooManyRounds { .. }
    ));
    let none: [(&str, &str); 0] = [];
    assert!(matches!(
        client.get_prompt("p", none).await.unwrap_err(),
        CallError::TooManyRounds { .. }
    ));
}

#[tokio::test]
async fn a_result_without_a_type_is_complete() {
    let server = modern(TransportKind::Pipe, |server, request| {
        server.reply(request, text(&json!("plain")))
    });
    connect(&server)
        .await
        .call_tool("x", json!({}))
        .await
        .unwrap();
}

#[tokio::test]
async fn an_answer_that_does_not_fit_gives_the_call_up() {
    let error = connect(&server(TransportKind::Pipe, "wrong"))
        .await
        .call_tool("ask", json!({}))
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::InputRefused { .. }), "{error}");
}

/// A parked call goes through storage and is taken up by another process.
#[tokio::test]
async fn a_parked_call_is_resumed_elsewhere() {
    let server = server(TransportKind::Http, "later");
    let error = connect(&server)
        .await
        .call_tool("ask", json!({"x": 1}))
        .await
        .unwrap_err();
    let CallError::Parked(parked) = error else {
        panic!("{error}")
    };
    assert_eq!(parked.open().keys().collect::<Vec<_>>(), ["k"]);
    let stored = serde_json::to_string(&parked).unwrap();
    let parked: Parked = serde_json::from_str(&stored).unwrap();

    let client = Client::builder(server.clone()).connect().await.unwrap();
    let mut answers = InputResponses::new();
    answers
        .set(
            "k",
            &ElicitResult::accept(json!({"age": "19"}).as_object().unwrap().clone()),
        )
        .unwrap();
    let result = client
        .resume::<CallTool>(parked.clone(), answers)
        .await
        .unwrap();
    let said = result.content[0].as_text().unwrap();
    assert_eq!(said, r#"{"action":"accept","content":{"age":19}}"#);
    let sent = server.last().outgoing().pop().unwrap();
    assert_eq!(sent.name.as_deref(), Some("ask"));
    let seen = server.last().seen().pop().unwrap();
    assert_eq!(seen["params"]["requestState"], STATE);
    assert_eq!(seen["params"]["arguments"], json!({"x": 1}));

    let mut young = InputResponses::new();
    young
        .set(
            "k",
            &ElicitResult::accept(json!({"age": 3}).as_object().unwrap().clone()),
        )
        .unwrap();
    let error = client
        .resume::<CallTool>(parked.clone(), young)
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::InputRefused { .. }), "{error}");
    let error = client
        .resume::<CallTool>(parked.clone(), InputResponses::new())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("\"k\" is not answered"),
        "{error}"
    );
    let error = client
        .resume::<ReadResource>(parked, InputResponses::new())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("the parked call is tools/call"),
        "{error}"
    );
}

/// 2025-11-25: the call is refused until the user has been somewhere.
#[tokio::test]
async fn urls_a_server_insists_on_are_visited_once_and_the_call_repeated() {
    let refuse = |server: &Fake, request: &Value| {
        let url = json!({"mode": "url", "message": "go", "url": "https://a.example/", "elicitationId": "e"});
        let error = json!({"code": -32042, "message": "first", "data": {"elicitations": [url]}});
        server.say(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    };
    let once = legacy(move |server, request| match server.methods().len() {
        3 => refuse(server, request),
        _ => server.reply(request, text(&json!("done"))),
    });
    let client = Client::builder(once)
        .name("asker")
        .host(Kind, all())
        .connect()
        .await
        .unwrap();
    client.call_tool("pay", json!({})).await.unwrap();

    let ever = legacy(refuse);
    let client = Client::builder(ever.clone())
        .name("asker")
        .host(Kind, all())
        .connect()
        .await
        .unwrap();
    let error = client.call_tool("pay", json!({})).await.unwrap_err();
    assert_eq!(error.peer().unwrap().code.get(), -32042);
    assert_eq!(
        ever.last().methods().len(),
        4,
        "the user is not sent there twice"
    );
}

#[tokio::test(start_paused = true)]
async fn a_person_may_take_longer_than_the_call() {
    struct Slow;
    #[async_trait]
    impl Host for Slow {
        async fn elicit_form(
            &self,
            _: ServerRequest<ElicitFormParams>,
        ) -> Result<ElicitResult, HostError> {
            tokio::time::sleep(std::time::Duration::from_secs(600)).await;
            Ok(ElicitResult::decline())
        }
    }
    let client = Client::builder(server(TransportKind::Http, "age?"));
    let client = client
        .host(Slow, HostCapabilities::default().with_forms())
        .connect()
        .await
        .unwrap();
    let result = client.call_tool("ask", json!({})).await.unwrap();
    assert_eq!(result.content[0].as_text(), Some(r#"{"action":"decline"}"#));
}
