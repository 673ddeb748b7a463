//! Passes requests to the host, in every form the server sends them.

use std::sync::Arc;

use mcp_jsonrpc::RawJson;
use mcp_jsonrpc::model::{
    CreateMessageParams, ElicitAction, ElicitFormParams, ElicitParams, ElicitResult,
    ElicitUrlParams, FormProblem, InputRequest, InputRequests, InputResponses, ListRootsResult,
    Meta,
};
use mcp_transport::BoxError;
use serde::Serialize;

use crate::call::caller::Origin;
use crate::connection::Connection;
use crate::host::form::check_form;
use crate::host::{Host, HostError, ServerRequest};

/// A request to the host, in any form.
#[derive(Clone, Debug)]
pub(crate) enum HostRequest {
    Form(ElicitFormParams),
    Url(ElicitUrlParams),
    Sample(Box<CreateMessageParams>),
    Roots,
}

/// Why the host did not answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// We did not declare support for it.
    Undeclared,
    /// The host did not answer.
    Host(HostError),
    /// The host's answer is invalid.
    Unfit(String),
    /// The host exceeded its time limit.
    TooSlow,
}

impl HostRequest {
    /// An entry of an `input_required` result; `None` if it is of an unknown kind.
    pub(crate) fn of(request: &InputRequest) -> Option<Self> {
        match request {
            InputRequest::Elicitation(input) => Self::elicit(&input.params),
            InputRequest::Sampling(input) => Some(Self::Sample(Box::new(input.params.clone()))),
            InputRequest::Roots(_) => Some(Self::Roots),
            _ => None,
        }
    }

    pub(crate) fn elicit(params: &ElicitParams) -> Option<Self> {
        match params {
            ElicitParams::Form(form) => Some(Self::Form(form.clone())),
            ElicitParams::Url(url) => Some(Self::Url(url.clone())),
            _ => None,
        }
    }

    /// Its `_meta`.
    pub(crate) fn meta(&self) -> Option<&Meta> {
        match self {
            Self::Form(form) => form.meta.as_ref(),
            Self::Url(url) => url.meta.as_ref(),
            Self::Sample(params) => params.meta.as_ref(),
            Self::Roots => None,
        }
    }

    /// A description of the request.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Form(_) => "a form to be filled in",
            Self::Url(_) => "a URL to be visited",
            Self::Sample(_) => "a model's answer",
            Self::Roots => "the roots",
        }
    }
}

impl Connection {
    /// Calls the host and validates its answer. The clock of all calls is paused meanwhile.
    pub(crate) async fn ask_host(
        &self,
        ask: HostRequest,
        origin: Origin,
        can_park: bool,
    ) -> Result<RawJson, Unanswered> {
        let can = self.settings.capabilities;
        let declared = match &ask {
            HostRequest::Form(_) => can.forms(),
            HostRequest::Url(_) => can.urls(),
            HostRequest::Sample(params)
                if params.tools.is_some() || params.tool_choice.is_some() =>
            {
                can.sampling_tools()
            }
            HostRequest::Sample(_) => can.sampling() || can.sampling_tools(),
            HostRequest::Roots => can.roots(),
        };
        let Some(host) = self.settings.host.as_ref().filter(|_| declared) else {
            return Err(Unanswered::Undeclared);
        };
        let _pause = ClockPause::new(self);
        let limit = self.settings.limits.input_timeout();
        let answer = put(host.as_ref(), &self.settings.name, ask, origin, can_park);
        tokio::time::timeout(limit, answer)
            .await
            .unwrap_or(Err(Unanswered::TooSlow))
    }
}

async fn put(
    host: &dyn Host,
    server: &Arc<str>,
    ask: HostRequest,
    origin: Origin,
    can_park: bool,
) -> Result<RawJson, Unanswered> {
    let server = Arc::clone(server);
    match ask {
        HostRequest::Form(params) => {
            let form = params.requested_schema.clone();
            let question = ServerRequest::new(server, params)
                .with_origin(origin)
                .with_can_park(can_park);
            let answer = host.elicit_form(question).await;
            let mut answer = declined(answer, ElicitResult::decline)?;
            answer.content = match (&answer.action, answer.content.take()) {
                (ElicitAction::Accept, content) => {
                    let content = check_form(&form, &content.unwrap_or_default());
                    Some(content.map_err(|problems| Unanswered::Unfit(listed(&problems)))?)
                }
                _ => None,
            };
            raw(&answer)
        }
        HostRequest::Url(params) => {
            let question = ServerRequest::new(server, params).with_origin(origin);
            let answer = host.elicit_url(question).await;
            raw(&ElicitResult::new(declined(answer, || {
                ElicitAction::Decline
            })?))
        }
        HostRequest::Sample(params) => {
            let question = ServerRequest::new(server, *params).with_origin(origin);
            let answer = host.sample(question).await;
            raw(&answer.map_err(Unanswered::Host)?)
        }
        HostRequest::Roots => {
            let question = ServerRequest::new(server, ()).with_origin(origin);
            let roots = host.list_roots(question).await;
            raw(&ListRootsResult::new(roots.map_err(Unanswered::Host)?))
        }
    }
}

/// Completes and validates answers that did not come from the host: one for each request, with valid forms.
pub(crate) fn check_answers(
    questions: &InputRequests,
    answers: &mut InputResponses,
) -> Result<(), String> {
    if let Some(key) = answers.keys().find(|key| !questions.contains_key(key)) {
        return Err(format!("{key:?} was not asked"));
    }
    for (key, question) in questions.iter() {
        let Some(answer) = answers.get(key) else {
            return Err(format!("{key:?} is not answered"));
        };
        if let Some(HostRequest::Form(params)) = HostRequest::of(question) {
            let mut result: ElicitResult = answer
                .parse()
                .map_err(|error| format!("{key:?}: {error}"))?;
            if result.action == ElicitAction::Accept {
                let content = result.content.take().unwrap_or_default();
                let content = check_form(&params.requested_schema, &content);
                result.content = Some(content.map_err(|problems| listed(&problems))?);
                answers
                    .set(key, &result)
                    .map_err(|error| error.to_string())?;
            }
        }
    }
    Ok(())
}

/// Declining an elicitation is a regular answer.
fn declined<T>(answer: Result<T, HostError>, decline: impl FnOnce() -> T) -> Result<T, Unanswered> {
    match answer {
        Err(HostError::Refused { .. }) => Ok(decline()),
        other => other.map_err(Unanswered::Host),
    }
}

fn raw<T: Serialize>(answer: &T) -> Result<RawJson, Unanswered> {
    RawJson::from_serialize(answer)
        .map_err(|error| Unanswered::Host(HostError::Failed(BoxError::from(error))))
}

fn listed(problems: &[FormProblem]) -> String {
    problems
        .iter()
        .map(FormProblem::to_string)
        .collect::<Vec<_>>()
        .join("; ")
}

/// Pauses the clock during its lifetime.
struct ClockPause<'a>(&'a Connection);

impl<'a> ClockPause<'a> {
    fn new(connection: &'a Connection) -> Self {
        connection.state.lock().clock.pause(connection.now());
        Self(connection)
    }
}

impl Drop for ClockPause<'_> {
    fn drop(&mut self) {
        self.0.resume_clock(self.0.now());
    }
}
