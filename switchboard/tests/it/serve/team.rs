//! A team's server: who comes in, and what each role may do, on every route of the document.

use std::net::TcpListener;
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use switchboard::home;
use switchboard::store::{Change, LoginChange, LoginSession, Store, Timestamp, UserId};

use super::House;
use super::house::Reply;
use crate::cli::Desk;

const HOUR: u64 = 3_600_000;

/// Makes a token with the program, as an administrator would.
pub(super) fn token(desk: &Desk, user: &str, scope: &str, role: &str) -> String {
    let made = desk.command(&[
        "tokens", "add", "test", "--json", "--user", user, "--scope", scope, "--role", role,
    ]);
    let made = { made }.output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let value: Value = serde_json::from_slice(&made.stdout).unwrap();
    let token = value["token"].as_str().unwrap();
    assert!(token.starts_with("sbp_"), "{token}");
    token.to_owned()
}

/// A house that others can reach, by way of a proxy: no links, tokens only.
fn team(desk: Desk) -> House {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let listen = format!("127.0.0.1:{port}");
    let public = format!("https://team.example:{port}");
    House::at(desk, &["--listen", &listen, "--public-url", &public])
}

pub(super) fn ask(
    house: &House,
    method: &str,
    path: &str,
    extra: &[(&str, &str)],
    body: &str,
) -> Reply {
    let host = format!("127.0.0.1:{}", house.port);
    let mut headers = vec![("Host", host.as_str())];
    headers.extend(extra);
    if !body.is_empty() {
        headers.push(("Content-Type", "application/json"));
    }
    house.send(method, path, &headers, body)
}

fn by(house: &House, token: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    let bearer = format!("Bearer {token}");
    let reply = ask(house, method, path, &[("Authorization", &bearer)], body);
    (reply.status, code(&reply))
}

fn code(reply: &Reply) -> String {
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or(Value::Null);
    body["error"]["code"].as_str().unwrap_or("-").to_owned()
}

/// Every method and path of the document, but the event stream, and whether it is open to all.
fn routes(house: &House, token: &str) -> Vec<(String, String, bool)> {
    let bearer = format!("Bearer {token}");
    let reply = ask(
        house,
        "GET",
        "/api/openapi.json",
        &[("Authorization", &bearer)],
        "",
    );
    let document = reply.json();
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, about) in methods.as_object().unwrap() {
            let open = about["security"].as_array().is_some_and(Vec::is_empty);
            if path != "/api/events" {
                all.push((method.to_uppercase(), path.clone(), open));
            }
        }
    }
    assert!(all.len() > 50, "{}", all.len());
    all
}

fn filled(path: &str, id: &str) -> String {
    path.replace("{id}", id)
        .replace("{name}", "n")
        .replace("{blob}", "b")
}

/// Opens the house's store beside it.
pub(super) async fn store(house: &House) -> Arc<dyn Store> {
    home::store(Some(&house.desk.store())).await.unwrap()
}

/// A session of a browser, as a login leaves it behind.
async fn session(house: &House, user: &str, id: &str, lasts: u64, seen: u64) {
    let digest = Sha256::digest(id);
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let now = Timestamp::now().as_millis();
    let ends = Timestamp::from_millis(now + lasts);
    let mut session = LoginSession::new(hash, UserId::new(user), ends);
    session.seen_at = Timestamp::from_millis(now - seen);
    let put = Change::Login(LoginChange::PutSession(session));
    store(house).await.commit(vec![put]).await.unwrap();
}

