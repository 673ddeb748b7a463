//! Servers that want a login.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use mcp_testkit::{Fault, Script, Server};
use serde_json::Value;

use super::bench::{Bench, data};
use super::realm;

/// The raw answer to a GET.
fn fetch(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    write!(
        stream,
        "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Where the page of a login sends the browser.
pub(crate) fn redirect(url: &str) -> String {
    let answer = fetch(url);
    let mut lines = answer.lines().filter_map(|line| line.split_once(": "));
    let place = lines.find(|(name, _)| name.eq_ignore_ascii_case("location"));
    place.unwrap().1.to_owned()
}

/// Plays the person with the browser: follows the login's address to its end.
pub(crate) fn visit(note: &str) {
    let done = fetch(&redirect(note.split_whitespace().last().unwrap()));
    assert!(done.starts_with("HTTP/1.1 200"), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_opens_a_server_until_the_logout() {
    let bench = Bench::new();
    let url = format!("{}/mcp", realm::start().await);
    assert_eq!(bench.run(&["servers", "add", "closed", &url]).exit, 0);
    assert_eq!(bench.run(&["servers", "test", "closed"]).exit, 3);

    let login = ["servers", "login", "closed", "--no-browser", "--json"];
    let mut child = bench.command(&login).spawn().unwrap();
    let mut note = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut note).unwrap();
    let note: Value = serde_json::from_str(&note).unwrap();
    visit(note["note"].as_str().unwrap());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));

    assert_eq!(bench.run(&["servers", "test", "closed"]).exit, 0);
    let shown = bench.run(&["servers", "show", "closed", "--json"]);
    assert!(shown.stdout.contains("logged_in_at") && !shown.stdout.contains("geheim-7"));
    #[cfg(unix)]
    for file in std::fs::read_dir(data(&bench, "tokens/plain")).unwrap() {
        assert_eq!(super::bench::mode(&file.unwrap().path()), 0o600);
    }
    assert_eq!(bench.run(&["servers", "logout", "closed"]).exit, 0);
    assert_eq!(bench.run(&["servers", "test", "closed"]).exit, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_wants_a_login_is_exit_3_and_says_how() {
    let bench = Bench::new();
    let fault = Fault::named("401-init").unwrap();
    let server = Server::new(Script::minimal()).with_fault(fault);
    let server = server.start_http().await.unwrap();
    assert_eq!(
        bench.run(&["servers", "add", "closed", &server.url()]).exit,
        0
    );
    let ran = bench.json(&["tools", "closed"]);
    assert_eq!(ran["exit"], 3, "{ran}");
    let hint = ran["stderr"][0]["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("switchboard servers login closed"), "{hint}");
    // It names no authorization server to log in at.
    let ran = bench.json(&["servers", "login", "closed", "--no-browser"]);
    assert_eq!(ran["exit"], 3, "{ran}");
    server.shutdown().await;
}

#[test]
fn a_program_has_no_login() {
    let bench = Bench::with_demo();
    let ran = bench.json(&["servers", "login", "demo"]);
    assert_eq!(ran["exit"], 1);
    let message = ran["stderr"][0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("no login"), "{message}");
}
