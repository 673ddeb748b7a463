//! A server and its authorization server, honest by default.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_auth::{HostAuthorizer, LoginPrompt, OAuth, OAuthBuilder};
use mcp_transport::{AuthProvider, AuthRequest, AuthVerdict, BoxError, Challenge, Secret};
use parking_lot::Mutex;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::web::{Got, Hit, Page, Site, fetch};

pub(crate) const REDIRECT: &str = "http://127.0.0.1:9/callback";

/// A protected resource at `/mcp` and its authorization server, on two ports.
#[derive(Clone, Debug)]
pub(crate) struct Realm {
    pub(crate) resource: Site,
    pub(crate) authority: Site,
    pub(crate) books: Arc<Mutex<Books>>,
}

/// What the realm remembers, and how it behaves.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// Merged into the resource's metadata.
    pub(crate) resource_metadata: Value,
    /// Merged into the authorization server's metadata; `null` takes a field away.
    pub(crate) server_metadata: Value,
    /// Merged into what the login redirects with.
    pub(crate) callback: Value,
    /// Merged into every token.
    pub(crate) token: Value,
    /// Merged into tokens that come from a refresh.
    pub(crate) refreshed: Value,
    /// What is granted, whatever was asked for.
    pub(crate) granted: Option<String>,
    /// Whether refreshes are refused because the client is not known.
    pub(crate) forgotten: bool,
    /// What the token endpoint says instead of anything else.
    pub(crate) token_failure: Option<Page>,
    /// The resource's challenge, after `Bearer `.
    pub(crate) challenge: String,
    /// Holds back the token endpoint's answers.
    pub(crate) gate: Option<Arc<Semaphore>>,
    /// Every form the token endpoint got, and every query the login page got.
    pub(crate) asked: Vec<BTreeMap<String, String>>,
    pub(crate) authorizations: Vec<Option<String>>,
    pub(crate) logins: Vec<BTreeMap<String, String>>,
    pub(crate) registrations: Vec<Value>,
    codes: BTreeMap<String, BTreeMap<String, String>>,
    /// Valid access tokens and their scopes.
    pub(crate) valid: BTreeMap<String, String>,
    refresh: BTreeSet<String>,
    /// Whether a refresh token was used twice: a real server would now log the user out.
    pub(crate) reused: bool,
    /// Part of every secret that is handed out.
    pub(crate) salt: String,
    /// Whether refusals of the token endpoint quote what was sent.
    pub(crate) quotes: bool,
    /// Distinguishes this realm from others.
    name: u32,
    count: u32,
}

impl Realm {
    pub(crate) async fn start() -> Self {
        static REALMS: AtomicU32 = AtomicU32::new(0);
        let name = REALMS.fetch_add(1, Ordering::Relaxed);
        let books = Arc::new(Mutex::new(Books {
            name,
            ..Books::default()
        }));
        let book = books.clone();
        let authority = Site::start(move |hit| {
            let own = format!("http://{}", hit.header("host").unwrap());
            book.lock().authority(&own, hit)
        })
        .await;
        let (book, issuer) = (books.clone(), authority.url.clone());
        let resource = Site::start(move |hit| {
            let own = format!("http://{}", hit.header("host").unwrap());
            book.lock().resource(&own, &issuer, hit)
        })
        .await;
        Self {
            resource,
            authority,
            books,
        }
    }

    pub(crate) fn server(&self) -> String {
        format!("{}/mcp", self.resource.url)
    }

    /// A provider that logs in by itself.
    pub(crate) fn oauth(&self) -> OAuthBuilder {
        OAuth::builder(self.server()).authorizer(Arc::new(headless()))
    }

    /// A `read` of a client that knows nothing yet.
    pub(crate) async fn first_call(&self) -> Result<u16, BoxError> {
        self.call(&self.oauth().build().unwrap(), "read").await
    }

    /// See [`call`].
    pub(crate) async fn call(&self, oauth: &OAuth, what: &str) -> Result<u16, BoxError> {
        call(&self.server(), oauth, what).await
    }

