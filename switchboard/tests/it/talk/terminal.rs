//! Talking in a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use nix::pty::openpty;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Desk;

/// The program in a terminal.
pub(crate) struct Terminal {
    child: Child,
    screen: File,
    seen: String,
}

impl Terminal {
    fn start(desk: &Desk, arguments: &[&str]) -> Self {
        Self::of(desk.command(arguments))
    }

    /// Any command in a terminal.
    pub(crate) fn of(mut command: Command) -> Self {
        let pty = openpty(None, None).unwrap();
        command.env("TERM", "xterm-256color");
        let slave = File::from(pty.slave);
        command.stdin(Stdio::from(slave.try_clone().unwrap()));
        command.stdout(Stdio::from(slave.try_clone().unwrap()));
        command.stderr(Stdio::from(slave));
        let child = command.spawn().unwrap();
        // The command holds the other end open until it is dropped.
        drop(command);
        let screen = File::from(pty.master);
        let seen = String::new();
        Self {
            child,
            screen,
            seen,
        }
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.screen.write_all(text.as_bytes()).unwrap();
    }

    /// Reads until this text was shown since the last time.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) {
        let mut bytes = [0; 4096];
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            let read = self.screen.read(&mut bytes).unwrap_or(0);
            assert!(
                read > 0,
                "the terminal closed before {text:?}: {:?}",
                self.seen
            );
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    }

    fn interrupt(&self) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        kill(pid, Signal::SIGINT).unwrap();
    }

    pub(crate) fn end(mut self) -> Option<i32> {
        let mut rest = [0; 4096];
        while self.screen.read(&mut rest).is_ok_and(|read| read > 0) {}
        self.child.wait().unwrap().code()
    }
}

#[test]
fn a_terminal_has_colours_a_prompt_and_approvals() {
    let desk = Desk::new();
    let mut terminal = Terminal::start(&desk, &[]);
    terminal.until("not an AI");
    terminal.until("> ");
    terminal.type_in("write a note\r");
    terminal.until("demo wants to run write_note");
    terminal.until("Run it?");
    terminal.type_in("y\r");
    terminal.until("\u{1b}[1m→ demo · write_note");
    terminal.until("\u{1b}[32m  ✓");
    terminal.until("write_note answered");
    terminal.until("tokens");
    terminal.until("> ");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.end(), Some(0));
    desk.assert_nothing_left();
}

#[test]
fn ctrl_c_stops_the_answer_and_the_chat_goes_on() {
    let desk = Desk::new();
    let mut terminal = Terminal::start(&desk, &["chat", "--approve", "auto"]);
    terminal.until("> ");
    terminal.type_in("please be slow\r");
    terminal.until("→ demo · slow");
    terminal.interrupt();
    terminal.until("Stopping");
    terminal.until("cancelled");
    terminal.until("> ");
    terminal.type_in("2 plus 3\r");
    terminal.until("add answered");
    terminal.until("> ");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end(), Some(0));
    desk.assert_nothing_left();
    let session = desk.json(&["session", "show", "last"]);
    assert_eq!(session["messages"][1]["finish"], "cancelled");
    assert_eq!(session["messages"][3]["finish"], "finished");
}

#[test]
fn ctrl_c_twice_at_the_prompt_ends_the_program() {
    let desk = Desk::new();
    let mut terminal = Terminal::start(&desk, &["chat"]);
    terminal.until("> ");
    terminal.type_in("\u{3}");
    terminal.until("again ends");
    terminal.until("> ");
    terminal.type_in("\u{3}");
    assert_eq!(terminal.end(), Some(130));
    desk.assert_nothing_left();
}

#[test]
fn a_message_of_several_lines_is_one_message() {
    let desk = Desk::new();
    let mut terminal = Terminal::start(&desk, &["chat", "--approve", "auto"]);
    terminal.until("> ");
    terminal.type_in("2 plus\\\r");
    terminal.until("… ");
    terminal.type_in("3\r");
    terminal.until("add answered");
    terminal.until("> ");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.end(), Some(0));
    let session = desk.json(&["session", "show", "last"]);
    assert_eq!(session["messages"][0]["content"], "2 plus\n3");
    let history = std::fs::read_to_string(desk.home().join("history.txt")).unwrap();
    assert!(history.contains("plus"), "{history}");
}
