//! The listener: a bounded number of connections, with a timeout for request heads.
//!
//! A client that connects and sends nothing, or half of a request head, costs a file descriptor. So
//! the head must arrive in time, and when there are too many connections, the oldest without a
//! request is closed.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use crate::serve::app::closed;
use crate::serve::idle::UnderWay;
use crate::serve::reach::Reach;
use crate::serve::tls::Certificate;

/// The most connections at a time.
const MAX_CONNECTIONS: usize = 16_384;
/// How long a request's head may take, and how long a connection may be idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// The most requests at a time on one HTTP/2 connection, event streams included.
const MAX_STREAMS: u32 = 100;
/// The longest head of a request over HTTP/2.
const MAX_HEAD_BYTES: u32 = 64 << 10;
/// How often to ask an HTTP/2 client that is silent whether it is still there.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// How long an HTTP/2 connection may be without a request under way.
const IDLE_TIME: Duration = Duration::from_secs(60);
/// How long to wait when the system has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    connections: usize,
    head_time: Duration,
    idle_time: Duration,
}

impl Default for Limits {
    /// Half of the files that the system lets this process open, and [`MAX_CONNECTIONS`] at most.
    fn default() -> Self {
        Self {
            connections: max_connections(),
            head_time: HEAD_TIMEOUT,
            idle_time: IDLE_TIME,
        }
    }
}

/// The connections that have not sent a request yet, oldest first.
type Silent = Arc<Mutex<BTreeMap<u64, AbortHandle>>>;

/// How connections come in.
pub(super) struct Door {
    pub(super) listener: TcpListener,
    pub(super) reach: Arc<Reach>,
    pub(super) certificate: Option<Certificate>,
}