#[test]
fn every_route_has_its_least_role_and_nothing_is_open_to_strangers() {
    let desk = Desk::new().on_tested_store();
    let owner = token(&desk, "ann", "admin", "owner");
    let member = token(&desk, "bob", "admin", "member");
    let viewer = token(&desk, "cid", "admin", "viewer");
    let reader = {
        let read = desk.command(&[
            "tokens", "add", "r", "--json", "--user", "ann", "--scope", "read",
        ]);
        let read = { read }.output().unwrap();
        let value: Value = serde_json::from_slice(&read.stdout).unwrap();
        value["token"].as_str().unwrap().to_owned()
    };
    let house = team(desk);
    // What a viewer may not look at, and what a viewer may change.
    let closed = [
        "/api/users",
        "/api/gateway",
        "/api/gateway/audit",
        "/api/mcp-servers/export",
        "/api/mcp-servers/outdated",
        "/api/mcp-servers/{id}/resources/read",
        "/api/mcp-servers/{id}/skills/read",
    ];
    let own = ["/api/logout", "/api/tokens/{id}"];
    let mut strangers = 0;
    for (method, path, open) in routes(&house, &owner) {
        let place = filled(&path, "none");
        let at = format!("{method} {path}");
        let body = if method == "GET" || method == "DELETE" {
            ""
        } else {
            "{}"
        };
        if !open && strangers < 20 {
            strangers += 1;
            let reply = ask(&house, &method, &place, &[], body);
            assert_eq!(
                (reply.status, code(&reply)),
                (401, "unauthorized".to_owned()),
                "{at}"
            );
        }
        if open {
            continue;
        }
        let forbidden = (403, "role".to_owned());
        let looks = method == "GET" && !closed.contains(&path.as_str());
        let may = looks || own.contains(&path.as_str());
        for (token, name) in [(&viewer, "viewer"), (&reader, "an owner's read token")] {
            let got = by(&house, token, &method, &place, body);
            if path == "/api/tokens" && method == "POST" {
                assert_eq!(got, (403, "in_person".to_owned()), "{at} as {name}");
            } else {
                assert_eq!(got != forbidden, may, "{at} as {name}: {got:?}");
            }
        }
        let got = by(&house, &member, &method, &place, body);
        let shares = path.starts_with("/api/shared-servers") && method != "GET";
        let owners = shares || path.starts_with("/api/users");
        assert_eq!(got == forbidden, owners, "{at} as member: {got:?}");
        let got = by(&house, &owner, &method, &place, body);
        assert_ne!(got, forbidden, "{at} as owner");
    }
}

