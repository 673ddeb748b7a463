//! The demo model, asked over real HTTP on every wire.

use std::io::BufRead as _;
use std::process::Stdio;
use std::sync::Arc;

use provider_adapters::{
    Conversation, Model, ModelError, Reply, Request, StopReason, ToolResult, ToolSpec, Wire,
};
use serde_json::{Value, json};
use switchboard::demo::{DemoModel, DemoScript, LABEL};

use crate::program::{program, run};

fn spec(name: &str, properties: Value, required: &[&str]) -> ToolSpec {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    ToolSpec::new(name, serde_json::from_value(schema).unwrap())
}

/// Tools as a host shows them: under the names of their servers.
fn tools() -> Vec<ToolSpec> {
    vec![
        spec(
            "mcp__demo__get_time",
            json!({"offset_ms": {"type": "number"}}),
            &["offset_ms"],
        ),
        spec(
            "mcp__demo__add",
            json!({"a": {"type": "number"}, "b": {"type": "number"}}),
            &["a", "b"],
        ),
        spec(
            "mcp__demo__write_note",
            json!({"text": {"type": "string"}}),
            &["text"],
        ),
        spec(
            "mcp__files__listFolder",
            json!({"path": {"type": "string"}}),
            &["path"],
        ),
    ]
}

struct Chat {
    model: Arc<dyn Model>,
    request: Request,
}

impl Chat {
    fn new(demo: &DemoModel, wire: Wire, tools: &[ToolSpec], streamed: bool) -> Self {
        let model = demo.client(wire).unwrap();
        let set = Arc::new(model.adapter().tools(tools));
        let mut request = Request::new("any", Conversation::new()).with_tools(set);
        request.stream = streamed;
        Self { model, request }
    }

    async fn ask(&mut self, text: &str) -> Reply {
        self.request.conversation.ask(text);
        self.model.ask(&self.request).await.unwrap()
    }

    /// Gives every call of `reply` this result.
    async fn answer(&mut self, reply: Reply, result: impl Fn(&str) -> ToolResult) -> Reply {
        let results = reply.calls().map(|call| result(call.id.as_str())).collect();
        self.request
            .conversation
            .push(reply.into_turn(results).unwrap());
        self.model.ask(&self.request).await.unwrap()
    }
}

fn call(reply: &Reply) -> (String, Value) {
    let calls: Vec<_> = reply.calls().collect();
    assert_eq!(calls.len(), 1, "{reply:?}");
    (
        calls[0].name.clone(),
        calls[0].executable().unwrap().parse().unwrap(),
    )
}

/// The same ids, arguments and values on every wire.
#[tokio::test]
async fn the_get_time_dialogue_is_replayed_on_every_wire() {
    let demo = DemoModel::start(DemoScript::default(), 0).await.unwrap();
    let get_time = [spec(
        "getTime",
        json!({"offset_ms": {"type": "number"}}),
        &["offset_ms"],
    )];
    for wire in Wire::ALL {
        for streamed in [true, false] {
            let mut chat = Chat::new(&demo, wire, &get_time, streamed);
            let reply = chat.ask("请告诉我昨天的日期是什么时候?").await;
            let want = ("getTime".to_owned(), json!({"offset_ms": -86_400_000}));
            assert_eq!(call(&reply), want, "{wire}");
            let id = reply.calls().next().unwrap().id.clone();
            match wire {
                Wire::OpenAiChat | Wire::OpenAiResponses => assert_eq!(id, "call_abc123"),
                Wire::Anthropic => assert_eq!(id, "toolu_01ABCDEFGHIJKLMNOPQRST"),
                _ => assert!(reply.calls().all(|call| call.generated), "{wire}"),
            }
            let last = chat
                .answer(reply, |id| ToolResult::text(id, "1684713600000"))
                .await;
            let text = last.text();
            assert!(
                text.starts_with(&format!("[{LABEL}]\n根据获取的时间戳")),
                "{wire}: {text}"
            );
            assert!(text.contains("5月22日"), "{wire}: {text}");
            assert_eq!(last.stop_reason(), Some(StopReason::End), "{wire}");
        }
    }
    demo.stop().await;
}

