//! Finding out how a server wants to be spoken to, and beginning.

use std::sync::Arc;

use mcp_jsonrpc::model::{Discover, DiscoverResult, Initialize};
use mcp_jsonrpc::{ErrorCode, Method, Revision};
use mcp_transport::{Connect, Shape, TransportError};
use tokio::runtime::Handle;

use crate::call::Miss;
use crate::connect_error::ConnectError;
use crate::dialect::EraMode;
use crate::dialect::memory::Era;
use crate::dialect::verdict::{Finding, Verdict, judge};
use crate::handshake::{Offer, Refusal, finding};
use crate::link::Link;
use crate::settings::Settings;

/// Connects, all within one deadline. A connection that does not come to anything is gone when
/// this returns, and soon after this is dropped.
pub(crate) async fn connect(settings: &Arc<Settings>) -> Result<Arc<Link>, ConnectError> {
    let mut ladder = Ladder {
        settings,
        link: None,
        phase: "connecting",
        runtime: Handle::current(),
    };
    let limit = settings.limits.connect_time();
    let outcome = tokio::time::timeout(limit, ladder.climb()).await;
    let error = match outcome {
        Ok(Ok(link)) => {
            ladder.link = None;
            return Ok(link);
        }
        Ok(Err(error)) => error,
        Err(_) => ConnectError::Timeout {
            server: Arc::clone(&settings.name),
            limit,
            phase: ladder.phase,
        },
    };
    ladder.leave().await;
    Err(error)
}

/// What a connection begins with, and whether there is a second try.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Plan {
    DiscoverOnly(Revision),
    DiscoverFirst,
    InitializeOnly(Option<Revision>),
    InitializeFirst,
}

impl Plan {
    fn of(mode: EraMode, shape: Shape, known: Option<Era>) -> Self {
        match (mode, shape, known) {
            (EraMode::Pinned(revision), ..) if revision.is_modern() => Self::DiscoverOnly(revision),
            (EraMode::Pinned(revision), ..) => Self::InitializeOnly(Some(revision)),
            (EraMode::Legacy, ..) | (_, Shape::LegacySse, _) => Self::InitializeOnly(None),
            (_, _, Some(Era::Legacy)) => Self::InitializeFirst,
            (_, _, Some(Era::Modern)) | (EraMode::PreferModern, ..) => Self::DiscoverFirst,
            (EraMode::Auto, Shape::Pipe, None) => Self::InitializeFirst,
            (EraMode::Auto, ..) => Self::DiscoverFirst,
        }
    }
}

struct Ladder<'a> {
    settings: &'a Arc<Settings>,
    /// The connection tried at present.
    link: Option<Arc<Link>>,
    /// What is being waited for, should it take too long.
    phase: &'static str,
    runtime: Handle,
}

impl Drop for Ladder<'_> {
    /// Whoever gives connecting up leaves no connection behind.
    fn drop(&mut self) {
        if let Some(link) = self.link.take() {
            self.runtime.spawn(async move { link.close().await });
        }
    }
}

