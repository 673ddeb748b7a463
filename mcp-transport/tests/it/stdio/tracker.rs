//! The registry of processes.

use std::time::SystemTime;

use super::*;

async fn tracked(tracker: &ProcessTracker, script: &str) -> StdioTransport {
    let transport = sh(script)
        .with_tracker(tracker.clone())
        .start()
        .await
        .unwrap();
    assert_eq!(message(&transport).await, "{}");
    transport
}

fn ids(tracker: &ProcessTracker) -> Vec<Option<u32>> {
    tracker
        .processes()
        .iter()
        .map(|process| process.id)
        .collect()
}

#[tokio::test]
async fn a_tracker_knows_every_process_until_it_is_gone() {
    let tracker = ProcessTracker::new();
    let before = SystemTime::now();
    let one = tracked(&tracker, "echo '{}'; exec cat").await;
    let two = tracked(&tracker, "echo '{}'; exec cat").await;
    assert_eq!(ids(&tracker), [one.process_id(), two.process_id()]);
    let about = tracker.processes().remove(0);
    assert!(about.program.starts_with("sh -c") && about.started >= before);
    assert!(tracker.close(one.process_id().unwrap()).await);
    assert!(one.exit().is_some());
    assert!(!tracker.close(one.process_id().unwrap()).await);
    assert_eq!(ids(&tracker), [two.process_id()]);
    drop(two);
    assert_eq!(ids(&tracker), []);
}

#[tokio::test]
async fn closing_all_ends_all_in_good_order() {
    let tracker = ProcessTracker::new();
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(tracked(&tracker, "echo '{}'; cat >/dev/null; exit 5").await);
    }
    tracker.close_all().await;
    assert!(
        all.iter()
            .all(|transport| transport.exit().unwrap().code == Some(5))
    );
    assert!(tracker.processes().is_empty());
}

#[tokio::test]
async fn killing_all_now_waits_for_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let line = Lifeline::new(dir.path(), "line");
    let gone = line.watch();
    let tracker = ProcessTracker::new();
    let script = format!(
        "{}; trap '' TERM; echo '{{}}'; sleep 1000 & wait",
        line.hold()
    );
    let transport = tracked(&tracker, &script).await;
    tracker.kill_all_now();
    gone.await;
    assert_eq!(
        closed(&transport)
            .await
            .error
            .unwrap()
            .to_string()
            .lines()
            .next(),
        Some(&*format!(
            "server process 'sh -c {script}' was ended by signal 9; it wrote nothing to stderr"
        ))
    );
}
