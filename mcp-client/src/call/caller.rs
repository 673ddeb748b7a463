//! The caller of a call, and the calls a server-to-client request belongs to.

use std::fmt;
use std::sync::Arc;

/// The caller of a call: a conversation, and the call's name within it.
///
/// Set it with [`CallOptions::with_caller`](crate::CallOptions::with_caller); server-to-client requests that belong to
/// the call then carry it in [`ServerRequest::origin`](crate::ServerRequest). It is never sent to servers.
///
/// ```
/// let caller = mcp_client::Caller::new("conversation-7", "3");
/// assert_eq!(caller.to_string(), "call 3 of conversation-7");
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct Caller {
    /// The conversation; its requests are never shown in another one.
    pub conversation: String,
    /// The call within the conversation.
    pub call: String,
}

impl Caller {
    /// Creates the caller for a call of a conversation.
    pub fn new(conversation: impl Into<String>, call: impl Into<String>) -> Self {
        Self {
            conversation: conversation.into(),
            call: call.into(),
        }
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} of {}", self.call, self.conversation)
    }
}

/// The calls a server-to-client request belongs to, as far as the protocol tells.
///
/// A modern server asks in the result of a call; a legacy one over HTTP asks on the reply stream of a call; either may
/// name a task. On stdio, on the GET stream of HTTP, and over HTTP+SSE the protocol does not tell. A `progressToken` in
/// such a request is for progress on that request and identifies none of our calls.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Origin {
    /// It belongs to one of these calls, all of one conversation; empty if the call has no caller.
    Calls(Vec<Arc<Caller>>),
    /// It arrived on a channel that all calls share.
    #[default]
    Shared,
}

impl Origin {
    /// The origin of a known call, with or without a caller.
    pub(crate) fn of(caller: Option<Arc<Caller>>) -> Self {
        Self::Calls(caller.into_iter().collect())
    }
}
