//! A model with fallbacks.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;

use crate::adapter::Adapter;
use crate::model::provider_error::ErrorKind;
use crate::model::{Model, ModelError, ReplyStream};
use crate::request::Request;
use crate::request::tool_set::ToolSet;

/// Calls one model, and the next one if the first does not start a reply.
///
/// The fallback gets the same conversation with the tools compiled for its own wire. A reply that has started is never
/// repeated. A request that the provider rejects as invalid or too long fails at once.
///
/// ```
/// # #[cfg(feature = "http")] {
/// use provider_adapters::{Anthropic, Failover, HttpModel, OpenAiResponses};
///
/// # fn models() -> Result<Failover, provider_adapters::ModelError> {
/// let first = HttpModel::new(Anthropic::default())?.with_key("sk-ant-…");
/// let second = HttpModel::new(OpenAiResponses::default())?.with_key("sk-…");
/// # Ok(
/// Failover::new(first).with_fallback(second, "gpt-5.6")
/// # ) }
/// # }
/// ```
#[derive(Debug)]
pub struct Failover {
    first: Arc<dyn Model>,
    fallbacks: Vec<Fallback>,
}

struct Fallback {
    model: Arc<dyn Model>,
    name: String,
    /// The last request's tools, and the same compiled for this model.
    tools: Mutex<Option<(Arc<ToolSet>, Arc<ToolSet>)>>,
}

impl Failover {
    /// Creates the list with its first model, called by the request's own model name.
    pub fn new(model: impl Model + 'static) -> Self {
        Self {
            first: Arc::new(model),
            fallbacks: Vec::new(),
        }
    }

    /// Adds a model, under this name, to call if those before it fail.
    #[must_use]
    pub fn with_fallback(mut self, model: impl Model + 'static, name: impl Into<String>) -> Self {
        self.fallbacks.push(Fallback {
            model: Arc::new(model),
            name: name.into(),
            tools: Mutex::default(),
        });
        self
    }
}

impl Fallback {
    /// The request in the form that this model takes.
    fn request(&self, request: &Request) -> Request {
        let mut asked = request.clone();
        asked.model.clone_from(&self.name);
        let mut known = self.tools.lock();
        asked.tools = match known.as_ref() {
            Some((given, compiled)) if Arc::ptr_eq(given, &request.tools) => compiled.clone(),
            _ => {
                let adapter = self.model.adapter();
                let compiled = Arc::new(adapter.tools_for(&self.name, request.tools.specs()));
                *known = Some((request.tools.clone(), compiled.clone()));
                compiled
            }
        };
        asked
    }
}

#[async_trait]
impl Model for Failover {
    /// The first model's.
    fn adapter(&self) -> &dyn Adapter {
        self.first.adapter()
    }

    fn name(&self) -> &str {
        self.first.name()
    }

    async fn start(&self, request: &Request) -> Result<Box<dyn ReplyStream>, ModelError> {
        let mut outcome = self.first.start(request).await;
        for fallback in &self.fallbacks {
            match outcome {
                Err(error) if may_succeed_elsewhere(&error) => {
                    outcome = fallback.model.start(&fallback.request(request)).await;
                }
                outcome => return outcome,
            }
        }
        outcome
    }
}

/// Whether another provider may answer a request that failed so.
fn may_succeed_elsewhere(error: &ModelError) -> bool {
    match error {
        ModelError::Provider(error) => {
            !matches!(error.kind, ErrorKind::Request | ErrorKind::ContextWindow)
        }
        ModelError::Unreachable(_) | ModelError::Timeout(..) => true,
        ModelError::Request(_)
        | ModelError::Output(_)
        | ModelError::Setup(_)
        | ModelError::NotRecorded(_) => false,
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallback")
            .field("model", &self.model)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
