//! Starts, exits and crashes of the server's process.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use super::{End, STYLE, lines, live_on, serve};
use crate::fault::Fault;
use crate::protocol::{Piece, notification};
use crate::wire::Lines;

pub(super) const FAULTS: &[Fault] = &[
    lines(
        "exit-at-start",
        "exits at once with status 3, and says on standard error that API_KEY is not set",
        STYLE,
        |_| {
            Box::pin(async {
                io::stderr().write_all(b"fatal: API_KEY is not set\n")?;
                Ok(End::Exit(3))
            })
        },
    ),
    lines(
        "exit-mid-call",
        "exits with status 1 when the first call arrives",
        STYLE,
        |lines| {
            Box::pin(async move {
                lines.until("tools/call").await?;
                Ok(End::Exit(1))
            })
        },
    ),
    lines(
        "exit-mid-line",
        "exits in the middle of the answer to the first call",
        STYLE,
        |lines| {
            Box::pin(async move {
                if let Some(call) = lines.until("tools/call").await? {
                    let mut answer = lines.answer(&call).await;
                    answer.truncate(30);
                    lines.out.send(Piece::raw(answer)).await;
                    lines.out.flush().await;
                }
                Ok(End::Exit(1))
            })
        },
    ),
    lines(
        "exit-after-response",
        "answers the first call and exits with status 0 at once",
        STYLE,
        |lines| {
            Box::pin(async move {
                if let Some(call) = lines.until("tools/call").await? {
                    lines.handle(call).await;
                    lines.out.flush().await;
                }
                Ok(End::Exit(0))
            })
        },
    ),
    lines(
        "crash-second-call",
        "answers the first call, exits on the second",
        STYLE,
        |lines| {
            Box::pin(async move {
                if let Some(call) = lines.until("tools/call").await? {
                    lines.handle(call).await;
                    lines.until("tools/call").await?;
                }
                Ok(End::Exit(1))
            })
        },
    ),
    lines(
        "ignore-sigterm",
        "ignores SIGTERM and the end of its input: only SIGKILL ends it",
        STYLE,
        |lines| {
            Box::pin(async move {
                lines.ignore_signals();
                lines.serve().await?;
                live_on().await
            })
        },
    ),
    lines(
        "ignore-eof",
        "lives on after the end of its input, until SIGTERM",
        STYLE,
        |lines| {
            Box::pin(async move {
                lines.serve().await?;
                live_on().await
            })
        },
    ),
    lines(
        "slow-exit",
        "needs 0.6 s to exit after the end of its input",
        STYLE,
        |lines| {
            Box::pin(async move {
                lines.serve().await?;
                tokio::time::sleep(Duration::from_millis(600)).await;
                lines.session.world.log.mark("clean-exit", 0);
                Ok(End::Closed)
            })
        },
    ),
    lines(
        "flood-at-exit",
        "writes 10 MB after the end of its input",
        STYLE,
        |lines| {
            Box::pin(async move {
                lines.serve().await?;
                lines.out.send(log_lines(10)).await;
                if lines.out.flush().await {
                    lines.session.world.log.mark("clean-exit", 0);
                }
                Ok(End::Closed)
            })
        },
    ),
    lines(
        "grandchild-holds-stdout",
        "leaves a process behind that holds its standard output for 90 s",
        STYLE,
        |lines| {
            Box::pin(async move {
                grandchild()?;
                serve(lines).await
            })
        },
    ),
    lines(
        "grandchild-exit-mid-call",
        "exits when the first call arrives, while a process it started holds its standard output",
        STYLE,
        |lines| {
            Box::pin(async move {
                grandchild()?;
                lines.until("tools/call").await?;
                Ok(End::Exit(1))
            })
        },
    ),
    lines(
        "wrapper-tree",
        "is only the launcher of the real server, which ignores the end of its input",
        STYLE,
        |_| Box::pin(async { launch().await }),
    ),
    lines(
        "stderr-flood",
        "writes 100 MB to standard error before it serves, half of it without line ends",
        STYLE,
        |lines| {
            Box::pin(async move {
                tokio::task::spawn_blocking(flood_stderr)
                    .await
                    .map_err(io::Error::other)??;
                lines.session.world.log.mark("stderr-done", 100_000_000);
                serve(lines).await
            })
        },
    ),
    lines(
        "stdin-closed-early",
        "closes its input before it answers the first list, and lives on",
        STYLE,
        |lines| {
            Box::pin(async move {
                if let Some(list) = lines.until("tools/list").await? {
                    lines.close_input();
                    lines.handle(list).await;
                }
                live_on().await
            })
        },
    ),
    lines(
        "stdout-closed-early",
        "closes its output when the first call arrives, and lives on",
        STYLE,
        |lines| {
            Box::pin(async move {
                lines.until("tools/call").await?;
                lines.close_output().await;
                drain(lines).await
            })
        },
    ),
];

/// This many megabytes of log messages.
pub(super) fn log_lines(megabytes: u64) -> Piece {
    let params = json!({"level": "info", "logger": "mcp-testkit", "data": "z".repeat(930)});
    let line = format!("{}\n", notification("notifications/message", params));
    Piece::Raw(
        line.repeat(1_000_000 / line.len()).into_bytes().into(),
        megabytes,
    )
}

/// Keeps reading and answers nothing.
async fn drain(lines: &mut Lines) -> io::Result<End> {
    while lines.receive().await?.is_some() {}
    Ok(End::Closed)
}

/// Starts a process that outlives us and keeps what it inherited.
fn grandchild() -> io::Result<()> {
    Command::new("sleep")
        .arg("90")
        .stdin(Stdio::null())
        .spawn()?;
    Ok(())
}

/// Starts the same program with another fault, on our own streams, and waits for it.
async fn launch() -> io::Result<End> {
    let args = std::env::args_os().skip(1);
    let args = args.map(|arg| {
        if arg == "wrapper-tree" {
            "ignore-eof".into()
        } else {
            arg
        }
    });
    let mut child = Command::new(std::env::current_exe()?).args(args).spawn()?;
    let ended = tokio::task::spawn_blocking(move || child.wait()).await;
    let status = ended.map_err(io::Error::other)??;
    Ok(End::Exit(status.code().unwrap_or(1)))
}

fn flood_stderr() -> io::Result<()> {
    let line = [b"WARN something happened, ".repeat(40), b"\n".to_vec()].concat();
    let lines = line.repeat(1_000_000 / line.len());
    let blob = vec![0xff_u8; 1_000_000];
    let mut stderr = io::stderr().lock();
    for _ in 0..50 {
        stderr.write_all(&lines)?;
    }
    for _ in 0..50 {
        stderr.write_all(&blob)?;
    }
    Ok(())
}
