//! A call that waits for an answer that the host will give later, perhaps in another process.

use std::fmt;

use mcp_jsonrpc::model::{InputRequests, InputResponses};
use mcp_jsonrpc::{OrderedMap, RawObject};
use serde::{Deserialize, Serialize};

/// A call that was suspended because the host answered an input request with
/// [`Later`](crate::HostError::Later).
///
/// Serialise it, store it, and give it to [`Client::resume`](crate::Client::resume) with the
/// answers, on any connection to the same server. Nothing is held open meanwhile.
///
/// It contains the call's arguments and the server's opaque state: store it accordingly.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Parked {
    /// The server's name with us.
    pub server: String,
    /// The method that was called.
    pub method: String,
    /// Its params.
    pub params: RawObject,
    /// The server's input requests, by its keys.
    pub questions: InputRequests,
    /// The answers so far.
    pub answers: InputResponses,
    /// The server's state, which is returned unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The number of rounds so far.
    pub rounds: u32,
}

impl Parked {
    /// The input requests that are still open, by their keys.
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
