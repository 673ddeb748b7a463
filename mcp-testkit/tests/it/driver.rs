//! `mcp-testkit chaos` itself, run with clients that are nothing but shell.
#![cfg(target_os = "linux")]

use std::process::Command;

/// What the program prints about one case, with this script for a driver.
fn judge(case: &str, script: &str) -> String {
    let driver = format!("sh -c '{script}' driver");
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-testkit"))
        .args(["chaos", "--only", case, "--jobs", "1", "--driver", &driver])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn check(case: &str, script: &str, want: &str) {
    let printed = judge(case, script);
    assert!(printed.contains(want), "{printed}\nlacks {want}");
}

const OK: &str = r#"echo "{\"ok\":true,\"text\":\"hello\"}""#;

#[test]
fn a_driver_is_given_all_it_needs() {
    let script = r#"echo "{\"unsupported\":\"$1 $2 $3 $HOSTILE_PLAN $HOSTILE_TIMEOUT_MS $HOSTILE_BEARER\"}""#;
    check(
        "stdio/never-call",
        script,
        "stdio stdio/never-call -- basic 2500 s3cr3t",
    );
    let script = r#"echo "{\"unsupported\":\"$4\"}""#;
    check("http/baseline-json", script, "http://127.0.0.1:");
    check("sse/baseline", script, "/sse");
    check("stdio/command-missing", script, "no-such-command");
}

#[test]
fn a_clean_error_passes_where_one_is_due() {
    check(
        "stdio/exit-mid-call",
        r#"echo "{\"ok\":false,\"error\":\"it exited\"}""#,
        "1 passed, 0 failed",
    );
}

#[test]
fn a_client_that_only_claims_is_found_out() {
    check("stdio/baseline", OK, "no call reached the server");
    check("stdio/baseline", "true", "no line of JSON");
    check("stdio/baseline", &format!("{OK}; {OK}"), "2 lines");
    check("stdio/baseline", &format!("{OK}; exit 4"), "exit status 4");
    check(
        "stdio/baseline",
        &format!("{OK}; kill -9 $$"),
        "killed by signal 9",
    );
}

#[test]
fn what_a_client_leaves_behind_is_found_and_ended() {
    let script = format!("{OK}; setsid sleep 61 >/dev/null 2>&1 &");
    check("stdio/baseline", &script, "LEFT BEHIND: sleep 61");
    let script = format!("setsid sleep 61 & {OK}");
    check("stdio/baseline", &script, "LEFT BEHIND: sleep 61");
}

#[test]
fn a_real_exchange_passes() {
    // Three lines of a client: the handshake, the list, the call.
    let script = r#"shift 3; (
        echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}"
        echo "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"hello\"}}}"
    ) | env -u ANTHROPIC_API_KEY "$@" >/dev/null; echo "{\"ok\":true,\"text\":\"hello\"}""#;
    check("stdio/baseline", script, "1 passed, 0 failed");
}
