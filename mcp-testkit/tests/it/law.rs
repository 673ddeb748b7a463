//! Laws that hold for any script and any way bytes are cut.

use std::io::Read as _;

use mcp_testkit::{Ask, Script, Server, Step, Tool};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::line_client::{modern, pipe};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// All names, page by page.
async fn list_all(tools: usize, page: usize) -> Vec<String> {
    let script = Script::empty()
        .with_generated_tools(tools)
        .with_page_size(page);
    let (mut client, _server) = pipe(Server::new(script));
    client.initialize().await;
    let (mut names, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let answer = client
            .request("tools/list", json!({"cursor": cursor}))
            .await;
        let page_of = answer["result"]["tools"].as_array().unwrap();
        assert!(page_of.len() <= page);
        names.extend(
            page_of
                .iter()
                .map(|tool| tool["name"].as_str().unwrap().to_owned()),
        );
        cursor = answer["result"]["nextCursor"].clone();
        if cursor.is_null() {
            return names;
        }
    }
}

/// The answers to three requests that arrive in pieces of these lengths.
async fn answers(cuts: Vec<usize>) -> String {
    let (mut stream, _server) = Server::new(Script::minimal()).pipe().unwrap();
    let text: String = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}),
        json!({"jsonrpc": "2.0", "id": "é😀", "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "é😀"}}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "ping"}),
    ]
    .iter()
    .map(|message| format!("{message}\r\n\n"))
    .collect();
    let mut rest = text.as_bytes();
    for cut in cuts {
        let (now, later) = rest.split_at(cut.min(rest.len()));
        stream.write_all(now).await.unwrap();
        tokio::task::yield_now().await;
        rest = later;
    }
    stream.write_all(rest).await.unwrap();
    let mut bytes = Vec::new();
    while bytes.iter().filter(|byte| **byte == b'\n').count() < 3 {
        stream.read_buf(&mut bytes).await.unwrap();
    }
    String::from_utf8(bytes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pages_are_the_list_in_order(tools in 0_usize..40, page in 1_usize..12) {
        let names: Vec<String> = (0..tools).map(|n| format!("tool_{n:04}")).collect();
        prop_assert_eq!(block_on(list_all(tools, page)), names);
    }

    #[test]
    fn chunking_does_not_matter(cuts in prop::collection::vec(1_usize..60, 0..12)) {
        prop_assert_eq!(block_on(answers(cuts)), block_on(answers(Vec::new())));
    }

    /// Rounds end with all answers, whatever they are, and only with the state as it was given.
    #[test]
    fn rounds_gather_every_answer(texts in prop::collection::vec("\\PC{0,12}", 1..5), flip in any::<prop::sample::Index>()) {
        block_on(async {
            let mut tool = Tool::new("ask");
            for number in 0..texts.len() {
                tool = tool.with_step(Step::Ask(Ask::form(number.to_string(), "?", json!({"type": "object"}))));
                // Something between the questions, so that each has a round of its own.
                tool = tool.with_step(Step::Pause(std::time::Duration::ZERO));
            }
            let count = texts.len();
            let tool = tool.answering(move |called| {
                let all: Vec<Value> = (0..count).map(|n| called.answer(&n.to_string())).collect();
                json!({"content": [], "structuredContent": {"answers": all}})
            });
            let (mut client, _server) = pipe(Server::new(Script::empty().with_tool(tool)));
            let mut params = json!({"name": "ask"});
            for (number, text) in texts.iter().enumerate() {
                let result = client.request("tools/call", modern(params.clone())).await["result"].clone();
                assert_eq!(result["resultType"], "input_required");
                assert!(result["inputRequests"].get(number.to_string()).is_some());
                let state = result["requestState"].as_str().unwrap().to_owned();
                let mut forged: Vec<char> = state.chars().collect();
                let at = flip.index(forged.len());
                forged[at] = if forged[at] == 'x' { 'y' } else { 'x' };
                params["requestState"] = forged.into_iter().collect::<String>().into();
                let refused = client.request("tools/call", modern(params.clone())).await;
                assert_eq!(refused["error"]["code"], -32602);
                params["requestState"] = state.into();
                params["inputResponses"] = json!({number.to_string(): {"action": "accept", "content": {"t": text}}});
            }
            let done = client.request("tools/call", modern(params)).await["result"].clone();
            let said: Vec<&str> = done["structuredContent"]["answers"].as_array().unwrap().iter()
                .map(|answer| answer["content"]["t"].as_str().unwrap()).collect();
            assert_eq!(said, texts);
        });
    }
}

#[tokio::test]
async fn gzip_unpacks_to_what_it_should() {
    use crate::http_client::HttpClient;
    use mcp_testkit::Fault;
    let server = |name| Server::new(Script::minimal()).with_fault(Fault::named(name).unwrap());
    let running = server("gzip-ok").start_http().await.unwrap();
    let mut client = HttpClient::new(running.url());
    let initialize = client.request("initialize", crate::line_client::initialize_params());
    let packed = client
        .post(&[("Accept-Encoding", "gzip")], &initialize)
        .await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.body().await.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    assert!(text.contains("mcp-testkit"), "{text}");

    let running = server("gzip-bomb").start_http().await.unwrap();
    let mut client = HttpClient::new(running.url());
    client.initialize().await;
    let packed = client
        .call("echo", json!({"text": "hello"}))
        .await
        .body()
        .await;
    assert!(packed.len() < 8 << 20, "{} bytes", packed.len());
    let mut unpacked = flate2::read::GzDecoder::new(packed.as_slice());
    let (mut total, mut buffer) = (0_u64, vec![0; 1 << 20]);
    while let Ok(count @ 1..) = unpacked.read(&mut buffer) {
        total += count as u64;
    }
    assert!(total > 1_000_000_000, "{total} bytes");
}