    /// Tells the provider of a refusal without any request behind it.
    pub(crate) async fn challenge(&self, oauth: &OAuth) -> Result<AuthVerdict, BoxError> {
        let server = self.server();
        let request = AuthRequest::new("POST", &server, &server);
        oauth.challenged(&Challenge::new(request, 401)).await
    }

    /// Ends the life of every access token.
    pub(crate) fn revoke(&self) {
        self.books.lock().valid.clear();
    }
}

/// What a transport does with a request: `read`, or `write`, which needs that scope.
pub(crate) async fn call(server: &str, oauth: &OAuth, what: &str) -> Result<u16, BoxError> {
    let request = AuthRequest::new("POST", server, server);
    for attempt in 1.. {
        let sent = oauth.headers(&request).await?;
        let plain: Vec<_> = sent
            .iter()
            .map(|(name, value)| (name.clone(), value.expose().to_owned()))
            .collect();
        let got = fetch("POST", server, &plain, what).await?;
        let headers: Vec<_> = got
            .headers
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        oauth.observed(&request, &headers);
        if !matches!(got.status, 401 | 403) {
            return Ok(got.status);
        }
        match refused(oauth, request, &got, &sent, attempt).await? {
            AuthVerdict::Retry => {}
            _ => return Ok(got.status),
        }
    }
    unreachable!("the provider fails in the end")
}

async fn refused(
    oauth: &OAuth,
    request: AuthRequest<'_>,
    got: &Got,
    sent: &[(String, Secret)],
    attempt: u32,
) -> Result<AuthVerdict, BoxError> {
    let challenges: Vec<String> = got
        .headers
        .get("www-authenticate")
        .cloned()
        .into_iter()
        .collect();
    let challenge = Challenge::new(request, got.status)
        .with_www_authenticate(&challenges)
        .with_sent(sent)
        .with_attempt(attempt);
    oauth.challenged(&challenge).await
}

/// Follows the login page's redirect, as a browser with a quick user would.
pub(crate) fn headless() -> HostAuthorizer {
    HostAuthorizer::new(REDIRECT, visit)
}

pub(crate) async fn visit(prompt: LoginPrompt) -> Result<String, BoxError> {
    let got = fetch("GET", &prompt.url, &[], "").await?;
    Ok(got.headers.get("location").ok_or("no redirect")?.clone())
}

impl Books {
    fn resource(&mut self, own: &str, issuer: &str, hit: &Hit) -> Page {
        match hit.path() {
            "/mcp" => self.guarded(hit),
            "/.well-known/oauth-protected-resource/mcp" => {
                let mut document =
                    json!({ "resource": format!("{own}/mcp"), "authorization_servers": [issuer] });
                merge(&mut document, &self.resource_metadata);
                Page::json(200, &document)
            }
            _ => Page::new(404, "<html>"),
        }
    }

    fn guarded(&self, hit: &Hit) -> Page {
        let token = hit
            .header("authorization")
            .and_then(|value| value.split_once(' '));
        let scope = token.and_then(|(_, token)| self.valid.get(token));
        match scope {
            None => Page::new(401, "{}").with(
                "www-authenticate",
                format!("Bearer error=\"invalid_token\" {}", self.challenge),
            ),
            Some(scope)
                if hit.body == "write" && !scope.split(' ').any(|scope| scope == "write") =>
            {
                Page::new(403, "{}").with(
                    "www-authenticate",
                    "Bearer error=\"insufficient_scope\", scope=\"write\"",
                )
            }
            Some(_) => Page::json(200, &json!({ "jsonrpc": "2.0", "id": 1, "result": {} })),
        }
    }

