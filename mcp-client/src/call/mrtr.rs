//! Multi-round-trip requests: a call whose result asks for input is repeated with the answers until there is a final
//! result.

use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::model::{
    CallTool, ElicitAction, ElicitResult, GetPrompt, InputRequests, InputRequiredResult,
    InputResponses, ReadResource, UrlElicitationData, extension, task::CreateTaskResult,
};
use mcp_jsonrpc::{
    ErrorCode, ErrorObject, Method, RawJson, RawObject, Reply, ResultBody, ResultType,
};
use tokio::time::Instant;

use crate::call::caller::Origin;
use crate::call::error::{CallError, CallName};
use crate::call::exchange::RequestFailure;
use crate::call::parked::Parked;
use crate::call::request::{Call, Recoveries};
use crate::call::response::ResponseBody;
use crate::client::Client;
use crate::connection::session::Session;
use crate::connection::snapshot::Snapshot;
use crate::features::task::CancelOnDrop;
use crate::host::HostError;
use crate::host::input::{HostRequest, Unanswered};

/// Methods whose results may ask for input.
const MRTR_METHODS: [&str; 3] = [CallTool::NAME, GetPrompt::NAME, ReadResource::NAME];

/// The state of a call between two rounds.
#[derive(Debug, Default)]
pub(crate) struct MrtrState {
    pub(crate) rounds: u32,
    pub(crate) responses: Option<InputResponses>,
    pub(crate) request_state: Option<String>,
    recoveries: Recoveries,
    /// The URLs the user agreed to visit for this call (2025-11-25).
    visited: Vec<String>,
}

impl MrtrState {
    /// The state after this many rounds, with the answers to the last one.
    pub(crate) fn after(
        rounds: u32,
        responses: InputResponses,
        request_state: Option<String>,
    ) -> Self {
        Self {
            rounds,
            responses: Some(responses),
            request_state,
            ..Self::default()
        }
    }
}

/// The outcome of a call.
#[derive(Debug)]
pub(crate) enum Answer<T> {
    /// The result, and its size in bytes.
    Result(T, usize),
    /// A task that will have the result.
    Task(Box<CreateTaskResult>),
}

/// The content of a round without the final result.
enum Incomplete {
    Missed(RequestFailure),
    Asked(InputRequiredResult),
    Task(Box<CreateTaskResult>),
    Invalid(String),
}

impl Client {
    /// Makes a call and reads its result.
    pub(crate) async fn call<T: ResultBody>(&self, call: &Call<'_>) -> Result<T, CallError> {
        Ok(self.call_from(call, &mut MrtrState::default()).await?.0)
    }

    /// Like [`call`](Self::call), starting at any round. Also returns the size of the result in bytes. Waits for the
    /// task if the call becomes one.
    pub(crate) async fn call_from<T: ResultBody>(
        &self,
        call: &Call<'_>,
        state: &mut MrtrState,
    ) -> Result<(T, usize), CallError> {
        let began = Instant::now();
        match self
            .answer(self.connection().snapshot(), call, state)
            .await?
        {
            Answer::Result(result, bytes) => Ok((result, bytes)),
            Answer::Task(task) => {
                let task = self.finish_task(self.named(call), task.task_id, began);
                Ok((Box::pin(task).await?, 0))
            }
        }
    }

    /// Waits for the task of `call`, which started at `began`. If the caller is dropped, or if the wait fails while the
    /// task is running, the task is cancelled, because no other caller will fetch its result.
    pub(crate) async fn finish_task<T: ResultBody>(
        &self,
        call: CallName,
        id: String,
        began: Instant,
    ) -> Result<T, CallError> {
        let task = self.handle(id.clone());
        let mut guard = CancelOnDrop(Some(task.clone()));
        let mut is_over = false;
        let result = task.finish(began, &mut is_over).await;
        if is_over || matches!(result, Err(CallError::Parked(_))) {
            guard.0 = None;
        }
        let task_id = Some(id.into());
        result.map_err(|error| error.of_task(CallName { task_id, ..call }))
    }

    /// Like [`call_from`](Self::call_from), but returns the task if the call becomes one.
    pub(crate) async fn answer<T: ResultBody>(
        &self,
        mut snapshot: Arc<Snapshot>,
        call: &Call<'_>,
        state: &mut MrtrState,
    ) -> Result<Answer<T>, CallError> {
        let mut began = None;
        loop {
            let session = &snapshot.session;
            let attempt = self.attempt(call, &snapshot, state);
            let exchange = self
                .connection()
                .exchange(&session.dialect, &attempt, &mut began);
            let instead = match exchange.await {
                Ok(body) => match read::<T>(&body, session) {
                    Ok(result) => return Ok(Answer::Result(result, body.len())),
                    Err(Incomplete::Task(task)) if self.declares(extension::TASKS) => {
                        return Ok(Answer::Task(task));
                    }
                    Err(instead) => instead,
                },
                Err(failure) => Incomplete::Missed(failure),
            };
            // Boxed, so that the future of an ordinary call stays small.
            Box::pin(self.next_round(call, session, instead, state)).await?;
            snapshot = self.connection().snapshot();
        }
    }