#[tokio::test]
async fn the_tool_that_is_meant_is_called_and_its_answer_quoted() {
    let demo = DemoModel::start(DemoScript::default(), 0).await.unwrap();
    for wire in Wire::ALL {
        for (words, tool, arguments) in [
            (
                "What time is it?",
                "mcp__demo__get_time",
                json!({"offset_ms": 0}),
            ),
            ("add 2 and 40", "mcp__demo__add", json!({"a": 2, "b": 40})),
            (
                "Write a note: time flies",
                "mcp__demo__write_note",
                json!({"text": "time flies"}),
            ),
            (
                "list the folder \"/tmp\"",
                "mcp__files__listFolder",
                json!({"path": "/tmp"}),
            ),
        ] {
            let mut chat = Chat::new(&demo, wire, &tools(), true);
            let reply = chat.ask(words).await;
            assert_eq!(
                call(&reply),
                (tool.to_owned(), arguments),
                "{wire}: {words}"
            );
            assert!(
                reply.usage.input > Some(0) && reply.usage.output > Some(0),
                "{wire}"
            );
            let last = chat
                .answer(reply, |id| ToolResult::text(id, "it is so"))
                .await;
            let short = tool.rsplit("__").next().unwrap();
            assert_eq!(
                last.text(),
                format!("[{LABEL}]\n{short} answered: it is so"),
                "{wire}"
            );
        }
    }
}

/// What stands for many tools, as the loop offers it.
fn stand_ins() -> Vec<ToolSpec> {
    let arguments = json!({"name": {"type": "string"}, "arguments": {"type": "object"}});
    vec![
        spec(
            "tool_search",
            json!({"query": {"type": "string"}}),
            &["query"],
        ),
        spec("tool_call", arguments, &["name", "arguments"]),
        spec("read_output", json!({"id": {"type": "string"}}), &["id"]),
    ]
}

/// What a search found, as the loop tells it.
fn findings() -> String {
    let path =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    [
        json!({"name": "mcp__files__get_file_info", "description": "Metadata of a file.", "arguments": path}),
        json!({"name": "mcp__files__read_text_file", "description": "The text of a file.", "arguments": path}),
        json!({"name": "mcp__files__stat", "description": "Tells how large something is.", "arguments": path}),
    ]
    .map(|line| line.to_string())
    .join("\n")
}

#[tokio::test]
async fn deferred_tools_are_searched_for_and_the_best_hit_is_called() {
    let demo = DemoModel::start(DemoScript::default(), 0).await.unwrap();
    for wire in Wire::ALL {
        for (words, query, tool) in [
            (
                "Please read the file \"/a/b.txt\"",
                "read file txt",
                "mcp__files__read_text_file",
            ),
            (
                "How large is \"/a/b.txt\"?",
                "large txt",
                "mcp__files__stat",
            ),
        ] {
            let mut chat = Chat::new(&demo, wire, &stand_ins(), true);
            let reply = chat.ask(words).await;
            let want = ("tool_search".to_owned(), json!({"query": query}));
            assert_eq!(call(&reply), want, "{wire}");
            let reply = chat
                .answer(reply, |id| ToolResult::text(id, findings()))
                .await;
            let arguments = json!({"name": tool, "arguments": {"path": "/a/b.txt"}});
            assert_eq!(call(&reply), ("tool_call".to_owned(), arguments), "{wire}");
            let last = chat
                .answer(reply, |id| ToolResult::text(id, "it is so"))
                .await;
            // In prompt mode its own calls are text to it.
            let short = match wire {
                Wire::Prompt => "tool_call",
                _ => tool.rsplit("__").next().unwrap(),
            };
            assert_eq!(
                last.text(),
                format!("[{LABEL}]\n{short} answered: it is so"),
                "{wire}"
            );
        }
    }
}

#[tokio::test]
async fn a_search_without_a_hit_that_fits_calls_nothing() {
    let demo = DemoModel::start(DemoScript::default(), 0).await.unwrap();
    for wire in Wire::ALL {
        let none = "No tool fits. Search again in other words.".to_owned();
        for (found, says) in [
            (
                findings(),
                "The nearest are: get_file_info, read_text_file, stat.",
            ),
            (none, "found none."),
        ] {
            let mut chat = Chat::new(&demo, wire, &stand_ins(), true);
            let reply = chat.ask("Hello, how are you?").await;
            assert_eq!(call(&reply).0, "tool_search", "{wire}");
            let last = chat
                .answer(reply, |id| ToolResult::text(id, found.as_str()))
                .await;
            assert_eq!(last.calls().count(), 0, "{wire}");
            assert!(last.text().contains(says), "{wire}: {}", last.text());
        }
        let mut chat = Chat::new(&demo, wire, &stand_ins(), true);
        let reply = chat.ask("Read it").await;
        let last = chat
            .answer(reply, |id| ToolResult::error(id, "the index is gone"))
            .await;
        assert_eq!(
            last.text(),
            format!("[{LABEL}]\ntool_search failed: the index is gone"),
            "{wire}"
        );
    }
}

