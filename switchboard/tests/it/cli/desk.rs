//! A desk of our own: a fresh home, an environment without keys, and a look at what is left.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;

use crate::database::Database;
use crate::program::{left_running, path};

/// A home for the program, where nothing was done yet.
pub(crate) struct Desk {
    home: TempDir,
    mark: String,
    database: Option<Arc<Database>>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mark = home.path().display().to_string();
        let database = None;
        Self {
            home,
            mark,
            database,
        }
    }

    pub(crate) fn home(&self) -> &std::path::Path {
        self.home.path()
    }

    /// The program at this desk: no key, no Ollama, no configuration.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(path());
        command.args(arguments).stdin(Stdio::null()).env_clear();
        for name in ["PATH", "HOME", "TMPDIR", "LLVM_PROFILE_FILE"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command.env("SWITCHBOARD_HOME", self.home.path());
        command.env("OLLAMA_HOST", "127.0.0.1:9");
        if let Some(database) = &self.database {
            command.env("SWITCHBOARD_DATABASE", database.url());
        }
        command
    }

    /// Whoever serves here serves on the back end that is tested.
    pub(crate) fn on_tested_store(mut self) -> Self {
        self.database = self.database.or_else(|| Database::of_user().map(Arc::new));
        self
    }

    /// One with a PostgreSQL database, if there is a server.
    pub(crate) fn on_postgres(mut self) -> Option<Self> {
        let server = crate::database::server()?;
        self.database = Some(Arc::new(Database::make(&server)));
        Some(self)
    }

    /// A desk at another machine with the same database.
    pub(crate) fn beside(&self) -> Self {
        let mut beside = Self::new();
        beside.database.clone_from(&self.database);
        beside
    }

    /// Whether other machines could share the store: they go on with what a killed one leaves behind.
    pub(crate) fn is_shared(&self) -> bool {
        self.database.is_some()
    }

    /// What the program keeps everything in.
    pub(crate) fn store(&self) -> std::path::PathBuf {
        match &self.database {
            Some(database) => database.url().into(),
            None => self.home().join("switchboard.db"),
        }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        self.assert_nothing_left();
        output
    }

    /// The program with these lines on its standard input.
    pub(crate) fn say(&self, arguments: &[&str], lines: &str) -> Output {
        let output = self.say_beside(arguments, lines);
        self.assert_nothing_left();
        output
    }

    /// As [`say`](Self::say), while another program is at this desk.
    pub(crate) fn say_beside(&self, arguments: &[&str], lines: &str) -> Output {
        let mut command = self.command(&scripted(arguments));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(lines.as_bytes())
            .unwrap();
        child.wait_with_output().unwrap()
    }

    /// What the program prints with `--json`.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        let output = self.run(&all);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The error the program prints with `--json`.
    #[track_caller]
    pub(crate) fn error(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        let output = self.run(&all);
        assert!(!output.status.success(), "{arguments:?}");
        serde_json::from_slice(&output.stderr).unwrap()
    }

    /// Begins a chat whose lines come one by one.
    pub(crate) fn chat(&self, arguments: &[&str]) -> Chat {
        let mut command = self.command(&scripted(arguments));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Chat { child, lines }
    }

    /// No process of this desk is left. Only Linux shows them.
    #[track_caller]
    pub(crate) fn assert_nothing_left(&self) {
        let mark = format!("SWITCHBOARD_HOME={}", self.mark);
        let left = left_running(&mark);
        assert!(left.is_empty(), "still running: {left:?}");
    }
}

/// A chat whose questions are answered by its standard input too, if these are a chat's arguments.
fn scripted<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    const FLAG: &str = "--answers-from-stdin";
    match arguments {
        [] => vec!["chat", FLAG],
        ["chat", ..] | ["session", "resume", ..] => [arguments, &[FLAG]].concat(),
        _ => arguments.to_vec(),
    }
}

/// A chat that runs.
pub(crate) struct Chat {
    pub(crate) child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Chat {
    pub(crate) fn say(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
    }

    /// Reads up to a line that has this text, and gives back all that was read.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) -> String {
        let mut all = String::new();
        loop {
            let read = self.lines.read_line(&mut all).unwrap();
            assert!(read > 0, "the chat ended before {text:?}:\n{all}");
            if all.lines().last().is_some_and(|line| line.contains(text)) {
                return all;
            }
        }
    }

    /// Ends it as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The value without what differs from run to run.
pub(crate) fn steady(mut value: Value) -> Value {
    const DIFFERS: [&str; 9] = [
        "id",
        "conversation",
        "createdAt",
        "updatedAt",
        "created_at",
        "def_hash",
        "server_identity",
        "pricesAsOf",
        "serverId",
    ];
    match &mut value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| *item = steady(item.take())),
        Value::Object(fields) => {
            for (key, field) in fields {
                *field = match DIFFERS.contains(&key.as_str()) && !field.is_null() {
                    true => Value::from(format!("[{key}]")),
                    false => steady(field.take()),
                };
            }
        }
        _ => {}
    }
    value
}
