//! Which call a question belongs to, as far as the protocol says.

use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::{
    CallOptions, Caller, Client, Host, HostCapabilities, HostError, Origin, ServerRequest,
    TaskTicket,
};
use mcp_jsonrpc::model::{ElicitFormParams, ElicitResult};
use mcp_transport::TransportKind;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::fake::{FakeConnect, legacy, modern, text};
use crate::server_request::form;

/// Notes what is asked, and because of which call.
#[derive(Clone, Default)]
struct Witness(Arc<Mutex<Vec<(String, Origin)>>>);

#[async_trait]
impl Host for Witness {
    async fn elicit_form(
        &self,
        question: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        let seen = (question.params.message, question.origin);
        self.0.lock().push(seen);
        Ok(ElicitResult::decline())
    }
}

impl Witness {
    async fn client(&self, server: FakeConnect) -> Client {
        let can = HostCapabilities::default().with_forms();
        let builder = Client::builder(server).name("asker");
        builder.host(self.clone(), can).connect().await.unwrap()
    }

    fn seen(&self) -> Vec<(String, Origin)> {
        let mut seen = self.0.lock().clone();
        seen.sort_by(|one, other| one.0.cmp(&other.0));
        seen
    }
}

fn caller(conversation: &str) -> Arc<Caller> {
    Arc::new(Caller::new(conversation, "1"))
}

fn calls(conversation: &str) -> Origin {
    Origin::Calls(vec![caller(conversation)])
}

/// Calls as two conversations at once, and once as no one in particular.
async fn call(client: &Client) {
    let of = |conversation: &str| {
        let options = CallOptions::default().with_caller(caller(conversation));
        client.with(options)
    };
    let (a, b) = (of("a"), of("b"));
    let (a, b, none) = tokio::join!(
        a.call_tool("a", json!({})),
        b.call_tool("b", json!({})),
        client.call_tool("c", json!({})),
    );
    for result in [a, b, none] {
        result.unwrap();
    }
}

/// A legacy server that asks its tool's name when it is called, on the call's own stream or not.
fn asks(own_stream: bool) -> FakeConnect {
    legacy(move |server, message| {
        if message["method"] == "tools/call" {
            let id = &message["id"];
            let name = message["params"]["name"].as_str().unwrap();
            // The server's own token, for progress on its question. It is another call's id.
            let mut params = form(name);
            params["_meta"] = json!({"progressToken": 2});
            let request = json!({
                "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params,
            });
            match own_stream {
                true => server.say_on(id, request),
                false => server.say(request),
            }
        } else if message["method"].is_null() {
            server.reply(message, text(&json!("asked")));
        }
    })
}

#[tokio::test]
async fn a_question_on_a_calls_reply_stream_belongs_to_that_call() {
    let witness = Witness::default();
    call(&witness.client(asks(true)).await).await;
    let none = Origin::Calls(Vec::new());
    let want = [("a", calls("a")), ("b", calls("b")), ("c", none)];
    assert_eq!(
        witness.seen(),
        want.map(|(name, origin)| (name.to_owned(), origin))
    );
}

#[tokio::test]
async fn a_question_on_a_shared_channel_is_no_calls_and_its_progress_token_names_none() {
    let witness = Witness::default();
    call(&witness.client(asks(false)).await).await;
    let seen = witness.seen();
    assert_eq!(seen.len(), 3);
    assert!(seen.iter().all(|(_, origin)| *origin == Origin::Shared));
}

#[tokio::test]
async fn a_question_in_a_calls_result_belongs_to_that_call() {
    for shape in [TransportKind::Pipe, TransportKind::Http] {
        let server = modern(shape, |server, request| {
            let name = request["params"]["name"].as_str().unwrap();
            match request["params"].get("inputResponses") {
                Some(_) => server.reply(request, text(&json!("asked"))),
                None => {
                    let ask = json!({"method": "elicitation/create", "params": form(name)});
                    let asked =
                        json!({"resultType": "input_required", "inputRequests": {"k": ask}});
                    server.reply(request, asked);
                }
            }
        });
        let witness = Witness::default();
        call(&witness.client(server).await).await;
        let origins: Vec<_> = witness
            .seen()
            .into_iter()
            .map(|(_, origin)| origin)
            .collect();
        assert_eq!(origins, [calls("a"), calls("b"), Origin::Calls(Vec::new())]);
    }
}

#[tokio::test]
async fn a_request_that_names_a_task_belongs_to_its_caller() {
    let task = |status: &str| {
        json!({
            "taskId": "t", "status": status, "ttl": null,
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
        })
    };
    let server = legacy(move |server, message| match message["method"].as_str() {
        Some("tasks/get") => server.reply(message, task("completed")),
        Some("tasks/result") => {
            let mut params = form("age?");
            params["_meta"] = json!({"io.modelcontextprotocol/related-task": {"taskId": "t"}});
            let id = &message["id"];
            server.say(json!({
                "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params,
            }));
        }
        None => server.reply(message, text(&json!("done"))),
        _ => {}
    });
    let witness = Witness::default();
    let client = witness.client(server).await;
    let options = CallOptions::default().with_caller(caller("a"));
    let ticket: TaskTicket = serde_json::from_value(ticket()).unwrap();
    client.with(options).task(ticket).wait().await.unwrap();
    assert_eq!(witness.seen(), [("age?".to_owned(), calls("a"))]);
}

fn ticket() -> Value {
    json!({"server": "asker", "task_id": "t"})
}