#[tokio::test]
async fn denials_failures_and_unknown_words_are_reported() {
    let demo = DemoModel::start(DemoScript::default(), 0).await.unwrap();
    for wire in Wire::ALL {
        let mut chat = Chat::new(&demo, wire, &tools(), true);
        let reply = chat.ask("Write a note: x").await;
        let declined = "The user declined this call. Do not repeat it; ask what to do instead.";
        let last = chat
            .answer(reply, |id| ToolResult::error(id, declined))
            .await;
        assert_eq!(
            last.text(),
            format!("[{LABEL}]\nwrite_note was not allowed, so I left it."),
            "{wire}"
        );
        chat.request
            .conversation
            .push(last.into_turn(Vec::new()).unwrap());
        let reply = chat.ask("add 1 and 1").await;
        let last = chat
            .answer(reply, |id| ToolResult::error(id, "out of fingers"))
            .await;
        assert_eq!(
            last.text(),
            format!("[{LABEL}]\nadd failed: out of fingers"),
            "{wire}"
        );
        chat.request
            .conversation
            .push(last.into_turn(Vec::new()).unwrap());
        let help = chat.ask("Why is the sky blue?").await.text();
        assert!(
            help.contains("I can call: get_time, add, write_note, listFolder."),
            "{wire}: {help}"
        );
        assert!(
            help.contains("Try: What time was it yesterday?"),
            "{wire}: {help}"
        );
    }
    let mut chat = Chat::new(&demo, Wire::OpenAiChat, &[], true);
    assert!(
        chat.ask("What time is it?")
            .await
            .text()
            .contains("no tools here")
    );
}

#[tokio::test]
async fn a_script_comes_first() {
    let script = DemoScript::from_json(
        r#"{"rules": [
            {"when": ["TIME"], "think": "Hm.", "say": {"anthropic": "Claude looks.", "*": "I look."},
             "call": [{"tool": "get_time"}, {"tool": "nowhere", "arguments": {"n": 1}, "id": "x1"}], "anyway": true},
            {"after": "get_time", "result": "five", "say": "Five! {result} / {question}"},
            {"after": "*", "say": "Something: {result}"},
            {"when": ["short"], "say": "cut", "stop": "max_tokens"},
            {"when": ["busy"], "fail": {"status": 400, "message": "Too busy."}}
        ]}"#,
    )
    .unwrap();
    let demo = DemoModel::start(script, 0).await.unwrap();
    for wire in Wire::ALL {
        let mut chat = Chat::new(&demo, wire, &tools(), true);
        let reply = chat.ask("time 7").await;
        let want = if wire == Wire::Anthropic {
            "Claude looks."
        } else {
            "I look."
        };
        assert_eq!(
            reply.text().trim_end(),
            format!("[{LABEL}]\n{want}"),
            "{wire}"
        );
        let names: Vec<&str> = reply.calls().map(|call| call.name.as_str()).collect();
        if wire == Wire::Prompt {
            // A call of a tool that is not there stays text there.
            assert_eq!(names[0], "mcp__demo__get_time");
            continue;
        }
        assert_eq!(names, ["mcp__demo__get_time", "nowhere"], "{wire}");
        let last = chat
            .answer(reply, |id| ToolResult::text(id, "five o'clock"))
            .await;
        // The last answer is of the other tool.
        assert_eq!(
            last.text(),
            format!("[{LABEL}]\nSomething: five o'clock"),
            "{wire}"
        );
        chat.request
            .conversation
            .push(last.into_turn(Vec::new()).unwrap());
        assert_eq!(
            chat.ask("short").await.stop_reason(),
            Some(StopReason::MaxTokens),
            "{wire}"
        );
        let mut chat = Chat::new(&demo, wire, &tools(), true);
        chat.request.conversation.ask("busy");
        match chat.model.ask(&chat.request).await {
            Err(ModelError::Provider(error)) => assert_eq!(error.message, "Too busy.", "{wire}"),
            other => panic!("{wire}: {other:?}"),
        }
    }
}

#[test]
fn a_script_with_a_slip_says_where_it_is() {
    let error = DemoScript::from_json(r#"{"rules": [{"wenn": []}]}"#).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        cause.contains("wenn") && cause.contains("line 1"),
        "{cause}"
    );
    let file = std::env::temp_dir().join(format!("switchboard-slip-{}.json", std::process::id()));
    std::fs::write(&file, "{}").unwrap();
    let output = run(&["demo-model", "--json", "--script", file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert!(
        error["error"]["message"]
            .as_str()
            .unwrap()
            .contains("missing field `rules`"),
        "{error}"
    );
}

#[test]
fn the_program_serves_the_model_and_tells_its_urls() {
    let mut child = program(&["demo-model", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let reported: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(reported["model"], "demo-model-not-an-ai");
    for wire in ["openai-chat", "openai-responses", "anthropic", "gemini"] {
        assert!(
            reported["urls"][wire]
                .as_str()
                .unwrap()
                .starts_with("http://127.0.0.1:"),
            "{reported}"
        );
    }
}
