//! Requests of the server's (up to 2025-11-25): whatever has an id and a method gets an answer.

use std::sync::Arc;

use mcp_jsonrpc::model::{
    CreateMessage, ElicitResult, ElicitationCreate, EmptyResult, ListRoots, Meta, Ping,
};
use mcp_jsonrpc::{
    ErrorCode, ErrorObject, Method, RawJson, RawRef, ReadError, RequestId, encode_error,
    encode_result, parse_params,
};
use mcp_transport::Outgoing;
use serde::Serialize;

use crate::answer::ours;
use crate::caller::Origin;
use crate::host::HostError;
use crate::input::{Ask, Unanswered};
use crate::link::Link;
use crate::reader::chain;

/// The server asks something, on the reply stream of the request `stream` or on a shared channel.
pub(crate) fn asked(
    link: &Arc<Link>,
    id: RequestId,
    method: &str,
    params: Option<RawRef<'_>>,
    stream: Option<&RequestId>,
) {
    if link.session().dialect.is_modern() {
        // Forbidden there, and so is any answer.
        tracing::warn!(server = %link.settings.name, method, "a request from a modern server");
        return;
    }
    if method == Ping::NAME {
        return answer(link, &id, &EmptyResult::default());
    }
    let ask = match method {
        ElicitationCreate::NAME => parse_params(params)
            .map_err(|error| invalid(&error))
            .and_then(|params| Ask::elicit(&params).ok_or_else(unknown_mode)),
        CreateMessage::NAME => parse_params(params)
            .map(|params| Ask::Sample(Box::new(params)))
            .map_err(|error| invalid(&error)),
        ListRoots::NAME => Ok(Ask::Roots),
        _ => Err(ErrorObject::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("no method {method:?} here"),
        )),
    };
    match ask {
        Ok(ask) => {
            let origin = origin(link, &ask, stream);
            open(link, id, ask, origin);
        }
        Err(error) => refuse(link, &id, &error),
    }
}

fn invalid(error: &ReadError) -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string())
}

fn unknown_mode() -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, "unknown mode of elicitation")
}

/// Which call a question belongs to: that of the task it names, or that on whose stream it came.
fn origin(link: &Link, ask: &Ask, stream: Option<&RequestId>) -> Origin {
    let task = ask.meta().and_then(Meta::related_task);
    if let Some(caller) = task.and_then(|task| link.tasks.lock().get(&task.task_id).cloned()) {
        return Origin::of(Some(caller));
    }
    match stream.and_then(ours) {
        Some(id) => Origin::of(link.state.lock().pending.caller(id)),
        None => Origin::Shared,
    }
}

/// Answers a question on a task of its own: a person may take long.
fn open(link: &Arc<Link>, id: RequestId, ask: Ask, origin: Origin) {
    let mut questions = link.questions.lock();
    if questions.len() >= link.settings.limits.questions() || questions.contains_key(&id) {
        let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "too many questions are open");
        return refuse(link, &id, &error);
    }
    let open = Open {
        link: Arc::clone(link),
        id: id.clone(),
    };
    let task = tokio::spawn(async move {
        let kind = Kind::of(&ask);
        let outcome = open.link.ask_host(ask, origin).await;
        if open.is_wanted() {
            reply(&open.link, &open.id, kind, outcome);
        }
    });
    questions.insert(id, task.abort_handle());
}

/// A question somebody is answering. It is answered even if the host panics.
struct Open {
    link: Arc<Link>,
    id: RequestId,
}

impl Open {
    /// Whether the answer is still wanted; it will be wanted only once.
    fn is_wanted(&self) -> bool {
        self.link.questions.lock().remove(&self.id).is_some()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if self.is_wanted() {
            let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "the host gave no answer");
            refuse(&self.link, &self.id, &error);
        }
    }
}

/// The server no longer wants an answer, and gets none.
pub(crate) fn withdrawn(link: &Link, id: &RequestId) {
    // Out of the table first: what is dropped then is not answered.
    let question = link.questions.lock().remove(id);
    if let Some(question) = question {
        question.abort();
    }
}

/// Which words a question that is not answered is answered with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Elicitation,
    Other,
}

impl Kind {
    fn of(ask: &Ask) -> Self {
        match ask {
            Ask::Form(_) | Ask::Url(_) => Self::Elicitation,
            Ask::Sample(_) | Ask::Roots => Self::Other,
        }
    }
}

fn reply(link: &Link, id: &RequestId, kind: Kind, outcome: Result<RawJson, Unanswered>) {
    let can = link.settings.capabilities;
    let error = match (outcome, kind) {
        (Ok(given), _) => return answer(link, id, &given),
        // Nobody there to be asked: the question is cancelled rather than refused, so that the
        // server can go on. A mode we did not declare beside one we did is the server's mistake.
        (Err(Unanswered::Undeclared), Kind::Elicitation) if can.forms() || can.urls() => {
            ErrorObject::new(
                ErrorCode::INVALID_PARAMS,
                "this mode of elicitation was not declared",
            )
        }
        (
            Err(
                Unanswered::Undeclared
                | Unanswered::TooSlow
                | Unanswered::Host(HostError::Unsupported | HostError::Later),
            ),
            Kind::Elicitation,
        ) => return answer(link, id, &ElicitResult::cancel()),
        (Err(Unanswered::Undeclared | Unanswered::Host(HostError::Unsupported)), Kind::Other) => {
            ErrorObject::new(
                ErrorCode::METHOD_NOT_FOUND,
                "this client does not offer that",
            )
        }
        (Err(Unanswered::TooSlow | Unanswered::Host(HostError::Later)), Kind::Other) => {
            ErrorObject::new(ErrorCode::INTERNAL_ERROR, "nobody answered in time")
        }
        (Err(Unanswered::Host(HostError::Refused { reason })), _) => {
            ErrorObject::new(ErrorCode::USER_REJECTED, reason)
        }
        (Err(Unanswered::Host(HostError::Failed(error))), _) => {
            ErrorObject::new(ErrorCode::INTERNAL_ERROR, chain(error.as_ref()))
        }
        (Err(Unanswered::Unfit(problems)), _) => ErrorObject::new(
            ErrorCode::INTERNAL_ERROR,
            format!("the answer does not fit: {problems}"),
        ),
    };
    refuse(link, id, &error);
}

fn answer<R: Serialize>(link: &Link, id: &RequestId, result: &R) {
    let mut body = Vec::new();
    if encode_result(&mut body, id, result).is_ok() {
        send(link, id, body);
    }
}

/// Answers with an error.
pub(crate) fn refuse(link: &Link, id: &RequestId, error: &ErrorObject) {
    let mut body = Vec::new();
    if encode_error(&mut body, Some(id), error).is_ok() {
        send(link, id, body);
    }
}

fn send(link: &Link, id: &RequestId, body: Vec<u8>) {
    let session = link.session();
    if session.dialect.is_modern() {
        return;
    }
    let mut message = Outgoing::response(id.clone(), body);
    message.revision = session.dialect.revision();
    link.answer(message);
}
