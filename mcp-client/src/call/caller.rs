//! Who makes a call, and which calls a server's question belongs to.

use std::fmt;
use std::sync::Arc;

/// Who makes a call: a conversation, and the call's name within it.
///
/// Give it to a call by [`CallOptions::with_caller`](crate::CallOptions::with_caller); what the
/// server asks because of that call then comes with it, in [`ServerRequest::origin`](crate::ServerRequest).
/// It stays with us: servers never see it.
///
/// ```
/// let caller = mcp_client::Caller::new("conversation-7", "3");
/// assert_eq!(caller.to_string(), "call 3 of conversation-7");
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct Caller {
    /// The conversation: whatever must not see another one's questions.
    pub conversation: String,
    /// The call within the conversation.
    pub call: String,
}

impl Caller {
    /// A call of a conversation.
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

/// Which calls a question belongs to, as far as the protocol says.
///
/// A modern server asks in the result of a call; a legacy one over HTTP on the reply stream of a
/// call; any may name a task. On stdio, on the stream of HTTP that belongs to no request, and over
/// HTTP+SSE the protocol does not say it. A `progressToken` in a question is the server's own, for
/// progress on that question: it names none of our calls.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Origin {
    /// It belongs to one of these calls, which are all of one conversation; to no caller's if
    /// there are none.
    Calls(Vec<Arc<Caller>>),
    /// It came on a channel that all calls share.
    #[default]
    Shared,
}

impl Origin {
    /// A known request, whoever makes it.
    pub(crate) fn of(caller: Option<Arc<Caller>>) -> Self {
        Self::Calls(caller.into_iter().collect())
    }
}
