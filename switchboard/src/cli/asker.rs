//! Servers' questions, asked in the terminal.

use async_trait::async_trait;
use mcp_client::HostError;
use mcp_jsonrpc::model::ElicitResult;
use mcp_manager::{Ask, Elicitation, ElicitationHandler};

use crate::chat::{Input, fill_in, visit};
use crate::home;
use crate::out::Out;

/// Asks in the terminal. Where there is none, nobody answers, and servers are told so.
#[derive(Debug)]
pub(crate) struct Asker {
    out: Out,
    input: Option<Input>,
}

impl Asker {
    pub(crate) fn new(out: &Out) -> Self {
        let history = home::folder().join("history");
        let input = out.is_interactive().then(|| Input::terminal(history));
        Self { out: *out, input }
    }
}

#[async_trait]
impl ElicitationHandler for Asker {
    async fn elicit(&self, elicitation: Elicitation) -> Result<ElicitResult, HostError> {
        let Some(input) = &self.input else {
            return Ok(ElicitResult::cancel());
        };
        self.out.progress("");
        let server = elicitation.server.as_str();
        Ok(match &elicitation.ask {
            Ask::Form(form) => fill_in(&self.out, input, server, form).await,
            Ask::Url(page) => visit(&self.out, input, server, page).await,
            _ => ElicitResult::cancel(),
        })
    }
}
