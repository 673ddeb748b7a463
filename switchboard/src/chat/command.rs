//! Slash commands.

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

pub(crate) const HELP: &str = "\
/tools            the tools the model can call
/servers          the servers and how they are
/model [NAME]     the model, or another one from here on
/approve [MODE]   ask, auto-read, auto or plan: which calls run without a question
/usage            tokens and cost of this conversation
/continue         go on after a limit or a cancellation
/compact          summarise earlier turns, so that requests get shorter
/clear            begin another conversation
/export [FILE]    this conversation as markdown
/save [CALL] FILE a result that was shown in part, whole
/quit             end; `switchboard session resume` goes on here
A line that ends in \\ goes on in the next one. Ctrl-C stops the answer; twice ends the program.";

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
    fn help_names_every_command() {
        for name in HELP.lines().filter_map(|line| line.strip_prefix('/')) {
            let name = name.split(' ').next().unwrap();
            let parsed = Command::parse(&format!("/{name}"));
            assert!(!matches!(parsed, Command::Unknown(_)), "{name}");
        }
    }
}
