//! The fallback for approvals when a caller's client cannot be asked.

use async_trait::async_trait;

/// Answers for callers whose client does not support elicitation.
#[async_trait]
pub trait Approver: Send + Sync + 'static {
    /// Decides whether a call may run; `None` if there was no answer in time. Dropped when the call is cancelled.
    async fn approve(&self, request: ApprovalRequest) -> Option<bool>;
}

/// A call that needs approval.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The digest of the caller, the call, the tool's definition and the arguments: an answer is valid for exactly
    /// this.
    pub digest: String,
    /// The caller; empty where callers are not authenticated.
    pub caller: String,
    /// The name the caller's program gives itself.
    pub client: Option<String>,
    /// The server.
    pub server: String,
    /// The tool, by its server's name for it.
    pub tool: String,
    /// The arguments as they may be shown: without invisible characters, and not too long.
    pub arguments: String,
}
