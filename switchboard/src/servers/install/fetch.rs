//! Bounded downloads. Nothing is sent but the address.

use std::time::Duration;

use mcp_auth::PublicNetwork;
use mcp_transport::client_builder;
use reqwest::header::LOCATION;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use url::{Host, Url};

use crate::exit::{Exit, Failure};

const REDIRECTS: usize = 5;

/// How long a download may take.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// Connecting, and each piece of an answer.
    piece: Duration,
    /// A document as a whole.
    document: Duration,
    /// A file as a whole.
    file: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            piece: Duration::from_secs(20),
            document: Duration::from_secs(30),
            file: Duration::from_secs(900),
        }
    }
}

/// Downloads documents and files.
#[derive(Debug)]
pub(super) struct Fetch {
    client: Client,
    network: Option<PublicNetwork>,
    times: Times,
}

impl Fetch {
    /// One that asks only where this network leads, if there is one.
    pub(super) fn new(network: Option<PublicNetwork>) -> Result<Self, Failure> {
        Self::within(network, Times::default())
    }

    fn within(network: Option<PublicNetwork>, times: Times) -> Result<Self, Failure> {
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
            Failure::new(Exit::Other, "there is no HTTP client").caused_by(error)
        };
        let mut builder = client_builder().map_err(failed)?;
        if let Some(network) = &network {
            builder = network.guard(builder);
        }
        let client = builder
            .redirect(Policy::none())
            .referer(false)
            .connect_timeout(times.piece)
            .read_timeout(times.piece)
            .build()
            .map_err(|error| failed(error.into()))?;
        Ok(Self {
            client,
            network,
            times,
        })
    }

    /// A document of at most this many bytes; nothing if there is none.
    pub(super) async fn document(&self, url: &str, most: u64) -> Result<Option<Vec<u8>>, Failure> {
        let read = async {
            let Some(response) = self.open(url).await? else {
                return Ok(None);
            };
            let mut body = Vec::new();
            copy(url, response, most, &mut body).await?;
            Ok(Some(body))
        };
        within(url, self.times.document, read).await
    }

    /// Writes a file of at most this many bytes.
    pub(super) async fn file(
        &self,
        url: &str,
        most: u64,
        into: &mut std::fs::File,
    ) -> Result<(), Failure> {
        let read = async {
            let response = self.open(url).await?;
            let missing = || failed(url, "there is no such file");
            copy(url, response.ok_or_else(missing)?, most, into).await
        };
        within(url, self.times.file, read).await
    }

    /// The answer to a request; nothing if there is no such thing there.
    async fn open(&self, url: &str) -> Result<Option<Response>, Failure> {
        let mut at = self.checked(url, None)?;
        for _ in 0..=REDIRECTS {
            let response = self.client.get(at.clone()).send().await;
            let response = response.map_err(|error| {
                let failure = Failure::new(
                    Exit::Unreachable,
                    format!("{} cannot be reached", shown(&at)),
                );
                failure.caused_by(error.without_url())
            })?;
            match response.status() {
                StatusCode::OK => return Ok(Some(response)),
                StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(None),
                status if status.is_redirection() => {
                    let next = response.headers().get(LOCATION);
                    let next = next
                        .and_then(|it| it.to_str().ok())
                        .and_then(|it| at.join(it).ok());
                    let next = next.ok_or_else(|| failed(url, "it leads nowhere"))?;
                    at = self.checked(next.as_str(), Some(&at))?;
                }
                status => return Err(failed(url, &format!("it answers HTTP {}", status.as_u16()))),
            }
        }
        Err(failed(url, "it leads on and on"))
    }

    /// A URL that may be asked: by TLS, unless it is on this machine and no other one led there.
    fn checked(&self, url: &str, from: Option<&Url>) -> Result<Url, Failure> {
        let parsed = Url::parse(url).map_err(|error| failed(url, &error.to_string()))?;
        let is_here = |url: &Url| match url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        };
        let is_plain = parsed.scheme() == "http" && is_here(&parsed) && from.is_none_or(is_here);
        if parsed.scheme() != "https" && !is_plain {
            return Err(failed(url, "it is no https:// address"));
        }
        if let Some(network) = &self.network {
            let refused = |why: mcp_auth::Violation| failed(url, &why.to_string());
            network.check(parsed.as_str()).map_err(refused)?;
        }
        Ok(parsed)
    }
}

