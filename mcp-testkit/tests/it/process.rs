//! The program itself: exit statuses, signals, streams, processes left behind.

use std::path::PathBuf;
use std::process::Stdio;

use mcp_testkit::{Event, Seen};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use crate::line_client::{LineClient, modern};

/// A running program, its client, and its log.
struct Program {
    child: Child,
    client: Option<LineClient>,
    log: PathBuf,
}

impl Program {
    fn start(name: &str, args: &[&str]) -> Self {
        let log =
            std::env::temp_dir().join(format!("mcp-testkit-{}-{name}.log", std::process::id()));
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-testkit"))
            .args([
                "--stdio",
                "--script",
                "minimal",
                "--lifetime",
                "60",
                "--log",
            ])
            .arg(&log)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let client = LineClient::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
        Self {
            child,
            client: Some(client),
            log,
        }
    }

    fn fault(name: &str) -> Self {
        Self::start(name, &["--fault", name])
    }

    fn client(&mut self) -> &mut LineClient {
        self.client.as_mut().unwrap()
    }

    async fn call(&mut self, text: &str) -> String {
        let answer = self.client().call("echo", json!({"text": text})).await;
        answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    async fn start_call(&mut self) {
        let call = json!({"name": "echo", "arguments": {"text": "hello"}});
        self.client().start("tools/call", call).await;
    }

    async fn status(&mut self) -> Option<i32> {
        self.child.wait().await.unwrap().code()
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill(Pid::from_raw(pid), signal).unwrap();
    }

    /// Waits until the log holds such an event.
    async fn logged(&self, fits: impl Fn(&Seen) -> bool) {
        loop {
            let text = std::fs::read_to_string(&self.log).unwrap_or_default();
            let events = text
                .lines()
                .filter_map(|line| serde_json::from_str::<Event>(line).ok());
            if events.map(|event| event.seen).any(|seen| fits(&seen)) {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn marked(&self, wanted: &str) {
        self.logged(|seen| matches!(seen, Seen::Milestone { name, .. } if name == wanted))
            .await;
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.log);
    }
}

#[tokio::test]
async fn the_program_serves_both_eras_on_its_streams() {
    let mut program = Program::start("both", &[]);
    program.client().initialize().await;
    assert_eq!(program.call("old").await, "old");
    let call = modern(json!({"name": "echo", "arguments": {"text": "new"}}));
    let answer = program.client().request("tools/call", call).await;
    assert_eq!(answer["result"]["content"][0]["text"], "new");
    program.client = None;
    assert_eq!(program.status().await, Some(0));
}

#[tokio::test]
async fn a_server_that_exits_at_start_says_why() {
    let mut program = Program::fault("exit-at-start");
    let mut words = String::new();
    program
        .child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut words)
        .await
        .unwrap();
    assert_eq!(words, "fatal: API_KEY is not set\n");
    assert_eq!(program.status().await, Some(3));
}

#[tokio::test]
async fn a_server_can_exit_around_a_call() {
    for (fault, status, answered) in [
        ("exit-mid-call", 1, ""),
        ("exit-mid-line", 1, r#"{"jsonrpc":"2.0","id":2,"resul"#),
        (
            "exit-after-response",
            0,
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}}\n",
        ),
        (
            "no-newline-eof",
            0,
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hello"}]}}"#,
        ),
        ("grandchild-exit-mid-call", 1, ""),
    ] {
        let mut program = Program::fault(fault);
        program.client().initialize().await;
        program.start_call().await;
        assert_eq!(program.status().await, Some(status), "{fault}");
        if fault.starts_with("grandchild") {
            continue; // Its output stays open: that is the fault.
        }
        let written = program.client().line().await.unwrap_or_default();
        assert_eq!(written, answered, "{fault}");
    }
}

#[tokio::test]
async fn a_server_can_die_of_its_second_call() {
    let mut program = Program::fault("crash-second-call");
    program.client().initialize().await;
    assert_eq!(program.call("first").await, "first");
    program.start_call().await;
    assert_eq!(program.status().await, Some(1));
}

#[tokio::test]
async fn a_server_can_ignore_the_end_of_its_input() {
    let mut program = Program::fault("ignore-eof");
    program.client().initialize().await;
    program.client = None;
    program.logged(|seen| *seen == Seen::Eof).await;
    assert!(program.child.try_wait().unwrap().is_none());
    program.signal(Signal::SIGTERM);
    assert_eq!(program.status().await, Some(143));
    program
        .logged(|seen| matches!(seen, Seen::Signal { name } if name == "SIGTERM"))
        .await;
}

#[tokio::test]
async fn a_server_can_ignore_sigterm() {
    let mut program = Program::fault("ignore-sigterm");
    program.client().initialize().await;
    program.signal(Signal::SIGTERM);
    program
        .logged(|seen| matches!(seen, Seen::Signal { .. }))
        .await;
    assert_eq!(program.call("still here").await, "still here");
    program.child.kill().await.unwrap();
}

#[tokio::test]
async fn a_server_can_finish_late() {
    for fault in ["slow-exit", "flood-at-exit"] {
        let mut program = Program::fault(fault);
        program.client().initialize().await;
        let mut rest = program.client.take().unwrap().close();
        let mut written = Vec::new();
        rest.read_to_end(&mut written).await.unwrap();
        assert_eq!(program.status().await, Some(0), "{fault}");
        program.marked("clean-exit").await;
        assert_eq!(
            written.len() > 9_000_000,
            fault == "flood-at-exit",
            "{} bytes",
            written.len()
        );
    }
}

#[tokio::test]
async fn a_server_can_close_one_of_its_streams() {
    let mut program = Program::fault("stdout-closed-early");
    program.client().initialize().await;
    program.start_call().await;
    assert_eq!(program.client().line().await, None);
    assert!(program.child.try_wait().unwrap().is_none());

    let mut program = Program::fault("stdin-closed-early");
    program.client().initialize().await;
    program.client().request("tools/list", json!({})).await;
    while program
        .client()
        .try_send(&json!({"jsonrpc": "2.0", "method": "x"}))
        .await
        .is_ok()
    {}
    assert!(program.child.try_wait().unwrap().is_none());
}

#[tokio::test]
async fn a_launcher_passes_its_streams_on() {
    let mut program = Program::fault("wrapper-tree");
    program.client().initialize().await;
    assert_eq!(program.call("through").await, "through");
    let launcher = program.child.id().unwrap();
    let pid = |seen: &Seen| match seen {
        Seen::Started { pid, .. } => Some(*pid),
        _ => None,
    };
    program
        .logged(|seen| pid(seen).is_some_and(|pid| pid != launcher))
        .await;
    // The real server ends with its lifetime at the latest; this test ends it now.
    let text = std::fs::read_to_string(&program.log).unwrap();
    for event in text
        .lines()
        .filter_map(|line| serde_json::from_str::<Event>(line).ok())
    {
        if let Some(pid) = pid(&event.seen) {
            kill(Pid::from_raw(i32::try_from(pid).unwrap()), Signal::SIGKILL).unwrap();
        }
    }
}

#[tokio::test]
async fn a_hundred_megabytes_go_to_standard_error_first() {
    let mut program = Program::fault("stderr-flood");
    let mut stderr = program.child.stderr.take().unwrap();
    let drained = tokio::spawn(async move {
        let mut total = 0;
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
            total += count;
        }
        total
    });
    program.client().initialize().await;
    assert_eq!(program.call("dry").await, "dry");
    program.client = None;
    assert!(drained.await.unwrap() > 99_000_000);
}

#[tokio::test]
async fn the_program_names_its_url_first() {
    for (shape, path) in [("--http", "/mcp"), ("--sse", "/sse")] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-testkit"))
            .args([shape, "--lifetime", "60"])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut client = LineClient::new(child.stdout.take().unwrap(), tokio::io::sink());
        let url = client.line().await.unwrap();
        assert!(
            url.starts_with("http://127.0.0.1:") && url.trim_end().ends_with(path),
            "{url}"
        );
    }
}
