//! The values of a bundle's inputs in its program's arguments and variables.

use mcp_transport::ServerCommand;

use crate::file::input::{Input, reference};
use crate::server::ServerConfig;
use crate::server::endpoint::Endpoint;

/// Refers to as many values of each input as there are.
pub(super) fn spread(server: &mut ServerConfig, inputs: &[Input], count: &dyn Fn(&Input) -> usize) {
    let Endpoint::Stdio(command) = &mut server.endpoint else {
        return;
    };
    let references = |input: &Input| -> Vec<String> {
        let most = if input.multiple { usize::MAX } else { 1 };
        let count = count(input).min(most);
        (0..count).map(|at| reference(&input.id, at)).collect()
    };
    let only = |text: &str| {
        let mut inputs = inputs.iter();
        inputs.find(|input| text == reference(&input.id, 0))
    };
    let joined = |text: &str| {
        inputs.iter().fold(text.to_owned(), |text, input| {
            text.replace(&reference(&input.id, 0), &references(input).join(","))
        })
    };
    let mut args: Vec<String> = Vec::new();
    for arg in command.args() {
        let arg = arg.expose();
        match only(arg).map(references) {
            Some(values) if values.is_empty() => {
                let is_option = |last: &mut String| last.starts_with('-') && !last.contains('=');
                args.pop_if(is_option);
            }
            Some(values) => args.extend(values),
            None => args.push(joined(arg)),
        }
    }
    let mut done = ServerCommand::new(joined(command.program()))
        .with_args(args)
        .with_env_policy(command.env_policy());
    for name in command.inherited() {
        done = done.with_inherited(name);
    }
    for (name, value) in command.env() {
        let value = value.expose();
        if only(value).is_none_or(|input| !references(input).is_empty()) {
            done = done.with_env(name, joined(value));
        }
    }
    if let Some(cwd) = command.cwd() {
        done = done.with_cwd(joined(&cwd.to_string_lossy()));
    }
    *command = done;
}
