//! The handshake: `initialize`, or `server/discover`.

use std::time::Duration;

use mcp_jsonrpc::model::{
    Discover, DiscoverResult, EmptyParams, Implementation, Initialize, InitializeParams,
    InitializeResult, Initialized, ServerCapabilities, UnsupportedVersionData,
};
use mcp_jsonrpc::{
    Body, Method, NotificationMethod, RawMap, RawRef, Reply, Revision, encode_notification,
};
use mcp_transport::{Outgoing, TransportError};

use crate::call::exchange::{Attempt, RequestFailure};
use crate::connection::Connection;
use crate::connection::clock::{Deadlines, TimeoutKind};
use crate::connection::session::{ServerDetails, Session};
use crate::dialect::verdict::Finding;
use crate::dialect::{Dialect, Extras};

/// The reason why a handshake failed.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The request failed.
    RequestFailure(RequestFailure),
    /// The server offers other versions.
    Version(Vec<String>),
}

/// The revision offered to a legacy server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Offer {
    /// This one, or any other legacy revision the server prefers.
    AtBest(Revision),
    /// Only this one.
    Only(Revision),
}

impl Connection {
    /// Performs the legacy handshake.
    pub(crate) async fn initialize(&self, offer: Offer) -> Result<(), Refusal> {
        let settings = &self.settings;
        let (Offer::AtBest(revision) | Offer::Only(revision)) = offer;
        let params = InitializeParams::new(
            revision.as_str(),
            settings.legacy_capabilities(),
            settings.info.clone(),
        );
        let limit = settings.limits.connect_timeout();
        let attempt = self.handshake_attempt(Initialize::NAME, &params, limit);
        let exchanged = self
            .exchange(&Dialect::handshake(), &attempt, &mut None)
            .await;
        let body = exchanged.map_err(|failure| Refusal::RequestFailure(self.explain(failure)))?;
        let result = read_initialize(body.result().map_err(Refusal::RequestFailure)?)
            .map_err(|detail| Refusal::RequestFailure(RequestFailure::Invalid(detail)))?;
        let agreed = result.protocol_version.parse::<Revision>().ok();
        let fits = |agreed: &Revision| match offer {
            Offer::AtBest(_) => !agreed.is_modern(),
            Offer::Only(revision) => *agreed == revision,
        };
        let Some(agreed) = agreed.filter(fits) else {
            return Err(Refusal::Version(vec![result.protocol_version]));
        };
        let session = Session {
            dialect: Dialect::legacy(agreed),
            facts: ServerDetails {
                info: Some(result.server_info),
                capabilities: result.capabilities,
                instructions: result.instructions,
                revision: Some(agreed),
            },
            number: self.session().number + 1,
        };
        self.set_session(session);
        self.initialized(agreed)
            .await
            .map_err(Refusal::RequestFailure)
    }

    /// Sends `notifications/initialized`.
    async fn initialized(&self, revision: Revision) -> Result<(), RequestFailure> {
        let mut body = Vec::new();
        encode_notification(&mut body, Initialized::NAME, &())
            .map_err(|error| RequestFailure::Encode(error.into()))?;
        let message = Outgoing::notification(Initialized::NAME, body).with_revision(revision);
        let limit = self.settings.limits.connect_timeout();
        match self.send_within(limit, message).await {
            Ok(()) => Ok(()),
            // A notification has no response; a server that sends one has still received it.
            Err(failure) if matches!(failure.error, TransportError::Http(_)) => {
                tracing::debug!(server = %self.settings.name, error = %failure, "initialized");
                Ok(())
            }
            Err(failure) => Err(RequestFailure::Lost {
                error: failure.error.into(),
                delivery: failure.delivery,
            }),
        }
    }

    /// Repeats the handshake after the server has lost the session, unless another call has just done so. Takes at most
    /// as long as connecting, including the wait for that other call.
    pub(crate) async fn initialize_again(&self, session: &Session) -> Result<(), Refusal> {
        let limit = self.settings.limits.connect_timeout();
        let again = self.initialize_in_turn(session);
        tokio::time::timeout(limit, again)
            .await
            .unwrap_or_else(|_| {
                Err(Refusal::RequestFailure(RequestFailure::Timeout {
                    limit,
                    kind: TimeoutKind::Deadline,
                    trouble: None,
                }))
            })
    }

    async fn initialize_in_turn(&self, session: &Session) -> Result<(), Refusal> {
        let Ok(_turn) = self.gate.acquire().await else {
            return Err(Refusal::RequestFailure(RequestFailure::Closed));
        };
        if self.session().number != session.number {
            return Ok(());
        }
        let revision = session
            .dialect
            .revision()
            .unwrap_or(Revision::LATEST_LEGACY);
        self.initialize(Offer::AtBest(revision)).await
    }

