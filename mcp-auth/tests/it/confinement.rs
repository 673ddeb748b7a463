//! A server cannot make us contact what is not its business, however it words its metadata.

use std::sync::Arc;

use mcp_auth::{AuthError, HostAuthorizer, OAuth, Violation};
use mcp_transport::{AuthProvider as _, AuthRequest, BoxError, Challenge};
use parking_lot::Mutex;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;
use url::{Host, Url};

use crate::realm::REDIRECT;
use crate::web::{Hit, Page, Site};

/// URLs a hostile server may name; for a server on this machine, the first four are fine.
const URLS: &[&str] = &[
    "http://localhost:1/a",
    "http://127.0.0.1:2/b",
    "https://as.example.com",
    "https://as.example.com/tenant",
    "http://as.example.com",
    "http://169.254.169.254/latest/meta-data",
    "https://169.254.169.254/",
    "https://10.0.0.1/x",
    "http://192.168.1.1/",
    "https://[fd00::1]/",
    "https://[::ffff:10.0.0.1]/",
    "http://[::ffff:169.254.169.254]/",
    "https://user:pw@as.example.com/",
    "http://localhost@10.0.0.1/",
    "file:///etc/passwd",
    "ftp://as.example.com/",
    "javascript:alert(1)",
    "data:,x",
    "gopher://localhost/",
    "https://0xa9fea9fe/",
    "https://2852039166/",
    "http://metadata.google.internal/",
    "//10.0.0.1/x",
    "",
    "\\\\10.0.0.1\\x",
];

/// Whether our client may show up at a proxy with this request.
fn is_allowed(hit: &Hit) -> bool {
    let url = match hit.method.as_str() {
        "CONNECT" => format!("https://{}", hit.target),
        _ => hit.target.clone(),
    };
    is_allowed_url(&url)
}

fn is_allowed_url(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else {
        return false;
    };
    let loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(v4)) => v4.is_loopback(),
        Some(Host::Ipv6(v6)) => v6.is_loopback(),
        None => return false,
    };
    let public = matches!(url.host(), Some(Host::Domain(_)));
    let clean = url.username().is_empty() && url.password().is_none();
    clean && (loopback || (url.scheme() == "https" && public))
}

/// What one hostile server says, by index into the list.
#[derive(Clone, Debug)]
struct Script(Vec<Index>);

impl Script {
    fn url(&self, nth: usize) -> &'static str {
        self.0[nth].get::<&str>(URLS)
    }

    fn answer(&self, hit: &Hit) -> Page {
        if hit.method == "CONNECT" {
            return Page::new(502, "");
        }
        let url = Url::parse(&hit.target).unwrap();
        let redirect = self.0[0].index(4) == 0 && !url.path().contains("redirected");
        if redirect {
            return Page::new(307, "").with("location", self.url(1));
        }
        if url.path().contains("oauth-protected-resource") || url.path() == "/named" {
            let document = json!({
                "resource": "http://localhost:7/mcp",
                "authorization_servers": [self.url(2), "http://localhost:1/a", self.url(3)],
            });
            return Page::json(200, &document);
        }
        let issuer = if url.port() == Some(1) {
            "http://localhost:1/a"
        } else {
            self.url(2)
        };
        Page::json(
            200,
            &json!({
                "issuer": issuer, "authorization_endpoint": self.url(4), "token_endpoint": self.url(5),
                "registration_endpoint": self.url(6), "code_challenge_methods_supported": ["S256"],
                "client_id": "c", "access_token": "t",
            }),
        )
    }
}

async fn play(script: Script) -> (Vec<Hit>, Vec<String>) {
    let (hits, pages) = (
        Arc::new(Mutex::new(Vec::new())),
        Arc::new(Mutex::new(Vec::new())),
    );
    let challenge = format!(
        "Bearer resource_metadata=\"{}\"",
        match script.0[7].index(3) {
            0 => "http://localhost:7/named",
            _ => script.url(8),
        }
    );
    let seen = hits.clone();
    let proxy = Site::start(move |hit| {
        seen.lock().push(hit.clone());
        script.answer(hit)
    })
    .await;
    let shown = pages.clone();
    let visit = move |prompt: mcp_auth::LoginPrompt| {
        let state = Url::parse(&prompt.url).unwrap();
        let state = state
            .query_pairs()
            .find(|(name, _)| name == "state")
            .unwrap()
            .1
            .into_owned();
        shown.lock().push(prompt.url);
        async move { Ok::<_, BoxError>(format!("{REDIRECT}?code=c&state={state}")) }
    };
    let server = "http://localhost:7/mcp";
    let oauth = OAuth::builder(server)
        .authorizer(Arc::new(HostAuthorizer::new(REDIRECT, visit)))
        .proxy(&proxy.url)
        .build()
        .unwrap();
    let challenges = [challenge];
    let request = AuthRequest::new("POST", server, server);
    let _ = oauth
        .challenged(&Challenge::new(request, 401).with_www_authenticate(&challenges))
        .await;
    let (hits, pages) = (hits.lock().clone(), pages.lock().clone());
    (hits, pages)
}

proptest! {
    #[test]
    fn discovery_never_leaves_the_allowed_urls(script in prop::collection::vec(any::<Index>(), 9)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (hits, pages) = runtime.block_on(play(Script(script)));
        for hit in &hits {
            prop_assert!(is_allowed(hit), "{} {}", hit.method, hit.target);
        }
        for page in &pages {
            prop_assert!(is_allowed_url(page), "{} was shown", page);
        }
    }
}

#[tokio::test]
async fn a_public_server_cannot_lead_to_this_machine_by_name() {
    let canary = Site::start(|_| Page::new(200, "{}")).await;
    let port = canary.url.rsplit(':').next().unwrap().to_owned();
    let server = "https://mcp.example.com/mcp";
    let oauth = OAuth::builder(server).build().unwrap();
    for url in [
        format!("http://localhost:{port}/"),
        format!("https://localhost:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        format!("https://[::ffff:127.0.0.1]:{port}/"),
        format!("https://foo.localhost:{port}/"),
    ] {
        let challenges = [format!("Bearer resource_metadata=\"{url}\"")];
        let challenge = Challenge::new(AuthRequest::new("POST", server, server), 401)
            .with_www_authenticate(&challenges);
        let error = oauth.challenged(&challenge).await.unwrap_err();
        let error = error.downcast_ref::<AuthError>().unwrap();
        assert!(
            matches!(
                error,
                AuthError::Refused {
                    violation: Violation::Url { .. },
                    ..
                }
            ),
            "{url}: {error:?}"
        );
    }
    assert!(canary.take_log().is_empty());
}
