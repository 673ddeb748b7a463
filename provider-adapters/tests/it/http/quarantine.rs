//! A tool that the provider refuses.

use provider_adapters::{
    Adapter, Gemini, HttpModel, Model as _, OpenAiChat, OpenAiResponses, ReplyEvent, StopReason,
};
use serde_json::{Value, json};

use super::server::{Answer, Server};
use super::{model, play, reply, request, text};

#[tokio::test]
async fn a_refused_tool_is_quarantined_and_the_rest_goes_on() {
    let refusal = r#"{"type":"error","error":{"type":"invalid_request_error","message":"tools.1.custom.input_schema: JSON schema is invalid"}}"#;
    let server = Server::start(vec![Answer::new(400, refusal), text(), text()]).await;
    let model = model(&server);
    let request = request(model.adapter(), &["a", "b", "c"]);
    let (events, reply) = play(&model, &request).await.unwrap();
    let Some(ReplyEvent::ToolQuarantined { tool, reason }) = events.first() else {
        panic!("{events:?}")
    };
    assert_eq!((tool.as_str(), reply.text().as_str()), ("b", "Hello."));
    assert!(reason.contains("tools.1"), "{reason}");
    play(&model, &request).await.unwrap();
    let names = |body: &Value| -> Vec<String> {
        let tools = body["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let sent: Vec<Vec<String>> = server
        .asked()
        .iter()
        .map(|asked| names(&asked.body))
        .collect();
    assert_eq!(
        json!(sent),
        json!([["a", "b", "c"], ["a", "c"], ["a", "c"]]),
        "remembered"
    );
}

#[tokio::test]
async fn only_one_tool_is_quarantined_for_a_request() {
    let refusal = |place: usize| {
        let message = format!("tools.{place}.custom.input_schema: JSON schema is invalid");
        let body = json!({"error": {"type": "invalid_request_error", "message": message}});
        Answer::new(400, body.to_string())
    };
    let server = Server::start(vec![refusal(0), refusal(0), text()]).await;
    let model = model(&server);
    assert!(
        play(&model, &request(model.adapter(), &["a", "b"]))
            .await
            .is_err()
    );
    assert_eq!(server.asked().len(), 2);
}

/// Each provider has its own way to name the tool.
#[tokio::test]
async fn a_refused_tool_is_found_whoever_refuses_it() {
    let refused: [(Box<dyn Adapter>, &str, Value); 3] = [
        (
            Box::new(OpenAiChat::default()),
            "openai-chat/01-text.sse",
            json!({"error": {"message": "Invalid schema for function 'b': array schema missing items",
                "type": "invalid_request_error", "param": "tools[1].function.parameters", "code": "invalid_function_parameters"}}),
        ),
        (
            Box::new(OpenAiResponses::default()),
            "openai-responses/01-text.sse",
            json!({"error": {"message": "Invalid schema", "type": "invalid_request_error", "param": "tools[1].parameters"}}),
        ),
        (
            Box::new(Gemini::developer()),
            "gemini/01-text.sse",
            json!({"error": {"code": 400, "status": "INVALID_ARGUMENT",
                "message": "* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[a].items: missing field."}}),
        ),
    ];
    for (adapter, good, refusal) in refused {
        let answers = vec![
            Answer::new(400, refusal.to_string()),
            Answer::new(200, reply(good)),
        ];
        let server = Server::start(answers).await;
        let model = HttpModel::new(adapter).unwrap().with_base_url(&server.url);
        let (events, reply) = play(&model, &request(model.adapter(), &["a", "b", "c"]))
            .await
            .unwrap();
        let reported =
            matches!(events.first(), Some(ReplyEvent::ToolQuarantined { tool, .. }) if tool == "b");
        assert!(reported, "{events:?}");
        assert_eq!(reply.stop_reason(), Some(StopReason::End));
        let sent = server.asked()[1].body["tools"].to_string();
        let named = |name: &str| sent.contains(&format!("\"name\":\"{name}\""));
        assert!(named("a") && !named("b") && named("c"), "{sent}");
    }
}
