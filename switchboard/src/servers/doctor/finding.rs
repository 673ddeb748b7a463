//! One thing that is wrong.

use serde_json::{Value, json};

use crate::exit::{Exit, Failure};

/// Something wrong with a server, and what to do about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Finding {
    pub(crate) problem: Problem,
    /// What was found.
    pub(crate) message: String,
    /// What to do.
    pub(crate) advice: String,
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Problem {
    /// Its entry makes no sense.
    BadConfig,
    /// A variable, an answer or a file is missing.
    MissingValue,
    /// It has not been approved yet.
    Pending,
    /// It uses the owner's machine, which its user may not.
    NotPermitted,
    /// Its program is not there.
    NotFound,
    /// Its program cannot be started.
    CannotStart,
    /// Its program ended.
    Exited,
    /// Nothing answers at its address.
    Unreachable,
    /// It is no MCP server, or speaks another transport.
    WrongTransport,
    /// It requires a login.
    AuthNeeded,
    /// It rejects its key.
    WrongKey,
    /// It speaks another protocol, or no revision in common.
    Protocol,
    /// It does not answer.
    NoAnswer,
    /// It answers with an error.
    Refused,
    /// Its program ended after its sandbox had denied it something.
    SandboxEnded,
    /// Its sandbox denied it something.
    SandboxDenied,
    /// Its sandbox is weaker on this machine than its profile says.
    SandboxWeaker,
    /// What it says has signs of an attack.
    Suspicious,
    /// It offers no tools.
    NoTools,
    /// Some of what it offers cannot be used.
    BadListing,
    /// It takes long to start.
    SlowStart,
    /// Its entry has unknown members.
    UnknownWords,
    /// The tool is switched off.
    Disabled,
}

impl Problem {
    /// The problem in one word.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::BadConfig => "bad_config",
            Self::MissingValue => "missing_value",
            Self::Pending => "pending",
            Self::NotPermitted => "not_permitted",
            Self::NotFound => "not_found",
            Self::CannotStart => "cannot_start",
            Self::Exited => "exited",
            Self::Unreachable => "unreachable",
            Self::WrongTransport => "wrong_transport",
            Self::AuthNeeded => "auth_needed",
            Self::WrongKey => "wrong_key",
            Self::Protocol => "protocol",
            Self::NoAnswer => "no_answer",
            Self::Refused => "refused",
            Self::SandboxEnded => "sandbox_ended",
            Self::SandboxDenied => "sandbox_denied",
            Self::SandboxWeaker => "sandbox_weaker",
            Self::Suspicious => "suspicious",
            Self::NoTools => "no_tools",
            Self::BadListing => "bad_listing",
            Self::SlowStart => "slow_start",
            Self::UnknownWords => "unknown_words",
            Self::Disabled => "disabled",
        }
    }

    /// The exit code of a verb.
    pub(crate) const fn exit(self) -> Exit {
        match self {
            Self::BadConfig | Self::MissingValue | Self::Refused => Exit::Other,
            Self::Pending | Self::NotPermitted | Self::Disabled => Exit::Denied,
            Self::AuthNeeded | Self::WrongKey => Exit::Auth,
            Self::NotFound
            | Self::CannotStart
            | Self::Exited
            | Self::SandboxEnded
            | Self::Unreachable
            | Self::WrongTransport
            | Self::Protocol
            | Self::NoAnswer => Exit::Unreachable,
            // Informational, not a failure.
            Self::SandboxDenied
            | Self::SandboxWeaker
            | Self::Suspicious
            | Self::NoTools
            | Self::BadListing
            | Self::SlowStart
            | Self::UnknownWords => Exit::Done,
        }
    }
}

impl Finding {
    pub(crate) fn new(
        problem: Problem,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            problem,
            message: message.into(),
            advice: advice.into(),
        }
    }

    /// The failure of a verb that needed the server.
    pub(crate) fn failure(&self, server: &str) -> Failure {
        let exit = match self.problem.exit() {
            Exit::Done => Exit::Other,
            exit => exit,
        };
        let message = format!("server {server:?}: {}", self.message);
        Failure::new(exit, message).with_hint(&self.advice)
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "problem": self.problem.as_str(),
            "message": self.message,
            "advice": self.advice,
        })
    }
}
