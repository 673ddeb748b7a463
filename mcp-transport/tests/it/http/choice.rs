//! What may be configured, and which transport a URL stands for.

use mcp_transport::TransportKind;

use super::*;

fn kinds(config: HttpConfig) -> Vec<TransportKind> {
    let mut connect = Some(config.into_connect().unwrap());
    let mut kinds = Vec::new();
    while let Some(this) = connect {
        kinds.push(this.kind());
        connect = this.fallback();
    }
    kinds
}

#[cfg(feature = "sse")]
#[test]
fn an_explicit_kind_wins_and_a_suffix_only_orders_the_tries() {
    let new = |url: &str| HttpConfig::new(url).unwrap();
    let (http, sse) = (TransportKind::Http, TransportKind::LegacySse);
    assert_eq!(kinds(new("https://h.example/mcp")), [http, sse]);
    assert_eq!(kinds(new("https://h.example/")), [http, sse]);
    assert_eq!(kinds(new("https://h.example/sse")), [sse, http]);
    assert_eq!(kinds(new("https://h.example/a/sse/?x=1")), [sse, http]);
    assert_eq!(kinds(new("https://h.example/parse")), [http, sse]);
    assert_eq!(
        kinds(new("https://h.example/sse").streamable_only()),
        [http]
    );
    assert_eq!(kinds(new("https://h.example/mcp").sse_only()), [sse]);
}

#[cfg(feature = "sse")]
#[test]
fn what_worked_last_is_tried_first_and_the_other_still_follows() {
    let new = |url: &str| HttpConfig::new(url).unwrap();
    let (http, sse) = (TransportKind::Http, TransportKind::LegacySse);
    let address = "https://h.example/mcp";
    assert_eq!(kinds(new(address).sse_first(true)), [sse, http]);
    assert_eq!(kinds(new(address).sse_first(false)), [http, sse]);
    let suffixed = new("https://h.example/sse").sse_first(false);
    assert_eq!(kinds(suffixed), [http, sse]);
    let named = new(address).streamable_only().sse_first(true);
    assert_eq!(kinds(named), [http]);
}

#[cfg(not(feature = "sse"))]
#[test]
fn without_the_feature_there_is_no_fallback() {
    assert_eq!(
        kinds(HttpConfig::new("https://h.example/sse").unwrap()),
        [TransportKind::Http]
    );
}

#[test]
fn headers_of_the_protocol_cannot_be_configured() {
    let config = HttpConfig::new("https://h.example/mcp").unwrap();
    for name in [
        "Content-Type",
        "accept",
        "Accept-Encoding",
        "MCP-Protocol-Version",
        "mcp-session-id",
        "Mcp-Method",
        "Mcp-Anything",
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Last-Event-ID",
    ] {
        let error = config.clone().with_header(name, "x").unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("header '{name}' belongs to the protocol and cannot be set")
        );
    }
    for name in ["Authorization", "X-Api-Key", "Cookie", "User-Agent"] {
        assert!(config.clone().with_header(name, "x").is_ok(), "{name}");
    }
}

#[test]
fn a_bad_configuration_says_what_is_bad() {
    let header = HttpConfig::new("http://h/").unwrap();
    let errors = [
        HttpConfig::new("h.example/mcp?key=1").unwrap_err(),
        HttpConfig::new("ftp://h.example/mcp").unwrap_err(),
        HttpConfig::new("https://me:pw@h.example/mcp?key=1").unwrap_err(),
        header.clone().with_header("a b", "x").unwrap_err(),
        header.with_header("X-A", "line\nbreak").unwrap_err(),
    ];
    insta::assert_snapshot!(errors.map(|error| error.to_string()).join("\n"));
}

#[tokio::test]
async fn a_client_of_ones_own_neither_follows_nor_unfolds() {
    let other = Server::start(|_| Answer::json(&result(1))).await;
    let location = other.url("/");
    let server =
        Server::start(move |_| Answer::with(307, &[("Location", location.as_str())], "")).await;
    let builder = mcp_transport::client_builder().unwrap().user_agent("mine");
    let transport = open(config(&server).with_client(builder).unwrap()).await;
    assert!(send(&transport, call(1)).await.is_err());
    assert!(other.seen().is_empty());
    assert_eq!(server.seen()[0].header("user-agent"), Some("mine"));
    assert_eq!(server.seen()[0].header("accept-encoding"), Some("identity"));
}
