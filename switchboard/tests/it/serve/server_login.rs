//! Logins to servers where the browser is not on this machine: it comes back to the page's own address.

use std::net::TcpListener;

use serde_json::{Value, json};

use super::House;
use super::house::Reply;
use super::team::{ask, token};
use crate::cli::Desk;
use crate::servers::{login, realm};

/// A team's server at a free port, at a desk.
fn team(desk: Desk) -> House {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = free.local_addr().unwrap();
    let public = format!("https://team.example:{}", listen.port());
    drop(free);
    let listen = listen.to_string();
    House::at(desk, &["--listen", &listen, "--public-url", &public])
}

fn say(house: &House, token: &str, method: &str, path: &str, body: Value) -> Reply {
    let bearer = format!("Bearer {token}");
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let reply = ask(house, method, path, &[("Authorization", &bearer)], &body);
    assert!(
        reply.status < 300,
        "{path}: {} {:?}",
        reply.status,
        reply.json()
    );
    reply
}

/// Where the browser is sent, with this cookie.
fn comes_back(house: &House, path: &str, cookie: &str) -> String {
    let reply = ask(house, "GET", path, &[("Cookie", cookie)], "");
    assert_eq!(reply.status, 303);
    reply.header("location").unwrap().to_owned()
}

/// Adds a server that wants a login, and begins one: the address that the browser comes back to, and its
/// cookie, which it may have from another login.
async fn begin(house: &House, ann: &str, before: &str) -> (String, String, String) {
    let url = format!("{}/mcp", realm::start().await);
    let wish = json!({"name": format!("closed{}", before.len()), "baseUrl": url});
    let row = say(house, ann, "POST", "/api/mcp-servers", wish).json();
    let server = format!("/api/mcp-servers/{}", row["id"].as_str().unwrap());
    let bearer = format!("Bearer {ann}");
    let headers = [("Authorization", bearer.as_str()), ("Cookie", before)];
    let begun = ask(house, "POST", &format!("{server}/login"), &headers, "");
    assert_eq!(begun.status, 200);
    let cookie = begun.header("set-cookie").unwrap();
    assert!(
        cookie.contains("; HttpOnly; Secure; SameSite=Lax"),
        "{cookie}"
    );
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let place = login::redirect(begun.json()["url"].as_str().unwrap());
    let origin = format!("https://team.example:{}", house.port);
    let path = place.strip_prefix(&origin).unwrap();
    assert!(path.starts_with("/oauth/callback?code="), "{path}");
    (server, path.to_owned(), cookie)
}

/// Waits until the server is connected.
fn connected(house: &House, ann: &str, server: &str) {
    for _ in 0..1000 {
        if say(house, ann, "GET", server, Value::Null).json()["status"] == "connected" {
            return;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(20));
    }
    panic!("the server is connected");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_comes_back_by_the_browser_that_began_it_and_once() {
    let desk = Desk::new().on_tested_store();
    let ann = token(&desk, "ann", "admin", "owner");
    let house = team(desk);
    tokio::task::block_in_place(|| {
        tokio::runtime::Handle::current().block_on(async {
            let (server, path, cookie) = begin(&house, &ann, "").await;
            let refused = "/#problem=state";
            let forged = path.replace("state=", "state=x");
            let other = "__Host-switchboard-server-login=guess";
            assert_eq!(comes_back(&house, &path, "a=b"), refused);
            assert_eq!(comes_back(&house, &path, other), refused);
            assert_eq!(comes_back(&house, &forged, &cookie), refused);
            assert_eq!(
                comes_back(&house, "/oauth/callback?code=x", &cookie),
                refused
            );
            let (other_server, other_path, same) = begin(&house, &ann, &cookie).await;
            assert_eq!(same, cookie, "two logins are under way in one browser");
            assert_eq!(comes_back(&house, &path, &cookie), "/#/servers");
            assert_eq!(comes_back(&house, &path, &cookie), refused, "once");
            assert_eq!(comes_back(&house, &other_path, &cookie), "/#/servers");
            connected(&house, &ann, &server);
            connected(&house, &ann, &other_server);
        });
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_that_comes_back_to_another_replica_is_passed_on() {
    let Some(desk) = Desk::new().on_postgres() else {
        return;
    };
    let ann = token(&desk, "ann", "admin", "owner");
    let (beside, first) = (desk.beside(), team(desk));
    let second = team(beside);
    let (server, path, cookie) = begin(&first, &ann, "").await;
    assert_eq!(comes_back(&second, &path, &cookie), "/#/servers");
    assert_eq!(comes_back(&first, &path, &cookie), "/#problem=state");
    connected(&first, &ann, &server);
    let settings = say(&first, &ann, "GET", "/api/settings", Value::Null);
    let text = String::from_utf8(settings.body).unwrap();
    assert!(!text.contains("login."), "{text}");
}
