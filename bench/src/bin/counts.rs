//! Instructions of the pure hot paths, counted by callgrind: the same on a busy machine as on an
//! idle one, so that a regression shows.
//!
//! Each path runs once and several times more under valgrind; the difference is what the runs
//! cost, without the start of the program. `counts.txt` holds the numbers that were agreed to
//! last; `counts --agree` writes them anew.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;

use bench::model_stream::{self, ModelStream};
use bench::table::Table;
use mcp_jsonrpc::model::{CallToolResult, ListToolsResult, ReadResourceResult};
use mcp_jsonrpc::{Body, Incoming, DecodeLimits, MessageRef, decode};
use mcp_manager::{ResourceCache, ResourceCacheLimits};
use mcp_jsonrpc::sse::SseParser;
use mcp_transport::LineFramer;
use provider_adapters::Expected;
use serde_json::{Value, json};
use tool_schema::{Target, compile};

/// The number of runs that are counted.
const RUNS: usize = 4;
/// The smallest difference, in per cent, that counts as a change.
const NOISE: f64 = 2.0;
const AGREED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/counts.txt");

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("run") => {
            let (_, mut work) = paths().swap_remove(args[1].parse().unwrap());
            (0..args[2].parse().unwrap()).for_each(|_| work());
        }
        Some("--agree") => report(true),
        _ => report(false),
    }
}

/// What is counted: a name and one run of it.
type Path = (String, Box<dyn FnMut()>);

fn paths() -> Vec<Path> {
    let mut paths: Vec<Path> = Vec::new();
    let mut path = |name: &str, work: Box<dyn FnMut()>| paths.push((name.to_owned(), work));
    let small = call_reply(900);
    let large = call_reply(100 << 10);
    let list = tool_list();
    let lines = [small.as_slice(), b"\n"].concat().repeat(100);
    let events = [b"event: message\ndata: ".as_slice(), &small, b"\n\n"].concat().repeat(100);
    path("jsonrpc: reply of 1 KiB to its type", {
        Box::new(move || drop(black_box(read::<CallToolResult>(&small))))
    });
    path("jsonrpc: reply of 100 KiB to its type", {
        Box::new(move || drop(black_box(read::<CallToolResult>(&large))))
    });
    path("jsonrpc: list of 200 tools to its type", {
        Box::new(move || drop(black_box(read::<ListToolsResult>(&list))))
    });
    path("framing: 100 lines of 1 KiB", Box::new(move || frame_lines(&lines)));
    path("framing: 100 events of 1 KiB", Box::new(move || frame_events(&events)));
    for target in [&Target::OPENAI_STRICT, &Target::ANTHROPIC_STRICT, &Target::GEMINI] {
        let corpus = corpus();
        path(&format!("schema: 40 tools for {}", target.name()), {
            Box::new(move || {
                corpus.iter().for_each(|schema| drop(black_box(compile(schema, target))))
            })
        });
    }
    for stream in model_stream::all() {
        path(&format!("codec: {} events of {}", stream.frames, stream.wire), {
            Box::new(move || decode_stream(&stream))
        });
    }
    path("cache: 1,000 hits", cache_hits());
    paths
}

/// Counts every path, compares with what was agreed to, and accepts the new counts on request.
fn report(agree: bool) {
    let agreed = agreed();
    let mut table = Table::new("instructions, by callgrind", &["thousands a run", "change"]);
    let mut counted = String::new();
    for (at, (name, _)) in paths().iter().enumerate() {
        let (Some(once), Some(more)) = (instructions(at, 1), instructions(at, 1 + RUNS)) else {
            return println!("valgrind is not there: no instructions are counted");
        };
        let each = (more - once) / RUNS as u64;
        counted.push_str(&format!("{each}\t{name}\n"));
        let change = agreed.get(name).map(|&before| 100.0 * (each as f64 / before as f64 - 1.0));
        let change = match change {
            None => "new".to_owned(),
            Some(change) if change.abs() < NOISE => "none".to_owned(),
            Some(change) => format!("**{change:+.1} %**"),
        };
        table.row(name, [(each / 1000).to_string(), change]);
    }
    table.print();
    if agree {
        std::fs::write(AGREED, counted).unwrap();
    }
}

fn agreed() -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(AGREED).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines.map(|(count, name)| (name.to_owned(), count.parse().unwrap())).collect()
}

/// The instructions of a program that runs a path so often; nothing without valgrind.
fn instructions(path: usize, runs: usize) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["run", &path.to_string(), &runs.to_string()])
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find_map(|line| line.split_once("Collected :"));
    line?.1.trim().parse().ok()
}

fn read<T: Body>(bytes: &[u8]) -> T {
    match decode(bytes, &DecodeLimits::default()) {
        Ok(Incoming::Single(MessageRef::Response { outcome: Ok(result), .. })) => {
            T::read(result).unwrap()
        }
        other => panic!("no reply: {other:?}"),
    }
}

fn frame_lines(bytes: &[u8]) {
    let mut framer = LineFramer::new(1 << 20);
    let mut lines = 0;
    for chunk in bytes.chunks(8 << 10) {
        framer.push(chunk);
        lines += std::iter::from_fn(|| framer.next_line()).count();
    }
    assert_eq!(lines, 100);
}

fn frame_events(bytes: &[u8]) {
    let mut parser = SseParser::new(1 << 20);
    let mut events = 0;
    for chunk in bytes.chunks(8 << 10) {
        parser.push(chunk);
        events += std::iter::from_fn(|| parser.next_frame()).count();
    }
    assert_eq!(events, 100);
}

fn decode_stream(stream: &ModelStream) {
    let mut decoder = stream.adapter.decoder(Expected::default());
    let mut events = Vec::new();
    for piece in stream.bytes.chunks(1400) {
        decoder.push(piece, &mut events);
        events.clear();
    }
    black_box(decoder.finish(&mut events));
}

fn cache_hits() -> Box<dyn FnMut()> {
    let cache = ResourceCache::new(ResourceCacheLimits::default());
    let server = "server".parse().unwrap();
    let now = std::time::Instant::now();
    let uris: Vec<String> = (0..200).map(|n| format!("file:///project/src/{n}/main.rs")).collect();
    let value = Arc::new(ReadResourceResult::new([]));
    for uri in &uris {
        cache.set(&server, uri, Arc::clone(&value), now);
    }
    Box::new(move || {
        let hits = uris.iter().cycle().take(1000).filter(|uri| cache.get(&server, uri, now).is_some());
        assert_eq!(hits.count(), 1000);
    })
}

fn call_reply(bytes: usize) -> Vec<u8> {
    let text: String = "12:04:31 INFO \"worker-7\" finished in 182 ms\n".chars().cycle().take(bytes).collect();
    reply(&json!({"content": [{"type": "text", "text": text}], "isError": false}))
}

fn tool_list() -> Vec<u8> {
    let tools: Vec<Value> = corpus()
        .into_iter()
        .cycle()
        .take(200)
        .enumerate()
        .map(|(n, schema)| json!({"name": format!("tool_{n}"), "description": "A tool.", "inputSchema": schema}))
        .collect();
    reply(&json!({ "tools": tools }))
}

fn corpus() -> Vec<Value> {
    let text = include_str!("../../../tool-schema/tests/it/inputs/spread.json");
    let rows: Vec<Value> = serde_json::from_str(text).unwrap();
    rows.into_iter().map(|mut row| row["schema"].take()).filter(Value::is_object).take(40).collect()
}

fn reply(result: &Value) -> Vec<u8> {
    json!({"jsonrpc": "2.0", "id": 7, "result": result}).to_string().into_bytes()
}
