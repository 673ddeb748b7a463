//! What a conversation shows of itself: tools, servers, cost, results.

use std::path::Path;
use std::sync::Arc;

use super::ChatLoop;
use crate::chat::{export_markdown, result_text};
use crate::cli::failure::unwritable;
use crate::conversation::attachment::Files;
use crate::conversation::transcript;
use crate::display::out::Style;
use crate::display::untrusted;
use crate::exit::Failure;
use crate::lang::t;
use crate::store::ToolCall;

impl ChatLoop {
    pub(super) fn tools(&mut self) {
        let catalog = self.setup.manager.catalog();
        for tool in catalog.enabled_tools() {
            let text = tool.description().unwrap_or_default();
            let first = text.lines().next().unwrap_or_default();
            let line = format!("{} · {}  {first}", tool.server(), tool.name());
            self.console.out.say(untrusted::line(&line));
        }
    }

    pub(super) fn servers(&mut self) {
        for server in self.setup.manager.servers() {
            let error = server
                .error
                .map(|error| format!("  {error}"))
                .unwrap_or_default();
            let line = format!("{}  {:?}{error}", server.name, server.state);
            self.console.out.say(untrusted::line(&line));
        }
    }

    pub(super) async fn usage(&mut self) -> Result<(), Failure> {
        let id = self.durable.conversation().id.clone();
        let totals = self
            .setup
            .store
            .usage(&self.setup.user, Some(&id), None)
            .await?;
        self.console.out.say(crate::cli::usage::table(&totals));
        Ok(())
    }

    pub(super) async fn export(&mut self, file: Option<String>) -> Result<(), Failure> {
        let conversation = self.durable.conversation();
        let messages = transcript(&*self.setup.store, &conversation.id).await?;
        let files = Files::read(&*self.setup.store, &messages).await?;
        let text = export_markdown(conversation, &messages, &files);
        match file {
            None => self.console.out.say(untrusted::text(&text)),
            Some(file) => {
                let written = std::fs::write(&file, text);
                written.map_err(|error| unwritable(Path::new(&file), error))?;
                self.dim(&t!("Written to {file}.", file = untrusted::line(&file)));
            }
        }
        Ok(())
    }

    /// Writes a result that was shown in part to a file, whole.
    pub(super) async fn save(
        &mut self,
        call: Option<u32>,
        file: Option<String>,
    ) -> Result<(), Failure> {
        let Some(file) = file else {
            self.dim(&t!("/save [CALL] FILE needs a file."));
            return Ok(());
        };
        let store = Arc::clone(&self.setup.store);
        let id = self.durable.conversation().id.clone();
        let messages = transcript(&*store, &id).await?;
        let mut calls = messages
            .iter()
            .flat_map(|message| &message.tool_calls)
            .rev();
        let wanted = |it: &&ToolCall| {
            it.result_blob.is_some() && call.is_none_or(|call| it.position == call)
        };
        let whole = calls.find(wanted).and_then(|it| it.result_blob.clone());
        let blob = match whole {
            Some(whole) => store.blob(&id, &whole).await?,
            None => None,
        };
        let Some(blob) = blob else {
            let text = match call {
                None => {
                    t!("No result was shown in part: there is nothing more to save.").into_owned()
                }
                Some(call) => t!(
                    "No result of call {n} was shown in part: there is nothing more to save.",
                    n = call
                ),
            };
            self.dim(&text);
            return Ok(());
        };
        let written = std::fs::write(&file, &blob.bytes);
        written.map_err(|error| unwritable(Path::new(&file), error))?;
        self.dim(&t!(
            "{n} bytes written to {file}.",
            n = blob.bytes.len(),
            file = untrusted::line(&file)
        ));
        Ok(())
    }

    /// Prints a result whole: the last one, or that of a call of the last answer.
    pub(super) async fn output(&mut self, call: Option<String>) -> Result<(), Failure> {
        let wanted: Option<u32> = match call.as_deref().map(str::parse) {
            None => None,
            Some(Ok(number)) => Some(number),
            Some(Err(_)) => {
                self.dim(&t!("/output [CALL] takes the number of a call."));
                return Ok(());
            }
        };
        let store = Arc::clone(&self.setup.store);
        let id = self.durable.conversation().id.clone();
        let messages = transcript(&*store, &id).await?;
        let calls = messages
            .iter()
            .flat_map(|message| &message.tool_calls)
            .rev();
        let mut calls = calls.filter(|it| wanted.is_none_or(|call| it.position == call));
        let Some(call) = calls.find(|it| it.response.is_some()) else {
            self.dim(&t!("There is no such result yet."));
            return Ok(());
        };
        let whole = match &call.result_blob {
            Some(whole) => store.blob(&id, whole).await?,
            None => None,
        };
        let text = match whole {
            Some(blob) => String::from_utf8_lossy(&blob.bytes).into_owned(),
            None => result_text(call).unwrap_or_default(),
        };
        let name = format!("{}. {} · {}", call.position, call.server_name, call.tool);
        self.console
            .screen
            .line(Style::Bold, &untrusted::line(&name));
        self.console.out.say(untrusted::text(text.trim_end()));
        Ok(())
    }
}
