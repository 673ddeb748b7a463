//! Servers that want a login.

use mcp_testkit::{Fault, Script, Server};

use super::bench::Bench;

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_wants_a_login_is_exit_3_and_says_how() {
    let bench = Bench::new();
    let fault = Fault::named("401-init").unwrap();
    let server = Server::new(Script::minimal())
        .with_fault(fault)
        .start_http()
        .await
        .unwrap();
    assert_eq!(
        bench.run(&["servers", "add", "closed", &server.url()]).exit,
        0
    );
    let ran = bench.json(&["tools", "closed"]);
    assert_eq!(ran["exit"], 3, "{ran}");
    let hint = ran["stderr"][0]["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("switchboard servers login closed"), "{hint}");
    // Nobody to log in with: the server names no authorization server.
    let ran = bench.json(&["servers", "login", "closed", "--no-browser"]);
    assert_eq!(ran["exit"], 3, "{ran}");
    assert_eq!(bench.run(&["servers", "logout", "closed"]).exit, 0);
    server.shutdown().await;
}

#[test]
fn a_program_has_no_login() {
    let bench = Bench::with_demo();
    let ran = bench.json(&["servers", "login", "demo"]);
    assert_eq!(ran["exit"], 1);
    assert!(
        ran["stderr"][0]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no login")
    );
}
