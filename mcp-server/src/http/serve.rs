//! A listener for the endpoint, for programs without an HTTP server of their own.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::service::HttpService;

/// Time until a request's head has to be there.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// Connections served at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 16_384;

/// Accepts connections and serves the endpoint on every path, until the listener fails. Dropping the future ends
/// everything.
///
/// # Errors
///
/// If the listener fails.
pub async fn serve(listener: TcpListener, service: HttpService) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = tokio::task::JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
            return Ok(());
        };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // One client's failure, or too many open files: the others go on.
            Err(error) if is_passing(&error) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
            Err(error) => return Err(error),
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(service.clone());
        connections.spawn(async move {
            let _permit = permit;
            let served = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .serve_connection(TokioIo::new(stream), service)
                .await;
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended with an error");
            }
        });
    }
}

fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    let kinds = [
        ConnectionAborted,
        ConnectionRefused,
        ConnectionReset,
        Interrupted,
    ];
    // EMFILE and ENFILE.
    kinds.contains(&error.kind()) || matches!(error.raw_os_error(), Some(23 | 24))
}
