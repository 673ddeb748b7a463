//! How a connection ends by itself, and what is known then.

use mcp_transport::{Delivery, ProcessStatus, TransportError};

use super::*;

#[tokio::test]
async fn replies_written_before_the_exit_come_before_its_error() {
    let script = "echo '{\"id\":1}'; echo warning >&2; printf '{\"id\":2}'; exit 3";
    let transport = sh(script).start().await.unwrap();
    assert_eq!(message(&transport).await, "{\"id\":1}");
    assert_eq!(message(&transport).await, "{\"id\":2}");
    let error = closed(&transport).await.error.unwrap();
    let TransportError::Exited(exit) = &*error else {
        panic!("{error}")
    };
    assert_eq!(
        (exit.code, exit.signal, exit.stderr.as_str()),
        (Some(3), None, "warning\n")
    );
    assert!(!transport.is_alive());
    assert_eq!(transport.exit().as_ref(), Some(exit));
    assert_eq!(
        loss(&transport).await,
        error.to_string(),
        "every time the same"
    );
    let refused = transport.send(request(1, "late")).await.unwrap_err();
    assert_eq!(refused.delivery, Delivery::NotSent);
    assert!(matches!(refused.error, TransportError::Exited(_)));
}

#[tokio::test]
async fn a_server_killed_by_a_signal_is_reported_so() {
    let transport = sh("kill -9 $$").start().await.unwrap();
    insta::assert_snapshot!(loss(&transport).await);
    assert_eq!(transport.exit().unwrap().signal, Some(9));
}

#[tokio::test]
async fn an_exit_is_noticed_though_a_grandchild_holds_the_pipes_open() {
    let dir = tempfile::tempdir().unwrap();
    let line = Lifeline::new(dir.path(), "line");
    let gone = line.watch();
    let script = format!("{}; sleep 1000 & echo '{{}}'; exit 7", line.hold());
    let transport = sh(&script).start().await.unwrap();
    assert_eq!(message(&transport).await, "{}");
    assert!(loss(&transport).await.contains("exited with code 7"));
    // No one closes or drops the connection: what the server leaves is ended all the same.
    gone.await;
    drop(transport);
}

#[tokio::test]
async fn the_end_of_stdout_is_an_end_though_the_process_lives() {
    let transport = sh("exec >&-; exec cat >/dev/null").start().await.unwrap();
    insta::assert_snapshot!(loss(&transport).await);
    assert_eq!(transport.exit(), None);
    transport.close().await;
}

#[tokio::test]
async fn a_closed_stdin_is_an_end_though_the_process_lives() {
    let transport = sh("exec <&-; echo '{}'; exec sleep 1000")
        .start()
        .await
        .unwrap();
    assert_eq!(message(&transport).await, "{}");
    transport
        .send(request(1, "no one reads this"))
        .await
        .unwrap();
    let closed = closed(&transport).await;
    assert_eq!(closed.unsent, [1.into()]);
    insta::assert_snapshot!(closed.error.unwrap());
    drop(transport);
}

#[tokio::test]
async fn requests_that_never_reached_the_server_are_named_at_the_end() {
    // It reads the first; of the second a part stays in the pipe; the third does not even get there.
    let transport = sh("echo '{}'; read line; exit 1").start().await.unwrap();
    assert_eq!(message(&transport).await, "{}");
    let large = "x".repeat(300_000);
    for id in 1..=3 {
        transport.send(request(id, &large)).await.unwrap();
    }
    let lost = closed(&transport).await;
    let known = if cfg!(target_os = "linux") {
        vec![2.into(), 3.into()]
    } else {
        vec![3.into()]
    };
    assert_eq!(lost.unsent, known);
    let error = lost.error.unwrap();
    assert!(
        matches!(&*error, TransportError::Exited(exit) if exit.code == Some(1)),
        "{error}"
    );
    assert_eq!(
        closed(&transport).await.unsent,
        lost.unsent,
        "every time the same"
    );
}

/// Written to the pipe is not yet read: what a server has left in it is safe to send again.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn requests_left_in_the_pipe_are_known_not_to_have_been_read() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Lifeline::new(dir.path(), "gate");
    let script = format!(
        "echo '{{}}'; read line; echo '{{}}'; read go < '{}'; exit 1",
        gate.path.display()
    );
    let transport = sh(&script).start().await.unwrap();
    assert_eq!(message(&transport).await, "{}");
    for id in 1..=5 {
        transport.send(request(id, "small")).await.unwrap();
    }
    assert_eq!(
        message(&transport).await,
        "{}",
        "the shell reads a line, not a byte more"
    );
    std::fs::write(&gate.path, "go\n").unwrap();
    assert_eq!(
        closed(&transport).await.unsent,
        [2, 3, 4, 5].map(Into::into)
    );
}

#[tokio::test]
async fn receiving_can_be_abandoned_at_any_time_without_loss() {
    let script = "for i in 1 2 3 4 5 6 7 8 9; do printf '{\"id\":'; printf '%s}\\n' $i; done; cat";
    let transport = sh(script).start().await.unwrap();
    let mut got = Vec::new();
    while got.len() < 9 {
        tokio::select! {
            biased;
            body = message(&transport) => got.push(body),
            () = tokio::task::yield_now() => {}
        }
    }
    let want: Vec<String> = (1..=9).map(|id| format!("{{\"id\":{id}}}")).collect();
    assert_eq!(got, want);
    transport.close().await;
}

#[test]
fn a_status_is_a_code_or_a_signal() {
    assert_eq!(ProcessStatus::exited(1).code, Some(1));
    assert_eq!(ProcessStatus::signalled(9).signal, Some(9));
}

/// Whichever notices the end first: the exit, the end of stdout, or a message that cannot be sent.
#[tokio::test]
async fn a_message_that_comes_too_late_is_refused_with_the_servers_last_words() {
    for _ in 0..20 {
        let transport = sh("echo 'cannot find config' >&2; exit 3").start().await;
        let transport = transport.unwrap();
        while transport.is_alive() {
            tokio::task::yield_now().await;
        }
        let refused = transport.send(request(1, "late")).await.unwrap_err();
        let reported = refused.error.to_string();
        assert!(reported.contains("cannot find config"), "{reported}");
    }
}
