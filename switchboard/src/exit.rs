//! Exit codes, and failures as they are shown to users.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use serde_json::{Value, json};

/// The program's exit code. The codes are documented and stable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Exit {
    /// Success.
    Done,
    /// Wrong usage, or any failure without a code of its own.
    Other,
    /// The model or its provider failed.
    Model,
    /// A server or a provider requires authentication.
    Auth,
    /// A server cannot be reached or started.
    Unreachable,
    /// A tool reported a failure.
    Tool,
    /// A call was denied.
    Denied,
    /// A limit was reached.
    Limit,
    /// The user cancelled.
    Cancelled,
}

impl Exit {
    /// The exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Other => 1,
            Self::Model => 2,
            Self::Auth => 3,
            Self::Unreachable => 4,
            Self::Tool => 5,
            Self::Denied => 6,
            Self::Limit => 7,
            Self::Cancelled => 130,
        }
    }

    /// The name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Other => "error",
            Self::Model => "model",
            Self::Auth => "auth",
            Self::Unreachable => "unreachable",
            Self::Tool => "tool",
            Self::Denied => "denied",
            Self::Limit => "limit",
            Self::Cancelled => "cancelled",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a verb failed: what failed, its causes, and a hint.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    message: String,
    hint: Option<String>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    /// A failure with a one-sentence message.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            hint: None,
            source: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the underlying cause.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// The hint.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The message and all its causes, in one line.
    pub fn chain(&self) -> String {
        chain(self)
    }

    /// The message and all its causes, each in the user's language.
    pub(crate) fn translated(&self) -> String {
        let mut text = crate::lang::message(&self.message).into_owned();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&crate::lang::message(&error.to_string()));
            cause = error.source();
        }
        text
    }

    /// As `--json` prints it on standard error.
    pub fn to_json(&self) -> Value {
        let mut error = json!({
            "code": self.exit.as_str(),
            "exit": self.exit.code(),
            "message": self.chain(),
        });
        if let (Some(hint), Some(members)) = (&self.hint, error.as_object_mut()) {
            members.insert("hint".to_owned(), hint.as_str().into());
        }
        json!({ "error": error })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}

/// An error with all its causes, in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
