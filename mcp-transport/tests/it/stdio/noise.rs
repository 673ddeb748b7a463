//! Servers that write what they should not.

use std::error::Error;

use mcp_transport::{Delivery, StdioLimits, TransportError};

use super::*;

#[tokio::test]
async fn stray_lines_are_skipped_and_the_first_is_remembered() {
    let script = "echo 'Server ready on port 80'; echo; echo '[info] hello'; echo '[1,2]'; \
                  printf '\\377\\376\\n'; echo '{\"id\":1}'; echo ' [{\"id\":2}]'; exit 1";
    let transport = sh(script).start().await.unwrap();
    assert_eq!(message(&transport).await, "{\"id\":1}");
    assert_eq!(message(&transport).await, " [{\"id\":2}]");
    insta::assert_snapshot!(loss(&transport).await);
}

#[tokio::test]
async fn too_many_stray_lines_in_a_row_are_an_error_with_a_sample() {
    let limits = StdioLimits::default().with_stray_lines(3);
    let good = "for i in 1 2 3; do echo noise; done; echo '{}';";
    let script = format!("{good} {good} echo noise; echo noise; echo noise; echo noise; cat");
    let transport = sh(&script).with_limits(limits).start().await.unwrap();
    assert_eq!(message(&transport).await, "{}");
    assert_eq!(message(&transport).await, "{}");
    let loss = loss(&transport).await;
    insta::assert_snapshot!(loss);
    let refused = transport.send(request(1, "late")).await.unwrap_err();
    assert_eq!(refused.delivery, Delivery::NotSent);
    assert_eq!(
        refused.source().unwrap().to_string(),
        loss,
        "the cause is reported again"
    );
    transport.close().await;
}

#[tokio::test]
async fn a_message_over_the_limit_is_reported_and_the_next_one_comes() {
    let limits = StdioLimits::default().with_line_bytes(1000);
    let script = "printf '{\"id\":1,\"x\":\"'; head -c 2000 /dev/zero | tr '\\0' x; echo '\"}'; \
                  echo '{\"id\":2}'; cat";
    let transport = sh(script).with_limits(limits).start().await.unwrap();
    match recv(&transport).await {
        Incoming::TooLarge { head, limit: 1000 } => assert!(head.starts_with(b"{\"id\":1,")),
        other => panic!("{other:?}"),
    }
    assert_eq!(message(&transport).await, "{\"id\":2}");
    transport.close().await;
}

#[tokio::test]
async fn a_line_that_never_ends_ends_the_connection() {
    let limits = StdioLimits::default().with_line_bytes(1000);
    let transport = sh("tr '\\0' x </dev/zero")
        .with_limits(limits)
        .start()
        .await
        .unwrap();
    let error = closed(&transport).await.error.unwrap();
    assert!(
        matches!(&*error, TransportError::TooLarge { limit: 1000, .. }),
        "{error}"
    );
    transport.close().await;
}

#[tokio::test]
async fn a_flood_on_stderr_blocks_nothing_and_only_its_end_is_kept() {
    let script = "head -c 20000000 /dev/zero | tr '\\0' x >&2; printf '\\033[1mfirst\\nlast\\n' >&2; \
                  echo '{}'; cat";
    let transport = sh(script).start().await.unwrap();
    assert_eq!(message(&transport).await, "{}");
    transport.close().await;
    let tail = transport.stderr_tail();
    assert!(tail.len() <= 8 * 1024);
    assert!(tail.ends_with("last\n"), "{tail}");
    assert!(!tail.contains('\u{1b}'), "harmless on a terminal");
}
