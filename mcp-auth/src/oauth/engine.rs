//! The state of one server's authorization, and the steps that change it.

use std::sync::Arc;

use mcp_transport::{BoxError, Secret};
use parking_lot::Mutex;
use tracing::{debug, warn};
use url::Url;

use crate::http::Http;
use crate::oauth::config::Config;
use crate::oauth::session::Session;
use crate::oauth::single_flight::{Flight, Purpose};
use crate::store::TokenStore;
use crate::token::dpop::Nonces;
use crate::token::scope::Scopes;
use crate::{AuthError, clock};

/// The number of seconds a failed refresh is not retried while the old token still works.
const REST: u64 = 10;

/// One server, as configured.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) text: String,
    pub(crate) url: Url,
}

/// The shared state of a provider's clones.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) server: Server,
    pub(crate) config: Config,
    pub(crate) http: Http,
    pub(crate) nonces: Nonces,
    pub(crate) store: Arc<dyn TokenStore>,
    pub(crate) flight: Flight,
    pub(crate) state: Mutex<State>,
}

/// The current state.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Whether the store has been read.
    loaded: bool,
    session: Option<Arc<Session>>,
    /// The time until which a failed refresh is retried only if necessary.
    rest_until: u64,
    /// The newest token from a complete authorization, not from a refresh.
    pub(crate) fresh: Option<Secret>,
    /// A new token that the server rejected.
    pub(crate) refused: Option<Secret>,
    /// The scopes of the last complete authorization.
    pub(crate) asked: Option<Scopes>,
}

impl Engine {
    /// The session to use for a request: loaded from the store if necessary, refreshed if it expires soon. `None` if
    /// there is none, or if it has expired.
    pub(crate) async fn session(self: &Arc<Self>) -> Result<Option<Arc<Session>>, AuthError> {
        self.load_once().await?;
        let Some(session) = self.held() else {
            return Ok(None);
        };
        let now = clock::now();
        let over = session.lifetime.is_over(now);
        if !session
            .lifetime
            .ends_soon(now, self.config.limits.refresh_margin)
        {
            return Ok(Some(session));
        }
        if session.refresh.is_none() {
            return Ok((!over).then_some(session));
        }
        if !over && (self.flight.is_running() || now < self.state.lock().rest_until) {
            return Ok(Some(session));
        }
        let engine = self.clone();
        let stale = session.clone();
        let renew = move || async move { engine.refresh(&stale).await };
        let (_, landing) = self.flight.join(Purpose::Renew, renew).await;
        match landing.outcome {
            Ok(()) => Ok(self.held()),
            // Without a token the server will reject the request and name its requirements.
            Err(AuthError::Rejected { .. } | AuthError::Malformed { .. }) => {
                Ok((!over).then_some(session))
            }
            Err(error) if over => Err(error),
            Err(_) => {
                self.state.lock().rest_until = clock::now().saturating_add(REST);
                Ok(Some(session))
            }
        }
    }

    /// The current session in any state.
    pub(crate) fn held(&self) -> Option<Arc<Session>> {
        self.state.lock().session.clone()
    }

    /// The current session, unless it has expired.
    pub(crate) fn usable(&self) -> Option<Arc<Session>> {
        self.held()
            .filter(|session| !session.lifetime.is_over(clock::now()))
    }

    /// Sets the current session.
    pub(crate) fn hold(&self, session: Session) {
        self.state.lock().session = Some(Arc::new(session));
    }

    async fn load_once(&self) -> Result<(), AuthError> {
        if self.state.lock().loaded {
            return Ok(());
        }
        let stored = self.stored().await?;
        let mut state = self.state.lock();
        if !state.loaded {
            state.loaded = true;
            state.session = stored.map(Arc::new);
        }
        Ok(())
    }

    /// The session in the store: newer than ours if another process refreshed it.
    pub(crate) async fn stored(&self) -> Result<Option<Session>, AuthError> {
        let stored = self.store.load(&self.session_name()).await;
        let stored = stored.map_err(|source| store_failed("reading a token", source))?;
        Ok(stored.and_then(|text| Session::restore(&text, self.config.registered.as_ref())))
    }

    /// Keeps a session, here and in the store. If the store fails, the next start requires a login, but this request
    /// does not fail.
    pub(crate) async fn keep(&self, session: Session) {
        if let Some(text) = session.store()
            && let Err(error) = self.store.save(&self.session_name(), &text).await
        {
            warn!(server = %self.shown(), %error, "the token could not be stored");
        }
        self.hold(session);
    }

    /// Adopts a session stored by another process, if the current session is `stale` and the stored one is not.
    pub(crate) async fn adopt(&self, stale: Option<&Secret>) -> Result<Option<Session>, AuthError> {
        let stored = self.stored().await?;
        let newer = stored.filter(|stored| {
            Some(&stored.access) != stale && !stored.lifetime.is_over(clock::now())
        });
        if let Some(session) = &newer {
            debug!(server = %self.shown(), "took over a token of another process");
            self.hold(session.clone());
        }
        Ok(newer)
    }

    /// Removes the tokens, here and in the store.
    pub(crate) async fn forget(&self) -> Result<(), AuthError> {
        let removed = self.store.remove(&self.session_name()).await;
        *self.state.lock() = State {
            loaded: true,
            ..State::default()
        };
        removed.map_err(|source| store_failed("removing a token", source))
    }

    /// The key of this server's session in the store. A query may contain secrets, and is hashed.
    pub(crate) fn session_name(&self) -> String {
        match self.server.url.query() {
            Some(query) => format!("token {} {}", self.shown(), crate::random::sha256(query)),
            None => format!("token {}", self.shown()),
        }
    }

    /// Waits for an action of the host, for as long as a login may take.
    pub(crate) async fn by_host<T>(
        &self,
        work: impl Future<Output = Result<T, BoxError>>,
    ) -> Result<T, AuthError> {
        let limit = self.config.limits.login;
        match tokio::time::timeout(limit, work).await {
            Ok(done) => done.map_err(|source| AuthError::Login {
                server: self.shown(),
                source: source.into(),
            }),
            Err(_) => Err(AuthError::LoginTimeout {
                server: self.shown(),
                limit,
            }),
        }
    }

    /// The server for display.
    pub(crate) fn shown(&self) -> String {
        crate::http::guard::without_query(&self.server.url)
    }
}

/// The error for a failure of the token store.
pub(crate) fn store_failed(action: &'static str, source: BoxError) -> AuthError {
    AuthError::Store {
        action,
        source: source.into(),
    }
}
