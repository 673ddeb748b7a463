//! Talking in a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Desk;

/// The program in a terminal.
pub(crate) struct Terminal {
    child: Child,
    screen: File,
    seen: String,
    /// What was waited for.
    all: String,
}

impl Terminal {
    fn start(desk: &Desk, arguments: &[&str]) -> Self {
        Self::of(desk.command(arguments))
    }

    /// Any command in a terminal.
    pub(crate) fn of(mut command: Command) -> Self {
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pty = openpty(&size, None).unwrap();
        if command.get_envs().all(|(name, _)| name != "TERM") {
            command.env("TERM", "xterm-256color");
        }
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
            all: String::new(),
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
                self.all.extend(self.seen.drain(..at + text.len()));
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

    /// Whether this text was shown already, without waiting for more.
    fn has_shown(&self, text: &str) -> bool {
        self.seen.contains(text)
    }

    fn interrupt(&self) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        kill(pid, Signal::SIGINT).unwrap();
    }

    /// How it ends, and everything that it shows until then and was not waited for.
    pub(crate) fn rest(mut self) -> (Option<i32>, String) {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = self.screen.read(&mut bytes) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        (self.child.wait().unwrap().code(), self.all + &self.seen)
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

/// The user's messages of the last conversation, and how often a tool was called in it.
fn said(desk: &Desk, tool: &str) -> (Vec<String>, usize) {
    let session = desk.json(&["session", "show", "last"]);
    let messages = session["messages"].as_array().unwrap();
    let users = messages.iter().filter(|message| message["role"] == "user");
    let users = users.map(|message| message["content"].as_str().unwrap().to_owned());
    let calls = messages
        .iter()
        .flat_map(|message| message["toolCalls"].as_array().cloned());
    let ran = |call: &serde_json::Value| call["toolName"] == tool && call["status"] == "done";
    let ran = calls.flatten().filter(ran).count();
    (users.collect(), ran)
}

#[test]
fn a_yes_typed_before_a_question_does_not_answer_it() {
    let desk = Desk::new();
    let mut terminal = Terminal::start(&desk, &["chat"]);
    terminal.until("> ");
    // Everything at once: the yes is in the terminal before there is a question.
    terminal.type_in("write a note\ry\r");
    terminal.until("queued: y");
    terminal.until("Run it?");
    terminal.type_in("n\r");
    terminal.until("not allowed");
    // What was typed ahead is the next message.
    terminal.until("> y");
    terminal.until("> ");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.end(), Some(0));
    let (users, ran) = said(&desk, "write_note");
    assert_eq!(
        (users, ran),
        (vec!["write a note".to_owned(), "y".to_owned()], 0)
    );
}

#[test]
fn a_second_yes_does_not_answer_the_next_question() {
    let desk = Desk::new();
    let mut terminal = Terminal::start(&desk, &["chat"]);
    terminal.until("> ");
    terminal.type_in("write a note\r");
    terminal.until("Run it?");
    terminal.type_in("y\rwrite a note\ry\r");
    terminal.until("queued: write a note");
    terminal.until("write_note answered");
    terminal.until("demo wants to run write_note");
    terminal.until("Run it?");
    assert!(!terminal.has_shown("→ demo"), "{:?}", terminal.seen);
    terminal.type_in("n\r");
    terminal.until("not allowed");
    terminal.until("> y");
    terminal.until("> ");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end(), Some(0));
    let (users, ran) = said(&desk, "write_note");
    assert_eq!(
        (users, ran),
        (
            ["write a note", "write a note", "y"]
                .map(str::to_owned)
                .to_vec(),
            1
        )
    );
}

#[test]
fn a_line_begun_before_a_question_is_not_its_answer_when_it_is_finished() {
    let desk = Desk::new();
    let mut terminal = Terminal::start(&desk, &["chat"]);
    terminal.until("> ");
    terminal.type_in("write a note\rye");
    terminal.until("begun before the question");
    terminal.until("> ye");
    terminal.type_in("s\r");
    terminal.until("sent after it: yes");
    terminal.until("Run it?");
    terminal.type_in("y\r");
    terminal.until("write_note answered");
    terminal.until("> yes");
    terminal.until("> ");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.end(), Some(0));
    let (users, ran) = said(&desk, "write_note");
    assert_eq!(
        (users, ran),
        (["write a note", "yes"].map(str::to_owned).to_vec(), 1)
    );
}

