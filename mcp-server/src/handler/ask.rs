//! Questions to the client, independent of how its era carries them.

use std::error::Error;
use std::fmt;

use mcp_jsonrpc::model::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams,
    ElicitResult, ElicitUrlParams, ElicitationCapability, ElicitationInput, FlagCapability,
    FormProblem, InputRequest, ListRootsResult, Root, RootsCapability, RootsInput,
    SamplingCapability, SamplingInput, check_form,
};
use mcp_jsonrpc::{Body, ErrorObject, RawRef, Revision};

/// A question that a handler can ask the client: see [`Context::ask`](crate::Context::ask).
///
/// Implemented by [`ElicitFormParams`] (a form for the user), [`ElicitUrlParams`] (a URL for the
/// user), [`CreateMessageParams`] (the client's model) and [`Roots`].
pub trait Question: sealed::Sealed + Send + Sync {
    /// What the client returns.
    type Answer: Send;
}

/// Asks for the client's roots.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Roots;

impl Roots {
    /// Creates the question.
    pub fn new() -> Self {
        Self
    }
}

impl Question for ElicitFormParams {
    type Answer = ElicitResult;
}
impl Question for ElicitUrlParams {
    type Answer = ElicitAction;
}
impl Question for CreateMessageParams {
    type Answer = CreateMessageResult;
}
impl Question for Roots {
    type Answer = Vec<Root>;
}

mod sealed {
    use super::*;

    #[allow(unnameable_types, reason = "sealed: only this crate implements it")]
    pub trait Sealed {
        /// What the client has to declare.
        fn required(&self) -> ClientCapabilities;
        /// Whether it does.
        fn is_supported(&self, revision: Revision, client: &ClientCapabilities) -> bool;
        fn input_request(&self, revision: Revision) -> InputRequest;
        fn read(&self, raw: RawRef<'_>) -> Result<<Self as Question>::Answer, String>
        where
            Self: Question;
    }
}

fn body<T: Body>(raw: RawRef<'_>) -> Result<T, String> {
    T::read(raw).map_err(|error| error.to_string())
}

impl sealed::Sealed for ElicitFormParams {
    fn required(&self) -> ClientCapabilities {
        let mut all = ClientCapabilities::default();
        all.elicitation = Some(ElicitationCapability::default());
        all
    }

    fn is_supported(&self, revision: Revision, client: &ClientCapabilities) -> bool {
        let forms = |can: &ElicitationCapability| can.has_form();
        revision.has_elicitation() && client.elicitation.as_ref().is_some_and(forms)
    }

    fn input_request(&self, _: Revision) -> InputRequest {
        ElicitationInput::new(self.clone()).into()
    }

    fn read(&self, raw: RawRef<'_>) -> Result<ElicitResult, String> {
        let mut result: ElicitResult = body(raw)?;
        if result.action == ElicitAction::Accept {
            let mut content = result.content.take().unwrap_or_default();
            // Fields that were not asked for are ignored.
            content.retain(|name, _| self.requested_schema.properties.contains_key(name));
            // Patterns are checked where the form is shown.
            let checked = check_form(&self.requested_schema, &content, |_, _| true);
            result.content = Some(checked.map_err(|problems| {
                let problems: Vec<_> = problems.iter().map(FormProblem::to_string).collect();
                problems.join("; ")
            })?);
        }
        Ok(result)
    }
}

impl sealed::Sealed for ElicitUrlParams {
    fn required(&self) -> ClientCapabilities {
        let mut all = ClientCapabilities::default();
        let mut elicitation = ElicitationCapability::default();
        elicitation.url = Some(FlagCapability::default());
        all.elicitation = Some(elicitation);
        all
    }

    fn is_supported(&self, revision: Revision, client: &ClientCapabilities) -> bool {
        let urls = |can: &ElicitationCapability| can.has_url();
        revision.has_url_elicitation() && client.elicitation.as_ref().is_some_and(urls)
    }

    fn input_request(&self, revision: Revision) -> InputRequest {
        let mut params = self.clone();
        if revision.is_modern() {
            params.elicitation_id = None;
        } else if params.elicitation_id.is_none() {
            params.elicitation_id = Some(crate::server::random::token());
        }
        ElicitationInput::new(params).into()
    }

    fn read(&self, raw: RawRef<'_>) -> Result<ElicitAction, String> {
        body(raw).map(|result: ElicitResult| result.action)
    }
}

impl sealed::Sealed for CreateMessageParams {
    fn required(&self) -> ClientCapabilities {
        let mut all = ClientCapabilities::default();
        let mut sampling = SamplingCapability::default();
        sampling.tools = self.tools.is_some().then(FlagCapability::default);
        all.sampling = Some(sampling);
        all
    }

    fn is_supported(&self, _: Revision, client: &ClientCapabilities) -> bool {
        let can = |can: &SamplingCapability| self.tools.is_none() || can.tools.is_some();
        client.sampling.as_ref().is_some_and(can)
    }

    fn input_request(&self, _: Revision) -> InputRequest {
        SamplingInput::new(self.clone()).into()
    }

    fn read(&self, raw: RawRef<'_>) -> Result<CreateMessageResult, String> {
        body(raw)
    }
}

impl sealed::Sealed for Roots {
    fn required(&self) -> ClientCapabilities {
        let mut all = ClientCapabilities::default();
        all.roots = Some(RootsCapability::default());
        all
    }

    fn is_supported(&self, _: Revision, client: &ClientCapabilities) -> bool {
        client.roots.is_some()
    }

    fn input_request(&self, _: Revision) -> InputRequest {
        RootsInput::default().into()
    }

    fn read(&self, raw: RawRef<'_>) -> Result<Vec<Root>, String> {
        body(raw).map(|result: ListRootsResult| result.roots)
    }
}

/// The reason why a question was not answered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AskError {
    /// The client does not declare support for such questions.
    Unsupported {
        /// What it would have to declare.
        required: Box<ClientCapabilities>,
    },
    /// Too many questions are open.
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The client answered with an error.
    Rejected(ErrorObject),
    /// The answer is invalid.
    Invalid {
        /// Why.
        reason: String,
    },
    /// No answer arrived in time.
    TimedOut,
    /// The client has disconnected.
    Disconnected,
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { required } => {
                let names = serde_json::to_string(required).unwrap_or_default();
                write!(
                    f,
                    "the client does not declare a required capability: {names}"
                )
            }
            Self::TooMany { limit } => write!(f, "too many open questions: the limit is {limit}"),
            Self::Rejected(error) => write!(f, "the client rejected the question: {error}"),
            Self::Invalid { reason } => write!(f, "invalid answer from the client: {reason}"),
            Self::TimedOut => f.write_str("the client did not answer in time"),
            Self::Disconnected => f.write_str("the client disconnected before it answered"),
        }
    }
}

impl Error for AskError {}
