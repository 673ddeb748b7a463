//! The guided tour, in a pipe and in a terminal, over every wire.

use std::process::{Command, Output};

use serde_json::Value;

use crate::program::{left_running, marked, run};

const WIRES: [&str; 5] = [
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "prompt",
];

/// Runs the program, and sees to it that nothing is left of it.
fn tour(arguments: &[&str]) -> Output {
    let (mut command, mark) = marked(arguments);
    let output = command.output().unwrap();
    assert_eq!(left_running(&mark), Vec::<String>::new());
    output
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// The output without moments, which are other ones every time.
fn settled(output: &str) -> String {
    let is_moment = |word: &str| word.chars().filter(char::is_ascii_digit).count() > 12;
    let words = output.split_inclusive([' ', '\n', '(', ')']);
    let settle = |word: &str| word.replace(|sign: char| sign.is_ascii_digit(), "0");
    words
        .map(|word| {
            if is_moment(word) {
                settle(word)
            } else {
                word.to_owned()
            }
        })
        .collect()
}

#[test]
fn the_tour_in_a_pipe_is_the_same_over_every_wire() {
    let mut first: Option<String> = None;
    for wire in WIRES {
        let output = tour(&["demo", "--wire", wire]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{wire}: {}",
            text(output.stderr)
        );
        assert!(output.stderr.is_empty(), "{wire}: {}", text(output.stderr));
        let shown = settled(&text(output.stdout)).replace(&format!("{wire} over"), "WIRE over");
        let (last, next) = shown.split_once("4. What to try next:").unwrap();
        let last = last.to_owned();
        assert!(next.contains("Done in"), "{wire}: {next}");
        assert_eq!(&last, first.get_or_insert_with(|| last.clone()), "{wire}");
        assert!(!last.contains('\u{1b}'), "colours in a pipe");
    }
    insta::assert_snapshot!("tour", first.unwrap());
}

#[test]
fn the_tour_as_json_is_one_object() {
    let output = tour(&["demo", "--json", "--wire", "anthropic"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(output.stderr));
    let mut reported: Value = serde_json::from_slice(&output.stdout).unwrap();
    let turn = &mut reported["turns"][0];
    turn["answer"] = settled(turn["answer"].as_str().unwrap()).into();
    let result = &mut turn["calls"][0]["result"];
    *result = settled(result.as_str().unwrap()).into();
    reported.as_object_mut().unwrap().shift_remove("next");
    insta::assert_json_snapshot!("tour_json", reported);
}

/// Every line begins with a command that there is.
#[test]
fn what_to_try_next_can_be_tried() {
    let output = tour(&["demo", "--json"]);
    let reported: Value = serde_json::from_slice(&output.stdout).unwrap();
    let next = reported["next"].as_array().unwrap();
    assert!(!next.is_empty());
    for line in next {
        let words: Vec<&str> = line.as_str().unwrap().split(' ').collect();
        assert_eq!(words[0], "switchboard", "{line}");
        let help: Vec<&str> = [words[1], "--help"]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect();
        assert_eq!(run(&help).status.code(), Some(0), "{line}");
    }
}

#[test]
fn a_wire_that_does_not_exist_is_wrong_usage() {
    assert_eq!(run(&["demo", "--wire", "telegraph"]).status.code(), Some(1));
}

#[cfg(unix)]
mod terminal {
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::process::{Child, Stdio};

    use super::{Command, left_running, marked};

    /// The program in a terminal of its own.
    struct Terminal {
        child: Child,
        screen: File,
        seen: String,
        mark: String,
    }

    impl Terminal {
        fn start(arguments: &[&str]) -> Self {
            let pty = nix::pty::openpty(None, None).unwrap();
            let (mut command, mark): (Command, _) = marked(arguments);
            let end = || Stdio::from(pty.slave.try_clone().unwrap());
            let child = command
                .stdin(end())
                .stdout(end())
                .stderr(end())
                .spawn()
                .unwrap();
            drop(command);
            drop(pty.slave);
            Self {
                child,
                screen: File::from(pty.master),
                seen: String::new(),
                mark,
            }
        }

        /// Reads until `text` is on the screen, or the program ends.
        fn until(&mut self, text: &str) -> bool {
            let mut bytes = [0; 1024];
            while !self.seen.contains(text) {
                // The end of a terminal is an error on Linux.
                match self.screen.read(&mut bytes) {
                    Ok(0) | Err(_) => return false,
                    Ok(read) => self.seen.push_str(&String::from_utf8_lossy(&bytes[..read])),
                }
            }
            true
        }

        fn type_in(&mut self, text: &str) {
            self.screen.write_all(text.as_bytes()).unwrap();
        }

        /// Reads to the end; what was seen, and the exit code.
        fn end(mut self) -> (String, Option<i32>) {
            self.until("\u{0}never");
            let code = self.child.wait().unwrap().code();
            assert_eq!(left_running(&self.mark), Vec::<String>::new());
            (self.seen, code)
        }
    }

    #[test]
    fn someone_at_a_terminal_is_asked() {
        for (answer, reported) in [
            ("y\n", "Noted: buy milk"),
            ("n\n", "write_note was not allowed"),
        ] {
            let mut terminal = Terminal::start(&["demo"]);
            assert!(terminal.until("[Y/n]"), "{}", terminal.seen);
            assert!(
                terminal.seen.contains('\u{1b}'),
                "no colours: {}",
                terminal.seen
            );
            terminal.type_in(answer);
            let (seen, code) = terminal.end();
            assert!(
                seen.contains(reported) && seen.contains("What to try next"),
                "{seen}"
            );
            assert_eq!(code, Some(0));
        }
    }

    #[test]
    fn an_interrupt_at_the_question_ends_everything() {
        let mut terminal = Terminal::start(&["demo", "--no-color"]);
        assert!(terminal.until("[Y/n]"), "{}", terminal.seen);
        let id = nix::unistd::Pid::from_raw(terminal.child.id().try_into().unwrap());
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).unwrap();
        let (seen, code) = terminal.end();
        // The line that is typed needs the cursor moved; nothing is coloured.
        let number = |char: char| char.is_ascii_digit() || char == ';';
        let mut sequences = seen.split("\u{1b}[").skip(1);
        let colours = sequences.any(|it| it.trim_start_matches(number).starts_with('m'));
        assert!(!colours, "{seen:?}");
        assert_eq!(code, Some(130), "{seen}");
    }
}
