//! One question, one answer.

use std::error::Error;
use std::fmt;

use crate::agent::Agent;
use crate::run::Run;
use crate::run::step::Reason;

impl Agent {
    /// Asks a question in a new run, drives it to its end and returns it:
    /// [`Run::text`](crate::Run::text) is the answer. To continue the conversation, call
    /// [`Run::ask`](crate::Run::ask) and [`finish`](Self::finish).
    ///
    /// # Errors
    /// [`AskError`] if a server cannot be connected, if a call needs approval and there is no
    /// [`on_approval`](Self::on_approval), or if the run ends for another reason than that the model
    /// has finished.
    pub async fn ask(&self, question: impl Into<String>) -> Result<Run, AskError> {
        #[cfg(feature = "manager")]
        self.connect().await?;
        let mut run = self.begin(question);
        match self.finish(&mut run).await {
            Some(Reason::Finished) => Ok(run),
            Some(reason) => Err(AskError::Stopped(reason, Box::new(run))),
            None => Err(AskError::Waiting(Box::new(run))),
        }
    }
}

/// Why a question has no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum AskError {
    /// These servers cannot be connected, by name, and why.
    Servers(Vec<(String, String)>),
    /// A call waits for approval, or a server for an answer, and the agent has no one to ask.
    Waiting(Box<Run>),
    /// The run ended before the model had finished.
    Stopped(Reason, Box<Run>),
}

impl AskError {
    /// The run as far as it came, if it began.
    pub fn into_run(self) -> Option<Run> {
        match self {
            Self::Servers(_) => None,
            Self::Waiting(run) | Self::Stopped(_, run) => Some(*run),
        }
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Servers(failed) => {
                let failed = failed.iter().map(|(name, why)| format!("{name}: {why}"));
                let failed: Vec<String> = failed.collect();
                write!(f, "servers cannot be connected: {}", failed.join("; "))
            }
            Self::Waiting(run) => match run.approvals().first() {
                Some(approval) => write!(
                    f,
                    "the call of {:?} needs approval: set `Agent::on_approval`, or a policy that \
                     allows it",
                    approval.record.display_name
                ),
                None => f.write_str("a server needs an answer from a person"),
            },
            Self::Stopped(reason, _) => write!(f, "the run stopped: {reason}"),
        }
    }
}

impl Error for AskError {}
