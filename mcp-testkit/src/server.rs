//! A server that has not started yet.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::TcpListener;

use crate::fault::{End, Kind};
use crate::log::{Log, Origin, Seen};
use crate::protocol::World;
use crate::wire::{Lines, Place, Site, Style, stdio};
use crate::{Fault, Running, Script, TransportKind};

/// The capacity of a pipe in each direction, in bytes.
const PIPE: usize = 64 << 10;

/// A server to start: a [`Script`], an optional [`Fault`], and a log.
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
    fault: Option<Fault>,
    log: Log,
    port: u16,
}

/// The reason why a server did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// No port could be opened on the loopback address.
    Listen(io::Error),
    /// The fault does not apply to this kind of connection.
    Fault {
        /// The fault.
        fault: Fault,
        /// The kind of connection.
        shape: TransportKind,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(_) => f.write_str("cannot listen on 127.0.0.1"),
            Self::Fault { fault, shape } => {
                write!(f, "a server over {shape} cannot have the fault {fault}")
            }
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen(source) => Some(source),
            Self::Fault { .. } => None,
        }
    }
}

impl Server {
    /// Creates a well-behaved server with this script.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self {
            script,
            fault: None,
            log: Log::new(),
            port: 0,
        }
    }

    /// Sets the server's fault.
    #[must_use]
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Sets the log.
    #[must_use]
    pub fn with_log(mut self, log: Log) -> Self {
        self.log = log;
        self
    }

    /// Listens on this port instead of a free one.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Serves Streamable HTTP on a free port of 127.0.0.1.
    pub async fn start_http(self) -> Result<Running, StartError> {
        self.start(TransportKind::Http).await
    }

    /// Serves HTTP+SSE of 2024-11-05 on a free port of 127.0.0.1.
    pub async fn start_sse(self) -> Result<Running, StartError> {
        self.start(TransportKind::Sse).await
    }

    async fn start(self, shape: TransportKind) -> Result<Running, StartError> {
        let port = self.port;
        let world = self.world(shape)?;
        let listener = listen(port).await?;
        let second = listen(0).await?;
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

    fn world(self, shape: TransportKind) -> Result<Arc<World>, StartError> {
        match self.fault {
            Some(fault) if !fault.fits(shape) => Err(StartError::Fault { fault, shape }),
            fault => Ok(Arc::new(World::new(self.script, self.log, fault))),
        }
    }

    /// Serves lines over an in-memory pipe; returns the client's end of the stream.
    ///
    /// Must be called inside a tokio runtime.
    pub fn pipe(self) -> Result<(DuplexStream, Running), StartError> {
        let world = self.world(TransportKind::Stdio)?;
        let (client, server) = tokio::io::duplex(PIPE);
        let (reader, writer) = tokio::io::split(server);
        let serve = serve_lines(Arc::clone(&world), reader, writer, Place::Memory);
        let task = tokio::spawn(async move {
            serve.await;
        });
        let running = Running {
            world,
            sites: Vec::new(),
            tasks: vec![task],
        };
        Ok((client, running))
    }

    /// Serves lines on this process's standard input and output until the client closes.
    ///
    /// Returns the status that the process should exit with.
    pub async fn serve_stdio(self) -> Result<i32, StartError> {
        let world = self.world(TransportKind::Stdio)?;
        world.log.record(Seen::Started {
            pid: std::process::id(),
            environment: environment(),
        });
        let ignore = Arc::new(AtomicBool::new(false));
        let (reader, writer) = stdio::streams();
        let serve = serve_lines(
            Arc::clone(&world),
            reader,
            writer,
            Place::Process(Arc::clone(&ignore)),
        );
        let killed = async {
            loop {
                let name = stdio::terminated().await.to_owned();
                world.log.record(Seen::Signal { name });
                if !ignore.load(Ordering::Relaxed) {
                    return;
                }
            }
        };
        Ok(tokio::select! {
            end = serve => match end {
                End::Closed => 0,
                End::Exit(status) => status,
            },
            () = killed => 128 + 15,
        })
    }
}

fn environment() -> Vec<String> {
    let mut names: Vec<String> = std::env::vars_os()
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

async fn serve_lines<R, W>(world: Arc<World>, reader: R, writer: W, place: Place) -> End
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (style, life) = match world.fault_kind() {
        Some(Kind::Lines(style, life)) => (style, Some(life)),
        _ => (Style::PLAIN, None),
    };
    let (mut lines, write) = Lines::new(&world, reader, writer, style, place);
    let write = tokio::spawn(write);
    let serve = async {
        let end = match life {
            Some(life) => life(&mut lines).await,
            None => lines.serve().await.map(|()| End::Closed),
        };
        // Completed responses are still written; running requests are not waited for.
        if let Ok(End::Closed) = end {
            lines.out.flush().await;
        }
        lines.session.cancel_all();
        // The client disconnected: there is no one to answer.
        end.unwrap_or(End::Closed)
    };
    let end = tokio::select! {
        end = serve => end,
        () = world.stopped() => End::Closed,
        status = world.exited() => End::Exit(status),
    };
    write.abort();
    end
}

impl Default for Server {
    fn default() -> Self {
        Self::new(Script::standard())
    }
}

async fn listen(port: u16) -> Result<TcpListener, StartError> {
    TcpListener::bind(("127.0.0.1", port))
        .await
        .map_err(StartError::Listen)
}