#[test]
fn no_route_gives_anything_of_another_users() {
    let desk = Desk::new().on_tested_store();
    let ann = token(&desk, "ann", "admin", "owner");
    let bob = token(&desk, "bob", "admin", "owner");
    let house = team(desk);
    let bearer = format!("Bearer {ann}");
    let make = |path: &str, body: &Value| {
        let reply = ask(
            &house,
            "POST",
            path,
            &[("Authorization", &bearer)],
            &body.to_string(),
        );
        assert!(reply.status < 300, "{path}: {}", reply.status);
        reply.json()["id"].as_str().unwrap().to_owned()
    };
    let server =
        json!({"name": "s", "type": "streamableHttp", "baseUrl": "https://mcp.example/mcp"});
    let ids = [
        make("/api/conversations", &json!({"title": "a secret plan"})),
        make("/api/mcp-servers", &server),
        make("/api/assistants", &json!({"name": "a"})),
    ];
    for (method, path, open) in routes(&house, &ann) {
        let owners = path.starts_with("/api/users") || path.starts_with("/api/shared-servers");
        if open || !path.contains("{id}") || owners {
            continue;
        }
        for id in &ids {
            let body = if method == "GET" || method == "DELETE" {
                ""
            } else {
                "{}"
            };
            let got = by(&house, &bob, &method, &filled(&path, id), body);
            assert!((400..500).contains(&got.0), "{method} {path}: {got:?}");
        }
    }
    for (path, key) in [
        ("/api/conversations", 0),
        ("/api/mcp-servers", 1),
        ("/api/assistants", 2),
    ] {
        let (status, _) = by(&house, &ann, "GET", &format!("{path}/{}", ids[key]), "");
        assert_eq!(status, 200, "{path} is still there");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cookie_alone_does_nothing_on_any_route() {
    let desk = Desk::new().on_tested_store();
    let owner = token(&desk, "ann", "admin", "owner");
    let house = team(desk);
    session(&house, "ann", "id", HOUR, 0).await;
    let cookie = [("Cookie", "__Host-switchboard=id")];
    let page = [cookie[0], ("x-switchboard-page", "1")];
    let reply = ask(&house, "GET", "/api/health", &page, "");
    assert_eq!(reply.json()["role"], "owner");
    assert_eq!(reply.json()["by"], "session");
    for (method, path, open) in routes(&house, &owner) {
        if open || path == "/api/logout" {
            continue;
        }
        let (place, at) = (filled(&path, "none"), format!("{method} {path}"));
        let body = if method == "GET" || method == "DELETE" {
            ""
        } else {
            "{}"
        };
        let reply = ask(&house, &method, &place, &cookie, body);
        assert_eq!(
            (reply.status, code(&reply)),
            (403, "csrf".to_owned()),
            "{at}"
        );
        for foreign in [
            ("Origin", "https://evil.example"),
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Site", "same-site"),
        ] {
            let reply = ask(&house, &method, &place, &[page[0], page[1], foreign], body);
            assert_eq!(
                (reply.status, code(&reply)),
                (403, "forbidden".to_owned()),
                "{at}"
            );
        }
    }
    let twice = [
        ("Cookie", "__Host-switchboard=id; __Host-switchboard=x"),
        page[1],
    ];
    assert_eq!(
        ask(&house, "GET", "/api/health", &twice, "").status,
        401,
        "a planted one"
    );
    let plain = [("Cookie", "switchboard=id"), page[1]];
    assert_eq!(
        ask(&house, "GET", "/api/health", &plain, "").status,
        401,
        "without the prefix"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_ends_by_disuse_by_age_by_logout_and_with_its_user() {
    let desk = Desk::new().on_tested_store();
    let owner = token(&desk, "ann", "admin", "owner");
    token(&desk, "bob", "chat", "member");
    let cid = token(&desk, "cid", "chat", "member");
    let house = team(desk);
    session(&house, "bob", "unused", 100 * HOUR, 13 * HOUR).await;
    session(&house, "bob", "old", 0, 0).await;
    session(&house, "bob", "left", HOUR, 0).await;
    session(&house, "bob", "kept", HOUR, 0).await;
    let health = |id: &str| {
        let cookie = format!("__Host-switchboard={id}");
        let headers = [("Cookie", cookie.as_str()), ("x-switchboard-page", "1")];
        ask(&house, "GET", "/api/health", &headers, "").status
    };
    assert_eq!(
        ["unused", "old", "left", "kept"].map(health),
        [401, 401, 200, 200]
    );
    let headers = [
        ("Cookie", "__Host-switchboard=left"),
        ("x-switchboard-page", "1"),
    ];
    let reply = ask(&house, "POST", "/api/logout", &headers, "{}");
    assert_eq!(reply.status, 200);
    let gone = reply.header("set-cookie").unwrap();
    assert!(
        gone.starts_with("__Host-switchboard=; Path=/; Max-Age=0"),
        "{gone}"
    );
    assert_eq!(["left", "kept"].map(health), [401, 200]);
    let blocked = by(
        &house,
        &owner,
        "PATCH",
        "/api/users/bob",
        r#"{"blocked": true}"#,
    );
    assert_eq!(blocked.0, 200);
    assert_eq!(health("kept"), 401);
    let low = by(&house, &cid, "PATCH", "/api/users/ann", "{}");
    assert_eq!(low.0, 403);
    let own = by(
        &house,
        &owner,
        "PATCH",
        "/api/users/ann",
        r#"{"role": "viewer"}"#,
    );
    assert_eq!(own.0, 422, "the last owner stays");
    let audit = house.desk.command(&["audit", "--json"]);
    let audit = { audit }.output().unwrap();
    let audit: Value = serde_json::from_slice(&audit.stdout).unwrap();
    let events: Vec<&str> = audit["calls"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|call| call["tool"].as_str())
        .collect();
    assert!(events.contains(&"logout"), "{audit}");
    assert!(events.contains(&"PATCH /api/users/bob"), "{audit}");
    // What was tried in vain is there as well, and what was done by the command line.
    let with = |tool: &str, outcome: &str| {
        let mut calls = audit["calls"].as_array().unwrap().iter();
        calls.any(|call| call["tool"] == tool && call["outcome"] == outcome)
    };
    assert!(with("PATCH /api/users/ann", "role"), "{audit}");
    assert!(with("GET /api/health", "unauthorized"), "{audit}");
    assert!(with("tokens add", "done"), "{audit}");
    let verified = house.desk.command(&["audit", "verify"]);
    assert!({ verified }.status().unwrap().success());
}

#[test]
fn a_token_ends_when_it_is_revoked_and_is_never_shown_again() {
    let desk = Desk::new().on_tested_store();
    let ann = token(&desk, "ann", "admin", "owner");
    let house = team(desk);
    assert_eq!(by(&house, &ann, "GET", "/api/health", "").0, 200);
    for foreign in ["sbp_guess", "guess", &ann[..ann.len() - 1]] {
        let got = by(&house, foreign, "GET", "/api/health", "");
        assert_eq!(got, (401, "unauthorized".to_owned()), "{foreign}");
    }
    let bearer = format!("Bearer {ann}");
    let list = ask(
        &house,
        "GET",
        "/api/tokens",
        &[("Authorization", &bearer)],
        "",
    )
    .json();
    assert_eq!(list["items"][0]["scope"], "admin");
    assert!(list["items"][0]["usedAt"].is_string(), "{list}");
    assert!(!list.to_string().contains("sbp_") && list["items"][0].get("hash").is_none());
    let path = format!("/api/tokens/{}", list["items"][0]["id"].as_str().unwrap());
    assert_eq!(by(&house, &ann, "DELETE", &path, "").0, 204);
    assert_eq!(by(&house, &ann, "GET", "/api/health", "").0, 401);
}

#[test]
fn links_and_users_of_this_machine_are_refused_where_others_can_reach_it() {
    let desk = Desk::new().on_tested_store();
    let public = [
        "--listen",
        "127.0.0.1:0",
        "--public-url",
        "https://team.example",
    ];
    let all = |more: &[&'static str]| {
        let mut all = vec!["serve"];
        all.extend(public);
        all.extend(more);
        all
    };
    let error = desk.error(&all(&["--user", "ann"]));
    insta::assert_snapshot!(error["error"]["message"].as_str().unwrap(), @"--user is for this machine only, and others can reach this address");
    let hint = error["error"]["hint"].as_str().unwrap();
    assert!(
        hint.contains("--oidc-issuer") && hint.contains("switchboard tokens add"),
        "{hint}"
    );
    let error = desk.error(&all(&[]));
    let text = error["error"]["message"].as_str().unwrap();
    assert!(text.contains("no one could come in"), "{error}");
    let issuer = [
        "--oidc-issuer",
        "http://127.0.0.1:9",
        "--oidc-client-id",
        "x",
    ];
    let error = desk.error(&all(&issuer));
    let text = error["error"]["message"].as_str().unwrap();
    assert!(
        text.contains("the OpenID provider http://127.0.0.1:9 cannot be used"),
        "{error}"
    );
}

#[test]
fn a_shared_server_is_in_every_users_list_until_it_is_removed() {
    let desk = Desk::new().on_tested_store();
    let ann = token(&desk, "ann", "admin", "owner");
    let bob = token(&desk, "bob", "chat", "member");
    let house = team(desk);
    let (ann, bob) = (format!("Bearer {ann}"), format!("Bearer {bob}"));
    let list = || {
        let reply = ask(
            &house,
            "GET",
            "/api/mcp-servers",
            &[("Authorization", &bob)],
            "",
        );
        reply.json()["items"].clone()
    };
    assert_eq!(list(), json!([]));
    let add = |url: &str| {
        let body = json!({"name": "wiki", "baseUrl": url}).to_string();
        let owner = [("Authorization", ann.as_str())];
        ask(&house, "POST", "/api/shared-servers", &owner, &body)
    };
    assert_eq!(add("file:///etc/passwd").status, 422);
    let made = add("https://wiki.example/mcp");
    assert_eq!(made.status, 201);
    let listed = list();
    assert_eq!(listed[0]["name"], "wiki");
    assert_eq!(listed[0]["baseUrl"], "https://wiki.example/mcp");
    assert_eq!(listed[0]["source"], "team");
    assert_eq!(list(), listed, "once");
    let path = format!(
        "/api/shared-servers/{}",
        made.json()["id"].as_str().unwrap()
    );
    let owner = [("Authorization", ann.as_str())];
    assert_eq!(ask(&house, "DELETE", &path, &owner, "").status, 204);
    assert_eq!(list(), json!([]));
}

#[test]
fn a_user_who_has_spent_the_days_tokens_waits_and_another_does_not() {
    let house = House::with(&["--user", "ann", "--user", "bob", "--limit-tokens", "1"]);
    let talk = |user: &str| {
        let (_, chat) = house.ask_as(user, "POST", "/api/conversations", Some(&json!({})));
        let path = format!(
            "/api/conversations/{}/messages",
            chat["id"].as_str().unwrap()
        );
        house.ask_as(user, "POST", &path, Some(&json!({"content": "hello"})))
    };
    let mut events = house.events_as("ann", "", &[]);
    assert_eq!(talk("ann").0, 202);
    events.until("message.completed");
    let (status, error) = talk("ann");
    assert_eq!(
        (status, &error["error"]["code"]),
        (429, &json!("user_limit"))
    );
    assert_eq!(talk("bob").0, 202);
}
