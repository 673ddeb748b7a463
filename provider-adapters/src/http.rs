//! Models over HTTP.

#[cfg(feature = "bedrock")]
pub(crate) mod aws;
mod carrier;
mod cassette;
mod client;
mod env;
#[cfg(feature = "vertex")]
pub(crate) mod google;
mod live;
mod models;
mod rejected_tool;
mod retry;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_jsonrpc::Secret;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

pub(crate) use client::anonymous;
pub use client::client_builder;
pub use retry::Retry;

use self::carrier::{HttpBackend, ResponseHead};
use self::cassette::{Player, Recorder};
use self::live::StreamingReply;
use self::rejected_tool::rejected_tool;
use crate::adapter::error_body;
use crate::adapter::{Adapter, KeyHeader};
#[cfg(feature = "vertex")]
use crate::model::provider_error::ErrorKind;
use crate::model::{Model, ModelError, Phase, ReplyStream};
use crate::reply::event::ReplyEvent;
use crate::request::tool_set::ToolSet;
use crate::request::{Encoded, Request, WireRequest};

/// How much of a failed reply is read.
const MAX_ERROR_BYTES: usize = 1 << 20;

/// The time limits for the phases of a request.
///
/// ```
/// use std::time::Duration;
/// use provider_adapters::Timeouts;
///
/// let timeouts = Timeouts::default().with_idle_timeout(Duration::from_secs(30));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timeouts {
    first_byte: Duration,
    idle: Duration,
    total: Option<Duration>,
}

impl Default for Timeouts {
    /// Five minutes to the first byte, two minutes between bytes, no total limit. Connecting takes ten seconds at most,
    /// unless you use [your own client](HttpModel::with_client).
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(120),
            total: None,
        }
    }
}

impl Timeouts {
    /// Sets the time limit until the reply begins.
    #[must_use]
    pub fn with_first_byte(mut self, limit: Duration) -> Self {
        self.first_byte = limit;
        self
    }

    /// Sets the time limit for a pause within a reply.
    #[must_use]
    pub fn with_idle_timeout(mut self, limit: Duration) -> Self {
        self.idle = limit;
        self
    }

    /// Sets the time limit for a whole reply, including retries.
    #[must_use]
    pub fn with_deadline(mut self, limit: Duration) -> Self {
        self.total = Some(limit);
        self
    }
}

/// A model over HTTP: it streams, retries by the provider's own rules, and omits a tool whose definition the provider
/// rejects.
///
/// Dropping the future or the stream cancels the request. Keys and headers are never printed.
///
/// ```no_run
/// use provider_adapters::{Anthropic, Conversation, HttpModel, Model, Request};
///
/// # async fn run() -> Result<(), provider_adapters::ModelError> {
/// let model = HttpModel::new(Anthropic::default())?.with_key("sk-ant-…");
/// let mut conversation = Conversation::new();
/// conversation.ask("What is the capital of France?");
/// let mut stream = model.start(&Request::new("claude-sonnet-5-5", conversation)).await?;
/// while let Some(event) = stream.next().await {
///     println!("{event:?}");
/// }
/// # Ok(())
/// # }
/// ```
pub struct HttpModel<A> {
    adapter: A,
    carrier: HttpBackend,
    base_url: String,
    name: String,
    key: Option<Key>,
    headers: Vec<(String, Secret)>,
    timeouts: Timeouts,
    retry: Retry,
    on_retry: Option<RetryNotice>,
    /// Definitions the provider rejected, and its message.
    refused: Mutex<BTreeMap<String, String>>,
}

/// Who hears of requests that are made again.
type RetryNotice = Arc<dyn Fn(&ModelError, Duration) + Send + Sync>;

/// Where a request's key comes from.
pub(crate) enum Key {
    From(Arc<dyn Fn() -> Secret + Send + Sync>),
    #[cfg(feature = "vertex")]
    Google(Arc<google::GoogleCredentials>),
    /// Only a signature is sent.
    #[cfg(feature = "bedrock")]
    Aws(Arc<aws::Signer>),
}

