//! Users who may not use the machine are no way into the networks it is in.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::House;

/// A service on this machine, and how many have connected to it.
fn service() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let visits = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&visits);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            count.fetch_add(1, Ordering::SeqCst);
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let body = r#"{"object":"list","data":[{"id":"inside"}]}"#;
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
            let length = body.len();
            let _ = write!(stream, "{head}\r\nContent-Length: {length}\r\n\r\n{body}");
        }
    });
    (port, visits)
}

/// The status and the code of a request by bob.
fn asked(house: &House, path: &str, body: &serde_json::Value) -> (u16, String) {
    let (status, value) = house.ask_as("bob", "POST", path, Some(body));
    let code = value["error"]["code"].as_str().unwrap_or("-");
    (status, code.to_owned())
}

fn server(house: &House, name: &str, url: &str) -> (u16, serde_json::Value) {
    let body = json!({"name": name, "baseUrl": url});
    let (status, row) = house.ask_as("bob", "POST", "/api/mcp-servers", Some(&body));
    assert_eq!(status, 201, "{row}");
    let path = format!("/api/mcp-servers/{}/connect", row["id"].as_str().unwrap());
    house.ask_as("bob", "POST", &path, None)
}

#[test]
fn a_user_without_the_machine_names_no_address_in_its_networks() {
    let (port, visits) = service();
    let house = House::with(&["--user", "ann", "--user", "bob", "--trust-user", "ann"]);
    for (name, host) in [
        ("one", "127.0.0.1"),
        ("two", "[::ffff:127.0.0.1]"),
        ("three", "2130706433"),
        ("four", "169.254.169.254"),
    ] {
        let url = format!("http://{host}:{port}/v1");
        let (status, error) = server(&house, name, &url);
        assert_eq!(status, 403, "{host}: {error}");
        let hint = error["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("--allow-private-network"), "{hint}");
        let tried = asked(&house, "/api/models/list", &json!({"baseUrl": url}));
        assert_eq!(tried, (422, "unfit".to_owned()), "{host}");
        let tried = json!({"provider": "ollama", "baseUrl": url});
        let tried = asked(&house, "/api/models/list", &tried);
        assert_eq!(tried.0, 422, "{host}");
        let used = json!({"baseUrl": url, "model": "m"});
        assert_eq!(asked(&house, "/api/models/use", &used).0, 422, "{host}");
    }
    // A name shows where it leads when it is connected to.
    let url = format!("http://localhost:{port}/v1");
    let (_, row) = server(&house, "name", &url);
    let error = row["lastError"].as_str().unwrap();
    assert!(error.contains("only into private networks"), "{row}");
    let tried = asked(&house, "/api/models/list", &json!({"baseUrl": url}));
    assert_eq!(tried.0, 502);
    // An endpoint of the settings is not another way.
    let endpoint = json!({"endpoints.near.base_url": url, "model": "near/m"});
    house.ask_as("bob", "PUT", "/api/settings", Some(&endpoint));
    let (_, chat) = house.ask_as("bob", "POST", "/api/conversations", Some(&json!({})));
    let path = format!(
        "/api/conversations/{}/messages",
        chat["id"].as_str().unwrap()
    );
    let mut events = house.events_as("bob", "", &[]);
    house.ask_as("bob", "POST", &path, Some(&json!({"content": "hello"})));
    events.until("message.completed");
    assert_eq!(visits.load(Ordering::SeqCst), 0, "nothing was connected to");
    // Who may use the machine may.
    let body = json!({"baseUrl": url});
    let (status, _) = house.ask_as("ann", "POST", "/api/models/list", Some(&body));
    assert_eq!((status, visits.load(Ordering::SeqCst)), (200, 1));
}

#[test]
fn a_private_network_that_the_owner_allows_is_open_to_all() {
    let (port, visits) = service();
    let house = House::with(&["--user", "bob", "--allow-private-network", "127.0.0.0/8"]);
    for host in ["127.0.0.1", "localhost"] {
        let body = json!({"baseUrl": format!("http://{host}:{port}/v1")});
        assert_eq!(asked(&house, "/api/models/list", &body).0, 200, "{host}");
    }
    assert_eq!(visits.load(Ordering::SeqCst), 2);
    let url = format!("http://10.0.0.7:{port}/v1");
    let tried = asked(&house, "/api/models/list", &json!({"baseUrl": url}));
    assert_eq!(tried.0, 422);
}
