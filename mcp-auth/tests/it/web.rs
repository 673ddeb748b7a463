//! The smallest web there can be: sites that answer from a function, and a client that asks them.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_transport::BoxError;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use url::form_urlencoded;

/// A request as a site sees it.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) method: String,
    /// As the client wrote it: a path, a whole URL (to a proxy), or `host:port` (CONNECT).
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Hit {
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    pub(crate) fn query(&self) -> BTreeMap<String, String> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect()
    }

    pub(crate) fn form(&self) -> BTreeMap<String, String> {
        form_urlencoded::parse(self.body.as_bytes())
            .into_owned()
            .collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
    gate: Option<Arc<Semaphore>>,
}

impl Page {
    pub(crate) fn new(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            gate: None,
        }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, body.to_string()).with("content-type", "application/json")
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Only sent once the gate has a permit.
    pub(crate) fn behind(mut self, gate: Option<Arc<Semaphore>>) -> Self {
        self.gate = gate;
        self
    }
}

/// A site on this machine, up as long as the test's runtime is.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) url: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub(crate) async fn start(answer: impl Fn(&Hit) -> Page + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let site = Self {
            url,
            log: log.clone(),
        };
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, log) = (answer.clone(), log.clone());
                tokio::spawn(async move {
                    let Some(hit) = read_hit(&mut stream).await else {
                        return;
                    };
                    log.lock().push(format!("{} {}", hit.method, hit.target));
                    write_page(&mut stream, answer(&hit)).await;
                });
            }
        });
        site
    }

    /// Every request so far, and starts over.
    pub(crate) fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock())
    }
}

async fn read_hit(stream: &mut TcpStream) -> Option<Hit> {
    let (head, mut body) = read_head(stream).await?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers = header_map(lines);
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    while body.len() < length {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.ok()?;
        body.extend_from_slice(&chunk[..count]);
    }
    Some(Hit {
        method,
        target,
        headers,
        body: String::from_utf8(body).ok()?,
    })
}

async fn read_head(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let body = bytes.split_off(end + 4);
            return Some((String::from_utf8(bytes).ok()?, body));
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(count) if count > 0 => bytes.extend_from_slice(&chunk[..count]),
            _ => return None,
        }
    }
}

fn header_map<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    let pairs = lines.filter_map(|line| line.split_once(':'));
    pairs
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect()
}

async fn write_page(stream: &mut TcpStream, page: Page) {
    if let Some(gate) = &page.gate {
        gate.acquire().await.unwrap().forget();
    }
    let mut head = format!(
        "HTTP/1.1 {} x\r\ncontent-length: {}\r\nconnection: close\r\n",
        page.status,
        page.body.len()
    );
    for (name, value) in &page.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let _ = stream
        .write_all(format!("{head}\r\n{}", page.body).as_bytes())
        .await;
}

/// What a site answered.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

/// Asks a site.
pub(crate) async fn fetch(
    method: &str,
    url: &str,
    headers: &[(String, String)],
    body: &str,
) -> Result<Got, BoxError> {
    let (host, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut request = format!(
        "{method} /{path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(host).await?;
    stream
        .write_all(format!("{request}\r\n{body}").as_bytes())
        .await?;
    let (head, mut body) = read_head(&mut stream).await.ok_or("no answer")?;
    stream.read_to_end(&mut body).await?;
    let mut lines = head.lines();
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .ok_or("no status")?;
    Ok(Got {
        status: status.parse()?,
        headers: header_map(lines),
        body: String::from_utf8(body)?,
    })
}