impl<A: Adapter> HttpModel<A> {
    /// Creates a model at the provider's usual address.
    ///
    /// # Errors
    /// [`ModelError::Setup`] if the operating system's certificates cannot be read.
    pub fn new(adapter: A) -> Result<Self, ModelError> {
        let client = client::client().map_err(ModelError::Setup)?;
        Ok(Self::over(adapter, HttpBackend::Http(client)))
    }

    /// Uses an HTTP client of your own, for a proxy, certificates or a resolver. Redirects, retries
    /// and the `Referer` header are switched off in any case.
    ///
    /// # Errors
    /// [`ModelError::Setup`] if the client cannot be built.
    pub fn with_client(adapter: A, builder: reqwest::ClientBuilder) -> Result<Self, ModelError> {
        let client = client::build(builder).map_err(ModelError::Setup)?;
        Ok(Self::over(adapter, HttpBackend::Http(client)))
    }

    /// Plays back the output of [`recording`](Self::recording). A request that differs from the recorded one fails with
    /// the first difference; nothing is ever sent.
    ///
    /// # Errors
    /// [`ModelError::Setup`] if the file cannot be read.
    pub fn replaying(adapter: A, file: impl AsRef<Path>) -> Result<Self, ModelError> {
        let player = Player::open(file.as_ref()).map_err(ModelError::Setup)?;
        Ok(Self::over(
            adapter,
            HttpBackend::Replay(Arc::new(Mutex::new(player))),
        ))
    }

    fn over(adapter: A, carrier: HttpBackend) -> Self {
        Self {
            base_url: adapter.base_url(),
            adapter,
            carrier,
            name: String::new(),
            key: None,
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            retry: Retry::default(),
            on_retry: None,
            refused: Mutex::default(),
        }
    }

    /// Records all traffic to a file, which is replaced: bodies and bytes, but neither keys nor your own headers.
    ///
    /// # Errors
    /// [`ModelError::Setup`] if the file cannot be written, or if the model plays back a recording.
    pub fn recording(mut self, file: impl AsRef<Path>) -> Result<Self, ModelError> {
        let HttpBackend::Http(client) = self.carrier else {
            return Err(ModelError::Setup(
                "only what is sent can be recorded".into(),
            ));
        };
        let recorder = Recorder::create(file.as_ref()).map_err(ModelError::Setup)?;
        self.carrier = HttpBackend::Record(client, Arc::new(Mutex::new(recorder)));
        Ok(self)
    }

    /// Sets the model's name at its provider ([`Model::name`]).
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets a key.
    #[must_use]
    pub fn with_key(self, key: impl Into<Secret>) -> Self {
        let key = key.into();
        self.with_key_from(move || key.clone())
    }

    /// Sets a function that returns the key before every request, for keys that change.
    #[must_use]
    pub fn with_key_from(mut self, key: impl Fn() -> Secret + Send + Sync + 'static) -> Self {
        self.key = Some(Key::From(Arc::new(key)));
        self
    }

