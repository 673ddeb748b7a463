//! Slash commands.

use crate::lang::t;

/// A parsed line of a chat.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Command {
    /// A message to the model.
    Say(String),
    Nothing,
    Help,
    Tools,
    Servers,
    /// Show the model, or use another one.
    Model(Option<String>),
    /// Show the approval mode, or use another one.
    Approve(Option<String>),
    /// Show the instructions, or give others.
    System(Option<String>),
    /// Show the servers' prompts, or send one.
    Prompts(Option<String>),
    /// Show the servers' skills, or attach one to the next message.
    Skills(Option<String>),
    /// List conversations, or go on with one.
    Sessions(Option<String>),
    /// Show the files that go with the next message, or add one.
    Attach(Option<String>),
    /// Go back to before the last message.
    Undo,
    /// Answer the last message anew.
    Retry,
    /// Print a result, whole: the last one, or that of a call.
    Output(Option<String>),
    Usage,
    /// Begin another conversation.
    Clear,
    /// Go on after a limit or a cancellation.
    Continue,
    /// Summarise earlier turns.
    Compact,
    /// Print the conversation, or write it to a file.
    Export(Option<String>),
    /// Write a result that was shown in part to a file, whole: the last one, or that of a call.
    Save {
        call: Option<u32>,
        file: Option<String>,
    },
    Quit,
    /// An unknown command.
    Unknown(String),
}

/// The name of every command, as it is completed.
pub(crate) const NAMES: [&str; 21] = [
    "/attach",
    "/approve",
    "/clear",
    "/compact",
    "/continue",
    "/export",
    "/help",
    "/model",
    "/output",
    "/prompts",
    "/quit",
    "/retry",
    "/save",
    "/servers",
    "/sessions",
    "/skills",
    "/system",
    "/tools",
    "/undo",
    "/usage",
    "/new",
];

/// All commands, and what each does.
pub(crate) fn help() -> String {
    let lines = [
        ("/tools", t!("the tools the model can call")),
        ("/servers", t!("servers and their status")),
        (
            "/prompts [NAME]",
            t!("the servers' prompts; with a name, fills one in and sends it"),
        ),
        (
            "/skills [NAME]",
            t!("the servers' skills; with a name, attaches one to the next message"),
        ),
        (
            "/model [NAME]",
            t!("the model, or another one from here on"),
        ),
        (
            "/approve [MODE]",
            t!("ask, auto-read, auto or plan: which calls run without a question"),
        ),
        (
            "/system [TEXT]",
            t!("the model's instructions, or others from here on"),
        ),
        ("/attach [FILE]", t!("files that go with the next message")),
        ("/undo", t!("go back to before the last message, in a copy")),
        (
            "/retry",
            t!("answer the last message anew; the answer before stays as another version"),
        ),
        ("/continue", t!("go on after a limit or a cancellation")),
        (
            "/compact",
            t!("summarise earlier turns, so that requests get shorter"),
        ),
        ("/clear", t!("begin another conversation")),
        (
            "/sessions [ID]",
            t!("earlier conversations; with an id, go on with one"),
        ),
        (
            "/output [CALL]",
            t!("the whole result of a call: the last one, or that of a number"),
        ),
        (
            "/save [CALL] FILE",
            t!("write a result that was shown in part to a file, whole"),
        ),
        ("/export [FILE]", t!("this conversation as markdown")),
        ("/usage", t!("tokens and cost of this conversation")),
        (
            "/quit",
            t!("end; `switchboard session resume` goes on here"),
        ),
    ];
    let lines = lines.map(|(usage, what)| format!("{usage:<18} {what}"));
    let ends = [
        t!("Tab completes commands, servers, tools, prompts, resources and files."),
        t!("A line that ends in \\ goes on in the next one."),
        t!("Ctrl-C stops the answer; twice ends the program."),
    ];
    format!("{}\n{}", lines.join("\n"), ends.join(" "))
}

impl Command {
    /// Parses a line. A message that starts with a slash is written with two.
    pub(crate) fn parse(line: &str) -> Self {
        let text = line.trim();
        let Some(command) = text.strip_prefix('/') else {
            return match text {
                "" => Self::Nothing,
                _ => Self::Say(line.to_owned()),
            };
        };
        if command.starts_with('/') {
            return Self::Say(command.to_owned());
        }
        let (name, rest) = command
            .split_once(char::is_whitespace)
            .unwrap_or((command, ""));
        let rest = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
        match name {
            "help" | "?" => Self::Help,
            "tools" => Self::Tools,
            "servers" => Self::Servers,
            "model" => Self::Model(rest),
            "approve" => Self::Approve(rest),
            "system" => Self::System(rest),
            "prompts" | "prompt" => Self::Prompts(rest),
            "skills" | "skill" => Self::Skills(rest),
            "sessions" | "session" => Self::Sessions(rest),
            "attach" => Self::Attach(rest),
            "undo" => Self::Undo,
            "retry" => Self::Retry,
            "output" => Self::Output(rest),
            "usage" => Self::Usage,
            "clear" | "new" => Self::Clear,
            "continue" => Self::Continue,
            "compact" => Self::Compact,
            "export" => Self::Export(rest),
            "save" => Self::save(rest),
            "quit" | "exit" | "q" => Self::Quit,
            _ => Self::Unknown(name.to_owned()),
        }
    }

    fn save(rest: Option<String>) -> Self {
        let words = rest
            .as_deref()
            .and_then(|rest| rest.split_once(char::is_whitespace));
        match words.map(|(call, file)| (call.parse(), file.trim())) {
            Some((Ok(call), file)) => Self::Save {
                call: Some(call),
                file: Some(file.to_owned()),
            },
            _ => Self::Save {
                call: None,
                file: rest,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_commands_or_something_to_say() {
        let check = |line: &str, want: Command| assert_eq!(Command::parse(line), want, "{line}");
        check("  ", Command::Nothing);
        check("hello /quit", Command::Say("hello /quit".to_owned()));
        check(
            "//etc is a folder",
            Command::Say("/etc is a folder".to_owned()),
        );
        check(
            "/model  openai/gpt-5 ",
            Command::Model(Some("openai/gpt-5".to_owned())),
        );
        check("/model", Command::Model(None));
        let save = |call, file: &str| Command::Save {
            call,
            file: Some(file.to_owned()),
        };
        check("/save my file.txt", save(None, "my file.txt"));
        check("/save 3  a b.txt", save(Some(3), "a b.txt"));
        check("/save 3", save(None, "3"));
        check("/q", Command::Quit);
        check("/frobnicate now", Command::Unknown("frobnicate".to_owned()));
    }

    #[test]
    fn every_command_is_in_the_help_and_can_be_completed() {
        let help = help();
        let named = help.lines().filter_map(|line| line.split(' ').next());
        let named: Vec<&str> = named.filter(|name| name.starts_with('/')).collect();
        for name in named.iter().chain(&NAMES) {
            let parsed = Command::parse(name);
            assert!(!matches!(parsed, Command::Unknown(_)), "{name}");
            assert!(NAMES.contains(name), "{name} is not completed");
        }
    }
}