    /// Whether this extension is declared: with the call, or otherwise by the connection.
    fn declares(&self, id: &str) -> bool {
        let own = self.options().and_then(|it| it.capabilities.as_ref());
        match own {
            Some(own) => own
                .extensions
                .as_ref()
                .is_some_and(|it| it.contains_key(id)),
            None => self.connection().settings.extensions.contains_key(id),
        }
    }

    /// Prepares the next round, if there is one.
    async fn next_round(
        &self,
        call: &Call<'_>,
        session: &Session,
        instead: Incomplete,
        state: &mut MrtrState,
    ) -> Result<(), CallError> {
        match instead {
            Incomplete::Missed(RequestFailure::Peer(error)) if requires_urls(&error, session) => {
                self.visit_urls(call, error, state).await
            }
            Incomplete::Missed(failure) => {
                self.recover(call, session, failure, &mut state.recoveries)
                    .await
            }
            Incomplete::Asked(wanted) if MRTR_METHODS.contains(&call.method.as_ref()) => {
                self.answer_input(call, wanted, state).await
            }
            Incomplete::Asked(_) => {
                Err(self.invalid(call, "it asks for input, which it may not do here"))
            }
            Incomplete::Task(_) => Err(self.invalid(call, "it made a task of a call, unasked")),
            Incomplete::Invalid(detail) => Err(self.invalid(call, detail)),
        }
    }

    pub(crate) fn invalid(&self, call: &Call<'_>, detail: impl Into<String>) -> CallError {
        CallError::InvalidReply {
            call: self.named(call),
            detail: detail.into(),
        }
    }

    /// Collects the input the server requested, for the next round.
    async fn answer_input(
        &self,
        call: &Call<'_>,
        wanted: InputRequiredResult,
        state: &mut MrtrState,
    ) -> Result<(), CallError> {
        self.count_round(call, state)?;
        let InputRequiredResult {
            input_requests,
            request_state,
            ..
        } = wanted;
        if input_requests.is_none() && request_state.is_none() {
            return Err(self.invalid(call, "it asks for input but does not say for which"));
        }
        let questions = input_requests.unwrap_or_default();
        if questions.is_empty() {
            // There is nothing to answer; poll again, after a delay.
            tokio::time::sleep(pause(state.rounds)).await;
        }
        let answers = self
            .answers(call, &questions, request_state.as_deref(), state.rounds)
            .await?;
        state.responses = (!questions.is_empty()).then_some(answers);
        state.request_state = request_state;
        Ok(())
    }

    fn count_round(&self, call: &Call<'_>, state: &mut MrtrState) -> Result<(), CallError> {
        let limit = self.connection().settings.limits.rounds();
        if state.rounds >= limit {
            let call = self.named(call);
            return Err(CallError::TooManyRounds {
                call,
                rounds: limit,
            });
        }
        state.rounds += 1;
        Ok(())
    }

    /// Passes the server's input requests to the host, one after the other.
    pub(crate) async fn answers(
        &self,
        call: &Call<'_>,
        questions: &InputRequests,
        state: Option<&str>,
        rounds: u32,
    ) -> Result<InputResponses, CallError> {
        let most = self.connection().settings.limits.questions();
        if questions.len() > most {
            let detail = format!(
                "it asks {} things at once; the limit is {most}",
                questions.len()
            );
            return Err(self.invalid(call, detail));
        }
        let (mut answers, mut later) = (InputResponses::new(), false);
        for (key, question) in questions.iter() {
            let Some(ask) = HostRequest::of(question) else {
                return Err(self.invalid(call, "it asks for something unknown"));
            };
            let kind = ask.kind();
            match self
                .connection()
                .ask_host(ask, self.origin(), self.may_park())
                .await
            {
                Ok(answer) => drop(answers.insert(key, answer)),
                Err(Unanswered::Host(HostError::Later)) => later = true,
                Err(why) => return Err(self.unanswered(call, kind, why)),
            }
        }
        if !later {
            return Ok(answers);
        }
        Err(CallError::Parked(Box::new(Parked {
            server: self.connection().settings.name.to_string(),
            method: call.method.to_string(),
            params: self.bare_params(call)?,
            questions: questions.clone(),
            answers,
            state: state.map(str::to_owned),
            rounds,
        })))
    }

    /// The origin of input requests from this handle's calls.
    fn origin(&self) -> Origin {
        Origin::of(self.options().and_then(|options| options.caller.clone()))
    }

    fn may_park(&self) -> bool {
        self.options().is_some_and(|options| options.parking)
    }