    fn authority(&mut self, own: &str, hit: &Hit) -> Page {
        match (hit.method.as_str(), hit.path()) {
            ("GET", "/.well-known/oauth-authorization-server") => {
                let mut document = json!({
                    "issuer": own,
                    "authorization_endpoint": format!("{own}/authorize"),
                    "token_endpoint": format!("{own}/token"),
                    "registration_endpoint": format!("{own}/register"),
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
                    "authorization_response_iss_parameter_supported": true,
                });
                merge(&mut document, &self.server_metadata);
                Page::json(200, &document)
            }
            ("POST", "/register") => {
                self.registrations
                    .push(serde_json::from_str(&hit.body).unwrap());
                Page::json(201, &json!({ "client_id": self.fresh("client") }))
            }
            ("GET", "/authorize") => self.authorize(own, hit),
            ("POST", "/token") => {
                self.asked.push(hit.form());
                self.authorizations
                    .push(hit.header("authorization").map(str::to_owned));
                let gate = self.gate.clone();
                if self.quotes {
                    let words = format!("{:?} {} {:?}", hit.form(), hit.body, hit.headers);
                    return Page::json(400, &json!({ "error": words, "error_description": words }));
                }
                self.token_failure
                    .clone()
                    .unwrap_or_else(|| self.grant(&hit.form()))
                    .behind(gate)
            }
            _ => Page::new(404, "<html>"),
        }
    }

    fn authorize(&mut self, own: &str, hit: &Hit) -> Page {
        let query = hit.query();
        self.logins.push(query.clone());
        let code = self.fresh("code");
        let mut answer = json!({ "code": code, "state": query["state"], "iss": own });
        merge(&mut answer, &self.callback);
        let mut back = url::Url::parse(&query["redirect_uri"]).unwrap();
        for (name, value) in answer.as_object().unwrap() {
            back.query_pairs_mut()
                .append_pair(name, value.as_str().unwrap());
        }
        self.codes.insert(code, query);
        Page::new(302, "").with("location", back)
    }

    fn grant(&mut self, form: &BTreeMap<String, String>) -> Page {
        let scope = match form["grant_type"].as_str() {
            "authorization_code" => {
                let login = self.codes.remove(&form["code"]).unwrap();
                assert_eq!(sha256(&form["code_verifier"]), login["code_challenge"]);
                assert_eq!(form["redirect_uri"], login["redirect_uri"]);
                login.get("scope").cloned().unwrap_or_default()
            }
            "refresh_token" if self.forgotten => {
                return Page::json(401, &json!({ "error": "invalid_client" }));
            }
            "refresh_token" => {
                if !self.refresh.remove(&form["refresh_token"]) {
                    self.reused = true;
                    self.valid.clear();
                    self.refresh.clear();
                    return Page::json(400, &json!({ "error": "invalid_grant" }));
                }
                String::new()
            }
            _ => form.get("scope").cloned().unwrap_or_default(),
        };
        let (access, refresh) = (self.fresh("access"), self.fresh("refresh"));
        let mut token = json!({ "access_token": access, "token_type": "Bearer", "refresh_token": refresh, "expires_in": 3600 });
        merge(&mut token, &self.token);
        if form["grant_type"] == "refresh_token" {
            merge(&mut token, &self.refreshed);
        }
        self.valid
            .insert(access, self.granted.clone().unwrap_or(scope));
        self.refresh.insert(refresh);
        Page::json(200, &token)
    }

    fn fresh(&mut self, what: &str) -> String {
        self.count += 1;
        let salt = if what == "client" { "" } else { &self.salt };
        format!("{what}-{}-of-{}{salt}", self.count, self.name)
    }
}

pub(crate) fn sha256(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

fn merge(document: &mut Value, changes: &Value) {
    let Value::Object(changes) = changes else {
        return;
    };
    let document = document.as_object_mut().unwrap();
    for (field, value) in changes {
        document.remove(field);
        if !value.is_null() {
            document.insert(field.clone(), value.clone());
        }
    }
}

/// Polls once, and lets everybody else run.
pub(crate) async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = tokio::task::yield_now() => None,
    }
}

/// The provider's own error behind what a transport would show.
#[track_caller]
pub(crate) fn auth_error(outcome: Result<u16, BoxError>) -> mcp_auth::AuthError {
    match outcome {
        Ok(status) => panic!("it went through, with status {status}"),
        Err(error) => error
            .downcast_ref::<mcp_auth::AuthError>()
            .expect("a provider's error")
            .clone(),
    }
}
