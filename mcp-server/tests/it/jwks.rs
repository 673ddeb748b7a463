//! Key sets at a URL, fetched over sockets. The clock is paused: it advances whenever nothing else can
//! happen.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_server::oauth::{JwksUrl, KeySource as _};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const KEYS: &str = r#"{"keys":[]}"#;

/// A server that sends these bytes to everyone, and counts the requests.
async fn serving(reply: impl Into<Vec<u8>>) -> (String, Arc<AtomicUsize>) {
    let (reply, asked) = (reply.into(), Arc::new(AtomicUsize::new(0)));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/jwks.json", listener.local_addr().unwrap());
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (reply, count) = (reply.clone(), Arc::clone(&count));
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                count.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(&reply).await;
                // Open until the other end has enough.
                let _ = stream.read(&mut [0]).await;
            });
        }
    });
    (url, asked)
}

fn ok(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn fetch(url: &str) -> Result<String, String> {
    let source = JwksUrl::new(url).unwrap();
    source.fetch().await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_key_set_is_fetched_from_its_url() {
    let (url, asked) = serving(ok(KEYS)).await;
    assert_eq!(fetch(&url).await.unwrap(), KEYS);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_key_set_of_more_than_256_kib_is_not_taken() {
    let largest = " ".repeat(256 << 10);
    let (url, _) = serving(ok(&largest)).await;
    assert_eq!(fetch(&url).await.unwrap().len(), 256 << 10);
    let (url, _) = serving(ok(&format!("{largest} "))).await;
    assert!(fetch(&url).await.unwrap_err().contains("larger than"));
    // Without an end, and without a length that would tell.
    let endless = format!("HTTP/1.1 200 OK\r\n\r\n{largest}{largest}");
    let (url, _) = serving(endless).await;
    assert!(fetch(&url).await.unwrap_err().contains("larger than"));
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_its_body_is_no_key_set() {
    let (other, asked) = serving(ok(KEYS)).await;
    let redirect = format!(
        "HTTP/1.1 302 Found\r\nlocation: {other}\r\ncontent-length: {}\r\n\r\n{KEYS}",
        KEYS.len()
    );
    let (url, _) = serving(redirect).await;
    let error = fetch(&url).await.unwrap_err();
    assert!(error.contains("302"), "{error}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_never_finishes_is_abandoned() {
    for reply in ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"] {
        let (url, _) = serving(reply).await;
        assert!(fetch(&url).await.is_err(), "{reply:?}");
    }
}

#[test]
fn only_https_and_this_machine_are_places_for_keys() {
    for good in [
        "https://issuer.example/keys",
        "http://127.0.0.1:8080/keys",
        "http://localhost/keys",
        "http://[::1]:8080/keys",
    ] {
        assert!(JwksUrl::new(good).is_ok(), "{good}");
    }
    for bad in [
        "http://issuer.example/keys",
        "http://localhost:x@evil.example/",
        "http://127.0.0.1:8080@evil.example/",
        "https://user:secret@issuer.example/",
        "http://localhost.evil.example/",
        "ftp://localhost/keys",
        "keys.json",
    ] {
        let error = JwksUrl::new(bad).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
