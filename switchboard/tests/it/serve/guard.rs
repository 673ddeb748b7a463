//! No one else comes in.

use serde_json::json;

use super::{House, team};
use crate::cli::Desk;

/// Headers of a good request.
fn good(house: &House) -> Vec<(&'static str, String)> {
    vec![
        ("Host", format!("127.0.0.1:{}", house.port)),
        ("Authorization", format!("Bearer {}", house.token("local"))),
    ]
}

/// The status and the code of a request whose headers are changed.
fn status(house: &House, changed: &[(&'static str, &str)]) -> (u16, String) {
    let mut headers = good(house);
    headers.retain(|(name, _)| !changed.iter().any(|(other, _)| other == name));
    let kept: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .chain(
            changed
                .iter()
                .filter(|(_, value)| !value.is_empty())
                .copied(),
        )
        .collect();
    let reply = house.send("GET", "/api/health", &kept, "");
    for name in [
        "access-control-allow-origin",
        "access-control-allow-headers",
        "set-cookie",
    ] {
        assert_eq!(reply.header(name), None);
    }
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let code = reply.json()["error"]["code"]
        .as_str()
        .unwrap_or("-")
        .to_owned();
    (reply.status, code)
}

#[test]
fn only_this_machine_by_its_own_name_and_its_own_page_with_a_token_comes_in() {
    let house = House::open();
    let port = house.port;
    let refused = |code: &str, status: u16| (status, code.to_owned());
    assert_eq!(status(&house, &[]), refused("-", 200));
    let own = format!("localhost:{port}");
    assert_eq!(status(&house, &[("Host", &own)]), refused("-", 200));
    for host in [
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost",
        "0.0.0.0:80",
    ] {
        assert_eq!(
            status(&house, &[("Host", host)]),
            refused("wrong_host", 421),
            "{host}"
        );
    }
    let rebound = format!("evil.example:{port}");
    assert_eq!(
        status(&house, &[("Host", &rebound)]),
        refused("wrong_host", 421)
    );
    let origin = format!("http://127.0.0.1:{port}");
    assert_eq!(status(&house, &[("Origin", &origin)]), refused("-", 200));
    let (https, other) = (
        format!("https://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{}", port ^ 1),
    );
    for origin in ["http://evil.example", "null", &https, &other] {
        assert_eq!(
            status(&house, &[("Origin", origin)]),
            refused("forbidden", 403),
            "{origin}"
        );
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(
            status(&house, &[("Sec-Fetch-Site", site)]),
            refused("forbidden", 403)
        );
    }
    assert_eq!(
        status(&house, &[("Sec-Fetch-Site", "same-origin")]),
        refused("-", 200)
    );
    assert_eq!(
        status(&house, &[("Authorization", "")]),
        refused("unauthorized", 401)
    );
    for wrong in ["Bearer wrong", "Basic bG9jYWw6", "Bearer"] {
        assert_eq!(
            status(&house, &[("Authorization", wrong)]),
            refused("unauthorized", 401)
        );
    }
    let reply = house.send(
        "OPTIONS",
        "/api/health",
        &[("Host", &format!("127.0.0.1:{port}"))],
        "",
    );
    assert_eq!(reply.status, 405);
    assert_eq!(reply.header("access-control-allow-methods"), None);
}

#[test]
fn guesses_are_slowed_down_and_the_right_token_is_not() {
    let house = House::open();
    let tries: Vec<u16> = (0..60)
        .map(|_| status(&house, &[("Authorization", "Bearer no")]).0)
        .collect();
    assert_eq!(tries[0], 401);
    assert!(tries.contains(&429), "{tries:?}");
    assert_eq!(status(&house, &[]).0, 200);
    // How to log in is not hidden from others meanwhile, and guesses at codes count as well.
    let host = format!("127.0.0.1:{}", house.port);
    let host = [("Host", host.as_str())];
    assert_eq!(house.send("GET", "/api/login", &host, "").status, 200);
    let code = house.send("POST", "/api/token", &host, r#"{"code":"no"}"#);
    assert_eq!(code.status, 429);
}

#[test]
fn the_page_comes_without_a_token_and_may_use_nothing_from_elsewhere() {
    let house = House::open();
    let host = format!("127.0.0.1:{}", house.port);
    let page = house.send("GET", "/", &[("Host", &host)], "");
    assert_eq!(page.status, 200);
    insta::assert_snapshot!(page.header("content-security-policy").unwrap(), @"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src blob:; connect-src 'self'; frame-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(page.header(name), Some(value));
    }
    let linked = [
        ("Host", host.as_str()),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
    ];
    assert_eq!(
        house.send("GET", "/", &linked, "").status,
        200,
        "a link may lead here"
    );
    assert_eq!(
        house
            .send("GET", "/../Cargo.toml", &[("Host", &host)], "")
            .status,
        404
    );
    assert_eq!(
        house
            .send("GET", "/", &[("Host", "evil.example")], "")
            .status,
        421
    );
}

#[test]
fn a_path_of_words_leads_to_its_view_and_nowhere_else() {
    let house = House::open();
    let host = format!("127.0.0.1:{}", house.port);
    for (path, place) in [
        ("/settings/mcp", Some("/#/settings/mcp")),
        ("/tools/", Some("/#/tools")),
        ("//evil.example", None),
        ("/nothing.js", None),
    ] {
        let reply = house.send("GET", path, &[("Host", &host)], "");
        assert_eq!(reply.header("location"), place, "{path}");
        let status = place.map_or(404, |_| 307);
        assert_eq!(reply.status, status, "{path}");
    }
}

#[test]
fn a_code_is_no_token_and_a_wrong_one_opens_nothing() {
    let house = House::open();
    let host = format!("127.0.0.1:{}", house.port);
    let headers = [
        ("Host", host.as_str()),
        ("Content-Type", "application/json"),
    ];
    let reply = house.send("POST", "/api/token", &headers, r#"{"code": "guess"}"#);
    assert_eq!(
        (reply.status, &reply.json()["error"]["code"]),
        (403, &json!("code_used"))
    );
    let foreign = [headers[0], headers[1], ("Origin", "http://evil.example")];
    let reply = house.send("POST", "/api/token", &foreign, r#"{"code": "guess"}"#);
    assert_eq!(reply.json()["error"]["code"], "forbidden");
    let reply = house.send("GET", "/api/token", &headers, "");
    assert_eq!(reply.status, 405);
}

#[test]
fn bodies_are_json_and_not_too_big() {
    let house = House::open();
    let headers = good(&house);
    let mut all: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    all.push(("Content-Type", "text/plain"));
    let reply = house.send("POST", "/api/conversations", &all, "{}");
    assert_eq!(
        (reply.status, &reply.json()["error"]["code"]),
        (415, &json!("not_json"))
    );
    let _ = all.pop();
    all.push(("Content-Type", "application/json"));
    for wrong in ["{", "[]", r#"{"nonsense": 1}"#] {
        let reply = house.send("POST", "/api/conversations", &all, wrong);
        assert_eq!(
            (reply.status, &reply.json()["error"]["code"]),
            (400, &json!("bad_request")),
            "{wrong}"
        );
    }
    let big = format!(r#"{{"title": "{}"}}"#, "x".repeat(2 << 20));
    let reply = house.send("POST", "/api/conversations", &all, &big);
    assert_eq!(
        (reply.status, &reply.json()["error"]["code"]),
        (413, &json!("too_large"))
    );
    let reply = house.fetch("local", "GET", "/api/nothing/of/the/kind", None);
    assert_eq!(
        (reply.status, &reply.json()["error"]["code"]),
        (404, &json!("not_found"))
    );
    let reply = house.fetch("local", "DELETE", "/api/health", None);
    assert_eq!(
        (reply.status, &reply.json()["error"]["code"]),
        (405, &json!("method_not_allowed"))
    );
    let (status, _) = house.ask("GET", "/api/conversations?limit=many", None);
    assert_eq!(status, 400);
}

#[test]
fn users_have_nothing_of_each_others() {
    let house = House::with(&["--user", "ann", "--user", "bob"]);
    let (status, chat) = house.ask_as("ann", "POST", "/api/conversations", Some(&json!({})));
    assert_eq!(status, 201);
    let id = chat["id"].as_str().unwrap();
    let path = format!("/api/conversations/{id}");
    let mut anns = house.events_as("ann", "", &[]);
    let mut bobs = house.events_as("bob", "after=0", &[]);
    let words = json!({"content": "write a note"});
    let (status, said) = house.ask_as("ann", "POST", &format!("{path}/messages"), Some(&words));
    assert_eq!(status, 202, "{said}");
    anns.until_waiting();
    let answer = said["assistantMessage"]["id"].as_str().unwrap();
    let confirm = json!({"position": 1, "decision": "approve", "digest": "any"});
    for (method, path, body) in [
        ("GET", path.clone(), None),
        ("GET", format!("{path}/messages"), None),
        ("GET", format!("{path}/questions"), None),
        ("GET", format!("{path}/export"), None),
        ("GET", format!("{path}/blobs/any"), None),
        ("GET", format!("/api/events?conversation={id}"), None),
        ("GET", format!("/api/conversations?after={id}"), None),
        ("POST", format!("{path}/messages"), Some(words.clone())),
        ("POST", format!("{path}/cancel"), None),
        ("POST", format!("{path}/continue"), None),
        ("POST", format!("{path}/fork"), Some(json!({}))),
        (
            "POST",
            format!("/api/messages/{answer}/tool-confirm"),
            Some(confirm),
        ),
        ("PATCH", path.clone(), Some(json!({"title": "bob's"}))),
        ("DELETE", path.clone(), None),
    ] {
        let (status, error) = house.ask_as("bob", method, &path, body.as_ref());
        assert_eq!(status, 404, "{method} {path}: {error}");
    }
    let (_, list) = house.ask_as("bob", "GET", "/api/conversations", None);
    assert_eq!(list["items"], json!([]));
    let (_, mine) = house.ask_as("bob", "POST", "/api/conversations", Some(&json!({})));
    let first = bobs.until("conversation.updated");
    assert_eq!(first.len(), 1, "nothing of ann's was heard");
    assert_eq!(first[0].data["conversation"]["id"], mine["id"]);
}

/// A team behind a proxy on this machine.
fn behind_a_proxy(desk: Desk) -> House {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let (listen, public) = (
        format!("127.0.0.1:{port}"),
        format!("https://team.example:{port}"),
    );
    let proxy = ["--trust-proxy", "127.0.0.1"];
    let listen = ["--listen", &listen, "--public-url", &public];
    House::at(desk, &[&listen[..], &proxy[..]].concat())
}

#[test]
fn guesses_keep_out_no_one_else_and_are_not_looked_up_once_they_are_too_many() {
    let desk = Desk::new().on_tested_store();
    let [one, two] = ["ann", "bob"].map(|user| team::token(&desk, user, "chat", "member"));
    let house = behind_a_proxy(desk);
    let from = |address: &str, token: &str| {
        let host = format!("team.example:{}", house.port);
        let bearer = format!("Bearer {token}");
        let headers = [
            ("Host", host.as_str()),
            ("Authorization", &bearer),
            // What the client itself claims to have come from is not believed.
            ("X-Forwarded-For", "198.51.100.1"),
            ("X-Forwarded-For", address),
        ];
        house.send("GET", "/api/health", &headers, "").status
    };
    let (guesser, other) = ("203.0.113.9", "203.0.113.10");
    assert_eq!(from(guesser, &one), 200);
    let tries: Vec<u16> = (0..60).map(|_| from(guesser, "sbp_guess")).collect();
    assert_eq!((tries[0], tries[59]), (401, 429), "{tries:?}");
    assert_eq!(
        from(other, "sbp_guess"),
        401,
        "each address counts for itself"
    );
    assert_eq!(from(other, &two), 200);
    assert_eq!(from(guesser, &one), 200, "one that was good goes on");
    let new = house
        .desk
        .command(&["tokens", "add", "new", "--json", "--user", "ann"]);
    let new: serde_json::Value = serde_json::from_slice(&{ new }.output().unwrap().stdout).unwrap();
    let new = new["token"].as_str().unwrap();
    assert_eq!(from(guesser, new), 429, "it would have to be looked up");
    assert_eq!(from(other, new), 200);
}

#[test]
fn the_public_name_is_for_tls_only_and_this_machines_own_is_not() {
    let desk = Desk::new().on_tested_store();
    team::token(&desk, "ann", "chat", "member");
    let house = behind_a_proxy(desk);
    let hsts = |house: &House, host: &str| {
        let page = house.send("GET", "/", &[("Host", host)], "");
        page.header("strict-transport-security").map(str::to_owned)
    };
    let name = format!("team.example:{}", house.port);
    assert_eq!(hsts(&house, &name).as_deref(), Some("max-age=31536000"));
    let local = House::open();
    assert_eq!(hsts(&local, &format!("127.0.0.1:{}", local.port)), None);
}
