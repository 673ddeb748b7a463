//! Prompts of servers, filled in and sent.

use mcp_jsonrpc::model::Prompt;
use mcp_manager::{ServerName, flatten};

use super::ChatLoop;
use crate::chat::Line;
use crate::display::summary::summary;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::lang::t;

impl ChatLoop {
    /// Every prompt with its server.
    fn all_prompts(&self) -> Vec<(ServerName, Prompt)> {
        let catalog = self.setup.manager.catalog();
        let all = catalog.prompts();
        all.map(|(server, prompt)| (server.clone(), (**prompt).clone()))
            .collect()
    }

    pub(super) fn list_prompts(&mut self) {
        let all = self.all_prompts();
        if all.is_empty() {
            self.dim(&t!("No server has prompts."));
        }
        for (server, prompt) in all {
            let about = summary(prompt.description.as_deref().unwrap_or_default(), 80);
            let line = format!("{server}/{}  {about}", prompt.name);
            self.console.out.say(untrusted::line(&line));
        }
    }

    /// The text of a prompt: `NAME` or `SERVER/NAME`, then `ARGUMENT=VALUE`s. What is missing is
    /// asked for. `None` if the user does not go on.
    pub(super) async fn prompt(&mut self, words: &str) -> Result<Option<String>, Failure> {
        let mut words = words.split_whitespace();
        let name = words.next().unwrap_or_default();
        let all = self.all_prompts();
        let means = |(server, prompt): &&(ServerName, Prompt)| {
            prompt.name == name || format!("{server}/{}", prompt.name) == name
        };
        let Some((server, prompt)) = all.iter().find(means) else {
            let text = t!(
                "There is no prompt {name}; /prompts lists them.",
                name = untrusted::line(name)
            );
            self.dim(&text);
            return Ok(None);
        };
        let mut given: Vec<(String, String)> = Vec::new();
        for word in words {
            let Some((name, value)) = word.split_once('=') else {
                let text = format!("{word:?} is not NAME=VALUE");
                return Err(Failure::new(Exit::Other, text));
            };
            given.push((name.to_owned(), value.to_owned()));
        }
        for argument in prompt.arguments.iter().flatten() {
            if given.iter().any(|(name, _)| *name == argument.name) {
                continue;
            }
            let required = argument.required == Some(true);
            if let Some(about) = &argument.description {
                self.dim(&format!("    {}", untrusted::line(about)));
            }
            let mark = if required { "*" } else { "" };
            let question = format!("  {}{mark}: ", untrusted::line(&argument.name));
            match self.console.input.answer(&question, "").await {
                Line::Text(text) if text.trim().is_empty() && required => {
                    self.dim(&t!("It must be filled in."));
                    return Ok(None);
                }
                Line::Text(text) if text.trim().is_empty() => {}
                Line::Text(text) => given.push((argument.name.clone(), text)),
                Line::Interrupted | Line::End => return Ok(None),
            }
        }
        let manager = &self.setup.manager;
        let result = manager
            .get_prompt(server.as_str(), &prompt.name, given)
            .await;
        let result = result.map_err(|error| {
            let text = format!("prompt {:?} cannot be filled in", prompt.name);
            Failure::new(Exit::Unreachable, text).caused_by(error)
        })?;
        let texts = result.messages.iter();
        let texts: Vec<String> = texts
            .map(|message| flatten(std::slice::from_ref(&message.content)))
            .collect();
        let text = texts.join("\n\n");
        self.dim(&untrusted::text(&text));
        Ok(Some(text))
    }
}
