//! A server's tools, asked for over standard input and output, as few lines as it takes.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long an answer may take: some servers load for a while.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(90);
/// Pages of a list of tools.
const MAX_PAGES: usize = 100;

/// What a server says.
pub(super) struct Asked {
    pub(super) instructions: Value,
    pub(super) tools: Vec<Value>,
}

/// Starts a server, with a home of its own and the variables of its pin, and asks for its tools.
pub(super) fn ask(program: &[PathBuf], pin: &Value, folder: &Path) -> Result<Asked, String> {
    let home = folder.join("home");
    fs::create_dir_all(&home).map_err(|e| format!("{}: {e}", home.display()))?;
    let (first, rest) = program.split_first().ok_or("no program")?;
    let args = pin["args"].as_array().into_iter().flatten();
    let args = args.filter_map(Value::as_str);
    let args = args.map(|arg| arg.replace("{folder}", &home.to_string_lossy()));
    let variables = pin["env"].as_object().into_iter().flatten();
    let variables = variables.filter_map(|(name, value)| Some((name, value.as_str()?)));
    let log = fs::File::create(folder.join("stderr")).map_err(|e| e.to_string())?;
    let child = Command::new(first)
        .args(rest)
        .args(args)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LANG", "C.UTF-8")
        .env("HOME", &home)
        .envs(variables)
        .current_dir(&home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn();
    let mut child = child.map_err(|e| format!("{}: {e}", first.display()))?;
    let asked = converse(&mut child);
    // Gone already, or killed now.
    let _ = child.kill();
    let _ = child.wait();
    asked
}

fn converse(child: &mut Child) -> Result<Asked, String> {
    let stdout = child.stdout.take().ok_or("no output")?;
    let (say, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if say.send(line).is_err() {
                return;
            }
        }
    });
    let info = json!({"name": "switchboard-scan", "version": "0"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
    let server = request(child, &lines, 1, "initialize", &hello)?;
    send(
        child,
        &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    )?;
    let (mut tools, mut params) = (Vec::new(), json!({}));
    for page in 0..MAX_PAGES {
        let listed = request(child, &lines, page + 2, "tools/list", &params)?;
        tools.extend(listed["tools"].as_array().into_iter().flatten().cloned());
        match &listed["nextCursor"] {
            Value::String(cursor) => params = json!({ "cursor": cursor }),
            _ => break,
        }
    }
    Ok(Asked {
        instructions: server["instructions"].clone(),
        tools,
    })
}

fn request(
    child: &mut Child,
    lines: &Receiver<String>,
    id: usize,
    method: &str,
    params: &Value,
) -> Result<Value, String> {
    let asked = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    send(child, &asked)?;
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = lines.recv_timeout(left);
        let line = line.map_err(|_| format!("no answer to {method}"))?;
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        if message["id"] == id && message["method"].is_null() {
            return match message.get("result") {
                Some(result) => Ok(result.clone()),
                None => Err(format!("{method}: {}", message["error"])),
            };
        }
    }
}

fn send(child: &mut Child, message: &Value) -> Result<(), String> {
    let stdin = child.stdin.as_mut().ok_or("no input")?;
    let line = format!("{message}\n");
    let sent = stdin
        .write_all(line.as_bytes())
        .and_then(|()| stdin.flush());
    sent.map_err(|e| format!("it ended: {e}"))
}
