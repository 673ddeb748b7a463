//! A login in this machine's browser, with its response received on a loopback port (RFC 8252).

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_transport::{BoxError, Secret};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::{Url, form_urlencoded};

use crate::login::authorizer::{Authorizer, LoginPrompt, PendingLogin};

/// The maximum size of a request's head.
const HEAD_BYTES: usize = 32 * 1024;
/// The number of connections served at once, and the time limit of each.
const VISITS: usize = 32;
const VISIT_TIME: Duration = Duration::from_secs(20);

/// Listens on this machine, shows the page, and waits for the browser to return; the person then sees a page that says
/// they can close it.
///
/// ```
/// use mcp_auth::LoopbackAuthorizer;
///
/// let authorizer = LoopbackAuthorizer::new(|login| {
///     println!("Log in at {}", login.url); // or open a browser
///     Ok(())
/// });
/// ```
#[derive(Clone)]
pub struct LoopbackAuthorizer {
    show: Show,
    paste: Option<Paste>,
    redirect_uri: String,
}

type Show = Arc<dyn Fn(&LoginPrompt) -> Result<(), BoxError> + Send + Sync>;
type Pasted = Pin<Box<dyn Future<Output = Result<String, BoxError>> + Send>>;
type Paste = Arc<dyn Fn(LoginPrompt) -> Pasted + Send + Sync>;

impl LoopbackAuthorizer {
    /// `show` presents the login's URL to a person: it opens a browser, or prints the URL. It must not wait for them.
    pub fn new(
        show: impl Fn(&LoginPrompt) -> Result<(), BoxError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            show: Arc::new(show),
            paste: None,
            redirect_uri: "http://127.0.0.1/callback".to_owned(),
        }
    }

    /// Opens the system's browser.
    #[cfg(feature = "browser")]
    pub fn browser() -> Self {
        Self::new(|prompt| Ok(open::that_detached(&prompt.url)?))
    }

    /// The URI to listen on: `http`, a loopback address or `localhost`, any path. Without a port any free one is used,
    /// and reused if an authorization server remembers it. The default is `http://127.0.0.1/callback`.
    #[must_use]
    pub fn with_redirect_uri(mut self, uri: impl Into<String>) -> Self {
        self.redirect_uri = uri.into();
        self
    }

    /// Also accepts the final URL from a person who pastes it, for browsers on another machine; whichever arrives first
    /// is used.
    #[must_use]
    pub fn with_paste<F, R>(mut self, paste: F) -> Self
    where
        F: Fn(LoginPrompt) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, BoxError>> + Send + 'static,
    {
        self.paste = Some(Arc::new(move |prompt| Box::pin(paste(prompt))));
        self
    }
}

#[async_trait]
impl Authorizer for LoopbackAuthorizer {
    async fn begin(&self, registered: Option<&str>) -> Result<Box<dyn PendingLogin>, BoxError> {
        let wanted = Url::parse(&self.redirect_uri)?;
        if wanted.scheme() != "http" || !crate::http::guard::is_loopback(&wanted) {
            let why = format!(
                "{} is not an http address of this machine",
                self.redirect_uri
            );
            return Err(why.into());
        }
        let fixed = wanted.port();
        let earlier = registered
            .and_then(|uri| Url::parse(uri).ok())
            .filter(|earlier| earlier.host() == wanted.host() && earlier.path() == wanted.path());
        let host = match wanted.host() {
            Some(url::Host::Ipv6(v6)) => v6.to_string(),
            _ => "127.0.0.1".to_owned(),
        };
        let port = fixed
            .or(earlier.and_then(|earlier| earlier.port()))
            .unwrap_or(0);
        let listener = match TcpListener::bind((host.as_str(), port)).await {
            Err(_) if fixed.is_none() => TcpListener::bind((host.as_str(), 0)).await?,
            bound => bound?,
        };
        let mut uri = wanted;
        if uri.set_port(Some(listener.local_addr()?.port())).is_err() {
            return Err("the redirect URI cannot have a port".into());
        }
        let (show, paste) = (self.show.clone(), self.paste.clone());
        let path = uri.path().to_owned();
        Ok(Box::new(Waiting {
            listener,
            uri: uri.into(),
            path,
            show,
            paste,
        }))
    }
}