/// Copies a body of at most this many bytes.
async fn copy(
    url: &str,
    mut response: Response,
    most: u64,
    into: &mut impl std::io::Write,
) -> Result<(), Failure> {
    let mut left = most;
    loop {
        let chunk = response.chunk().await;
        let chunk = chunk.map_err(|error| {
            let failure = Failure::new(Exit::Unreachable, format!("{url} broke off"));
            failure.caused_by(error.without_url())
        })?;
        let Some(chunk) = chunk else {
            return Ok(());
        };
        left = left
            .checked_sub(chunk.len() as u64)
            .ok_or_else(|| failed(url, &format!("it has more than {most} bytes")))?;
        into.write_all(&chunk)
            .map_err(|error| failed(url, "it cannot be kept").caused_by(error))?;
    }
}

async fn within<T>(
    url: &str,
    time: Duration,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let late = || {
        let seconds = time.as_secs();
        let text = format!("{url} did not answer within {seconds} seconds");
        Failure::new(Exit::Unreachable, text)
    };
    tokio::time::timeout(time, work).await.map_err(|_| late())?
}

fn failed(url: &str, why: &str) -> Failure {
    Failure::new(Exit::Unreachable, format!("{url}: {why}"))
}

fn shown(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// Answers each request with these bytes, and then says nothing more.
    async fn answering(answer: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut request = [0; 1024];
                    while stream.read(&mut request).await.is_ok_and(|read| read > 0) {
                        let _ = stream.write_all(answer).await;
                    }
                });
            }
        });
        format!("http://{address}/")
    }

    fn quick() -> Fetch {
        let times = Times {
            piece: Duration::from_millis(200),
            document: Duration::from_millis(400),
            file: Duration::from_millis(400),
        };
        Fetch::within(None, times).unwrap()
    }

    async fn refused(answer: &'static [u8]) -> String {
        let url = answering(answer).await;
        quick().document(&url, 8).await.unwrap_err().chain()
    }

    #[tokio::test]
    async fn what_is_slow_huge_or_leads_elsewhere_is_refused() {
        let slow = refused(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nab").await;
        assert!(
            slow.contains("broke off") || slow.contains("did not answer"),
            "{slow}"
        );
        refused(b"").await;
        let huge = refused(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123456789").await;
        assert!(huge.contains("more than 8 bytes"), "{huge}");
        let broken = refused(b"HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n").await;
        assert!(broken.contains("HTTP 500"), "{broken}");
        let odd = refused(
            b"HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\ncontent-length: 0\r\n\r\n",
        )
        .await;
        assert!(odd.contains("no https:// address"), "{odd}");
        let plain = refused(
            b"HTTP/1.1 302 Found\r\nlocation: http://example.com/\r\ncontent-length: 0\r\n\r\n",
        )
        .await;
        assert!(plain.contains("no https:// address"), "{plain}");
        let round =
            refused(b"HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n").await;
        assert!(round.contains("leads on and on"), "{round}");
    }

    #[tokio::test]
    async fn what_is_not_there_is_nothing_and_who_is_not_there_is_unreachable() {
        let url = answering(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await;
        assert!(quick().document(&url, 8).await.unwrap().is_none());
        let down = quick()
            .document("http://127.0.0.1:9/", 8)
            .await
            .unwrap_err();
        assert_eq!(down.exit(), Exit::Unreachable);
        for url in ["http://example.com/", "file:///etc/passwd", "x"] {
            assert!(quick().document(url, 8).await.is_err(), "{url}");
        }
        let public = Fetch::new(Some(PublicNetwork::new())).unwrap();
        let inside = public.document(&url, 8).await.unwrap_err().chain();
        assert!(inside.contains("private network"), "{inside}");
    }
}
