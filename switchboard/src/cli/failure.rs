//! Conversions of module errors into failures.

use std::path::Path;

use crate::conversation::{ConversationError, LEASED_HINT};
use crate::exit::{Exit, Failure};
use crate::models::{Choice, ChoiceError, KeyError};
use crate::store::StoreError;

/// A file that cannot be written.
pub(super) fn unwritable(file: &Path, error: std::io::Error) -> Failure {
    let text = format!("{} cannot be written", file.display());
    Failure::new(Exit::Other, text).caused_by(error)
}

/// Whether it is the other side's certificate that is wrong.
fn distrusts(error: &(dyn std::error::Error + 'static)) -> bool {
    let is_certificate = |error: &(dyn std::error::Error + 'static)| {
        let tls = error.downcast_ref::<rustls::Error>();
        matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
    };
    let mut next = Some(error);
    while let Some(error) = next {
        let within = error
            .downcast_ref::<std::io::Error>()
            .and_then(|it| it.get_ref());
        if is_certificate(error) || within.is_some_and(|it| is_certificate(it)) {
            return true;
        }
        next = error.source();
    }
    false
}

/// A hint for a model that could not be reached.
pub(super) fn model_hint(choice: &Choice, message: &str) -> Option<String> {
    if !message.contains("could not be reached") {
        return None;
    }
    let provider = choice.provider;
    Some(match (&choice.endpoint, provider.local) {
        (None, true) if provider.name == "ollama" => {
            "Is Ollama running? `ollama serve` starts it.".to_owned()
        }
        (None, false) => "Are you online? A proxy is taken from HTTPS_PROXY.".to_owned(),
        _ => "Is the model's server running, and its address right? `switchboard model show` \
              tells which it is."
            .to_owned(),
    })
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let hint = match &error {
            StoreError::ReadOnly => Some(
                "Name the primary in --database, or all of them: \
                 postgres://a.example,b.example/team?target_session_attrs=read-write",
            ),
            StoreError::Open { .. } if distrusts(&error) => Some(
                "Have its certificate trusted: SSL_CERT_FILE=FILE names the certificates that are. On this \
                 machine, or in a network that no one else is in, ?sslmode=disable in the address does \
                 without.",
            ),
            _ => None,
        };
        let failure = Self::new(Exit::Other, "the store cannot be used").caused_by(error);
        match hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

impl From<ConversationError> for Failure {
    fn from(error: ConversationError) -> Self {
        let failure = Self::new(Exit::Other, "the conversation cannot go on");
        match error {
            ConversationError::Leased => failure.caused_by(error).with_hint(LEASED_HINT),
            error => failure.caused_by(error),
        }
    }
}

impl From<ChoiceError> for Failure {
    fn from(error: ChoiceError) -> Self {
        let exit = match error {
            ChoiceError::NoKey { .. } => Exit::Auth,
            _ => Exit::Model,
        };
        Self::new(exit, "no model can be used")
            .caused_by(error)
            .with_hint("`switchboard model list` shows what there is; `--model demo` always works.")
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        Self::new(Exit::Auth, "a key is missing").caused_by(error)
    }
}
