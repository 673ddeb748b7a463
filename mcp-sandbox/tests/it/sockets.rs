//! Unix sockets, for servers that start a browser.

use std::io::Read as _;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use mcp_sandbox::{Profile, Sandbox};
use mcp_transport::{Incoming, ServerCommand, StdioConnect, Transport};
use serde_json::{Value, json};

/// What a server under this profile gets for a socket among its own files, and for one outside.
async fn sockets(profile: impl FnOnce(Profile) -> Profile) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let outside = folder.path().join("outside");
    let command = ServerCommand::new(program.to_str().unwrap())
        .with_args([
            "sockets::socket_server",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .with_env("OUTSIDE", outside.to_str().unwrap());
    let allowed = Profile::for_command(&command).with_read(program.parent().unwrap());
    let sandbox = Sandbox::new(
        profile(allowed).weaker_if_need_be(),
        folder.path().join("own"),
    );
    let connect = StdioConnect::new(command, Arc::new(sandbox));
    let transport = connect.start().await.unwrap();
    let Incoming::Message { body, .. } = transport.recv().await else {
        panic!("{}", transport.stderr_tail());
    };
    transport.close().await;
    let said: Value = serde_json::from_slice(&body).unwrap();
    said["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_may_use_unix_sockets_makes_them_among_its_own_files() {
    let refused = "Operation not permitted (os error 1)";
    let without = sockets(|profile| profile).await;
    assert_eq!(without, json!({"own": refused, "outside": refused}));
    let with = sockets(Profile::with_unix_sockets).await;
    let outside = "Permission denied (os error 13)";
    assert_eq!(with, json!({"own": "made", "outside": outside}));
}

/// The server: says what it gets.
#[test]
#[ignore = "run by the test above"]
fn socket_server() {
    let bind = |path: &std::path::Path| match UnixListener::bind(path) {
        Ok(_) => "made".to_owned(),
        Err(error) => error.to_string(),
    };
    let outside = std::env::var_os("OUTSIDE").unwrap();
    let said = json!({
        "own": bind(&std::env::temp_dir().join("socket")),
        "outside": bind(outside.as_ref()),
    });
    println!("\n{}", json!({"jsonrpc": "2.0", "id": 1, "result": said}));
    let _ = std::io::stdin().read(&mut [0]);
}
