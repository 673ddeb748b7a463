//! What a gateway adds to a call: our program `SWITCHBOARD` and mcp-proxy, the program `MCP_PROXY`, before one
//! server, each in a process of its own, under one load client (ours) in one run, taking turns; and no gateway
//! at all. Without a program its rows are left out. Then our gateway's memory with many servers and tools.
//!
//! ```text
//! gateway [--seconds S] [--rounds N] [part of a row's title]
//! ```

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bench::echo_server;
use bench::rounds::{Options, Running, Scores, load, program};
use bench::table::{Table, median, number, ratio};
use bench::usage::memory_of;
use mcp_client::{Client, ClientBuilder};
use mcp_jsonrpc::model::{Implementation, Tool};
use mcp_server::Server;
use mcp_server::http::{HttpService, serve};
use mcp_transport::{HttpConfig, StaticTokenAuth};
use serde_json::json;

/// The entrant that the others are measured against.
const DIRECT: usize = 0;
/// The peer.
const PEER: &str = "mcp-proxy";
/// What our gateway asks of its clients.
const TOKEN: &str = "a-token-of-this-benchmark";
/// Servers behind the gateway whose memory is measured.
const SERVERS: usize = 100;
/// Tools of each of them.
const TOOLS: usize = 50;

/// What stands between the load client and the server.
#[derive(Clone, Copy, PartialEq)]
enum Between {
    Nothing,
    Ours,
    McpProxy,
}

