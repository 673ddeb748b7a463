//! A custom wire, written with public items only.
//!
//! The provider of this example is fictitious. It accepts `{"model", "functions", "talk"}`, and streams events such as
//! `{"say": "Hello"}`, `{"call": "clock", "with": {}}` and `{"end": "done"}`.
//!
//! ```sh
//! cargo run -p provider-adapters --example own_wire
//! ```

use std::io::Write as _;

use mcp_jsonrpc::RawJson;
use provider_adapters::{
    Adapter, Arguments, AssistantPart, Conversation, Decoder, EncodeError, Encoded, ErrorKind,
    Expected, Frames, KeyHeader, Omitted, ReplyBuilder, Request, StopReason, ToolResult, ToolSet,
    ToolSpec, Turn, UserPart, Wire, WireDecoder, WireRequest, flatten,
};
use serde_json::{Value, json};
use tool_schema::Target;

/// The codec. It has no state, so one value serves every request.
#[derive(Debug)]
struct OwnWire {
    target: Target,
}

impl OwnWire {
    fn new() -> Self {
        // Any JSON Schema, at most 32 tools.
        let target = Target::json_schema("own").with_max_tools(32);
        Self { target }
    }
}

impl Adapter for OwnWire {
    fn wire(&self) -> Wire {
        Wire::Custom
    }

    fn base_url(&self) -> String {
        "https://models.example.com".to_owned()
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader::Bearer
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn definitions(&self, tools: &ToolSet) -> RawJson {
        let define = |tool: &provider_adapters::CompiledTool| json!({"name": tool.wire_name, "about": tool.description, "takes": tool.schema});
        raw(&tools.compiled().iter().map(define).collect::<Value>())
    }

    fn messages(&self, turns: &[Turn], tools: &ToolSet) -> Vec<RawJson> {
        turns
            .iter()
            .flat_map(|turn| lines(turn, tools))
            .map(|line| raw(&line))
            .collect()
    }

    fn encode(&self, request: &Request) -> Result<Encoded, EncodeError> {
        let talk = self.messages(request.conversation.turns(), &request.tools);
        if talk.is_empty() {
            return Err(EncodeError::Empty);
        }
        // Parts that the wire cannot express are reported.
        let mut omitted = Vec::new();
        if request.options.temperature.is_some() {
            omitted.push(Omitted::Option("temperature"));
        }
        // The growing list comes last: then each request starts like the one before.
        let body = json!({
            "model": request.model,
            "functions": self.definitions(&request.tools),
            "manner": request.conversation.system(),
            "talk": talk,
        });
        let sent = WireRequest::new("/v1/talk", body.to_string().into_bytes());
        Ok(Encoded::new(request, sent).with_omitted(omitted))
    }

    fn decoder(&self, expected: Expected) -> Box<dyn Decoder> {
        Box::new(WireDecoder::new(OwnFrames::default(), expected))
    }
}

/// A turn in the provider's format. Names and arguments go through the tools, which convert them for this provider.
fn lines(turn: &Turn, tools: &ToolSet) -> Vec<Value> {
    match turn {
        Turn::System(turn) => vec![json!({"system": turn.text})],
        Turn::User(turn) => {
            let texts = turn.parts.iter().filter_map(|part| match part {
                UserPart::Text { text } => Some(json!({"user": text})),
                _ => None,
            });
            texts.collect()
        }
        Turn::Assistant(turn) => {
            let said = turn.parts().iter().filter_map(|part| match part {
                AssistantPart::Text { text } => Some(json!({"say": text})),
                AssistantPart::ToolCall(call) => {
                    let own = call.arguments.object()?;
                    let with = tools
                        .project(&call.name, own)
                        .unwrap_or_else(|| own.clone());
                    Some(json!({"call": tools.wire_name(&call.name), "id": call.id, "with": with}))
                }
                _ => None,
            });
            let results = turn
                .results()
                .iter()
                .map(|result| json!({"result": flatten(&result.content), "of": result.id}));
            said.chain(results).collect()
        }
        _ => Vec::new(),
    }
}

/// Decodes replies: framing, limits and assembly are shared, so only the events remain.
#[derive(Debug, Default)]
struct OwnFrames {
    done: bool,
}

impl Frames for OwnFrames {
    fn event(&mut self, _name: &[u8], data: &[u8], reply: &mut ReplyBuilder) {
        self.body(data, reply);
    }

    fn body(&mut self, json: &[u8], reply: &mut ReplyBuilder) {
        let Ok(event) = serde_json::from_slice::<Value>(json) else {
            return reply.fail(ErrorKind::Malformed, "an event is no JSON");
        };
        let text = |key: &str| event.get(key).and_then(Value::as_str);
        if let Some(said) = text("say") {
            reply.push_text(said);
        }
        if let Some(name) = text("call")
            && let Some(call) = reply.start_call(text("id"), name)
        {
            let with = event.get("with").map(Value::to_string);
            reply.push_arguments(call, with.as_deref().unwrap_or("{}"));
            reply.end_call(call, false);
        }
        if let Some(reason) = text("end") {
            let neutral = match reason {
                "done" => StopReason::End,
                "full" => StopReason::MaxTokens,
                _ => StopReason::Other,
            };
            reply.stop(neutral, reason);
            self.done = true;
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

fn raw(value: &Value) -> RawJson {
    RawJson::from_serialize(value).unwrap_or_else(|_| RawJson::null())
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let adapter = OwnWire::new();
    let schema =
        serde_json::from_str(r#"{"type":"object","properties":{"zone":{"type":"string"}}}"#)?;
    let tools = adapter.tools(&[ToolSpec::new("wall.clock", schema)]);
    let mut conversation = Conversation::new();
    conversation.ask("What time is it?");
    let mut request = Request::new("own-1", conversation).with_tools(tools);

    let encoded = adapter.encode(&request)?;
    let mut decoder = adapter.decoder(encoded.expected);
    let mut events = Vec::new();
    // Its names may not contain dots, so the tool has another name there.
    let name = request.tools.wire_name("wall.clock");
    let stream = format!(
        "data: {{\"say\":\"One moment.\"}}\n\n\
         data: {{\"call\":\"{name}\",\"id\":\"c1\",\"with\":{{\"zone\":\"CET\"}}}}\n\n\
         data: {{\"end\":\"done\"}}\n\n"
    );
    for chunk in stream.as_bytes().chunks(7) {
        decoder.push(chunk, &mut events);
    }
    let reply = decoder.finish(&mut events);

    // The name is the tool's own again, and with a call the reply waits for results.
    let call = reply.calls().next().ok_or("no call")?;
    assert_eq!(call.name, "wall.clock");
    assert_eq!(call.arguments, Arguments::read(r#"{"zone":"CET"}"#));
    assert_eq!(reply.stop_reason(), Some(StopReason::ToolUse));

    request
        .conversation
        .push(reply.into_turn(vec![ToolResult::text("c1", "noon")])?);
    let body = String::from_utf8(adapter.encode(&request)?.request.body)?;
    assert!(body.ends_with(r#"{"result":"noon","of":"c1"}]}"#));
    std::io::stdout().write_all(body.as_bytes())?;
    Ok(())
}
