//! Negotiation of the transport and the era of a server.

use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::model::{Discover, DiscoverResult, Initialize};
use mcp_jsonrpc::{ErrorCode, Method, Revision};
use mcp_transport::{Connect, TransportError, TransportKind};
use tokio::runtime::Handle;

use crate::call::exchange::RequestFailure;
use crate::client::settings::Settings;
use crate::connect::error::ConnectError;
use crate::connect::handshake::{Offer, Refusal, finding};
use crate::connection::Connection;
use crate::dialect::EraMode;
use crate::dialect::era_memory::Era;
use crate::dialect::verdict::{Finding, Verdict, judge};

/// Connects within one deadline. A failed connection is closed when this returns, and soon after this is dropped.
pub(crate) async fn connect(settings: &Arc<Settings>) -> Result<Arc<Connection>, ConnectError> {
    let mut negotiation = Negotiation {
        settings,
        connection: None,
        earlier: Vec::new(),
        phase: CONNECTING,
        runtime: Handle::current(),
    };
    let limit = settings.limits.connect_timeout();
    let outcome = tokio::time::timeout(limit, negotiation.run()).await;
    let error = match outcome {
        Ok(Ok(connection)) => {
            negotiation.connection = None;
            return Ok(connection);
        }
        Ok(Err(error)) => error,
        Err(_) => {
            let (server, phase) = (Arc::clone(&settings.name), negotiation.phase);
            negotiation.after_all(ConnectError::Timeout {
                server,
                limit,
                phase,
            })
        }
    };
    negotiation.leave().await;
    Err(error)
}

const CONNECTING: &str = "connecting";
const INITIALIZING: &str = "waiting for the response to initialize";
const DISCOVERING: &str = "waiting for the response to server/discover";

/// The handshake to start with, and whether to try the other one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Plan {
    DiscoverOnly(Revision),
    DiscoverFirst,
    InitializeOnly(Option<Revision>),
    InitializeFirst,
}

impl Plan {
    fn of(mode: EraMode, shape: TransportKind, known: Option<Era>) -> Self {
        match (mode, shape, known) {
            (EraMode::Pinned(revision), ..) if revision.is_modern() => Self::DiscoverOnly(revision),
            (EraMode::Pinned(revision), ..) => Self::InitializeOnly(Some(revision)),
            (EraMode::Legacy, ..) | (_, TransportKind::LegacySse, _) => Self::InitializeOnly(None),
            (_, _, Some(Era::Legacy)) => Self::InitializeFirst,
            (_, _, Some(Era::Modern)) | (EraMode::PreferModern, ..) => Self::DiscoverFirst,
            (EraMode::Auto, TransportKind::Pipe, None) => Self::InitializeFirst,
            (EraMode::Auto, ..) => Self::DiscoverFirst,
        }
    }
}

struct Negotiation<'a> {
    settings: &'a Arc<Settings>,
    /// The current connection.
    connection: Option<Arc<Connection>>,
    /// The failures before the current step, reported if that fails, too.
    earlier: Vec<Step>,
    /// The current phase, for timeouts.
    phase: &'static str,
    runtime: Handle,
}

/// A failed step.
enum Step {
    /// A handshake of one era.
    Era(ConnectError),
    /// A whole transport.
    Transport(ConnectError),
}

impl Drop for Negotiation<'_> {
    /// Closes the current connection: an abandoned negotiation leaves none behind.
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.runtime.spawn(async move { connection.close().await });
        }
    }
}

