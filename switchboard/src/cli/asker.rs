//! Servers' questions, asked in the terminal.

use async_trait::async_trait;
use mcp_client::HostError;
use mcp_jsonrpc::model::ElicitResult;
use mcp_manager::{Ask, Elicitation, ElicitationHandler};
use tokio::sync::Semaphore;

use crate::chat::{Input, fill_in, visit};
use crate::display::out::Out;

/// Asks in the terminal. Without one, questions are cancelled.
#[derive(Debug)]
pub(crate) struct Asker {
    out: Out,
    input: Option<Input>,
    /// One question after the other.
    turn: Semaphore,
}

impl Asker {
    pub(crate) fn new(out: &Out) -> Self {
        let input = out.is_interactive().then(|| Input::answers(*out));
        let turn = Semaphore::new(1);
        Self {
            out: *out,
            input,
            turn,
        }
    }
}

#[async_trait]
impl ElicitationHandler for Asker {
    async fn elicit(&self, elicitation: Elicitation) -> Result<ElicitResult, HostError> {
        let Some(input) = &self.input else {
            return Ok(ElicitResult::cancel());
        };
        // It is never closed.
        let _turn = self.turn.acquire().await;
        self.out.progress("");
        let server = elicitation.server.as_str();
        Ok(match &elicitation.ask {
            Ask::Form(form) => fill_in(&self.out, input, server, form).await,
            Ask::Url(page) => visit(&self.out, input, server, page).await,
            _ => ElicitResult::cancel(),
        })
    }
}
