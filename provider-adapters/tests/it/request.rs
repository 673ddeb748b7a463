//! Requests, whole, for conversations that cover what a conversation may hold. The vendors' SDKs
//! accept every one of them: see `oracles/run.py`.

use std::path::PathBuf;

use provider_adapters::{
    Adapter, Anthropic, AnthropicVersion, AssistantTurn, Conversation, Dialect, Effort, Encoded,
    Omitted, OpenAiChat, Options, Request, SystemTurn, Wire,
};
use serde_json::{Value, json};

use crate::golden::adapter;
use crate::neutral_json;

pub(crate) fn conversations() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/conversations");
    let mut files: Vec<PathBuf> = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.push(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/conversation.json"));
    files.sort();
    let name = |file: &PathBuf| file.file_stem().unwrap().to_str().unwrap().to_owned();
    files
        .iter()
        .map(|file| (name(file), std::fs::read(file).unwrap()))
        .collect()
}

fn encode(adapter: &dyn Adapter, conversation: &str) -> Encoded {
    let all = conversations();
    let (_, json) = all.iter().find(|(name, _)| name == conversation).unwrap();
    adapter
        .encode(&neutral_json::read(json, adapter).unwrap())
        .unwrap()
}

fn body(adapter: &dyn Adapter, conversation: &str) -> Value {
    serde_json::from_slice(&encode(adapter, conversation).request.body).unwrap()
}

#[test]
fn every_conversation_on_every_wire() {
    for (name, json) in conversations() {
        for wire in Wire::ALL {
            let adapter = adapter(wire);
            let request = neutral_json::read(&json, adapter.as_ref()).unwrap();
            let encoded = adapter.encode(&request).unwrap();
            let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
            let omitted: Vec<String> = encoded
                .omitted
                .iter()
                .map(|omitted| format!("{omitted:?}"))
                .collect();
            let shot = json!({
                "path": encoded.request.path,
                "headers": encoded.request.headers,
                "body": body,
                "omitted": omitted,
            });
            insta::assert_json_snapshot!(format!("{name}@{wire}"), shot);
        }
    }
}

#[test]
fn the_same_conversation_gives_the_same_bytes() {
    for wire in Wire::ALL {
        let adapter = adapter(wire);
        let [first, second] = [0, 1].map(|_| encode(adapter.as_ref(), "names").request.body);
        assert_eq!(first, second, "{wire}");
    }
}

/// Each server's habits, in one conversation with everything in it.
#[test]
fn dialects_differ_as_their_table_says() {
    for dialect in Dialect::ALL {
        let encoded = encode(&OpenAiChat::new(dialect), "conversation");
        let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
        let sent = body.to_string();
        assert_eq!(
            sent.contains("image_url"),
            dialect.images,
            "{}",
            dialect.name
        );
        assert_eq!(
            sent.contains("input_audio"),
            dialect.audio,
            "{}",
            dialect.name
        );
        assert_eq!(
            sent.contains("file_data"),
            dialect.files,
            "{}",
            dialect.name
        );
        assert_eq!(
            body.get("stream_options").is_some(),
            dialect.asks_usage,
            "{}",
            dialect.name
        );
        assert_eq!(
            body.get("reasoning_effort").is_some(),
            dialect.effort,
            "{}",
            dialect.name
        );
        assert_eq!(body["messages"][0]["role"], dialect.system_role);
        assert_eq!(body[dialect.max_tokens], 500, "{}", dialect.name);
        assert_eq!(
            body.get("parallel_tool_calls").is_some(),
            dialect.parallel_switch
        );
    }
}

#[test]
fn mistral_gets_ids_of_nine_signs_and_no_user_right_after_a_tool() {
    let body = body(&OpenAiChat::new(Dialect::MISTRAL), "conversation");
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert!(
        !roles.windows(2).any(|pair| pair == ["tool", "user"]),
        "{roles:?}"
    );
    let calls = messages
        .iter()
        .filter_map(|m| m["tool_calls"].as_array())
        .flatten();
    let ids: Vec<&str> = calls.map(|call| call["id"].as_str().unwrap()).collect();
    assert!(ids.iter().all(|id| id.len() == 9), "{ids:?}");
    let answered: Vec<&str> = messages
        .iter()
        .filter_map(|m| m["tool_call_id"].as_str())
        .collect();
    assert_eq!(answered, ids);
}