#[test]
fn all_lines_typed_during_an_answer_are_sent_in_order() {
    let desk = Desk::new();
    let mut terminal = Terminal::start(&desk, &["chat", "--approve", "auto"]);
    terminal.until("> ");
    terminal.type_in("2 plus 3\rfirst\u{1b}[D\u{1b}[C\rsecond\rthird\r");
    terminal.until("queued: first");
    terminal.until("queued: second");
    terminal.until("queued: third");
    for line in ["> first", "> second", "> third"] {
        assert!(!terminal.has_shown("^[["), "{:?}", terminal.seen);
        terminal.until(line);
    }
    terminal.until("> ");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.end(), Some(0));
    let (users, _) = said(&desk, "add");
    assert_eq!(users, ["2 plus 3", "first", "second", "third"]);
}

#[test]
fn pasted_lines_are_one_message_and_no_answer() {
    let desk = Desk::new();
    let mut terminal = Terminal::start(&desk, &["chat"]);
    terminal.until("> ");
    terminal.type_in("\u{1b}[200~write a note\rtoday\u{1b}[201~\r");
    terminal.until("Run it?");
    terminal.type_in("\u{1b}[200~y\ry\r\u{1b}[201~");
    terminal.until("y y");
    // Enter sends it: it is no answer.
    terminal.type_in("\r");
    terminal.until("[y] once");
    terminal.until("Run it?");
    terminal.type_in("n\r");
    terminal.until("not allowed");
    terminal.until("> ");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.end(), Some(0));
    let (users, ran) = said(&desk, "write_note");
    assert_eq!((users, ran), (vec!["write a note\ntoday".to_owned()], 0));
}

#[test]
fn what_is_queued_when_an_answer_is_stopped_comes_back_to_be_edited() {
    let desk = Desk::new();
    let mut terminal = Terminal::start(&desk, &["chat", "--approve", "auto"]);
    terminal.until("> ");
    terminal.type_in("please be slow\r");
    terminal.until("→ demo · slow");
    terminal.type_in("one\rtwo\r");
    terminal.until("queued: two");
    terminal.type_in("\u{3}");
    terminal.until("cancelled");
    terminal.until("> one");
    terminal.until("two");
    terminal.type_in(" three\r");
    terminal.until("> ");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.end(), Some(0));
    let (users, _) = said(&desk, "slow");
    assert_eq!(users, ["please be slow", "one\ntwo three"]);
}

#[test]
fn a_form_takes_only_what_is_typed_after_its_field_was_shown() {
    let desk = Desk::new();
    let mut terminal = Terminal::start(&desk, &["chat", "--approve", "auto"]);
    terminal.until("> ");
    terminal.type_in("ask me my name\rMallory\r");
    terminal.until("queued: Mallory");
    terminal.until("demo · ask_name asks:");
    terminal.until("Name*: ");
    terminal.type_in("Ada\r");
    terminal.until("Ada");
    terminal.until("> Mallory");
    terminal.until("> ");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.end(), Some(0));
    let session = desk.json(&["session", "show", "last"]);
    let call = &session["messages"][1]["toolCalls"][0];
    assert!(call["response"].to_string().contains("Ada"), "{call}");
}

#[test]
fn run_in_a_terminal_asks_and_ignores_what_was_typed_before() {
    let desk = Desk::new();
    let mut terminal = Terminal::start(&desk, &["run", "write a note"]);
    terminal.type_in("y\r");
    terminal.until("Typed before the question, so ignored: y");
    terminal.until("Run it?");
    terminal.type_in("n\r");
    assert_eq!(terminal.end(), Some(6));
    assert_eq!(said(&desk, "write_note").1, 0);
}