impl Ladder<'_> {
    async fn climb(&mut self) -> Result<Arc<Link>, ConnectError> {
        let connect = Arc::clone(&self.settings.connect);
        let first = match self.try_on(&connect).await {
            Ok(link) => return Ok(link),
            Err(error) => error,
        };
        let Some(other) = connect.fallback().filter(|_| is_wrong_transport(&first)) else {
            return Err(first);
        };
        let second = self.try_on(&other).await;
        second.map_err(|second| ConnectError::Neither {
            first: Box::new(first),
            second: Box::new(second),
        })
    }

    async fn try_on(&mut self, connect: &Arc<dyn Connect>) -> Result<Arc<Link>, ConnectError> {
        let (memory, target) = (&self.settings.memory, connect.target());
        let plan = Plan::of(self.settings.mode, connect.shape(), memory.recall(&target));
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
            Ok(link) => {
                let modern = link.session().dialect.is_modern();
                memory.learn(&target, if modern { Era::Modern } else { Era::Legacy });
                Ok(link)
            }
            Err(failed) => {
                memory.forget(&target);
                Err(failed.into_error(&self.settings.name))
            }
        }
    }

    /// `initialize`, unless the server turns out to be modern after all.
    async fn initialize_first(&mut self, connect: &Arc<dyn Connect>) -> Result<Arc<Link>, Failed> {
        let failed = match self.initialize(connect, newest()).await {
            Ok(link) => return Ok(link),
            Err(failed) => failed,
        };
        if !failed.may_be_modern() {
            return Err(failed);
        }
        match self.discover(connect, Revision::LATEST).await {
            Ok(link) => Ok(link),
            // A version that does not match says more than the refusal of `initialize`.
            Err(Failed::Version(offered)) => Err(Failed::Version(offered)),
            Err(_) => Err(failed),
        }
    }

    /// `server/discover`, and by its outcome what follows.
    async fn discover_first(&mut self, connect: &Arc<dyn Connect>) -> Result<Arc<Link>, Failed> {
        match self.probe(connect, Revision::LATEST).await? {
            Probed::Modern(link) => Ok(link),
            Probed::Not(Verdict::Incompatible(offered), _) => Err(Failed::Version(offered)),
            Probed::Not(Verdict::Legacy, _) => self.initialize(connect, newest()).await,
            Probed::Not(Verdict::Respawn, _) => {
                self.leave().await;
                self.initialize(connect, newest()).await
            }
            Probed::Not(_, miss) => Err(Failed::Miss(Discover::NAME, miss)),
        }
    }

    /// `server/discover`, and nothing else.
    async fn discover(
        &mut self,
        connect: &Arc<dyn Connect>,
        revision: Revision,
    ) -> Result<Arc<Link>, Failed> {
        match self.probe(connect, revision).await? {
            Probed::Modern(link) => Ok(link),
            Probed::Not(Verdict::Incompatible(offered), _) => Err(Failed::Version(offered)),
            Probed::Not(_, miss) => Err(Failed::Miss(Discover::NAME, miss)),
        }
    }

    /// Asks `server/discover`; once more, should the server refuse the first one's version.
    async fn probe(
        &mut self,
        connect: &Arc<dyn Connect>,
        revision: Revision,
    ) -> Result<Probed, Failed> {
        let link = self.link(connect).await?;
        self.phase = "waiting for the answer to server/discover";
        let limits = &self.settings.limits;
        let limit = match link.shape {
            Shape::Pipe => limits.probe_time(),
            _ => limits.connect_time(),
        };
        let mut asked = link.discover(revision, limit).await;
        let mut verdict = judge(link.shape, &found(&asked));
        if let Verdict::Retry(mutual) = verdict {
            asked = link.discover(mutual, limit).await;
            verdict = judge(link.shape, &found(&asked));
        }
        match (verdict, asked) {
            (Verdict::Modern(revision), Ok(result)) => {
                link.adopt(revision, result)
                    .map_err(|miss| Failed::Miss(Discover::NAME, miss))?;
                Ok(Probed::Modern(link))
            }
            (verdict, Ok(result)) => {
                let detail = format!("it offers {}", result.supported_versions.join(", "));
                Ok(Probed::Not(verdict, Miss::Invalid(detail)))
            }
            (verdict, Err(miss)) => Ok(Probed::Not(verdict, miss)),
        }
    }

    async fn initialize(
        &mut self,
        connect: &Arc<dyn Connect>,
        offer: Offer,
    ) -> Result<Arc<Link>, Failed> {
        let link = self.link(connect).await?;
        self.phase = "waiting for the answer to initialize";
        match link.initialize(offer).await {
            Ok(()) => Ok(link),
            Err(Refusal::Miss(miss)) => Err(Failed::Miss(Initialize::NAME, miss)),
            Err(Refusal::Version(offered)) => Err(Failed::Version(offered)),
        }
    }

    /// The connection at present, or a fresh one.
    async fn link(&mut self, connect: &Arc<dyn Connect>) -> Result<Arc<Link>, Failed> {
        match self.link.take() {
            Some(link) if !link.is_over() && link.shape == connect.shape() => {
                self.link = Some(Arc::clone(&link));
                return Ok(link);
            }
            other => self.link = other,
        }
        self.leave().await;
        self.phase = "connecting";
        let link = Link::open(self.settings, connect.as_ref())
            .await
            .map_err(Failed::Connect)?;
        self.link = Some(Arc::clone(&link));
        Ok(link)
    }

    /// Ends the connection at present.
    async fn leave(&mut self) {
        if let Some(link) = &self.link {
            link.close().await;
        }
        self.link = None;
    }
}

