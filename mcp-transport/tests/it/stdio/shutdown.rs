//! Stdin closed, SIGTERM, SIGKILL, to the whole group, in bounded time.

use std::fs;
use std::time::Instant;

use mcp_transport::{StdioLimits, TransportError};

use super::*;

/// A script that writes down what happens to it, and the file it writes to.
fn diary(dir: &Path, script: &str) -> (StdioConnect, PathBuf) {
    let file = dir.join("diary");
    let note = format!("note() {{ echo \"$1\" >> '{}'; }};", file.display());
    (sh(&format!("{note} echo '{{}}'; {script}")), file)
}

async fn started(connect: StdioConnect) -> StdioTransport {
    let transport = connect.start().await.unwrap();
    assert_eq!(message(&transport).await, "{}");
    transport
}

#[tokio::test]
async fn a_server_that_ends_with_its_stdin_is_not_signalled() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap 'note term' TERM; cat >/dev/null; note eof; sleep 0.6; note end";
    let (connect, diary) = diary(dir.path(), script);
    let transport = started(connect).await;
    transport.close().await;
    assert_eq!(fs::read_to_string(diary).unwrap(), "eof\nend\n");
    assert_eq!(transport.exit().unwrap().code, Some(0));
    let closed = closed(&transport).await;
    assert!(closed.error.is_none(), "{closed:?}");
}

#[tokio::test]
async fn a_stubborn_server_gets_sigterm_and_then_sigkill() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap 'note term' TERM; cat >/dev/null; note eof; while :; do sleep 0.05; done";
    let (connect, diary) = diary(dir.path(), script);
    let limits = StdioLimits::default().with_shutdown_timeout(Duration::from_millis(1500));
    let transport = started(connect.with_limits(limits)).await;
    let start = Instant::now();
    transport.close().await;
    assert!(start.elapsed() < TEST_TIMEOUT);
    assert_eq!(fs::read_to_string(diary).unwrap(), "eof\nterm\n");
    assert_eq!(transport.exit().unwrap().signal, Some(9));
}

#[tokio::test]
async fn the_whole_group_ends_also_behind_a_launcher() {
    let dir = tempfile::tempdir().unwrap();
    let line = Lifeline::new(dir.path(), "line");
    let gone = line.watch();
    let server = "trap \"\" TERM; while :; do sleep 1; done";
    let (connect, _) = diary(
        dir.path(),
        &format!("{}; sh -c '{server}' & wait", line.hold()),
    );
    let limits = StdioLimits::default().with_shutdown_timeout(Duration::from_millis(600));
    let transport = started(connect.with_limits(limits)).await;
    transport.close().await;
    gone.await;
}

#[tokio::test]
async fn what_a_server_writes_on_its_way_out_is_drained() {
    let dir = tempfile::tempdir().unwrap();
    let script = "cat >/dev/null; head -c 10000000 /dev/zero | tr '\\0' x; note done";
    let (connect, diary) = diary(dir.path(), script);
    let transport = started(connect).await;
    transport.close().await;
    assert_eq!(fs::read_to_string(diary).unwrap(), "done\n");
}

#[tokio::test]
async fn what_was_sent_before_the_close_still_arrives() {
    let dir = tempfile::tempdir().unwrap();
    let (connect, diary) = diary(dir.path(), "while read -r line; do note \"$line\"; done");
    let transport = started(connect).await;
    for id in 1..=3 {
        transport.send(request(id, "")).await.unwrap();
    }
    transport.close().await;
    assert_eq!(fs::read_to_string(diary).unwrap().lines().count(), 3);
}

#[tokio::test]
async fn closing_is_idempotent_and_ends_sending_and_receiving() {
    let transport = Arc::new(started(sh("echo '{}'; exec cat")).await);
    let receiving = tokio::spawn({
        let transport = Arc::clone(&transport);
        async move { closed(&transport).await }
    });
    tokio::join!(transport.close(), transport.close());
    transport.close().await;
    assert!(receiving.await.unwrap().error.is_none());
    assert!(!transport.is_alive());
    let refused = transport.send(request(1, "late")).await.unwrap_err();
    assert!(matches!(refused.error, TransportError::Closed));
}

#[tokio::test]
async fn a_close_without_a_waiter_completes() {
    let dir = tempfile::tempdir().unwrap();
    let line = Lifeline::new(dir.path(), "line");
    let gone = line.watch();
    let script = format!("{}; echo '{{}}'; exec cat", line.hold());
    let transport = started(sh(&script)).await;
    tokio::select! {
        biased;
        () = transport.close() => {}
        () = tokio::task::yield_now() => {}
    }
    gone.await;
}

#[tokio::test]
async fn dropping_a_connection_kills_the_group() {
    let dir = tempfile::tempdir().unwrap();
    let line = Lifeline::new(dir.path(), "line");
    let gone = line.watch();
    let script = format!(
        "trap '' TERM; {}; echo '{{}}'; sleep 1000 & wait",
        line.hold()
    );
    drop(started(sh(&script)).await);
    gone.await;
}

/// A runtime that ends, as one does when the program does, takes nothing down with it that the
/// group's end depends on; and no zombie is left either.
#[test]
fn dropping_a_connection_after_its_runtime_kills_the_group() {
    let dir = tempfile::tempdir().unwrap();
    let line = Lifeline::new(dir.path(), "line");
    let gone = line.watch();
    let script = format!(
        "trap '' TERM; {}; echo '{{}}'; sleep 1000 & wait",
        line.hold()
    );
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let first = runtime();
    let transport = first.block_on(started(sh(&script)));
    drop(first);
    drop(transport);
    runtime().block_on(gone);
}
