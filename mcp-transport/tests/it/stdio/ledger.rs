//! What a killed host leaves behind.

use std::io::BufRead;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::{fs, io};

use mcp_transport::ProcessLedger;

use super::*;

/// Runs `examples/host.rs` until it says that its servers are there.
fn host(ledger: &Path, scripts: &[String]) -> Child {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples/host");
    let mut command = Command::new(program);
    command.arg(ledger).args(scripts);
    let mut host = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    io::BufReader::new(host.stdout.take().unwrap())
        .read_line(&mut ready)
        .unwrap();
    assert_eq!(ready, "ready\n");
    host
}

/// A launcher, a server that ignores SIGTERM, one with a grandchild; the host is killed.
#[tokio::test]
async fn what_a_killed_host_leaves_is_ended_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = dir.path().join("ledger");
    let (children, everybody) = (
        Lifeline::new(dir.path(), "children"),
        Lifeline::new(dir.path(), "all"),
    );
    let hold = format!("{}; exec 4>'{}'", everybody.hold(), children.path.display());
    let forever = "while :; do sleep 1; done";
    let scripts = [
        format!("{hold}; sh -c 'trap \"\" TERM; echo \"{{}}\"; {forever}' 4>&- & wait"),
        format!("{hold}; trap '' TERM; echo '{{}}'; {forever} 4>&-"),
        format!("{hold}; sleep 1000 4>&- & echo '{{}}'; wait"),
    ];
    let (children_gone, everybody_gone) = (children.watch(), everybody.watch());
    tokio::pin!(everybody_gone);
    let mut host = host(&ledger, &scripts);
    assert_eq!(fs::read_dir(&ledger).unwrap().count(), 1);
    host.kill().unwrap();
    host.wait().unwrap();
    // The kernel kills direct children at once.
    children_gone.await;
    tokio::select! {
        biased;
        () = &mut everybody_gone => panic!("nothing was left: this test shows nothing"),
        () = std::future::ready(()) => {}
    }
    let next = tokio::task::spawn_blocking(move || ProcessLedger::open(ledger))
        .await
        .unwrap()
        .unwrap();
    assert!(next.reaped().len() >= 2, "{next:?}");
    everybody_gone.await;
    assert_eq!(fs::read_dir(dir.path().join("ledger")).unwrap().count(), 0);
}

/// No destructor runs when a program exits, and no one opens the ledger again.
#[tokio::test]
async fn an_exiting_host_kills_whole_groups() {
    let dir = tempfile::tempdir().unwrap();
    let line = Lifeline::new(dir.path(), "line");
    let gone = line.watch();
    let stubborn = "trap \"\" TERM; echo \"{}\"; while :; do sleep 1; done";
    let script = format!("{}; sh -c '{stubborn}' & wait", line.hold());
    let mut host = host(&dir.path().join("ledger"), &[script]);
    drop(host.stdin.take());
    assert!(host.wait().unwrap().success());
    gone.await;
}

#[tokio::test]
async fn a_process_id_that_passed_to_another_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = ProcessLedger::open(dir.path()).unwrap();
    let tracker = ProcessTracker::new();
    tracker.keep_ledger(ledger).unwrap();
    let connect = sh("echo '{}'; exec cat").with_tracker(tracker);
    let transport = connect.start().await.unwrap();
    assert_eq!(message(&transport).await, "{}");
    // The record of a host that is gone, in which the same id belongs to an older process.
    let record = records(dir.path()).remove(0);
    let text = fs::read_to_string(&record).unwrap();
    let (head, started) = text.trim_end().rsplit_once(' ').unwrap();
    let forged = format!("{head} {}\n", started.parse::<u64>().unwrap() - 1);
    fs::write(dir.path().join("4000000-1-0.ledger"), forged).unwrap();
    // And one of another run of the system.
    fs::write(
        dir.path().join("4000000-1-1.ledger"),
        text.replace("boot ", "boot 0"),
    )
    .unwrap();
    let next = ProcessLedger::open(dir.path()).unwrap();
    assert!(next.reaped().is_empty());
    assert_eq!(
        records(dir.path()),
        std::slice::from_ref(&record),
        "forgotten, but for our own"
    );
    transport.send(request(1, "alive")).await.unwrap();
    assert_eq!(message(&transport).await, "{\"id\":1,\"text\":\"alive\"}");
    // The same record with the right start time: so it is the start time that made the difference.
    fs::write(dir.path().join("4000000-1-0.ledger"), text).unwrap();
    let next = ProcessLedger::open(dir.path()).unwrap();
    assert_eq!(next.reaped(), [transport.process_id().unwrap()]);
    assert!(loss(&transport).await.contains("signal 15"));
}

/// A process that has left its group and session, and holds the line; its pid is in a file.
#[cfg(target_os = "linux")]
fn deserter(line: &Lifeline) -> String {
    let forever = "while :; do sleep 1; done";
    let run = format!("exec </dev/null >/dev/null 2>&1; {forever}");
    format!(
        "{}; setsid sh -c '{run}' & echo '{{}}'; exec cat 3>&-",
        line.hold()
    )
}

/// What calls `setsid` is in no group that anybody wrote down.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_left_its_session_is_ended_by_the_next_host_and_no_sooner() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = dir.path().join("ledger");
    let (lost, alive) = (
        Lifeline::new(dir.path(), "lost"),
        Lifeline::new(dir.path(), "alive"),
    );
    let (lost_gone, alive_gone) = (lost.watch(), alive.watch());
    tokio::pin!(alive_gone);
    let mut killed = host(&ledger, &[deserter(&lost)]);
    let mut living = host(&ledger, &[deserter(&alive)]);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let open = move || ProcessLedger::open(ledger);
    let next = tokio::task::spawn_blocking(open).await.unwrap().unwrap();
    assert!(!next.reaped().is_empty());
    lost_gone.await;
    // The other host lives, and so does what it started.
    tokio::select! {
        biased;
        () = &mut alive_gone => panic!("another host's process was ended"),
        () = std::future::ready(()) => {}
    }
    drop(living.stdin.take());
    assert!(living.wait().unwrap().success());
    alive_gone.await;
    assert_eq!(records(&dir.path().join("ledger")), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_process_that_ended_in_order_leaves_no_record() {
    let dir = tempfile::tempdir().unwrap();
    let tracker = ProcessTracker::new();
    tracker
        .keep_ledger(ProcessLedger::open(dir.path()).unwrap())
        .unwrap();
    let transport = sh("exec cat")
        .with_tracker(tracker.clone())
        .start()
        .await
        .unwrap();
    assert_eq!(records(dir.path()).len(), 1);
    transport.close().await;
    // It may have left something that is in no group.
    assert_eq!(records(dir.path()).len(), 1);
    tracker.sweep();
    assert_eq!(records(dir.path()).len(), 0);
    assert!(
        tracker
            .keep_ledger(ProcessLedger::open(dir.path()).unwrap())
            .is_err()
    );
}

#[test]
fn a_directory_that_others_may_write_to_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let error = ProcessLedger::open(dir.path()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    let made = dir.path().join("a/b");
    ProcessLedger::open(&made).unwrap();
    assert_eq!(
        fs::metadata(made).unwrap().permissions().mode() & 0o777,
        0o700
    );
}

fn records(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    all.sort();
    all
}
