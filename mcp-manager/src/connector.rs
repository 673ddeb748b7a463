//! The connector: the extension point for reaching configured servers, and its default implementation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use mcp_client::{ClientBuilder, EraMemory};
use mcp_config::{Endpoint, ServerConfig, ServerName};
use mcp_transport::{
    AuthProvider, BoxError, HttpConfig, LocalSpawner, ProcessStatus, ProcessTracker, SpawnRequest,
    SpawnedProcess, Spawner, StdioConnect, StdioLimits, Stop, TransportError,
};
use parking_lot::Mutex;

/// Turns configurations into client builders: the extension point for credentials, sandboxes and the host's own
/// transports.
#[async_trait]
pub trait Connector: fmt::Debug + Send + Sync {
    /// Returns a builder for a client of this server. Called for every attempt. The manager sets its name, host, limits
    /// and handlers.
    ///
    /// # Errors
    ///
    /// If the configuration is invalid: trying again will not help.
    fn builder(&self, config: &ServerConfig) -> Result<ClientBuilder, BoxError>;

    /// Waits, after the server's connection was closed, until every process started for it has ended, and returns the
    /// programs that did not exit by themselves and had to be killed.
    async fn ended(&self, server: &ServerName) -> Vec<String> {
        let _ = server;
        Vec::new()
    }
}

/// Supplies the credentials for a server, if there are any.
type AuthSource = Arc<dyn Fn(&ServerConfig) -> Option<Arc<dyn AuthProvider>> + Send + Sync>;

/// Changes how remote servers are reached.
type HttpSettings =
    Arc<dyn Fn(&ServerConfig, HttpConfig) -> Result<HttpConfig, BoxError> + Send + Sync>;

/// Starts programs on this machine, and connects to remote servers over HTTP (or the older HTTP+SSE). A clone has the
/// same settings and does not know the processes this one has started.
pub struct DefaultConnector {
    spawner: Arc<dyn Spawner>,
    tracker: ProcessTracker,
    stdio_limits: StdioLimits,
    auth: Option<AuthSource>,
    http: Option<HttpSettings>,
    eras: EraMemory,
    started: Arc<Mutex<BTreeMap<ServerName, Vec<Arc<Watched>>>>>,
}

impl DefaultConnector {
    /// Creates a connector without credentials other than the configured headers.
    pub fn new() -> Self {
        Self {
            spawner: Arc::new(LocalSpawner::new()),
            tracker: ProcessTracker::global(),
            stdio_limits: StdioLimits::default(),
            auth: None,
            http: None,
            eras: EraMemory::new(),
            started: Arc::default(),
        }
    }

    /// Starts programs with this spawner: in a sandbox, or elsewhere.
    #[must_use]
    pub fn with_spawner(mut self, spawner: Arc<dyn Spawner>) -> Self {
        self.spawner = spawner;
        self
    }

    /// Registers processes with this tracker instead of the program's own.
    #[must_use]
    pub fn with_tracker(mut self, tracker: ProcessTracker) -> Self {
        self.tracker = tracker;
        self
    }

    /// Sets the limits of connections to programs.
    #[must_use]
    pub fn with_stdio_limits(mut self, limits: StdioLimits) -> Self {
        self.stdio_limits = limits;
        self
    }

    /// Calls `auth` for the credentials of each remote server.
    #[must_use]
    pub fn with_auth(
        mut self,
        auth: impl Fn(&ServerConfig) -> Option<Arc<dyn AuthProvider>> + Send + Sync + 'static,
    ) -> Self {
        self.auth = Some(Arc::new(auth));
        self
    }

    /// Lets `http` change how each remote server is reached, such as by an HTTP client of your own, or
    /// refuse it.
    #[must_use]
    pub fn with_http(
        mut self,
        http: impl Fn(&ServerConfig, HttpConfig) -> Result<HttpConfig, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.http = Some(Arc::new(http));
        self
    }
}