/// Serves until the program ends, and until the requests under way then are answered.
pub(super) async fn serve(
    door: Door,
    router: Router,
    limits: Limits,
    mut closing: watch::Receiver<bool>,
) {
    let limit = limits.connections;
    let silent = Silent::default();
    let mut tasks = JoinSet::new();
    let mut last = 0;
    loop {
        let has_room = tasks.len() < limit || !silent.lock().is_empty();
        let accepted = tokio::select! {
            biased;
            () = closed(&mut closing) => break,
            Some(_) = tasks.join_next() => continue,
            accepted = door.listener.accept(), if has_room => accepted,
        };
        let (stream, peer) = match accepted {
            Ok((stream, peer)) if door.reach.accepts(peer.ip()) => (stream, peer.ip()),
            // Past the proxy: it hears nothing.
            Ok(_) => continue,
            // That one is gone; the next may be there.
            Err(error) if is_of_peer(&error) => continue,
            Err(_) => {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        if tasks.len() >= limit
            && let Some((_, oldest)) = silent.lock().pop_first()
        {
            oldest.abort();
        }
        last += 1;
        let connection = connection(
            (stream, door.certificate.clone()),
            (router.clone(), Peer(peer)),
            last,
            Arc::clone(&silent),
            (limits, closing.clone()),
        );
        // Locked until it is listed: a connection takes itself off when its first request comes.
        let mut listed = silent.lock();
        listed.insert(last, tasks.spawn(connection));
    }
    drop(door);
    while tasks.join_next().await.is_some() {}
}

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// Serves one connection until either side ends it.
async fn connection(
    (stream, certificate): (TcpStream, Option<Certificate>),
    (router, peer): (Router, Peer),
    number: u64,
    silent: Silent,
    times: (Limits, watch::Receiver<bool>),
) {
    let router = router.layer(axum::Extension(peer));
    let Some(certificate) = certificate else {
        return speak(stream, Version::Http1, router, number, silent, times).await;
    };
    let greeted = certificate.acceptor().accept(stream);
    match tokio::time::timeout(times.0.head_time, greeted).await {
        Ok(Ok(stream)) => {
            let version = match stream.get_ref().1.alpn_protocol() {
                Some(b"h2") => Version::Http2,
                _ => Version::Http1,
            };
            speak(stream, version, router, number, silent, times).await;
        }
        // Its failure is its own.
        _ => drop(silent.lock().remove(&number)),
    }
}

/// The version of HTTP that a connection begins with.
#[derive(Clone, Copy, Debug)]
enum Version {
    Http1,
    Http2,
}

/// Speaks HTTP on a connection.
async fn speak(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    version: Version,
    router: Router,
    number: u64,
    silent: Silent,
    (limits, mut closing): (Limits, watch::Receiver<bool>),
) {
    let heard = Arc::clone(&silent);
    let router = router.layer(axum::middleware::map_request(
        move |request: axum::extract::Request| {
            heard.lock().remove(&number);
            async move { request }
        },
    ));
    let under_way = UnderWay::new();
    let counted = under_way.clone();
    let router = match version {
        Version::Http1 => router,
        Version::Http2 => router.layer(axum::middleware::from_fn(move |request, next| {
            counted.clone().count(request, next)
        })),
    };
    let unused = async {
        match version {
            // Its next head has to come in time.
            Version::Http1 => std::future::pending().await,
            Version::Http2 => under_way.idle(limits.idle_time).await,
        }
    };
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEAD_BYTES)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(limits.head_time);
    let builder = match version {
        Version::Http1 => builder.http1_only(),
        Version::Http2 => builder.http2_only(),
    };
    let service = TowerToHyperService::new(router);
    let mut served = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    // A connection's failure is its own.
    let over = tokio::select! {
        _ = served.as_mut() => true,
        () = closed(&mut closing) => false,
        () = unused => false,
    };
    if !over {
        served.as_mut().graceful_shutdown();
        let _ = served.await;
    }
    silent.lock().remove(&number);
}

fn is_of_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// Half of the files that the system lets this process open are left for servers and the store.
pub(super) fn max_connections() -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        let files = getrlimit(Resource::Nofile).current;
        let half = files.map_or(u64::MAX, |files| files / 2);
        usize::try_from(half).map_or(MAX_CONNECTIONS, |half| half.clamp(1, MAX_CONNECTIONS))
    }
    #[cfg(not(unix))]
    MAX_CONNECTIONS
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpStream};

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    async fn started(limits: Limits) -> (SocketAddr, watch::Sender<bool>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (closing, closed) = watch::channel(false);
        let router = Router::new().route("/", axum::routing::get(async || "here"));
        let door = Door {
            listener,
            reach: Arc::new(Reach::local(0)),
            certificate: None,
        };
        tokio::spawn(serve(door, router, limits, closed));
        (address, closing)
    }

    fn half_a_head(address: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap();
        stream
    }

    /// Returns once the other side has closed.
    fn closed(mut stream: TcpStream) -> bool {
        !matches!(stream.read(&mut [0; 1024]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    fn answer(address: SocketAddr) -> String {
        let mut stream = half_a_head(address);
        stream
            .write_all(b" x\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn connections_without_a_request_give_way_and_never_stop_the_service() {
        let limits = Limits {
            connections: 8,
            head_time: LONG,
            idle_time: LONG,
        };
        let (address, _closing) = started(limits).await;
        let waited = tokio::task::spawn_blocking(move || {
            let mut silent: Vec<TcpStream> = (0..40).map(|_| half_a_head(address)).collect();
            assert!(answer(address).ends_with("here"));
            closed(silent.remove(0))
        });
        assert!(waited.await.unwrap(), "the oldest gave way");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_head_that_does_not_come_ends_its_connection() {
        let limits = Limits {
            connections: 8,
            head_time: Duration::from_millis(20),
            idle_time: LONG,
        };
        let (address, _closing) = started(limits).await;
        let waited = tokio::task::spawn_blocking(move || closed(half_a_head(address)));
        assert!(waited.await.unwrap());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_connection_that_is_used_never_gives_way() {
        let limits = Limits {
            connections: 2,
            head_time: LONG,
            idle_time: LONG,
        };
        let (address, _closing) = started(limits).await;
        let again = tokio::task::spawn_blocking(move || {
            let mut used = half_a_head(address);
            used.write_all(b" x\r\n\r\n").unwrap();
            let mut piece = [0; 1024];
            let read = used.read(&mut piece).unwrap();
            assert!(piece[..read].ends_with(b"here"));
            let _silent: Vec<TcpStream> = (0..20).map(|_| half_a_head(address)).collect();
            assert!(answer(address).ends_with("here"));
            used.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                .unwrap();
            let read = used.read(&mut piece).unwrap();
            piece[..read].ends_with(b"here")
        });
        assert!(again.await.unwrap());
    }

    #[tokio::test]
    async fn an_http2_connection_ends_when_no_one_uses_it_but_not_while_someone_listens() {
        let (heard, hears) = tokio::sync::oneshot::channel::<()>();
        let hears = Arc::new(Mutex::new(Some(hears)));
        let listen = move || {
            let hears = hears.lock().take().unwrap();
            let stream = futures_util::stream::once(async move {
                let _ = hears.await;
                Ok::<_, std::convert::Infallible>("news")
            });
            async { axum::body::Body::from_stream(stream) }
        };
        let router = Router::new().route("/", axum::routing::get(listen));
        let (near, far) = tokio::io::duplex(1 << 16);
        let limits = Limits {
            connections: 8,
            head_time: LONG,
            idle_time: Duration::from_millis(20),
        };
        let (_closing, closed) = watch::channel(false);
        let served = speak(
            far,
            Version::Http2,
            router,
            1,
            Silent::default(),
            (limits, closed),
        );
        let served = tokio::spawn(served);
        let greeted = hyper::client::conn::http2::handshake::<_, _, axum::body::Body>(
            TokioExecutor::new(),
            TokioIo::new(near),
        );
        let (mut client, connection) = greeted.await.unwrap();
        let connection = tokio::spawn(connection);
        let request = axum::http::Request::builder().uri("http://x/");
        let request = request.body(axum::body::Body::empty()).unwrap();
        let response = client.send_request(request).await.unwrap();
        // The time is up many times over while the response is under way.
        tokio::time::timeout(Duration::from_millis(200), async {
            while !served.is_finished() {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap_err();
        heard.send(()).unwrap();
        let body = axum::body::Body::new(response.into_body());
        let body = axum::body::to_bytes(body, 100).await.unwrap();
        assert_eq!(&body[..], b"news");
        served.await.unwrap();
        drop(connection);
    }
}
