//! A listener for the endpoint, for programs without an HTTP server of their own.
//!
//! A client that connects and sends nothing, or half of a request's head, costs a file descriptor. So the head must
//! arrive in time, and where there is no room for another connection, the oldest without a request is closed.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use super::service::HttpService;

/// Time until a request's head has to be there.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// Connections served at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 16_384;

/// The connections that have not sent a request yet, oldest first.
type Silent = Arc<Mutex<BTreeMap<u64, AbortHandle>>>;

/// Accepts connections and serves the endpoint on every path, until the listener fails. Dropping the future ends
/// everything.
///
/// # Errors
///
/// If the listener fails.
pub async fn serve(listener: TcpListener, service: HttpService) -> io::Result<()> {
    serve_within(listener, service, MAX_CONNECTIONS).await
}

async fn serve_within(listener: TcpListener, service: HttpService, limit: usize) -> io::Result<()> {
    let silent = Silent::default();
    let mut connections = JoinSet::new();
    let mut last = 0;
    loop {
        let has_room = connections.len() < limit || !silent.lock().is_empty();
        let accepted = tokio::select! {
            biased;
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept(), if has_room => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) if is_out_of_files(&error) => {
                if !close_oldest(&silent) {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                continue;
            }
            // One client's failure: the others go on.
            Err(error) if is_passing(&error) => continue,
            Err(error) => return Err(error),
        };
        if connections.len() >= limit {
            close_oldest(&silent);
        }
        last += 1;
        let connection = connection(stream, service.clone(), last, Arc::clone(&silent));
        // Locked until it is listed: a connection takes itself off when its first request comes.
        let mut listed = silent.lock();
        listed.insert(last, connections.spawn(connection));
    }
}

async fn connection(stream: TcpStream, service: HttpService, number: u64, silent: Silent) {
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(service);
    let heard = Arc::clone(&silent);
    let service = service_fn(move |request| {
        heard.lock().remove(&number);
        service.call(request)
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended with an error");
    }
    silent.lock().remove(&number);
}

/// Closes the oldest connection without a request; `false` if there is none.
fn close_oldest(silent: &Silent) -> bool {
    let oldest = silent.lock().pop_first();
    oldest.map(|(_, connection)| connection.abort()).is_some()
}

fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    let kinds = [
        ConnectionAborted,
        ConnectionRefused,
        ConnectionReset,
        Interrupted,
    ];
    kinds.contains(&error.kind())
}

/// EMFILE and ENFILE.
fn is_out_of_files(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(23 | 24))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::SocketAddr;

    use mcp_jsonrpc::model::Implementation;

    use super::*;

    fn half_a_head(address: SocketAddr) -> std::net::TcpStream {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap();
        stream
    }

    fn finish(stream: &mut std::net::TcpStream) -> String {
        let rest = b" localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(rest).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn connections_without_a_request_give_way_to_those_with_one() {
        let server = crate::Server::new(Implementation::new("s", "1")).build();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve_within(listener, HttpService::new(&server), 4));
        let answered = tokio::task::spawn_blocking(move || {
            let mut silent: Vec<_> = (0..20).map(|_| half_a_head(address)).collect();
            let answer = finish(&mut half_a_head(address));
            // The oldest was closed.
            let closed = silent[0].read(&mut [0; 16]);
            (answer, closed.map_or(true, |read| read == 0))
        });
        let (answer, closed) = answered.await.unwrap();
        assert!(answer.starts_with("HTTP/1.1"), "{answer}");
        assert!(closed);
    }
}
