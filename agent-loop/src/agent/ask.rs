//! Questions with one answer.

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
    /// [`on_approval`](Self::on_approval), or if the run ends for any reason other than that the model has finished.
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

#[cfg(feature = "schemars")]
impl Agent {
    /// Asks a question whose answer is a Rust type: the model replies in the type's JSON schema.
    ///
    /// ```
    /// use agent_loop::Agent;
    /// # use agent_loop::testing::ScriptedModel;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Invoice {
    ///     number: String,
    ///     total: f64,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), agent_loop::AskError> {
    /// # let model = ScriptedModel::new().outputs(serde_json::json!({"number": "17", "total": 20.0}));
    /// let invoice: Invoice = Agent::new(model).ask_as("Invoice 17 is over 20 €.").await?;
    /// assert_eq!((invoice.number.as_str(), invoice.total), ("17", 20.0));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`ask`](Self::ask); [`Reason::InvalidOutput`] if the model's reply still does not match.
    pub async fn ask_as<T>(&self, question: impl Into<String>) -> Result<T, AskError>
    where
        T: serde::de::DeserializeOwned + schemars::JsonSchema,
    {
        let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
        let run = self
            .clone()
            .with_output_schema(schema)
            .ask(question)
            .await?;
        let output = run.output().map(|output| output.parse());
        let problem = match output {
            Some(Ok(output)) => return Ok(output),
            Some(Err(error)) => error.to_string(),
            None => "the model's reply has no structured output".to_owned(),
        };
        let reason = Reason::InvalidOutput { message: problem };
        Err(AskError::Stopped(reason, Box::new(run)))
    }
}

/// The reason why a question has no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum AskError {
    /// These servers could not be connected, by name, with the errors.
    Servers(Vec<(String, String)>),
    /// A call waits for approval, or a server for an answer, and the agent has no handler for it.
    Waiting(Box<Run>),
    /// The run ended before the model had finished.
    Stopped(Reason, Box<Run>),
}

impl AskError {
    /// The unfinished run, if it was started.
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