fn main() {
    let options = Options::read(2.0, 7);
    let folder = std::env::temp_dir().join(format!("switchboard-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for upstream in ["HTTP", "stdio"] {
        for in_flight in ["1", "8", "32"] {
            let title = format!("HTTP to {upstream}, echo {in_flight} in flight");
            if options.is_wanted(&title) {
                calls(&title, upstream, in_flight, &options, &folder);
            }
        }
    }
    let title = format!("memory with {SERVERS} HTTP servers and {} tools", SERVERS * TOOLS);
    if options.is_wanted(&title) {
        memory(&title, &folder);
    }
    let _ = fs::remove_dir_all(&folder);
}

fn calls(title: &str, upstream: &str, in_flight: &str, options: &Options, folder: &Path) {
    // What is between, the client's era, and the server's.
    let mut entrants = vec![("direct", (Between::Nothing, "legacy", "legacy"))];
    if std::env::var_os("MCP_PROXY").is_some() {
        entrants.push((PEER, (Between::McpProxy, "legacy", "legacy")));
    }
    if std::env::var_os("SWITCHBOARD").is_some() {
        entrants.extend([
            ("ours", (Between::Ours, "legacy", "legacy")),
            ("ours, legacy client, modern server", (Between::Ours, "legacy", "modern")),
            ("ours, modern client, legacy server", (Between::Ours, "modern", "legacy")),
            ("ours, modern", (Between::Ours, "modern", "modern")),
        ]);
    }
    entrants.push(("direct, modern", (Between::Nothing, "modern", "modern")));
    let scores = Scores::take(options.rounds, &entrants, |_, name, (between, era, behind)| {
        let server = Running::start(server(behind));
        let gateway = match between {
            Between::Nothing => None,
            Between::Ours => Some(ours(folder, upstream, &server.url, behind)),
            Between::McpProxy => Some(mcp_proxy(folder, upstream, &server.url)),
        };
        let measured = gateway.as_ref().unwrap_or(&server);
        let mut client = Command::new(program("drive_ours"));
        client.arg(&measured.url).args(["echo", in_flight]).arg(options.milliseconds());
        client.env("BENCH_SERVER_PID", measured.child.id().to_string()).env("BENCH_ERA", era);
        if *between == Between::Ours {
            client.env("BENCH_TOKEN", TOKEN);
        }
        load(client, name, title)
    });
    let ratios = [("calls/s × direct", "per_second"), ("p50 × direct", "p50")];
    let figures = [
        ("calls/s", "per_second"),
        ("p50 µs", "p50"),
        ("p99 µs", "p99"),
        ("CPU µs a call", "server_cpu"),
        ("peak KiB", "server_memory"),
    ];
    scores.print(title, DIRECT, &ratios, &figures);
    added(&entrants.iter().map(|(name, _)| *name).collect::<Vec<_>>(), &scores);
}

/// Prints what the peer and we add to a call, and how the two compare.
fn added(names: &[&str], scores: &Scores) {
    let rounds = |wanted: &str, key: &str| {
        let at = names.iter().position(|name| *name == wanted)?;
        Some(scores.rounds(at, key)).filter(|rounds| !rounds.is_empty())
    };
    let (Some(peer), Some(ours)) = (rounds(PEER, "p50"), rounds("ours", "p50")) else {
        return;
    };
    let direct = scores.rounds(DIRECT, "p50");
    let over = |rounds: &[f64]| -> Vec<f64> { rounds.iter().zip(&direct).map(|(a, b)| a - b).collect() };
    let (peer, ours) = (over(&peer), over(&ours));
    println!(
        "\nAdded to the p50: {PEER} {} µs, ours {} µs; ours × {PEER}'s: {}.",
        number(median(&peer)),
        number(median(&ours)),
        ratio(&ours, &peer)
    );
    if let (Some(peer), Some(ours)) = (rounds(PEER, "per_second"), rounds("ours", "per_second")) {
        println!("Calls/s: ours × {PEER}'s: {}.", ratio(&ours, &peer));
    }
}

/// The server behind all: ours, in one era.
fn server(era: &str) -> Command {
    let mut command = Command::new(program("serve_ours"));
    command.args(["serve", "http", era]);
    command
}

/// `switchboard gateway` before the server, which it reaches by URL or starts itself.
fn ours(folder: &Path, upstream: &str, url: &str, era: &str) -> Running {
    let entry = match upstream {
        "stdio" => json!({"command": program("serve_ours"), "args": ["serve", "stdio", era]}),
        _ => json!({"type": "http", "url": url}),
    };
    gateway(folder, &json!({"mcpServers": {"up": entry}}), &["--no-prefix"])
}

/// `switchboard gateway --http` with these servers.
fn gateway(folder: &Path, servers: &serde_json::Value, args: &[&str]) -> Running {
    let file = folder.join("servers.json");
    fs::write(&file, servers.to_string()).unwrap();
    let mut command = Command::new(std::env::var_os("SWITCHBOARD").unwrap());
    command.args(["gateway", "--http", "--approve", "auto"]).args(args).arg("--config").arg(file);
    command.env("SWITCHBOARD_HOME", folder.join("home")).env("SWITCHBOARD_GATEWAY_TOKEN", TOKEN);
    Running::start(command)
}

/// mcp-proxy before the server, without a prefix either.
fn mcp_proxy(folder: &Path, upstream: &str, url: &str) -> Running {
    // It prints no address, so it is given one that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let backend = match upstream {
        "stdio" => format!("transport = \"stdio\"\ncommand = {:?}\nargs = [\"serve\", \"stdio\", \"legacy\"]", program("serve_ours")),
        _ => format!("transport = \"http\"\nurl = \"{url}\""),
    };
    let config = format!(
        "[proxy]\nname = \"gw\"\nseparator = \"\"\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {}\n\
         [observability]\nlog_level = \"warn\"\n[[backends]]\nname = \"\"\n{backend}\n",
        address.port()
    );
    let file: PathBuf = folder.join("proxy.toml");
    fs::write(&file, config).unwrap();
    let mut command = Command::new(std::env::var_os("MCP_PROXY").unwrap());
    let child = command.arg("--config").arg(file).stdout(Stdio::null()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(30);
    while std::net::TcpStream::connect(address).is_err() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    Running { child, url: format!("http://{address}/") }
}

/// Has our gateway connect to many servers, lists all tools through it, and looks at its memory.
fn memory(title: &str, folder: &Path) {
    if std::env::var_os("SWITCHBOARD").is_none() {
        return;
    }
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let schema = echo_server::tool(1)["inputSchema"].to_string().len();
    let mut table = Table::new(format!("{title}; schemas of {schema} bytes"), &["resident MiB", "peak MiB"]);
    for prefix in [true, false] {
        let servers: serde_json::Map<_, _> = (0..SERVERS)
            .map(|number| {
                let first = if prefix { 1 } else { number * TOOLS + 1 };
                let url = runtime.block_on(many_tools(first));
                (format!("server{number}"), json!({"type": "http", "url": url}))
            })
            .collect();
        let args: &[&str] = if prefix { &[] } else { &["--no-prefix"] };
        let gateway = gateway(folder, &json!({"mcpServers": servers}), args);
        let pid = gateway.child.id();
        let client = runtime.block_on(all_tools(&gateway.url));
        let mebibytes = |kind: &str| number(memory_of(pid, kind) as f64 / 1024.0);
        let name = if prefix { "names with a prefix" } else { "names as they are" };
        table.row(name, [mebibytes("VmRSS:"), mebibytes("VmHWM:")]);
        runtime.block_on(client.close());
    }
    table.print();
}

/// A server of this process, with tools from number `first` on; its URL.
async fn many_tools(first: usize) -> String {
    let mut server = Server::new(Implementation::new("many", "1"));
    for number in first..first + TOOLS {
        let tool: Tool = serde_json::from_value(echo_server::tool(number)).unwrap();
        server = server.tool_with_schema(tool, |_: serde_json::Value, _| async { "done" });
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { serve(listener, HttpService::new(&server.build())).await.unwrap() });
    url
}

/// A client that has listed the tools of all servers, which may take a while to be connected.
async fn all_tools(url: &str) -> Client {
    let config = HttpConfig::new(url).unwrap().streamable_only();
    let config = config.with_auth(std::sync::Arc::new(StaticTokenAuth::new(TOKEN)));
    let client = ClientBuilder::new(config.into_connect().unwrap()).connect().await.unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let listed = client.list_tools().await.unwrap().items.len();
        if listed == SERVERS * TOOLS {
            return client;
        }
        assert!(Instant::now() < end, "only {listed} tools are listed");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