    /// The call's params without our additions.
    fn bare_params(&self, call: &Call<'_>) -> Result<RawObject, CallError> {
        #[derive(serde::Deserialize)]
        struct Message {
            params: RawObject,
        }
        let mut body = Vec::new();
        call.params
            .encode(&mut body, &0.into(), &call.method)
            .map_err(|_| "the params cannot be written as JSON".into())
            .and_then(|()| Ok(serde_json::from_slice::<Message>(&body)?.params))
            .map_err(|source| CallError::InvalidRequest {
                call: self.named(call),
                source,
            })
    }

    fn unanswered(&self, call: &Call<'_>, kind: &str, why: Unanswered) -> CallError {
        let (detail, source) = match why {
            Unanswered::Undeclared => {
                return self.invalid(call, format!("it asks for {kind}, which we did not offer"));
            }
            Unanswered::Host(HostError::Failed(source)) => (
                format!("the server asked for {kind}, and the host failed"),
                Some(source),
            ),
            Unanswered::Host(error) => (format!("the server asked for {kind}: {error}"), None),
            Unanswered::Unfit(problems) => (
                format!("the answer to {kind} does not fit: {problems}"),
                None,
            ),
            Unanswered::TooSlow => (
                format!("the server asked for {kind}: no answer in time"),
                None,
            ),
        };
        CallError::InputRefused {
            call: self.named(call),
            detail,
            source,
        }
    }

    /// Asks the user to visit the URLs the server requires first, once each, before the call is repeated.
    async fn visit_urls(
        &self,
        call: &Call<'_>,
        refusal: ErrorObject,
        state: &mut MrtrState,
    ) -> Result<(), CallError> {
        // Each refusal is a round: a server could name another URL each time.
        self.count_round(call, state)?;
        let UrlElicitationData { elicitations, .. } = match refusal.data_as() {
            Some(data) => data,
            None => UrlElicitationData::new(Vec::new()),
        };
        let fresh = elicitations
            .iter()
            .all(|one| !state.visited.contains(&one.url));
        let able =
            fresh && !elicitations.is_empty() && self.connection().settings.capabilities.urls();
        for one in elicitations.into_iter().filter(|_| able) {
            let url = one.url.clone();
            match self
                .connection()
                .ask_host(HostRequest::Url(one), self.origin(), false)
                .await
            {
                Ok(answer) if is_accepted(&answer) => state.visited.push(url),
                _ => return Err(RequestFailure::Peer(refusal).into_error(self.named(call))),
            }
        }
        match able {
            true => Ok(()),
            false => Err(RequestFailure::Peer(refusal).into_error(self.named(call))),
        }
    }
}

/// Reads a result; the usual case takes one pass.
fn read<T: ResultBody>(body: &ResponseBody, session: &Session) -> Result<T, Incomplete> {
    let Some(result) = body.read::<T>() else {
        return read_checked(body, session);
    };
    match result.result_type() {
        _ if !session.dialect.is_modern() => Ok(result),
        Some(ResultType::Complete) => Ok(result),
        _ => read_checked(body, session),
    }
}

/// Reads a result that is not simply complete: validates the whole message and the kind of result.
fn read_checked<T: ResultBody>(body: &ResponseBody, session: &Session) -> Result<T, Incomplete> {
    let raw = body.result().map_err(Incomplete::Missed)?;
    if !session.dialect.is_modern() {
        return T::read(raw).map_err(|error| Incomplete::Invalid(error.to_string()));
    }
    match Reply::read(raw) {
        Ok(Reply::Complete(result)) => Ok(result),
        Ok(Reply::InputRequired(wanted)) => Err(Incomplete::Asked(wanted)),
        Ok(Reply::Task(task)) => Err(Incomplete::Task(Box::new(task))),
        Ok(Reply::Unknown { result_type, .. }) => Err(Incomplete::Invalid(format!(
            "a result of the unknown type {result_type:?}"
        ))),
        Ok(_) => Err(Incomplete::Invalid(
            "a result of an unknown type".to_owned(),
        )),
        Err(error) => Err(Incomplete::Invalid(error.to_string())),
    }
}

/// A server of 2025-11-25 may reject a call until the user has visited some URLs.
fn requires_urls(error: &ErrorObject, session: &Session) -> bool {
    error.code == ErrorCode::URL_ELICITATION_REQUIRED && !session.dialect.is_modern()
}

fn is_accepted(answer: &RawJson) -> bool {
    let answer = answer.parse::<ElicitResult>();
    answer.is_ok_and(|answer| answer.action == ElicitAction::Accept)
}

/// The delay before polling again: 50 ms, doubling up to 250 ms.
fn pause(round: u32) -> Duration {
    Duration::from_millis(
        50u64
            .saturating_mul(1 << round.saturating_sub(1).min(8))
            .min(250),
    )
}
