//! Builds the chosen model.

use std::path::PathBuf;
use std::sync::Arc;

use provider_adapters::{
    Adapter, Anthropic, Dialect, Gemini, HttpModel, Model, ModelError, OpenAiChat, OpenAiResponses,
    PromptMode, Secret, Wire,
};

use crate::models::choice::Choice;
use crate::models::provider::Speaks;

/// Recording or replay of a model's HTTP exchange.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Tape {
    /// Neither.
    #[default]
    None,
    /// Records to this file.
    Record(PathBuf),
    /// Replays this file.
    Replay(PathBuf),
}

/// Builds the chosen model. The key is sent to the choice's URL only: redirects are not followed.
/// `base_url` is used if the choice has none, as for the demo model.
///
/// # Errors
/// If the HTTP client or the tape cannot be set up.
pub fn build(
    choice: &Choice,
    base_url: Option<&str>,
    key: Option<Secret>,
    tape: &Tape,
) -> Result<Arc<dyn Model>, ModelError> {
    let making = Making {
        base_url: choice.base_url.as_deref().or(base_url),
        key,
        tape,
    };
    let mut dialect = match choice.provider.speaks {
        Speaks::Chat(dialect) => *dialect,
        Speaks::OpenAi if choice.base_url.is_some() => Dialect::VLLM,
        _ => Dialect::OPENAI,
    };
    dialect.images &= choice.capabilities.images;
    match choice.wire {
        Wire::OpenAiResponses => making.model(OpenAiResponses::default()),
        Wire::Anthropic => making.model(Anthropic::default()),
        Wire::Gemini | Wire::Vertex => making.model(Gemini::developer()),
        Wire::Prompt => match choice.provider.speaks {
            Speaks::Anthropic => making.model(PromptMode::new(Anthropic::default())),
            Speaks::Gemini => making.model(PromptMode::new(Gemini::developer())),
            _ => making.model(PromptMode::new(OpenAiChat::new(dialect))),
        },
        _ => making.model(OpenAiChat::new(dialect)),
    }
}

struct Making<'a> {
    base_url: Option<&'a str>,
    key: Option<Secret>,
    tape: &'a Tape,
}

impl Making<'_> {
    fn model<A: Adapter + 'static>(self, adapter: A) -> Result<Arc<dyn Model>, ModelError> {
        let mut model = match self.tape {
            Tape::None => HttpModel::new(adapter)?,
            Tape::Record(file) => HttpModel::new(adapter)?.recording(file)?,
            Tape::Replay(file) => HttpModel::replaying(adapter, file)?,
        };
        if let Some(url) = self.base_url {
            model = model.with_base_url(url);
        }
        if let Some(key) = self.key {
            model = model.with_key(key);
        }
        Ok(Arc::new(model))
    }
}