/// DeepSeek wants its thoughts back; no other server sees them.
#[test]
fn thoughts_go_back_only_to_the_server_that_had_them() {
    let sent = |dialect| body(&OpenAiChat::new(dialect), "native-openai-chat").to_string();
    assert!(sent(Dialect::DEEPSEEK).contains("reasoning_content"));
    assert!(sent(Dialect::DEEPSEEK).contains("extra_content"));
    for dialect in Dialect::ALL {
        if dialect.name != "deepseek" {
            assert!(!sent(dialect).contains("Paris."), "{}", dialect.name);
        }
    }
    for wire in Wire::ALL {
        for origin in ["anthropic", "openai-responses", "gemini", "vertex"] {
            let sent = body(adapter(wire).as_ref(), &format!("native-{origin}")).to_string();
            let secret = match origin {
                "anthropic" => "EqQBCgIYAhIM",
                "openai-responses" => "gAAAAABfin",
                _ => "c2ln",
            };
            assert_eq!(
                sent.contains(secret),
                wire.as_str() == origin,
                "{origin} to {wire}"
            );
        }
    }
}

/// The first version has sampling options and its own header for the key.
#[test]
fn both_versions_of_anthropic() {
    let old = Anthropic::new(AnthropicVersion::V2023_06_01);
    let new = Anthropic::default();
    let sampled = encode(&old, "options");
    let body: Value = serde_json::from_slice(&sampled.request.body).unwrap();
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(
        sampled.request.headers,
        [("anthropic-version", "2023-06-01".to_owned())]
    );
    let unsampled = encode(&new, "options");
    let body: Value = serde_json::from_slice(&unsampled.request.body).unwrap();
    for knob in ["temperature", "top_p", "top_k"] {
        assert!(body.get(knob).is_none() && unsampled.omitted.contains(&Omitted::Option(knob)));
    }
    let sent = |adapter: &dyn Adapter| {
        let mut conversation = Conversation::new();
        conversation.ask("Hello?");
        conversation.push(SystemTurn::new("Be brief."));
        let encoded = adapter.encode(&Request::new("any", conversation)).unwrap();
        let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
        body["messages"][1]["role"] == "system"
    };
    assert!(sent(&new) && !sent(&old));
}

/// Between a user's message and the assistant's, or last; the user says them anywhere else, and to older models.
#[test]
fn instructions_between_turns_stand_where_anthropic_takes_them() {
    let roles = |model: &str, turns: &str| -> Vec<String> {
        let mut conversation = Conversation::new();
        for turn in turns.chars() {
            match turn {
                'u' => conversation.ask("Hello?"),
                'a' => conversation.push(AssistantTurn::from_text("Hello.")),
                _ => conversation.push(SystemTurn::new("Be brief.")),
            }
        }
        let request = Request::new(model, conversation);
        let encoded = Anthropic::default().encode(&request).unwrap();
        let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
        let messages = body["messages"].as_array().unwrap().iter();
        messages
            .map(|message| message["role"].as_str().unwrap()[..1].to_owned())
            .collect()
    };
    for (turns, want) in [
        ("us", "us"),
        ("usa", "usa"),
        ("ussa", "usa"),
        ("usu", "u"),
        ("uas", "uau"),
        ("uasu", "uau"),
        ("su", "u"),
    ] {
        assert_eq!(roles("claude-opus-5-5", turns).concat(), want, "{turns}");
    }
    for model in [
        "claude-opus-4-8",
        "claude-sonnet-5-5",
        "claude-haiku-5-5",
        "claude-fable-6",
    ] {
        assert_eq!(roles(model, "us").concat(), "us", "{model}");
    }
    for model in [
        "claude-opus-4-7",
        "claude-opus-4-20250514",
        "claude-opus-4@20250514",
        "claude-sonnet-4-6",
        "claude-sonnet-5",
        "claude-haiku-4-5",
        "claude-3-7-sonnet-latest",
    ] {
        assert_eq!(roles(model, "us").concat(), "u", "{model}");
    }
}

