//! A host that consists of one closure that answers forms.

use std::fmt;

use async_trait::async_trait;
use mcp_jsonrpc::model::{ElicitFormParams, ElicitResult};

use crate::host::{Host, HostError, ServerRequest};

/// Answers forms with a closure, and nothing else.
pub(crate) struct OnForm<H>(pub(crate) H);

#[async_trait]
impl<H, F> Host for OnForm<H>
where
    H: Fn(ServerRequest<ElicitFormParams>) -> F + Send + Sync,
    F: Future<Output = ElicitResult> + Send,
{
    async fn elicit_form(
        &self,
        question: ServerRequest<ElicitFormParams>,
    ) -> Result<ElicitResult, HostError> {
        Ok((self.0)(question).await)
    }
}

impl<H> fmt::Debug for OnForm<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnForm")
    }
}