    /// Sets another base URL: everything before the path of the adapter's requests.
    #[must_use]
    pub fn with_base_url(mut self, url: impl Into<String>) -> Self {
        let url: String = url.into();
        url.trim_end_matches('/').clone_into(&mut self.base_url);
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the time limits.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets the retry policy.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sets a callback for retried requests: it receives the error and the delay before each retry.
    #[must_use]
    pub fn with_retry_notice(
        mut self,
        notice: impl Fn(&ModelError, Duration) + Send + Sync + 'static,
    ) -> Self {
        self.on_retry = Some(Arc::new(notice));
        self
    }

    /// The tools without those the provider has refused before.
    fn accepted(&self, tools: &Arc<ToolSet>) -> Option<ToolSet> {
        let refused = self.refused.lock();
        let mut accepted: Option<ToolSet> = None;
        for tool in tools.compiled() {
            if let Some(reason) = refused.get(&tool.fingerprint()) {
                let base = accepted.as_ref().unwrap_or(tools);
                accepted = Some(base.without(&tool.name, reason));
            }
        }
        accepted
    }

    /// The tool a failed request failed for, remembered as refused.
    fn quarantine(&self, failure: &ModelError, encoded: &Encoded) -> Option<(String, String)> {
        let ModelError::Provider(error) = failure else {
            return None;
        };
        let wire = rejected_tool(error, &encoded.request)?;
        let tools = &encoded.expected.tools;
        let tool = tools
            .compiled()
            .iter()
            .find(|tool| tool.wire_name == wire)?;
        self.refused
            .lock()
            .insert(tool.fingerprint(), error.message.clone());
        Some((tool.name.clone(), error.message.clone()))
    }

    /// The key, if one is needed: nothing is asked for what is only played back.
    async fn key(&self) -> Result<Option<Secret>, ModelError> {
        Ok(match &self.key {
            None => None,
            Some(Key::From(key)) => Some(key()),
            #[cfg(feature = "vertex")]
            Some(Key::Google(credentials)) => match self.carrier.client() {
                Some(client) => Some(credentials.token(client).await?),
                None => None,
            },
            #[cfg(feature = "bedrock")]
            Some(Key::Aws(_)) => None,
        })
    }

    /// The key and the user's headers, which replace ours.
    async fn secrets(&self) -> Result<Vec<(String, Secret)>, ModelError> {
        let mut headers = self.headers.clone();
        if let Some(key) = self.key().await? {
            let (name, value) = match self.adapter.key_header() {
                KeyHeader::Bearer => ("authorization", format!("Bearer {}", key.expose()).into()),
                KeyHeader::Named(name) => (name, key),
            };
            if !has(&headers, name) {
                headers.push((name.to_owned(), value));
            }
        }
        Ok(headers)
    }

    /// Sends a request once and returns its response, if it is a success.
    async fn send(
        &self,
        request: &WireRequest,
        deadline: Option<Instant>,
    ) -> Result<ResponseHead, Failure> {
        let url = format!("{}{}", self.base_url, request.path);
        let wait = self.timeouts.first_byte;
        let secrets = live::within(Phase::FirstByte, wait, deadline, self.secrets()).await??;
        let public = request.headers.iter();
        let mut headers: Vec<(String, Secret)> = public
            .map(|(name, value)| ((*name).to_owned(), Secret::new(value.clone())))
            .chain([("content-type".to_owned(), Secret::new("application/json"))])
            .filter(|(name, _)| !has(&secrets, name))
            .collect();
        headers.extend(secrets.iter().cloned());
        #[cfg(feature = "bedrock")]
        if let Some(Key::Aws(signer)) = &self.key {
            let signed = signer.sign(&url, &request.body);
            headers.retain(|(name, _)| !has(&signed, name));
            headers.extend(signed);
        }
        let sent = self.carrier.send(&url, &headers, request);
        let mut reached = live::within(Phase::FirstByte, wait, deadline, sent).await??;
        let status = reached.status;
        if !(200..300).contains(&status) {
            let hints = retry::Hints::read(&reached.headers);
            let read = reached.body.read_up_to(MAX_ERROR_BYTES);
            let text = live::within(Phase::Idle, self.timeouts.idle, deadline, read).await?;
            let mut error = error_body::read(Some(status), &text);
            error.retry_after = hints.retry_after.or(error.retry_after);
            error.request_id = error.request_id.or(hints.request_id);
            for (_, secret) in &secrets {
                error.message = without(secret, error.message);
            }
            #[cfg(feature = "vertex")]
            if let (ErrorKind::Credentials, Some(Key::Google(credentials))) =
                (error.kind, &self.key)
            {
                credentials.forget();
            }
            let should_retry = hints.should_retry;
            return Err(Failure {
                error: ModelError::Provider(Box::new(error)),
                should_retry,
            });
        }
        Ok(reached)
    }

    /// One try: the reply from its first event on, or why there is none.
    async fn attempt(
        &self,
        encoded: &Encoded,
        deadline: Option<Instant>,
    ) -> Result<StreamingReply, Failure> {
        let reached = self.send(&encoded.request, deadline).await?;
        let decoder = self.adapter.decoder(encoded.expected.clone());
        let mut live = StreamingReply::new(reached.body, decoder, self.timeouts.idle, deadline);
        match live.peek().await {
            Some(ReplyEvent::Error(error)) if error.is_retryable() => {
                Err(ModelError::Provider(error.clone()).into())
            }
            _ => Ok(live),
        }
    }
}

/// Why a try failed, and what the provider says about another one.
pub(crate) struct Failure {
    pub(crate) error: ModelError,
    pub(crate) should_retry: Option<bool>,
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self {
            error,
            should_retry: None,
        }
    }
}

