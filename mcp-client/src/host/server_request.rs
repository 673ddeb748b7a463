//! Server-to-client requests (up to 2025-11-25): each gets exactly one response.

use std::sync::Arc;

use mcp_jsonrpc::model::{
    CreateMessage, Discover, ElicitResult, ElicitationCreate, EmptyResult, Initialize, ListRoots,
    Meta, Ping,
};
use mcp_jsonrpc::{
    ErrorCode, ErrorObject, Method, RawJson, RawRef, ReadError, RequestId, encode_error,
    encode_result, parse_params,
};
use mcp_transport::Outgoing;
use serde::Serialize;

use crate::call::caller::Origin;
use crate::call::response::own_id;
use crate::connection::Connection;
use crate::connection::reader::chain;
use crate::connection::state::Outcome;
use crate::host::HostError;
use crate::host::input::{HostRequest, Unanswered};

/// Handles a request, on the reply stream of our request `stream` or on a shared channel.
pub(crate) fn asked(
    connection: &Arc<Connection>,
    id: RequestId,
    method: &str,
    params: Option<RawRef<'_>>,
    stream: Option<&RequestId>,
) {
    if connection.session().dialect.is_modern() {
        // The protocol forbids it, and a response as well.
        tracing::warn!(server = %connection.settings.name, method, "a request from a modern server");
        return;
    }
    if [Initialize::NAME, Discover::NAME].contains(&method) {
        return echoed(connection, &id, method);
    }
    if method == Ping::NAME {
        return answer(connection, &id, &EmptyResult::default());
    }
    let ask = match method {
        ElicitationCreate::NAME => parse_params(params)
            .map_err(|error| invalid(&error))
            .and_then(|params| HostRequest::elicit(&params).ok_or_else(unknown_mode)),
        CreateMessage::NAME => parse_params(params)
            .map(|params| HostRequest::Sample(Box::new(params)))
            .map_err(|error| invalid(&error)),
        ListRoots::NAME => Ok(HostRequest::Roots),
        _ => Err(ErrorObject::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("no method {method:?} here"),
        )),
    };
    match ask {
        Ok(ask) => {
            let origin = origin(connection, &ask, stream);
            open(connection, id, ask, origin);
        }
        Err(error) => refuse(connection, &id, &error),
    }
}

/// Only clients start a handshake: a server that sends one back echoes our own request.
fn echoed(connection: &Connection, id: &RequestId, method: &str) {
    let detail = format!("it echoed our own {method} request back; is it an MCP server?");
    let outcome = Outcome::Invalid(detail);
    if own_id(id).is_none_or(|id| connection.settle(id, outcome).is_err()) {
        let error = ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "this is a client");
        refuse(connection, id, &error);
    }
}

fn invalid(error: &ReadError) -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string())
}

fn unknown_mode() -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, "unknown mode of elicitation")
}

/// The call a request belongs to: that of the task it names, or that on whose stream it arrived.
fn origin(connection: &Connection, ask: &HostRequest, stream: Option<&RequestId>) -> Origin {
    let task = ask.meta().and_then(Meta::related_task);
    if let Some(caller) = task.and_then(|task| connection.tasks.lock().get(&task.task_id).cloned())
    {
        return Origin::of(Some(caller));
    }
    match stream.and_then(own_id) {
        Some(id) => Origin::of(connection.state.lock().pending.caller(id)),
        None => Origin::Shared,
    }
}

/// Answers a request on a separate task: a person may take long.
fn open(connection: &Arc<Connection>, id: RequestId, ask: HostRequest, origin: Origin) {
    let mut questions = connection.questions.lock();
    if questions.len() >= connection.settings.limits.questions() || questions.contains_key(&id) {
        let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "too many questions are open");
        return refuse(connection, &id, &error);
    }
    let open = Open {
        connection: Arc::clone(connection),
        id: id.clone(),
    };
    let task = tokio::spawn(async move {
        let kind = Kind::of(&ask);
        let outcome = open.connection.ask_host(ask, origin, false).await;
        if open.is_wanted() {
            reply(&open.connection, &open.id, kind, outcome);
        }
    });
    questions.insert(id, task.abort_handle());
}

/// A request that is being answered. It gets a response even if the host panics.
struct Open {
    connection: Arc<Connection>,
    id: RequestId,
}

impl Open {
    /// Whether a response is still due; removes the request from the table.
    fn is_wanted(&self) -> bool {
        self.connection.questions.lock().remove(&self.id).is_some()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if self.is_wanted() {
            let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "the host did not answer");
            refuse(&self.connection, &self.id, &error);
        }
    }
}

/// Handles a cancellation: there will be no response.
pub(crate) fn withdrawn(connection: &Connection, id: &RequestId) {
    // Removed from the table first: the dropped task does not respond then.
    let question = connection.questions.lock().remove(id);
    if let Some(question) = question {
        question.abort();
    }
}

/// Determines the response to a request that the host does not answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Elicitation,
    Other,
}

impl Kind {
    fn of(ask: &HostRequest) -> Self {
        match ask {
            HostRequest::Form(_) | HostRequest::Url(_) => Self::Elicitation,
            HostRequest::Sample(_) | HostRequest::Roots => Self::Other,
        }
    }
}

fn reply(
    connection: &Connection,
    id: &RequestId,
    kind: Kind,
    outcome: Result<RawJson, Unanswered>,
) {
    let can = connection.settings.capabilities;
    let error = match (outcome, kind) {
        (Ok(given), _) => return answer(connection, id, &given),
        // Without a host the request is cancelled rather than rejected, so that the server can continue. An undeclared
        // mode beside a declared one is the server's mistake.
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
        ) => return answer(connection, id, &ElicitResult::cancel()),
        (Err(Unanswered::Undeclared | Unanswered::Host(HostError::Unsupported)), Kind::Other) => {
            ErrorObject::new(
                ErrorCode::METHOD_NOT_FOUND,
                "this client does not offer that",
            )
        }
        (Err(Unanswered::TooSlow | Unanswered::Host(HostError::Later)), Kind::Other) => {
            ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no answer in time")
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
    refuse(connection, id, &error);
}

fn answer<R: Serialize>(connection: &Connection, id: &RequestId, result: &R) {
    let mut body = Vec::new();
    if encode_result(&mut body, id, result).is_ok() {
        send(connection, id, body);
    }
}

/// Responds with an error.
pub(crate) fn refuse(connection: &Connection, id: &RequestId, error: &ErrorObject) {
    let mut body = Vec::new();
    if encode_error(&mut body, Some(id), error).is_ok() {
        send(connection, id, body);
    }
}

fn send(connection: &Connection, id: &RequestId, body: Vec<u8>) {
    let session = connection.session();
    if session.dialect.is_modern() {
        return;
    }
    let mut message = Outgoing::response(id.clone(), body);
    message.revision = session.dialect.revision();
    connection.answer(message);
}
