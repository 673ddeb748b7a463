//! A server before it runs.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::TcpListener;

use crate::log::{Log, Origin, Seen};
use crate::protocol::World;
use crate::wire::{Lines, Site, Style, stdio};
use crate::{Running, Script, Shape};

/// Bytes in each direction of a pipe.
const PIPE: usize = 64 << 10;

/// A server to be started: a [`Script`], and where to log.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use mcp_testkit::{Script, Server};
/// let server = Server::new(Script::minimal()).start_http().await?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// server.shutdown().await;
/// # Ok::<(), mcp_testkit::StartError>(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct Server {
    script: Script,
    log: Log,
}

/// Why a server did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// No port could be opened on the loopback address.
    Listen(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(_) => f.write_str("cannot listen on 127.0.0.1"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen(source) => Some(source),
        }
    }
}

impl Server {
    /// A well-behaved server of this script.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self {
            script,
            log: Log::new(),
        }
    }

    /// Logs here.
    #[must_use]
    pub fn with_log(mut self, log: Log) -> Self {
        self.log = log;
        self
    }

    /// Serves Streamable HTTP on a free port of 127.0.0.1.
    pub async fn start_http(self) -> Result<Running, StartError> {
        self.start(Shape::Http).await
    }

    /// Serves HTTP+SSE of 2024-11-05 on a free port of 127.0.0.1.
    pub async fn start_sse(self) -> Result<Running, StartError> {
        self.start(Shape::Sse).await
    }

    async fn start(self, shape: Shape) -> Result<Running, StartError> {
        let listener = listen().await?;
        let second = listen().await?;
        let world = Arc::new(World::new(self.script, self.log));
        let (second, serve_second) =
            Site::open(&world, shape, Origin::Second, second, None).map_err(StartError::Listen)?;
        let other = Some(second.base.clone());
        let (first, serve_first) = Site::open(&world, shape, Origin::First, listener, other)
            .map_err(StartError::Listen)?;
        Ok(Running {
            world,
            sites: vec![first, second],
            tasks: vec![tokio::spawn(serve_first), tokio::spawn(serve_second)],
        })
    }

    /// Serves lines over an in-memory pipe; the stream is the client's end of it.
    ///
    /// Must be called inside a tokio runtime.
    #[must_use]
    pub fn pipe(self) -> (DuplexStream, Running) {
        let (client, server) = tokio::io::duplex(PIPE);
        let (reader, writer) = tokio::io::split(server);
        let world = Arc::new(World::new(self.script, self.log));
        let task = tokio::spawn(serve_lines(Arc::clone(&world), reader, writer));
        let running = Running {
            world,
            sites: Vec::new(),
            tasks: vec![task],
        };
        (client, running)
    }

    /// Serves lines on this process's standard input and output until the client closes.
    ///
    /// Gives the status that the process should exit with.
    pub async fn serve_stdio(self) -> i32 {
        let (reader, writer) = stdio::streams();
        let world = Arc::new(World::new(self.script, self.log));
        world.log.record(Seen::Started {
            pid: std::process::id(),
            environment: std::env::vars_os()
                .map(|(name, _)| name.to_string_lossy().into_owned())
                .collect(),
        });
        serve_lines(world, reader, writer).await;
        0
    }
}

async fn serve_lines<R, W>(world: Arc<World>, reader: R, writer: W)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (mut lines, write) = Lines::new(&world, reader, writer, Style::default());
    let serve = async {
        // However reading ends, what has been answered is still written.
        let _ = lines.serve().await;
        lines.out.flush().await;
        lines.session.cancel_all();
    };
    tokio::select! {
        () = serve => {}
        _ = write => {}
        () = world.stopped() => {}
    }
}

impl Default for Server {
    fn default() -> Self {
        Self::new(Script::standard())
    }
}

async fn listen() -> Result<TcpListener, StartError> {
    TcpListener::bind(("127.0.0.1", 0))
        .await
        .map_err(StartError::Listen)
}
