//! A server that may reach listed hosts, and no others, by its proxy.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use mcp_sandbox::{Network, Profile, Sandbox};
use mcp_transport::{Incoming, ServerCommand, StdioConnect, Transport};
use serde_json::{Value, json};

/// A site that answers one request after another.
fn site() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut head = [0; 1024];
            let read = client.read(&mut head).unwrap();
            let first = String::from_utf8_lossy(&head[..read])
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned();
            let _ = write!(
                client,
                "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nsite saw {first}"
            );
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_reaches_the_hosts_of_its_profile_by_its_proxy_and_no_others() {
    let (listed, other) = (site(), site());
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let command = ServerCommand::new(program.to_str().unwrap())
        .with_args([
            "hosts::network_server",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .with_env("LISTED", listed.to_string())
        .with_env("OTHER", other.to_string());
    let rule = format!("127.0.0.1:{listed}").parse().unwrap();
    let profile = Profile::for_command(&command)
        .with_network(Network::Hosts(vec![rule]))
        .with_read(program.parent().unwrap())
        .weaker_if_need_be();
    let sandbox = Sandbox::new(profile, folder.path().join("own"));
    let connect = StdioConnect::new(command, Arc::new(sandbox.clone()));
    let transport = connect.start().await.unwrap();
    let Incoming::Message { body, .. } = transport.recv().await else {
        panic!("{}", transport.stderr_tail());
    };
    let said: Value = serde_json::from_slice(&body).unwrap();
    let said = &said["result"];
    assert_eq!(
        said["listed"],
        "HTTP/1.1 200 OK … site saw GET /a?b HTTP/1.1"
    );
    assert_eq!(
        said["tunnel"],
        "HTTP/1.1 200 Connected … site saw GET /t HTTP/1.1"
    );
    let refused =
        format!("HTTP/1.1 403 Forbidden … the sandbox's profile does not list 127.0.0.1:{other}");
    assert_eq!(said["other"], refused);
    for direct in ["direct", "proxy's port elsewhere", "mapped"] {
        assert_eq!(said[direct], "Permission denied (os error 13)", "{direct}");
    }
    for kind in ["udp", "listen"] {
        assert_eq!(said[kind], "Operation not permitted (os error 1)", "{kind}");
    }
    transport.close().await;
    let denials: Vec<String> = sandbox.denials().iter().map(ToString::to_string).collect();
    let expected = format!("wanted to connect to 127.0.0.1:{other}");
    assert!(
        denials.iter().any(|it| it.starts_with(&expected)),
        "{denials:?}"
    );
}

/// The server: says what it reaches.
#[test]
#[ignore = "run by the test above"]
fn network_server() {
    let port = |name: &str| -> u16 { std::env::var(name).unwrap().parse().unwrap() };
    let (listed, other) = (port("LISTED"), port("OTHER"));
    let proxy = std::env::var("HTTP_PROXY").unwrap();
    let proxy: u16 = proxy.rsplit(':').next().unwrap().parse().unwrap();
    let direct = |ip: &str, port: u16| match TcpStream::connect((ip, port)) {
        Ok(_) => "connected".to_owned(),
        Err(error) => error.to_string(),
    };
    let ask = |head: String, then: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", proxy)).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let mut text = String::new();
        if !then.is_empty() {
            let mut first = [0; 26];
            stream.read_exact(&mut first).unwrap();
            text.push_str(std::str::from_utf8(&first).unwrap());
            stream.write_all(then.as_bytes()).unwrap();
        }
        stream.read_to_string(&mut text).unwrap();
        let (first, last) = (text.lines().next().unwrap(), text.lines().last().unwrap());
        format!("{first} … {last}")
    };
    let get =
        |port| format!("GET http://127.0.0.1:{port}/a?b HTTP/1.1\r\nProxy-Connection: x\r\n\r\n");
    let said = json!({
        "listed": ask(get(listed), ""),
        "other": ask(get(other), ""),
        "tunnel": ask(format!("CONNECT 127.0.0.1:{listed} HTTP/1.1\r\n\r\n"), "GET /t HTTP/1.1\r\n\r\n"),
        "direct": direct("127.0.0.1", listed),
        "proxy's port elsewhere": direct("127.0.0.2", proxy),
        "mapped": direct("::ffff:127.0.0.2", proxy),
        "udp": std::net::UdpSocket::bind("127.0.0.1:0").unwrap_err().to_string(),
        "listen": TcpListener::bind("127.0.0.1:0").unwrap_err().to_string(),
    });
    println!("\n{}", json!({"jsonrpc": "2.0", "id": 1, "result": said}));
    let _ = std::io::stdin().read(&mut [0]);
}
