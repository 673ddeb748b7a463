//! Builds the chosen model.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use mcp_auth::PublicNetwork;
use provider_adapters::{
    Adapter, Anthropic, Dialect, Gemini, HttpModel, Model, ModelError, ModelInfo, OpenAiChat,
    OpenAiResponses, PromptMode, Secret, Timeouts, Wire, client_builder,
};

use tokio::sync::mpsc;

use crate::display::untrusted;
use crate::lang::t;
use crate::models::choice::Choice;
use crate::models::provider::Speaks;

/// How long a list of models may take.
const LIST_TIME: Duration = Duration::from_secs(20);

/// Recording or replay of a model's HTTP exchange.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Cassette {
    /// Neither.
    #[default]
    None,
    /// Records to this file.
    Record(PathBuf),
    /// Replays this file.
    Replay(PathBuf),
}

/// Who hears of requests that are made again: why, and when.
pub type Retries = mpsc::Sender<String>;

/// Builds the chosen model. The key is sent to the choice's URL only: redirects are not followed.
/// `base_url` is used if the choice has none, as for the demo model.
///
/// # Errors
/// If the HTTP client or the cassette cannot be set up.
pub fn build(
    choice: &Choice,
    base_url: Option<&str>,
    key: Option<Secret>,
    cassette: &Cassette,
    retries: Option<&Retries>,
) -> Result<Arc<dyn Model>, ModelError> {
    let making = Making {
        base_url: choice.base_url.as_deref().or(base_url),
        key,
        cassette,
        network: choice.network.as_ref(),
    };
    spoken(choice, Whole { making, retries })
}

/// Lists the models at a choice's address, in the provider's own order.
///
/// # Errors
/// If the provider cannot be asked, refuses, or has no such list.
pub(crate) async fn list_models(
    choice: &Choice,
    base_url: Option<&str>,
    key: Option<Secret>,
) -> Result<Vec<ModelInfo>, ModelError> {
    let making = Making {
        base_url: choice.base_url.as_deref().or(base_url),
        key,
        cassette: &Cassette::None,
        network: choice.network.as_ref(),
    };
    spoken(choice, Listed(making))?.await
}

/// The adapter of a choice's wire, as the chosen model has it.
pub(super) fn speaker(choice: &Choice) -> Box<dyn Adapter> {
    spoken(choice, Spoken)
}

/// What becomes of an adapter, whatever its wire.
trait Use {
    type Made;

    fn of<A: Adapter + 'static>(self, adapter: A) -> Self::Made;
}

/// It tells what can be said.
struct Spoken;

impl Use for Spoken {
    type Made = Box<dyn Adapter>;

    fn of<A: Adapter + 'static>(self, adapter: A) -> Self::Made {
        Box::new(adapter)
    }
}

/// A model of it is asked.
struct Whole<'a> {
    making: Making<'a>,
    retries: Option<&'a Retries>,
}

impl Use for Whole<'_> {
    type Made = Result<Arc<dyn Model>, ModelError>;

    fn of<A: Adapter + 'static>(self, adapter: A) -> Self::Made {
        let model = self.making.model(adapter)?;
        let Some(retries) = self.retries.cloned() else {
            return Ok(Arc::new(model));
        };
        Ok(Arc::new(model.with_retry_notice(move |error, delay| {
            let text = t!(
                "! {error}; trying again in {n} s",
                error = untrusted::line(&error.to_string()),
                n = delay.as_secs_f64().ceil()
            );
            // A notice that no one shows is not missed.
            let _ = retries.try_send(text);
        })))
    }
}

/// The models beside it are listed.
struct Listed<'a>(Making<'a>);

impl Use for Listed<'_> {
    type Made = Result<BoxFuture<'static, Result<Vec<ModelInfo>, ModelError>>, ModelError>;

    fn of<A: Adapter + 'static>(self, adapter: A) -> Self::Made {
        let timeouts = Timeouts::default().with_deadline(LIST_TIME);
        let model = self.0.model(adapter)?.with_timeouts(timeouts);
        Ok(Box::pin(async move { model.models().await }))
    }
}

/// Uses the adapter that a choice speaks by.
fn spoken<U: Use>(choice: &Choice, then: U) -> U::Made {
    let mut dialect = match choice.provider.speaks {
        Speaks::Chat(dialect) => *dialect,
        Speaks::OpenAi if choice.base_url.is_some() => Dialect::VLLM,
        _ => Dialect::OPENAI,
    };
    dialect.images &= choice.capabilities.images;
    match choice.wire {
        Wire::OpenAiResponses => then.of(OpenAiResponses::default()),
        Wire::Anthropic => then.of(Anthropic::default()),
        Wire::Gemini => then.of(Gemini::developer()),
        Wire::Prompt => match choice.provider.speaks {
            Speaks::Anthropic => then.of(PromptMode::new(Anthropic::default())),
            Speaks::Gemini => then.of(PromptMode::new(Gemini::developer())),
            _ => then.of(PromptMode::new(OpenAiChat::new(dialect))),
        },
        _ => then.of(OpenAiChat::new(dialect)),
    }
}

struct Making<'a> {
    base_url: Option<&'a str>,
    key: Option<Secret>,
    cassette: &'a Cassette,
    network: Option<&'a PublicNetwork>,
}

impl Making<'_> {
    fn model<A: Adapter + 'static>(self, adapter: A) -> Result<HttpModel<A>, ModelError> {
        let mut model = match (self.cassette, self.network) {
            (Cassette::None, None) => HttpModel::new(adapter)?,
            (Cassette::None, Some(network)) => {
                let client = client_builder().map_err(ModelError::Setup)?;
                HttpModel::with_client(adapter, network.guard(client))?
            }
            (Cassette::Record(file), _) => HttpModel::new(adapter)?.recording(file)?,
            (Cassette::Replay(file), _) => HttpModel::replaying(adapter, file)?,
        };
        if let Some(url) = self.base_url {
            model = model.with_base_url(url);
        }
        if let Some(key) = self.key {
            model = model.with_key(key);
        }
        Ok(model)
    }
}