/// What each generation of Claude refuses is left out, or said in its words.
#[test]
fn claude_gets_how_much_to_think_in_the_words_of_its_generation() {
    let said = |model: &str, options: Options| {
        let mut conversation = Conversation::new();
        conversation.ask("Hello?");
        let request = Request::new(model, conversation).with_options(options);
        let encoded = Anthropic::default().encode(&request).unwrap();
        let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
        let omitted = encoded.omitted.iter().map(|it| match it {
            Omitted::Option(name) => *name,
            other => panic!("{other:?}"),
        });
        let omitted: Vec<&str> = omitted.collect();
        let thinking = body["thinking"]["type"].as_str().unwrap_or("-").to_owned();
        let effort = body["output_config"]["effort"].as_str().unwrap_or("-");
        format!("{thinking} {effort} {}", omitted.join(" "))
            .trim()
            .to_owned()
    };
    let effort = |effort| Options::new().with_effort(effort);
    let tokens = Options::new().with_thinking_tokens(2048);
    for (model, high, none, budget) in [
        ("claude-haiku-4-5", "- - effort", "disabled -", "enabled -"),
        (
            "claude-opus-4-5-20251101",
            "- high",
            "disabled -",
            "enabled -",
        ),
        (
            "claude-sonnet-4-6",
            "adaptive high",
            "disabled -",
            "enabled -",
        ),
        (
            "claude-opus-4-8",
            "adaptive high",
            "disabled -",
            "adaptive - thinking_tokens",
        ),
        (
            "claude-fable-5",
            "adaptive high",
            "- - effort",
            "adaptive - thinking_tokens",
        ),
        (
            "claude-opus-5-5",
            "adaptive high",
            "- - effort",
            "adaptive - thinking_tokens",
        ),
        (
            "claude-sonnet-5-5",
            "adaptive high",
            "between_tools - effort",
            "adaptive - thinking_tokens",
        ),
        ("a-model", "adaptive high", "disabled -", "enabled -"),
    ] {
        assert_eq!(said(model, effort(Effort::High)), high, "{model}");
        assert_eq!(said(model, effort(Effort::None)), none, "{model}");
        assert_eq!(said(model, tokens.clone()), budget, "{model}");
    }
}

/// Natively in the result where the wire allows it, in the next turn where it does not, and
/// in words only where nothing else works.
#[test]
fn media_in_results_reaches_the_model() {
    let sent = |wire: Wire| body(adapter(wire).as_ref(), "result-media");
    let result = &sent(Wire::Anthropic)["messages"][2]["content"][0]["content"];
    assert_eq!(result[1]["type"], "image");
    assert_eq!(result[4]["type"], "document");
    assert_eq!(result[3]["text"], "[Audio: audio/mpeg]");
    let result = &sent(Wire::OpenAiResponses)["input"][3]["output"];
    assert_eq!(result[1]["type"], "input_image");
    assert_eq!(result[4]["type"], "input_file");
    for wire in [Wire::Gemini, Wire::Vertex] {
        let result = &sent(wire)["contents"][2]["parts"][0]["functionResponse"]["parts"];
        assert_eq!(result[0]["inlineData"]["mimeType"], "image/png");
        assert_eq!(result[1]["inlineData"]["mimeType"], "audio/mpeg");
    }
    let messages = &sent(Wire::OpenAiChat)["messages"];
    assert!(messages[2]["content"].is_string() && messages[3]["content"].is_string());
    assert_eq!(messages[4]["role"], "user");
    assert_eq!(messages[4]["content"][1]["type"], "image_url");
    assert_eq!(messages[4]["content"][3]["type"], "input_audio");
    for wire in Wire::ALL {
        assert!(
            sent(wire).to_string().contains("[File: file:///a.zip]"),
            "{wire}"
        );
    }
}

/// Who is spoken to how, in one table.
#[test]
fn every_server_is_asked_to_call_tools_in_its_own_words() {
    let table: Vec<Value> = Dialect::ALL
        .into_iter()
        .map(|dialect| {
            let adapter = OpenAiChat::new(dialect);
            let forced = |conversation: &str| body(&adapter, conversation)["tool_choice"].clone();
            let calls = body(&adapter, "names");
            json!({
                "server": dialect.name,
                "key": format!("{:?}", adapter.key_header()),
                "required": forced("choice-required"),
                "one": forced("choice-tool"),
                "some": forced("choice-among"),
                "none": forced("choice-none"),
                "id": calls["messages"][1]["tool_calls"][0]["id"],
                "strict": body(&adapter, "choice-auto")["tools"][0]["function"].get("strict"),
            })
        })
        .collect();
    let table: Vec<String> = table.iter().map(Value::to_string).collect();
    insta::assert_snapshot!(table.join("\n"));
}
