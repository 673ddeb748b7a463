//! Many servers of one manager: how long it takes to start them, and what they cost at rest.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_client::ClientBuilder;
use mcp_manager::{
    Connector, Manager, ManagerLimits, RemoteEndpoint, ServerConfig, ServerCommand, Wait,
};
use mcp_transport::memory::{MemoryListener, listen};
use mcp_transport::{BoxError, Incoming, Outgoing, Transport};
use serde_json::{Value, json};

use crate::table::{Table, is_wanted, number};
use crate::usage::resident_memory;

const PROGRAMS: usize = 20;
const ROUNDS: usize = 5;
/// What an interpreter takes before it reads its first line.
const WARM_UP: Duration = Duration::from_millis(150);
const IDLE: usize = 1000;

/// A server on stdin and stdout that is as slow to start as most are: half of it computing, half
/// waiting.
pub fn serve() {
    let began = Instant::now();
    while began.elapsed() < WARM_UP / 2 {
        std::hint::black_box(began);
    }
    std::thread::sleep(WARM_UP / 2);
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if let Some(answer) = answer(line.as_bytes()) {
            let _ = writeln!(out, "{answer}").and_then(|()| out.flush());
        }
    }
}

/// Starts programs with the limit on starts, without, and one after the other.
pub fn starts() {
    let title = format!("server_pool: connect {PROGRAMS} programs, each {WARM_UP:?} slow");
    if !is_wanted(&title) {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let ways = [("limit on (2)", 2), ("limit off", PROGRAMS), ("one after another", 1)];
    let mut times = vec![Vec::new(); ways.len()];
    for round in 0..ROUNDS {
        for turn in 0..ways.len() {
            let at = (round + turn) % ways.len();
            times[at].push(runtime.block_on(start(ways[at].1)));
        }
    }
    let mut table = Table::new(title, &["all, ms", "first tool, ms"]);
    for ((name, _), times) in ways.iter().zip(times) {
        let median = |part: fn(&(Duration, Duration)) -> Duration| {
            let mut times: Vec<Duration> = times.iter().map(part).collect();
            times.sort();
            times[times.len() / 2].as_secs_f64() * 1000.0
        };
        table.row(name, [number(median(|it| it.0)), number(median(|it| it.1))]);
    }
    table.print();
}

/// How long until all are connected, and until the first tool is there.
async fn start(at_once: usize) -> (Duration, Duration) {
    let program = std::env::current_exe().unwrap().to_string_lossy().into_owned();
    let configs = (0..PROGRAMS).map(|number| {
        let endpoint = ServerCommand::new(&program).with_args(["serve"]);
        ServerConfig::stdio(format!("server-{number:02}").parse().unwrap(), endpoint)
    });
    let manager = Manager::builder().limits(ManagerLimits::default().with_stdio_starts(at_once)).build();
    let began = Instant::now();
    let mut events = manager.events();
    let watching = tokio::spawn(async move {
        while let Some(event) = events.next().await {
            if event.name() == "mcp_catalog_changed" {
                break;
            }
        }
        began.elapsed()
    });
    let startup = manager.connect_all(configs, Wait::All).await;
    let all = began.elapsed();
    assert_eq!(startup.connected.len(), PROGRAMS, "{:?}", startup.errors);
    let first = watching.await.unwrap();
    manager.shutdown().await;
    (all, first)
}

/// Servers that are connected, and of which no one wants anything.
pub fn idle() {
    let title = format!("server_pool: {IDLE} idle servers over memory transports, 5 tools each");
    if !is_wanted(&title) {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let manager = Manager::builder().connector(InMemory).build();
        let configs = |from: usize, to: usize| {
            (from..to).map(|number| {
                let name = format!("server-{number:04}").parse().unwrap();
                ServerConfig::remote(name, RemoteEndpoint::new("http://127.0.0.1/memory"))
            })
        };
        // The first few pay for what all share.
        manager.connect_all(configs(0, 50), Wait::All).await;
        manager.catalog();
        let (before, began) = (resident_memory(), Instant::now());
        manager.connect_all(configs(50, 50 + IDLE), Wait::All).await;
        let took = began.elapsed();
        let tools = manager.catalog().tools().len();
        let each = (resident_memory() - before) as f64 / IDLE as f64;
        let began = Instant::now();
        manager.shutdown().await;
        let mut table = Table::new(title, &["in all"]);
        table.row("connected, ms", [number(took.as_secs_f64() * 1e3)]);
        table.row("tools in the catalogue", [tools.to_string()]);
        table.row("KiB a server, its own end of the connection included", [number(each)]);
        table.row("shut down, ms", [number(began.elapsed().as_secs_f64() * 1e3)]);
        table.print();
    });
}

/// Reaches servers that are tasks of this process.
#[derive(Debug)]
struct InMemory;

impl Connector for InMemory {
    fn builder(&self, _: &ServerConfig) -> Result<ClientBuilder, BoxError> {
        let (connect, listener) = listen();
        tokio::spawn(serve_memory(listener));
        Ok(ClientBuilder::new(Arc::new(connect)))
    }
}

async fn serve_memory(mut listener: MemoryListener) {
    let Some(client) = listener.accept().await else {
        return;
    };
    while let Incoming::Message { body, .. } = client.recv().await {
        if let Some(answer) = answer(&body) {
            let message = Outgoing::notification("answer", answer.into_bytes());
            if client.send(message).await.is_err() {
                return;
            }
        }
    }
}

fn answer(message: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(message).ok()?;
    let id = message.get("id")?;
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "server_pool", "version": "1"},
        }),
        "tools/list" => json!({"tools": (0..5).map(tool).collect::<Vec<_>>()}),
        _ => json!({}),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

fn tool(number: usize) -> Value {
    json!({
        "name": format!("tool_{number}"),
        "description": "Looks for files and tells about them.",
        "inputSchema": {
            "type": "object",
            "properties": {"path": {"type": "string", "description": "Where to look."}},
            "required": ["path"],
        },
    })
}
