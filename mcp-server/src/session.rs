//! The state of a legacy session between requests.

pub(crate) mod peer;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use mcp_jsonrpc::model::{InitializeParams, InitializeResult, LoggingLevel};
use mcp_jsonrpc::{RawJson, RequestId, parse_params};
use parking_lot::Mutex;

use crate::dispatch::Reply;
use crate::dispatch::era;
use crate::dispatch::finish::finished;
use crate::dispatch::guarded::caught_now;
use crate::handler::Handler;
use crate::handler::caller::Caller;
use crate::handler::context::{ClientFacts, LEVELS, LevelGate};
use crate::handler::error::Error;
use crate::notifier::Interests;
use crate::server::shared::Shared;
use crate::session::peer::{Peer, SharedPeer};

/// One session of the legacy era, whatever carries it.
pub(crate) struct Session {
    /// No other session of this process has it.
    pub(crate) id: u64,
    caller: Option<Caller>,
    pub(crate) client: Arc<ClientFacts>,
    pub(crate) peer: SharedPeer,
    /// An index into [`LEVELS`].
    level: Arc<AtomicU8>,
    watched: Arc<Mutex<BTreeSet<String>>>,
    handler: Arc<dyn Handler>,
}

impl Session {
    /// Opens a session, as `initialize` asks for it, and answers.
    pub(crate) fn open(
        shared: &Shared,
        caller: Option<&Caller>,
        id: &RequestId,
        params: Option<&RawJson>,
    ) -> Result<(Arc<Self>, Reply), Reply> {
        let refuse = |error: &mcp_jsonrpc::ErrorObject| Reply::error(Some(id), error);
        let params: InitializeParams = match parse_params(params.map(RawJson::as_ref)) {
            Ok(params) => params,
            Err(error) => {
                let error = Error::invalid_params(format!("invalid params: {error}"));
                return Err(refuse(&error.object(mcp_jsonrpc::Revision::LATEST_LEGACY)));
            }
        };
        if !shared.eras.has_legacy() {
            return Err(refuse(&era::unsupported_version(&params.protocol_version)));
        }
        let client = era::legacy_client(&params);
        let handler = &shared.handler;
        let described = caught_now(|| (handler.capabilities(), handler.instructions_for(caller)));
        let (capabilities, instructions) =
            described.map_err(|error| refuse(&error.object(client.revision)))?;
        let declared = era::declared(capabilities, client.revision);
        let mut result =
            InitializeResult::new(client.revision.as_str(), declared, shared.info.clone());
        result.instructions = instructions;
        let json = finished(result, client.revision, shared)
            .map_err(|error| refuse(&Error::from(error).object(client.revision)))?;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let session = Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            caller: caller.cloned(),
            client: Arc::new(client),
            peer: Arc::new(Peer::default()),
            // Info, until the client says otherwise.
            level: Arc::new(AtomicU8::new(1)),
            watched: Arc::default(),
            handler: Arc::clone(&shared.handler),
        };
        Ok((Arc::new(session), Reply::result(id, &json)))
    }

    /// The client says that its roots changed.
    pub(crate) fn roots_changed(&self, shared: &Shared) {
        // There is no one to tell of a panic but the log.
        let _ = caught_now(|| shared.handler.roots_changed(self.id));
    }

    pub(crate) fn level(&self) -> Arc<AtomicU8> {
        Arc::clone(&self.level)
    }

    pub(crate) fn set_level(&self, level: LoggingLevel) {
        let index = LEVELS.iter().position(|it| *it == level).unwrap_or(0);
        self.level
            .store(u8::try_from(index).unwrap_or(0), Ordering::Relaxed);
    }

    /// What it hears of without asking.
    pub(crate) fn interests(&self) -> Interests {
        Interests::Session {
            id: self.id,
            caller: self.caller.clone(),
            watched: Arc::clone(&self.watched),
            level: LevelGate::Session(self.level()),
        }
    }

    /// Watches a resource that the handler lets be watched.
    pub(crate) fn watch(&self, uri: String, limit: usize) -> Result<(), Error> {
        let mut watched = self.watched.lock();
        let is_known = watched.contains(&uri);
        if !is_known && watched.len() < limit {
            watched.insert(uri);
            return Ok(());
        }
        drop(watched);
        // The handler counts it once.
        let _ = caught_now(|| self.handler.unwatched(&uri));
        match is_known {
            true => Ok(()),
            false => Err(Error::invalid_request(format!(
                "too many subscriptions: the limit is {limit}"
            ))),
        }
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        let was_watched = self.watched.lock().remove(uri);
        if was_watched {
            let _ = caught_now(|| self.handler.unwatched(uri));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for uri in std::mem::take(&mut *self.watched.lock()) {
            let _ = caught_now(|| self.handler.unwatched(&uri));
        }
    }
}