#[async_trait]
impl<A: Adapter> Model for HttpModel<A> {
    fn adapter(&self) -> &dyn Adapter {
        &self.adapter
    }

    fn name(&self) -> &str {
        &self.name
    }

    async fn start(&self, request: &Request) -> Result<Box<dyn ReplyStream>, ModelError> {
        let deadline = self.timeouts.total.map(|total| Instant::now() + total);
        let mut changed: Option<Request> = self.accepted(&request.tools).map(|tools| {
            let mut changed = request.clone();
            changed.tools = Arc::new(tools);
            changed
        });
        let mut news: VecDeque<ReplyEvent> = VecDeque::new();
        let mut tries = 0;
        loop {
            let asked = changed.as_ref().unwrap_or(request);
            let encoded = self.adapter.encode(asked).map_err(ModelError::Request)?;
            let failure = match self.attempt(&encoded, deadline).await {
                Ok(live) => return Ok(Box::new(live.after(news))),
                Err(failure) => failure,
            };
            if news.is_empty()
                && let Some((tool, reason)) = self.quarantine(&failure.error, &encoded)
            {
                let mut without = asked.clone();
                without.tools = Arc::new(asked.tools.without(&tool, &reason));
                without.choice = asked.choice.without(&tool);
                changed = Some(without);
                news.push_back(ReplyEvent::ToolQuarantined { tool, reason });
                continue;
            }
            let Some(delay) = self.retry.delay(tries, &failure, chance()) else {
                return Err(failure.error);
            };
            if deadline.is_some_and(|deadline| Instant::now() + delay >= deadline) {
                return Err(failure.error);
            }
            tries += 1;
            if let Some(notice) = &self.on_retry {
                notice(&failure.error, delay);
            }
            if !self.carrier.is_replay() {
                sleep(delay).await;
            }
        }
    }
}

impl<A: fmt::Debug> fmt::Debug for HttpModel<A> {
    /// Without keys and headers; a base URL may hold a key of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.base_url.split(['?', '#']).next().unwrap_or_default();
        let host = url.rsplit_once('@').map_or(url, |(_, host)| host);
        f.debug_struct("HttpModel")
            .field("adapter", &self.adapter)
            .field("base_url", &host)
            .field("timeouts", &self.timeouts)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

/// `text` without a secret: some servers repeat the key they reject. Values too short to be a key stay,
/// and so does a scheme before it, as in `Bearer …`.
fn without(secret: &Secret, text: String) -> String {
    let key = secret.expose().rsplit(' ').next().unwrap_or_default();
    match key.len() >= 8 && text.contains(key) {
        true => text.replace(key, "…"),
        false => text,
    }
}

/// Whether a header is there.
fn has(headers: &[(String, Secret)], wanted: &str) -> bool {
    headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
}

/// A number by chance.
fn chance() -> u8 {
    let [chance, ..] = RandomState::new().build_hasher().finish().to_le_bytes();
    chance
}
