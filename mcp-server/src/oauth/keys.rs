//! The issuer's keys: their source, and how long they are cached.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_transport::{client_builder, is_loopback_host};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::jwk::{self, Jwk};

/// For how long keys are used without asking again.
const FRESH: Duration = Duration::from_secs(600);
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

/// Keys that were fetched, for as long as they are fresh.
pub(crate) struct KeyCache {
    source: Box<dyn KeySource>,
    state: Mutex<State>,
    /// Held while fetching: everyone else waits for that one fetch.
    fetching: Semaphore,
}

#[derive(Default)]
struct State {
    keys: Arc<Vec<Jwk>>,
    fetched: Option<Instant>,
    tried: Option<Instant>,
}

impl KeyCache {
    pub(crate) fn new(source: impl KeySource) -> Self {
        Self {
            source: Box::new(source),
            state: Mutex::default(),
            fetching: Semaphore::new(1),
        }
    }

    /// The keys, with the one of this id if the issuer has it. An unknown id makes us fetch, but not
    /// more often than the cool-down allows.
    pub(crate) async fn keys_for(&self, id: Option<&str>) -> Result<Arc<Vec<Jwk>>, BoxError> {
        if let Some(keys) = self.known(id) {
            return Ok(keys);
        }
        let _permit = self.fetching.acquire().await?;
        if let Some(keys) = self.known(id) {
            return Ok(keys);
        }
        self.state.lock().tried = Some(Instant::now());
        let fetched = self
            .source
            .fetch()
            .await
            .and_then(|text| Ok(jwk::read_set(&text)?));
        let mut state = self.state.lock();
        match fetched {
            Ok(keys) => {
                state.keys = Arc::new(keys);
                state.fetched = Some(Instant::now());
            }
            // Old keys are better than none.
            Err(error) if state.fetched.is_none() => return Err(error),
            Err(error) => tracing::warn!(%error, "the issuer's keys cannot be fetched"),
        }
        Ok(Arc::clone(&state.keys))
    }

    /// What is at hand, unless it is worth fetching.
    fn known(&self, id: Option<&str>) -> Option<Arc<Vec<Jwk>>> {
        let state = self.state.lock();
        let fetched = state.fetched?;
        let cooling = state.tried.is_some_and(|tried| tried.elapsed() < COOLDOWN);
        let has_key =
            id.is_none_or(|id| state.keys.iter().any(|key| key.id.as_deref() == Some(id)));
        let fresh = fetched.elapsed() < FRESH && has_key;
        (fresh || cooling).then(|| Arc::clone(&state.keys))
    }
}

impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCache")
            .field("keys", &self.state.lock().keys.len())
            .finish_non_exhaustive()
    }
}
