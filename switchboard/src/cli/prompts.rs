//! `switchboard prompts` and `switchboard prompt`.

use clap::Args;
use mcp_jsonrpc::model::Prompt as Listed;
use mcp_manager::{NoopElicitation, flatten};
use serde_json::json;

use crate::cli::Global;
use crate::cli::about::About;
use crate::cli::resources::bare;
use crate::cli::text::table_or;
use crate::cli::tool::split;
use crate::display::out::Out;
use crate::display::summary::summary;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::servers::{AdHoc, ConnectedServer, Connection};

/// Lists prompts with their arguments.
#[derive(Args, Debug)]
pub(crate) struct Prompts {
    #[command(flatten)]
    about: About,
}

impl Prompts {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let look = |connection: &Connection, server: &ConnectedServer| {
            let listing = connection.listing(&server.name);
            let prompts = bare(listing.prompts());
            let rows = prompts.iter().map(|prompt| {
                let about = prompt.description.as_deref().unwrap_or_default();
                vec![
                    server.name.to_string(),
                    signature(prompt),
                    summary(about, 80),
                ]
            });
            let rows: Vec<Vec<String>> = rows.collect();
            (json!({"server": server.name, "prompts": prompts}), rows)
        };
        let text = |rows: Vec<_>| table_or("No prompts.", rows.concat());
        self.about.print(global, out, look, text).await
    }
}

fn signature(prompt: &Listed) -> String {
    let arguments = prompt.arguments.iter().flatten();
    let arguments = arguments.map(|argument| match argument.required {
        Some(true) => argument.name.clone(),
        _ => format!("[{}]", argument.name),
    });
    format!(
        "{}({})",
        prompt.name,
        arguments.collect::<Vec<_>>().join(",")
    )
}

/// Refuses a prompt that the server does not list, and arguments that it does not have.
fn check(
    prompts: &[std::sync::Arc<Listed>],
    name: &str,
    arguments: &[(String, String)],
) -> Result<(), Failure> {
    let Some(prompt) = prompts.iter().find(|prompt| prompt.name == name) else {
        let names: Vec<_> = prompts.iter().map(|it| untrusted::line(&it.name)).collect();
        let failure = Failure::new(Exit::Other, format!("there is no prompt {name:?}"));
        return Err(match names.is_empty() {
            true => failure.with_hint("The server has none."),
            false => failure.with_hint(format!("It has: {}.", names.join(", "))),
        });
    };
    let known = prompt.arguments.as_deref().unwrap_or_default();
    let given = |name: &str| arguments.iter().any(|(given, _)| given == name);
    let unknown = arguments.iter();
    let mut unknown = unknown.filter(|(given, _)| known.iter().all(|it| it.name != *given));
    let mut missing = known
        .iter()
        .filter(|it| it.required == Some(true) && !given(&it.name));
    let problem = match (unknown.next(), missing.next()) {
        (Some((given, _)), _) => format!("it takes no argument {given:?}"),
        (None, Some(argument)) => format!("the argument {:?} is missing", argument.name),
        (None, None) => return Ok(()),
    };
    let signature = signature(prompt);
    Err(
        Failure::new(Exit::Other, format!("prompt {name:?}: {problem}"))
            .with_hint(format!("It takes {}.", untrusted::line(&signature))),
    )
}

/// Gets a prompt with its arguments filled in.
#[derive(Args, Debug)]
pub(crate) struct Prompt {
    /// SERVER PROMPT [NAME=VALUE]…; without SERVER if a command follows
    #[arg(required = true, value_name = "SERVER PROMPT ARGUMENTS")]
    words: Vec<String>,
    #[command(flatten)]
    ad_hoc: AdHoc,
}

impl Prompt {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let (server, rest) = split(&self.words, &self.ad_hoc)?;
        let Some((prompt, words)) = rest.split_first() else {
            return Err(Failure::new(Exit::Other, "a prompt is needed"));
        };
        let pairs = words.iter().map(|word| match word.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Err(Failure::new(
                Exit::Other,
                format!("{word:?} is not NAME=VALUE"),
            )),
        });
        let arguments: Vec<(String, String)> = pairs.collect::<Result<_, _>>()?;
        let work = async |connection: &Connection| {
            let server = connection.only()?;
            let name = server.name.as_str();
            check(
                connection.listing(&server.name).prompts(),
                prompt,
                &arguments,
            )?;
            let result = connection
                .manager
                .get_prompt(name, prompt, arguments.clone())
                .await;
            let result = result.map_err(|error| connection.failure(server, &error))?;
            let texts = result.messages.iter().map(|message| {
                let role = serde_json::to_value(message.role).unwrap_or_default();
                let said = flatten(std::slice::from_ref(&message.content));
                format!("{}: {said}", role.as_str().unwrap_or_default())
            });
            let text = texts.collect::<Vec<_>>().join("\n\n");
            out.result(
                &json!({"server": name, "prompt": prompt, "result": result}),
                untrusted::text(&text),
            );
            Ok(Exit::Done)
        };
        Connection::with(global, server, &self.ad_hoc, NoopElicitation, work).await
    }
}