    /// Sends `server/discover` in the dialect of `revision`.
    pub(crate) async fn discover(
        &self,
        revision: Revision,
        limit: Duration,
    ) -> Result<DiscoverResult, RequestFailure> {
        let dialect = self.modern_dialect(revision)?;
        let params = EmptyParams::default();
        let attempt = self.handshake_attempt(Discover::NAME, &params, limit);
        let exchanged = self.exchange(&dialect, &attempt, &mut None).await;
        let body = exchanged.map_err(|failure| self.explain(failure))?;
        match Reply::read(body.result()?) {
            Ok(Reply::Complete(result)) => Ok(result),
            Ok(_) => Err(RequestFailure::Invalid(
                "a result that is not complete".to_owned(),
            )),
            Err(error) => Err(RequestFailure::Invalid(error.to_string())),
        }
    }

    /// Switches to `revision`, with the server's declarations.
    pub(crate) fn adopt(
        &self,
        revision: Revision,
        result: DiscoverResult,
    ) -> Result<(), RequestFailure> {
        let dialect = self.modern_dialect(revision)?;
        // In `_meta`, or where earlier drafts had it.
        let info = result.meta.as_ref().and_then(|meta| meta.server_info());
        let info = info.or_else(|| result.extra.read_as::<Implementation>("serverInfo"));
        let facts = ServerDetails {
            info,
            capabilities: result.capabilities,
            instructions: result.instructions,
            revision: Some(revision),
        };
        self.set_session(Session {
            dialect,
            facts,
            number: self.session().number + 1,
        });
        Ok(())
    }

    fn modern_dialect(&self, revision: Revision) -> Result<Dialect, RequestFailure> {
        let settings = &self.settings;
        Dialect::modern(revision, &settings.info, &settings.modern_capabilities())
            .map_err(|error| RequestFailure::Invalid(error.to_string()))
    }

    fn handshake_attempt<'a>(
        &self,
        method: &'a str,
        params: &'a dyn crate::dialect::Params,
        limit: Duration,
    ) -> Attempt<'a> {
        Attempt {
            method,
            params,
            extras: Extras::default(),
            name: None,
            headers: Vec::new(),
            deadlines: Deadlines {
                idle: limit,
                total: limit,
            },
            on_progress: None,
            on_log: None,
            on_acknowledged: None,
            noted_id: None,
        }
    }
}

/// What the failure of a probe implies about the server's era.
pub(crate) fn finding(failure: &RequestFailure) -> Finding {
    match failure {
        RequestFailure::Peer(error) => Finding::Refused {
            code: error.code,
            supported: error
                .data_as::<UnsupportedVersionData>()
                .map(|data| data.supported),
        },
        RequestFailure::Timeout { .. } => Finding::Silence,
        RequestFailure::Invalid(_) | RequestFailure::Cancelled => Finding::Nonsense,
        RequestFailure::Closed => Finding::Gone,
        RequestFailure::Encode(_) | RequestFailure::NotAnObject => Finding::Unreachable,
        RequestFailure::Lost { error, .. } => match error.as_ref() {
            TransportError::Http(failure) => Finding::Status(failure.status),
            TransportError::Unauthorized { .. } | TransportError::Credentials { .. } => {
                Finding::Unauthorized
            }
            TransportError::Exited(_) | TransportError::Closed => Finding::Gone,
            TransportError::Timeout { .. } => Finding::Silence,
            TransportError::NoResponse { .. } | TransportError::Malformed { .. } => {
                Finding::Nonsense
            }
            _ => Finding::Unreachable,
        },
    }
}

/// Reads the response to `initialize`. Only the version must be valid; a server with an invalid description or invalid
/// capabilities is still usable.
fn read_initialize(raw: RawRef<'_>) -> Result<InitializeResult, String> {
    let strict = match InitializeResult::read(raw) {
        Ok(result) => return Ok(result),
        Err(strict) => strict,
    };
    let members = RawMap::read(raw).map_err(|error| error.to_string())?;
    let Some(version) = members.read_as::<String>("protocolVersion") else {
        return Err(strict.to_string());
    };
    let info = members
        .read_as("serverInfo")
        .unwrap_or_else(|| Implementation::new("unknown", "unknown"));
    let mut result = InitializeResult::new(version, read_capabilities(&members), info);
    result.instructions = members.read_as("instructions");
    Ok(result)
}

/// Reads each capability separately, so that an invalid one does not hide the others. One that is present but not an
/// object counts as declared, unless it is `false` or `null`.
fn read_capabilities(members: &RawMap) -> ServerCapabilities {
    let declared: RawMap = members.read_as("capabilities").unwrap_or_default();
    let mut good = RawMap::new();
    for (name, value) in declared.iter() {
        let value = match value.get() {
            object if object.starts_with('{') => value.clone(),
            "false" | "null" => continue,
            _ => match mcp_jsonrpc::RawJson::from_text("{}".to_owned()) {
                Ok(empty) => empty,
                Err(_) => continue,
            },
        };
        let mut alone = RawMap::new();
        alone.insert(name, value.clone());
        let readable = mcp_jsonrpc::RawJson::from_serialize(&alone)
            .is_ok_and(|alone| alone.parse::<ServerCapabilities>().is_ok());
        if readable {
            good.insert(name, value);
        }
    }
    mcp_jsonrpc::RawJson::from_serialize(&good)
        .and_then(|good| good.parse())
        .unwrap_or_default()
}