/// A login that already listens.
struct Waiting {
    listener: TcpListener,
    uri: String,
    path: String,
    show: Show,
    paste: Option<Paste>,
}

#[async_trait]
impl PendingLogin for Waiting {
    fn redirect_uri(&self) -> &str {
        &self.uri
    }

    async fn finish(self: Box<Self>, prompt: LoginPrompt) -> Result<String, BoxError> {
        let expected = Arc::new(Answer {
            path: self.path,
            state: state(&prompt.url),
        });
        (self.show)(&prompt)?;
        match &self.paste {
            None => caught(&self.listener, &expected).await,
            Some(paste) => tokio::select! {
                caught = caught(&self.listener, &expected) => caught,
                pasted = paste(prompt) => pasted,
            },
        }
    }
}

/// The response the browser brings. Any page can make a browser connect here; only the right state ends the wait.
#[derive(Debug)]
struct Answer {
    path: String,
    state: Option<Secret>,
}

impl Answer {
    fn is(&self, target: &str) -> bool {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let state = pairs.find(|(name, _)| name == "state");
        let state = state.map(|(_, value)| Secret::new(value));
        path == self.path && state.is_some() && state == self.state
    }
}

/// The state that the login was started with.
fn state(url: &str) -> Option<Secret> {
    let url = Url::parse(url).ok()?;
    let (_, state) = url.query_pairs().find(|(name, _)| name == "state")?;
    Some(Secret::new(state))
}

/// Waits for the response. Browsers open connections they do not use, and request icons: every connection is served
/// concurrently and cannot delay the right one.
async fn caught(listener: &TcpListener, expected: &Arc<Answer>) -> Result<String, BoxError> {
    let mut visits = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if visits.len() < VISITS => {
                let (mut stream, _) = accepted?;
                let expected = expected.clone();
                let visit = async move { serve(&mut stream, &expected).await };
                visits.spawn(tokio::time::timeout(VISIT_TIME, visit));
            }
            Some(visit) = visits.join_next() => {
                if let Ok(Ok(Ok(Some(answer)))) = visit {
                    return Ok(answer);
                }
            }
        }
    }
}

async fn serve(stream: &mut TcpStream, expected: &Answer) -> io::Result<Option<String>> {
    let head = read_head(stream).await?;
    let answer = target(&head).filter(|target| expected.is(target));
    let (status, words) = match answer {
        Some(_) => ("200 OK", "That is all. You can close this page."),
        None => ("404 Not Found", "There is nothing here."),
    };
    let page = format!(
        "<!doctype html><meta charset=utf-8><title>Switchboard</title>\
         <body style=\"font-family:system-ui;margin:4em;text-align:center\"><p>{words}</p>",
    );
    let reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n\
         Connection: close\r\n\r\n{page}",
        page.len(),
    );
    // The response counts even if the browser does not wait for the page.
    let _ = stream.write_all(reply.as_bytes()).await;
    let _ = stream.shutdown().await;
    Ok(answer.map(str::to_owned))
}

async fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 2048];
    loop {
        let count = stream.read(&mut chunk).await?;
        head.extend_from_slice(chunk.get(..count).unwrap_or_default());
        let whole = head.windows(4).any(|window| window == b"\r\n\r\n");
        if count == 0 || whole || head.len() > HEAD_BYTES {
            return Ok(String::from_utf8_lossy(&head).into_owned());
        }
    }
}

/// The target of a GET request.
fn target(head: &str) -> Option<&str> {
    let mut words = head.lines().next()?.split(' ');
    match (words.next()?, words.next()?) {
        ("GET", target) => Some(target),
        _ => None,
    }
}

impl fmt::Debug for LoopbackAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopbackAuthorizer")
            .field("redirect_uri", &self.redirect_uri)
            .finish_non_exhaustive()
    }
}