#[async_trait]
impl Connector for DefaultConnector {
    fn builder(&self, config: &ServerConfig) -> Result<ClientBuilder, BoxError> {
        let builder = match config.endpoint() {
            Endpoint::Stdio(endpoint) => {
                let watcher = Watcher {
                    server: config.name().clone(),
                    inner: Arc::clone(&self.spawner),
                    started: Arc::clone(&self.started),
                };
                let connect = StdioConnect::new(endpoint.clone(), Arc::new(watcher))
                    .with_limits(self.stdio_limits)
                    .with_tracker(self.tracker.clone());
                ClientBuilder::new(Arc::new(connect))
            }
            Endpoint::Remote(endpoint) => {
                let mut http = endpoint.to_http()?;
                if let Some(auth) = self.auth.as_ref().and_then(|auth| auth(config)) {
                    http = http.with_auth(auth);
                }
                if let Some(settings) = &self.http {
                    http = settings(config, http)?;
                }
                ClientBuilder::new(http.into_connect()?)
            }
            _ => return Err("this kind of endpoint has no transport".into()),
        };
        Ok(builder.era_memory(self.eras.clone()).tasks())
    }

    async fn ended(&self, server: &ServerName) -> Vec<String> {
        let over: Vec<Arc<Watched>> = {
            let mut started = self.started.lock();
            let Some(all) = started.get_mut(server) else {
                return Vec::new();
            };
            // Others may be running: a server can be tested while it runs.
            let (over, at_work) = std::mem::take(all).into_iter().partition(|it| it.is_over());
            *all = at_work;
            if all.is_empty() {
                started.remove(server);
            }
            over
        };
        let mut killed = Vec::new();
        for process in over {
            process.inner.gone().await;
            if process.killed.load(Ordering::Relaxed) {
                killed.push(process.program.clone());
            }
        }
        killed
    }
}

impl Clone for DefaultConnector {
    fn clone(&self) -> Self {
        Self {
            spawner: Arc::clone(&self.spawner),
            tracker: self.tracker.clone(),
            stdio_limits: self.stdio_limits,
            auth: self.auth.clone(),
            http: self.http.clone(),
            eras: self.eras.clone(),
            started: Arc::default(),
        }
    }
}

impl Default for DefaultConnector {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for DefaultConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultConnector")
            .field("spawner", &self.spawner)
            .field("auth", &self.auth.is_some())
            .finish_non_exhaustive()
    }
}

/// Starts programs with another spawner and remembers them.
#[derive(Debug)]
struct Watcher {
    server: ServerName,
    inner: Arc<dyn Spawner>,
    started: Arc<Mutex<BTreeMap<ServerName, Vec<Arc<Watched>>>>>,
}

/// A process and its fate.
#[derive(Debug)]
struct Watched {
    program: String,
    inner: Arc<dyn SpawnedProcess>,
    gone: AtomicBool,
    /// It was asked to exit.
    stopped: AtomicBool,
    /// It was killed before it had exited.
    killed: AtomicBool,
}

impl Watched {
    /// Whether its connection has ended: a closed one has either waited for the end or forced it.
    fn is_over(&self) -> bool {
        self.gone.load(Ordering::Relaxed) || self.stopped.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Spawner for Watcher {
    async fn spawn(
        &self,
        request: SpawnRequest,
    ) -> Result<Arc<dyn SpawnedProcess>, TransportError> {
        let program = request.program.clone();
        let inner = self.inner.spawn(request).await?;
        let process = Arc::new(Watched {
            program,
            inner,
            gone: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            killed: AtomicBool::new(false),
        });
        let mut started = self.started.lock();
        let started = started.entry(self.server.clone()).or_default();
        // Processes of earlier connections, which exited by themselves or were waited for.
        started.retain(|earlier| !earlier.gone.load(Ordering::Relaxed));
        started.push(Arc::clone(&process));
        Ok(process)
    }
}

#[async_trait]
impl SpawnedProcess for Watched {
    fn id(&self) -> Option<u32> {
        self.inner.id()
    }

    async fn exited(&self) -> ProcessStatus {
        self.inner.exited().await
    }

    async fn gone(&self) {
        self.inner.gone().await;
        self.gone.store(true, Ordering::Relaxed);
    }

    fn stop(&self, how: Stop) {
        self.stopped.store(true, Ordering::Relaxed);
        // Dropping a transport kills, too; by then a process that was waited for has exited.
        if how == Stop::Kill && !self.gone.load(Ordering::Relaxed) {
            self.killed.store(true, Ordering::Relaxed);
        }
        self.inner.stop(how);
    }
}
