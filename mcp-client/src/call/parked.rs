//! A call that waits for an answer that the host gives later, perhaps in another process.

use std::fmt;

use mcp_jsonrpc::model::{CallTool, InputRequests, InputResponses};
use mcp_jsonrpc::{Method, OrderedMap, RawMap, RawObject};
use serde::{Deserialize, Serialize};

use crate::call::error::CallError;
use crate::call::mrtr::{Answer, MrtrState};
use crate::call::request::Call;
use crate::client::Client;
use crate::features::task::Started;

/// A call that was suspended because the host answered an input request with [`Later`](crate::HostError::Later).
///
/// Serialize it, store it, and pass it to [`Client::resume`](crate::Client::resume) with the answers, on any connection
/// to the same server. Nothing is held open meanwhile.
///
/// It contains the call's arguments and the server's opaque state: store it accordingly.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Parked {
    /// Our name for the server.
    pub server: String,
    /// The method of the call.
    pub method: String,
    /// Its params.
    pub params: RawObject,
    /// The server's input requests, by its keys.
    pub questions: InputRequests,
    /// The answers so far.
    pub answers: InputResponses,
    /// The server's state, to be returned unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The number of rounds so far.
    pub rounds: u32,
}

impl Parked {
    /// The open input requests, by their keys.
    pub fn open(&self) -> OrderedMap<mcp_jsonrpc::model::InputRequest> {
        let open = self
            .questions
            .iter()
            .filter(|(key, _)| !self.answers.contains_key(key));
        open.map(|(key, question)| (key, question.clone()))
            .collect()
    }
}

impl fmt::Display for Parked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, server, open) = (&self.method, &self.server, self.open().len());
        write!(
            f,
            "{method} on server '{server}' is parked: questions to be answered first: {open}"
        )
    }
}

impl Client {
    /// Resumes a parked call with the answers to its open input requests, each the bare result for its kind: an
    /// [`ElicitResult`](mcp_jsonrpc::model::ElicitResult), a
    /// [`CreateMessageResult`](mcp_jsonrpc::model::CreateMessageResult), or a
    /// [`ListRootsResult`](mcp_jsonrpc::model::ListRootsResult).
    ///
    /// `M` is the method of the parked call. Forms are completed and validated as if the host had filled them in. If
    /// the server requests more input, the host is asked.
    ///
    /// # Errors
    ///
    /// As for the call itself; [`CallError::InputRefused`] if the answers do not match the requests.
    pub async fn resume<M: Method>(
        &self,
        parked: Parked,
        answers: InputResponses,
    ) -> Result<M::Output, CallError> {
        let (params, mut state) = self.unpark(M::NAME, parked, answers)?;
        let name = name_of(&params);
        let headers = || self.headers_of(&params);
        let call = Call {
            name: name.as_deref(),
            headers: &headers,
            ..Call::new(M::NAME, &params)
        };
        Ok(self.call_from(&call, &mut state).await?.0)
    }

    /// Like [`resume`](Self::resume), for a tool call that may now become a task.
    ///
    /// # Errors
    ///
    /// As [`resume`](Self::resume).
    pub async fn resume_tool(
        &self,
        parked: Parked,
        answers: InputResponses,
    ) -> Result<Started, CallError> {
        let (params, mut state) = self.unpark(CallTool::NAME, parked, answers)?;
        let name = name_of(&params);
        let headers = || self.headers_of(&params);
        let call = Call {
            name: name.as_deref(),
            headers: &headers,
            ..Call::new(CallTool::NAME, &params)
        };
        let snapshot = self.connection().snapshot();
        Ok(match self.answer(snapshot, &call, &mut state).await? {
            Answer::Result(result, _) => Started::Done(result),
            Answer::Task(task) => Started::Task(self.created(*task)),
        })
    }

    /// The params of a parked call, and the round to continue with.
    fn unpark(
        &self,
        wanted: &'static str,
        parked: Parked,
        answers: InputResponses,
    ) -> Result<(RawObject, MrtrState), CallError> {
        let Parked {
            method,
            params,
            questions,
            answers: mut all,
            state,
            rounds,
            ..
        } = parked;
        if method != wanted {
            let detail = format!("the parked call is {method}");
            let call = self.call_name(wanted);
            return Err(CallError::InputRefused {
                call,
                detail,
                source: None,
            });
        }
        for (key, answer) in answers {
            all.insert(key, answer);
        }
        crate::host::input::check_answers(&questions, &mut all).map_err(|detail| {
            CallError::InputRefused {
                call: self.call_name(wanted),
                detail,
                source: None,
            }
        })?;
        Ok((params, MrtrState::after(rounds, all, state)))
    }
}

/// The name in the params of a call: a tool, a prompt, a resource.
fn name_of(params: &RawObject) -> Option<String> {
    let params = params.parse::<RawMap>().ok()?;
    params.read_as("name").or_else(|| params.read_as("uri"))
}