impl Negotiation<'_> {
    async fn run(&mut self) -> Result<Arc<Connection>, ConnectError> {
        let connect = Arc::clone(&self.settings.connect);
        let first = match self.try_on(&connect).await {
            Ok(connection) => return Ok(connection),
            Err(error) => error,
        };
        let Some(other) = connect.fallback().filter(|_| is_wrong_transport(&first)) else {
            return Err(first);
        };
        self.earlier.push(Step::Transport(first));
        self.try_on(&other).await
    }

    async fn try_on(
        &mut self,
        connect: &Arc<dyn Connect>,
    ) -> Result<Arc<Connection>, ConnectError> {
        let (memory, target) = (&self.settings.memory, connect.target());
        let plan = Plan::of(self.settings.mode, connect.kind(), memory.recall(&target));
        let begun = match plan {
            Plan::DiscoverOnly(revision) => self.discover(connect, revision).await,
            Plan::DiscoverFirst => self.discover_first(connect).await,
            Plan::InitializeOnly(None) => self.initialize(connect, newest()).await,
            Plan::InitializeOnly(Some(revision)) => {
                self.initialize(connect, Offer::Only(revision)).await
            }
            Plan::InitializeFirst => self.initialize_first(connect).await,
        };
        match begun {
            Ok(connection) => {
                let modern = connection.session().dialect.is_modern();
                memory.learn(&target, if modern { Era::Modern } else { Era::Legacy });
                Ok(connection)
            }
            Err(error) => {
                memory.forget(&target);
                Err(self.after_all(error))
            }
        }
    }

    /// The last error, combined with the earlier ones.
    fn after_all(&mut self, last: ConnectError) -> ConnectError {
        let earlier = std::mem::take(&mut self.earlier);
        earlier.into_iter().rev().fold(last, |second, step| {
            let second = Box::new(second);
            match step {
                Step::Era(first) => ConnectError::NeitherEra {
                    first: Box::new(first),
                    second,
                },
                Step::Transport(first) => ConnectError::Neither {
                    first: Box::new(first),
                    second,
                },
            }
        })
    }

    /// Sends `initialize`; if the server rejects it with any code, sends `server/discover`.
    async fn initialize_first(
        &mut self,
        connect: &Arc<dyn Connect>,
    ) -> Result<Arc<Connection>, ConnectError> {
        let refused = match self.initialize(connect, newest()).await {
            Ok(connection) => return Ok(connection),
            Err(error @ ConnectError::Refused { .. }) => error,
            Err(error) => return Err(error),
        };
        self.earlier.push(Step::Era(refused));
        let error = match self.discover(connect, Revision::LATEST).await {
            Ok(connection) => return Ok(connection),
            Err(error) => error,
        };
        let refused = match self.earlier.pop() {
            Some(Step::Era(refused)) => refused,
            _ => return Err(error),
        };
        match error {
            // A version mismatch is more informative than the rejection of `initialize`.
            ConnectError::Version { .. } => Err(error),
            // It is not modern: only its rejection matters.
            ConnectError::Refused { error, .. } if !is_modern_code(error.code) => Err(refused),
            ConnectError::Transport { source, .. }
                if matches!(*source, TransportError::Http(_)) =>
            {
                Err(refused)
            }
            _ => {
                self.earlier.push(Step::Era(refused));
                Err(error)
            }
        }
    }

    /// Sends `server/discover`, then continues according to its outcome.
    async fn discover_first(
        &mut self,
        connect: &Arc<dyn Connect>,
    ) -> Result<Arc<Connection>, ConnectError> {
        let limits = &self.settings.limits;
        let limit = match connect.kind() {
            // At most half of the time, to leave some for the other era.
            TransportKind::Pipe => limits.probe_timeout().min(limits.connect_timeout() / 2),
            _ => limits.connect_timeout(),
        };
        let (verdict, finding, failure) = match self.probe(connect, Revision::LATEST, limit).await?
        {
            Probed::Modern(connection) => return Ok(connection),
            Probed::Not(verdict, finding, failure) => (verdict, finding, failure),
        };
        let error = self.missed(Discover::NAME, failure);
        match verdict {
            Verdict::Incompatible(offered) => return Err(self.version(offered)),
            Verdict::Legacy | Verdict::Respawn => {}
            _ => return Err(error),
        }
        // A server that rejects `server/discover` is legacy; a silent one, or one with an invalid response, may be a
        // modern server with a problem.
        if matches!(
            finding,
            Finding::Silence | Finding::Gone | Finding::Nonsense
        ) {
            self.earlier.push(Step::Era(error));
        }
        if verdict == Verdict::Respawn {
            self.leave().await;
            // It may be a modern server that is slow to start.
            return self.initialize_first(connect).await;
        }
        self.initialize(connect, newest()).await
    }

    /// Sends `server/discover` only.
    async fn discover(
        &mut self,
        connect: &Arc<dyn Connect>,
        revision: Revision,
    ) -> Result<Arc<Connection>, ConnectError> {
        let limit = self.settings.limits.connect_timeout();
        match self.probe(connect, revision, limit).await? {
            Probed::Modern(connection) => Ok(connection),
            Probed::Not(Verdict::Incompatible(offered), ..) => Err(self.version(offered)),
            Probed::Not(_, _, failure) => Err(self.missed(Discover::NAME, failure)),
        }
    }

    /// Sends `server/discover`, and again if the server rejects the version of the first.
    async fn probe(
        &mut self,
        connect: &Arc<dyn Connect>,
        revision: Revision,
        limit: Duration,
    ) -> Result<Probed, ConnectError> {
        let connection = self.connection(connect).await?;
        self.phase = DISCOVERING;
        let mut asked = connection.discover(revision, limit).await;
        let mut finding = found(&asked);
        let mut verdict = judge(connection.shape, &finding);
        if let Verdict::Retry(mutual) = verdict {
            asked = connection.discover(mutual, limit).await;
            finding = found(&asked);
            verdict = judge(connection.shape, &finding);
        }
        match (verdict, asked) {
            (Verdict::Modern(revision), Ok(result)) => {
                connection
                    .adopt(revision, result)
                    .map_err(|failure| self.missed(Discover::NAME, failure))?;
                Ok(Probed::Modern(connection))
            }
            (verdict, Ok(result)) => {
                let detail = format!("it offers {}", result.supported_versions.join(", "));
                Ok(Probed::Not(
                    verdict,
                    finding,
                    RequestFailure::Invalid(detail),
                ))
            }
            (verdict, Err(failure)) => Ok(Probed::Not(verdict, finding, failure)),
        }
    }

    async fn initialize(
        &mut self,
        connect: &Arc<dyn Connect>,
        offer: Offer,
    ) -> Result<Arc<Connection>, ConnectError> {
        let connection = self.connection(connect).await?;
        self.phase = INITIALIZING;
        match connection.initialize(offer).await {
            Ok(()) => Ok(connection),
            Err(Refusal::RequestFailure(failure)) => Err(self.missed(Initialize::NAME, failure)),
            Err(Refusal::Version(offered)) => Err(self.version(offered)),
        }
    }

    /// The current connection, or a new one.
    async fn connection(
        &mut self,
        connect: &Arc<dyn Connect>,
    ) -> Result<Arc<Connection>, ConnectError> {
        match self.connection.take() {
            Some(connection) if !connection.is_over() && connection.shape == connect.kind() => {
                self.connection = Some(Arc::clone(&connection));
                return Ok(connection);
            }
            other => self.connection = other,
        }
        self.leave().await;
        self.phase = CONNECTING;
        let connection = Connection::open(self.settings, connect.as_ref())
            .await
            .map_err(|error| unreachable_server(self.server(), Arc::new(error)))?;
        self.connection = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Closes the current connection.
    async fn leave(&mut self) {
        if let Some(connection) = &self.connection {
            connection.close().await;
        }
        self.connection = None;
    }
}

