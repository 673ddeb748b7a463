//! The issuer's keys: their source, and how long they are cached.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_transport::{client_builder, is_loopback_host};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use super::jwk::{self, Jwk};

/// For how long keys are used without asking again.
const FRESH: Duration = Duration::from_secs(600);
/// For how long keys are used although no new ones can be fetched.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);
/// How often keys are fetched at most, whatever tokens come.
const COOLDOWN: Duration = Duration::from_secs(30);
/// Time for a fetch, from its connection to its last byte.
const FETCH_TIME: Duration = Duration::from_secs(10);
/// Largest key set, in bytes.
const MAX_SET_BYTES: usize = 256 << 10;

type BoxError = Box<dyn Error + Send + Sync>;

/// The source of an issuer's keys.
#[async_trait]
pub trait KeySource: Send + Sync + 'static {
    /// The JSON Web Key Set.
    ///
    /// # Errors
    ///
    /// If it cannot be fetched.
    async fn fetch(&self) -> Result<String, BoxError>;
}

/// A key set that never changes.
#[async_trait]
impl KeySource for String {
    async fn fetch(&self) -> Result<String, BoxError> {
        Ok(self.clone())
    }
}

/// A key set at a URL.
#[derive(Clone, Debug)]
pub struct JwksUrl {
    client: reqwest::Client,
    url: reqwest::Url,
}

impl JwksUrl {
    /// Creates the source for this `https` URL, or an `http` URL of this machine.
    ///
    /// # Errors
    ///
    /// If the URL is another one, or the system's certificates cannot be read.
    pub fn new(url: impl Into<String>) -> Result<Self, BoxError> {
        let url = reqwest::Url::parse(&url.into());
        let url = url.map_err(|why| format!("invalid JWKS URL: {why}"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("invalid JWKS URL: it must not contain a user name or password".into());
        }
        let builder = client_builder()?;
        let builder = match url.scheme() {
            "https" => builder,
            "http" if url.host_str().is_some_and(is_loopback_host) => builder.no_proxy(),
            _ => return Err(format!("invalid JWKS URL {url}: it must be https").into()),
        };
        let client = builder
            .redirect(reqwest::redirect::Policy::none())
            .timeout(FETCH_TIME)
            .build()?;
        Ok(Self { client, url })
    }
}

#[async_trait]
impl KeySource for JwksUrl {
    async fn fetch(&self) -> Result<String, BoxError> {
        let mut reply = self.client.get(self.url.clone()).send().await?;
        if !reply.status().is_success() {
            return Err(format!("{} replied with status {}", self.url, reply.status()).into());
        }
        let mut all = Vec::new();
        while let Some(chunk) = reply.chunk().await? {
            if all.len() + chunk.len() > MAX_SET_BYTES {
                return Err(format!("the key set is larger than {MAX_SET_BYTES} bytes").into());
            }
            all.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8(all)?)
    }
}

/// Keys that were fetched. Old ones are used while new ones are fetched, and for a while if that fails.
pub(crate) struct KeyCache(Arc<Cache>);

struct Cache {
    source: Box<dyn KeySource>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    keys: Arc<Vec<Jwk>>,
    fetched: Option<Instant>,
    tried: Option<Instant>,
    /// Why the last fetch failed.
    failure: String,
    /// Closed once the fetch under way has ended.
    fetching: Option<watch::Receiver<()>>,
}

type Keys = Result<Arc<Vec<Jwk>>, BoxError>;

impl KeyCache {
    pub(crate) fn new(source: impl KeySource) -> Self {
        Self(Arc::new(Cache {
            source: Box::new(source),
            state: Mutex::default(),
        }))
    }

    /// The keys, with the one of this id if the issuer has it. Only where none fits does anyone wait for a fetch; there
    /// is at most one at a time, and one per cool-down, whether it succeeds or fails.
    pub(crate) async fn keys_for(&self, id: Option<&str>) -> Keys {
        let mut fetching = {
            let mut state = self.0.state.lock();
            let cooling = state.tried.is_some_and(|tried| tried.elapsed() < COOLDOWN);
            let under_way = state.fetching.clone().filter(|it| it.has_changed().is_ok());
            if state.has(id) {
                if !state.is_younger_than(FRESH) && !cooling && under_way.is_none() {
                    Cache::fetch(&self.0, &mut state);
                }
                return state.at_hand();
            }
            match under_way {
                Some(fetching) => fetching,
                None if cooling => return state.at_hand(),
                None => Cache::fetch(&self.0, &mut state),
            }
        };
        let _ = fetching.changed().await;
        self.0.state.lock().at_hand()
    }
}

impl State {
    fn is_younger_than(&self, age: Duration) -> bool {
        self.fetched.is_some_and(|at| at.elapsed() < age)
    }

    /// Whether there are keys, with one of this id.
    fn has(&self, id: Option<&str>) -> bool {
        let has_key = |id| self.keys.iter().any(|key| key.id.as_deref() == Some(id));
        self.is_younger_than(MAX_AGE) && id.is_none_or(has_key)
    }

    fn at_hand(&self) -> Keys {
        match self.is_younger_than(MAX_AGE) {
            true => Ok(Arc::clone(&self.keys)),
            false => Err(self.failure.clone().into()),
        }
    }
}

impl Cache {
    /// Fetches the keys on a task of its own, so that no client that goes away ends it.
    fn fetch(cache: &Arc<Self>, state: &mut State) -> watch::Receiver<()> {
        let (ended, fetching) = watch::channel(());
        state.fetching = Some(fetching.clone());
        state.tried = Some(Instant::now());
        "the code that fetches them crashed".clone_into(&mut state.failure);
        let cache = Arc::clone(cache);
        tokio::spawn(async move {
            let fetched = tokio::time::timeout(FETCH_TIME, cache.source.fetch()).await;
            let fetched = fetched.unwrap_or_else(|_| Err("they did not come in time".into()));
            let mut state = cache.state.lock();
            match fetched.and_then(|text| Ok(jwk::read_set(&text)?)) {
                Ok(keys) => {
                    state.keys = Arc::new(keys);
                    state.fetched = Some(Instant::now());
                }
                Err(error) => {
                    tracing::warn!(%error, "the issuer's keys cannot be fetched");
                    state.failure = error.to_string();
                }
            }
            drop(state);
            drop(ended);
        });
        fetching
    }
}

impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCache")
            .field("keys", &self.0.state.lock().keys.len())
            .finish_non_exhaustive()
    }
}
