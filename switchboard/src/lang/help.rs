//! The help of every verb, in the user's language.

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, Command};

use super::{CATALOG, message, text};

/// The same command with its texts translated.
pub(crate) fn translated(command: Command) -> Command {
    if CATALOG.get().is_none() {
        return command;
    }
    let template = template(&command);
    whole(command, &template)
}

/// What clap writes itself.
fn template(command: &Command) -> String {
    let mut template = String::from("{about-with-newline}\n");
    let _ = writeln!(template, "{}: {{usage}}\n", text("Usage"));
    template.push_str("{all-args}{after-help}");
    let _ = command;
    template
}

fn whole(command: Command, template: &str) -> Command {
    let about = command.get_about().map(styled);
    let long = command.get_long_about().map(styled);
    let after = command.get_after_help().map(|it| examples(&it.to_string()));
    let mut command = command
        .help_template(template.to_owned())
        .subcommand_help_heading(text("Commands").into_owned())
        .mut_args(argument)
        .mut_subcommands(|inner| whole(inner, template));
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(long) = long {
        command = command.long_about(long);
    }
    match after {
        Some(after) => command.after_help(after),
        None => command,
    }
}

fn argument(argument: Arg) -> Arg {
    let help = argument.get_help().map(styled);
    let long = argument.get_long_help().map(styled);
    let heading = match (argument.get_help_heading(), argument.is_positional()) {
        (Some(heading), _) => message(heading).into_owned(),
        (None, true) => text("Arguments").into_owned(),
        (None, false) => text("Options").into_owned(),
    };
    let mut argument = argument.help_heading(heading);
    if let Some(help) = help {
        argument = argument.help(help);
    }
    match long {
        Some(long) => argument.long_help(long),
        None => argument,
    }
}

fn styled(english: &StyledStr) -> String {
    message(&english.to_string()).into_owned()
}

/// The examples: their heading is ours, the lines are commands.
fn examples(english: &str) -> String {
    match english.strip_prefix("Examples:") {
        Some(lines) => format!("{}{lines}", text("Examples:")),
        None => english.to_owned(),
    }
}