fn newest() -> Offer {
    Offer::AtBest(Revision::LATEST_LEGACY)
}

fn found(asked: &Result<DiscoverResult, RequestFailure>) -> Finding {
    match asked {
        Ok(result) => Finding::Discovered {
            supported: result.supported_versions.clone(),
        },
        Err(failure) => finding(failure),
    }
}

/// The outcome of a probe.
enum Probed {
    Modern(Arc<Connection>),
    Not(Verdict, Finding, RequestFailure),
}

/// Whether only modern servers use this code.
fn is_modern_code(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
            | ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_CLIENT_CAPABILITY
    )
}

impl Negotiation<'_> {
    fn server(&self) -> Arc<str> {
        Arc::clone(&self.settings.name)
    }

    fn version(&self, offered: Vec<String>) -> ConnectError {
        let server = self.server();
        ConnectError::Version { server, offered }
    }

    /// The error for a failed request of the handshake.
    fn missed(&self, method: &'static str, failure: RequestFailure) -> ConnectError {
        let server = self.server();
        let detail = match failure {
            RequestFailure::Peer(error) => {
                return ConnectError::Refused {
                    server,
                    method,
                    error: Box::new(error),
                };
            }
            RequestFailure::Lost { error, .. } => return unreachable_server(server, error),
            RequestFailure::Closed => {
                return unreachable_server(server, Arc::new(TransportError::Closed));
            }
            RequestFailure::Timeout { limit, .. } => {
                return ConnectError::Timeout {
                    server,
                    limit,
                    phase: match method {
                        Discover::NAME => DISCOVERING,
                        _ => INITIALIZING,
                    },
                };
            }
            RequestFailure::Invalid(detail) => detail,
            RequestFailure::Encode(error) => error.to_string(),
            RequestFailure::NotAnObject => "no object".to_owned(),
            RequestFailure::Cancelled => "the server cancelled it".to_owned(),
        };
        ConnectError::InvalidReply {
            server,
            method,
            detail,
        }
    }
}

fn unreachable_server(server: Arc<str>, source: Arc<TransportError>) -> ConnectError {
    let refused = match source.as_ref() {
        TransportError::Unauthorized { .. } | TransportError::Credentials { .. } => true,
        TransportError::Http(failure) => matches!(failure.status, 401 | 403),
        _ => false,
    };
    if refused {
        ConnectError::Unauthorized { server, source }
    } else {
        ConnectError::Transport { server, source }
    }
}

/// Whether an error means that the server does not support this transport at all, so that the other one should be
/// tried.
fn is_wrong_transport(error: &ConnectError) -> bool {
    match error {
        ConnectError::Transport { source, .. } => match source.as_ref() {
            TransportError::Http(failure) => {
                matches!(failure.status, 400..=499) && !matches!(failure.status, 408 | 429)
            }
            TransportError::Malformed { .. } => true,
            _ => false,
        },
        ConnectError::NeitherEra { second, .. } => is_wrong_transport(second),
        _ => false,
    }
}