fn newest() -> Offer {
    Offer::AtBest(Revision::LATEST_LEGACY)
}

fn found(asked: &Result<DiscoverResult, Miss>) -> Finding {
    match asked {
        Ok(result) => Finding::Discovered {
            supported: result.supported_versions.clone(),
        },
        Err(miss) => finding(miss),
    }
}

/// What became of a probe.
enum Probed {
    Modern(Arc<Link>),
    Not(Verdict, Miss),
}

/// Why a try failed.
enum Failed {
    Connect(TransportError),
    Miss(&'static str, Miss),
    Version(Vec<String>),
}

impl Failed {
    /// Whether the server's refusal of `initialize` could mean that it knows none.
    fn may_be_modern(&self) -> bool {
        match self {
            Self::Miss(_, Miss::Peer(error)) => matches!(
                error.code,
                ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
                    | ErrorCode::HEADER_MISMATCH
                    | ErrorCode::MISSING_CLIENT_CAPABILITY
                    | ErrorCode::METHOD_NOT_FOUND
                    | ErrorCode::INVALID_PARAMS
            ),
            Self::Miss(..) | Self::Connect(_) | Self::Version(_) => false,
        }
    }

    fn into_error(self, server: &Arc<str>) -> ConnectError {
        let server = Arc::clone(server);
        match self {
            Self::Connect(error) => unreachable_server(server, Arc::new(error)),
            Self::Version(offered) => ConnectError::Version { server, offered },
            Self::Miss(method, miss) => match miss {
                Miss::Peer(error) => ConnectError::Refused {
                    server,
                    method,
                    error: Box::new(error),
                },
                Miss::Lost { error, .. } => unreachable_server(server, error),
                Miss::Timeout { limit, .. } => ConnectError::Timeout {
                    server,
                    limit,
                    phase: "waiting for its first answer",
                },
                Miss::Invalid(detail) => ConnectError::InvalidReply {
                    server,
                    method,
                    detail,
                },
                Miss::Closed => unreachable_server(server, Arc::new(TransportError::Closed)),
                Miss::Encode(error) => ConnectError::InvalidReply {
                    server,
                    method,
                    detail: error.to_string(),
                },
                Miss::NotAnObject => ConnectError::InvalidReply {
                    server,
                    method,
                    detail: "no object".to_owned(),
                },
                Miss::Cancelled => ConnectError::InvalidReply {
                    server,
                    method,
                    detail: "the server cancelled it".to_owned(),
                },
            },
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

/// Whether a failure says that the server does not speak this transport at all, so that another
/// one is worth a try.
fn is_wrong_transport(error: &ConnectError) -> bool {
    match error {
        ConnectError::Transport { source, .. } => match source.as_ref() {
            TransportError::Http(failure) => {
                matches!(failure.status, 400..=499) && !matches!(failure.status, 408 | 429)
            }
            TransportError::Malformed { .. } => true,
            _ => false,
        },
        _ => false,
    }
}
