//! TLS, with certificates from files. Those beside this file were made for these tests.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::cli::Desk;

const ONE: (&str, &str) = (include_str!("tls/one.pem"), include_str!("tls/one.key"));
const TWO: (&str, &str) = (include_str!("tls/two.pem"), include_str!("tls/two.key"));

struct Served {
    desk: Desk,
    child: Child,
    url: String,
}

impl Served {
    fn start() -> Self {
        let desk = Desk::new().on_tested_store();
        place(&desk, ONE);
        let mut command = desk.command(&["serve", "--json", "--listen", "127.0.0.1:0"]);
        for (flag, file) in [("--tls-cert", "cert.pem"), ("--tls-key", "key.pem")] {
            command.arg(flag).arg(desk.home().join(file));
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let reported: Value = serde_json::from_str(&line).unwrap();
        let url = reported["url"].as_str().unwrap().to_owned();
        Self { desk, child, url }
    }

    /// Connects to a server that has one of the certificates, and offers this protocol.
    async fn connect(&self, protocol: &[u8]) -> TlsStream<TcpStream> {
        let mut roots = rustls::RootCertStore::empty();
        for (pem, _) in [ONE, TWO] {
            let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
            roots.add(certificate).unwrap();
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        let stream = TcpStream::connect(self.address()).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let stream = connector.connect(name, stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol));
        stream
    }

    fn address(&self) -> &str {
        let address = self.url.strip_prefix("https://").unwrap();
        address.trim_end_matches('/')
    }

    /// Asks for a path. Returns the certificate, and the reply.
    async fn ask(&self, path: &str) -> (Vec<u8>, String) {
        let mut stream = self.connect(b"http/1.1").await;
        let certificates = stream.get_ref().1.peer_certificates().unwrap();
        let certificate = certificates[0].to_vec();
        let address = self.address();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut reply = String::new();
        // The other side may close without a farewell.
        let _ = stream.read_to_string(&mut reply).await;
        (certificate, reply)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn place(desk: &Desk, (certificate, key): (&str, &str)) {
    std::fs::write(desk.home().join("key.pem"), key).unwrap();
    std::fs::write(desk.home().join("cert.pem"), certificate).unwrap();
}

fn der((certificate, _): (&str, &str)) -> Vec<u8> {
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes());
    certificate.unwrap().to_vec()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_is_served_and_read_again_when_it_changes() {
    let served = Served::start();
    assert!(
        served.url.starts_with("https://127.0.0.1:"),
        "{}",
        served.url
    );
    let (certificate, reply) = served.ask("/healthz").await;
    assert_eq!(certificate, der(ONE));
    assert!(reply.starts_with("HTTP/1.1 200 OK"), "{reply}");
    let (_, reply) = served.ask("/metrics").await;
    assert!(
        reply.starts_with("HTTP/1.1 401"),
        "numbers need a token: {reply}"
    );
    place(&served.desk, TWO);
    while served.ask("/healthz").await.0 != der(TWO) {
        tokio::task::yield_now().await;
    }
}

#[test]
fn an_address_that_others_could_reach_in_the_clear_is_refused() {
    let desk = Desk::new().on_tested_store();
    let error = desk.error(&["serve", "--listen", "0.0.0.0:0"]);
    let text = error["error"]["message"].as_str().unwrap();
    assert!(text.contains("without TLS"), "{error}");
    let certificate = desk.home().join("none.pem").display().to_string();
    let error = desk.error(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--tls-cert",
        &certificate,
        "--tls-key",
        &certificate,
    ]);
    let text = error["error"]["message"].as_str().unwrap();
    assert!(text.contains("none.pem cannot be used"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_connection_over_http_2_carries_many_requests_by_our_name_only() {
    let served = Served::start();
    let stream = TokioIo::new(served.connect(b"h2").await);
    let (sender, connection) = http2::handshake(TokioExecutor::new(), stream)
        .await
        .unwrap();
    tokio::spawn(connection);
    let get = |host: &str, path: &str| {
        let request = Request::get(format!("https://{host}{path}")).body(Body::empty());
        let mut sender = sender.clone();
        async move {
            sender
                .send_request(request.unwrap())
                .await
                .unwrap()
                .status()
        }
    };
    let ours = served.address().to_owned();
    let many: Vec<_> = (0..50)
        .map(|_| tokio::spawn(get(&ours, "/healthz")))
        .collect();
    for one in many {
        assert_eq!(one.await.unwrap(), 200);
    }
    assert_eq!(get(&ours, "/api/settings").await, 401);
    assert_eq!(get("elsewhere.example", "/").await, 421);
}
