//! A user's folder for one test, and the program in it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::database::Database;
use crate::program::{path, program};

/// What the clock of the demo server always shows: 2023-05-23.
pub(crate) const CLOCK: &str = "1684800000000";

/// A folder that is home to one user. Everything that is started for it is started in it.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    database: Option<Database>,
}

/// How a run ended.
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = None;
        Self { folder, database }
    }

    /// One with the demo server in it.
    pub(crate) fn with_demo() -> Self {
        let bench = Self::new();
        let ran = bench.run(&[
            "servers",
            "add",
            "demo",
            "--",
            path(),
            "demo-server",
            "--clock",
            CLOCK,
        ]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        bench
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Puts a file there.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = program(arguments);
        command
            .current_dir(self.path())
            .env("SWITCHBOARD_HOME", self.path().join("data"))
            .env("SWITCHBOARD_KEYRING", "off")
            .env("HOME", self.path())
            .env("XDG_CONFIG_HOME", self.path().join(".config"))
            .env_remove("SWITCHBOARD_TEST_KEY")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(database) = &self.database {
            command.env("SWITCHBOARD_DATABASE", database.url());
        }
        command
    }

    /// Whether other machines could share the store.
    pub(crate) fn is_shared(&self) -> bool {
        self.database.is_some()
    }

    /// What the program keeps everything in.
    pub(crate) fn store(&self) -> PathBuf {
        match &self.database {
            Some(database) => database.url().into(),
            None => self.path().join("data/switchboard.db"),
        }
    }

    /// Whoever serves here serves on the back end that is tested.
    pub(crate) fn on_tested_store(mut self) -> Self {
        self.database = self.database.or_else(Database::of_user);
        self
    }

    /// Runs the program to its end. No process may be left then.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let ran = self.run_beside(arguments);
        assert_eq!(self.left(), Vec::<String>::new(), "left by {arguments:?}");
        ran
    }

    /// As [`run`](Self::run), while another program is in this folder.
    pub(crate) fn run_beside(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().unwrap();
        Ran {
            exit: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs the program with `--json` and gives back all of it, fit for a snapshot.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat_before_dashes());
        let lines = ran.stderr.lines();
        let stderr: Vec<Value> = lines.map(|line| self.parse(line)).collect();
        let stdout = match ran.stdout.is_empty() {
            true => Value::Null,
            false => self.parse(&ran.stdout),
        };
        json!({"exit": ran.exit, "stdout": stdout, "stderr": stderr})
    }

    /// One JSON value, with whatever differs from run to run taken out.
    #[track_caller]
    fn parse(&self, text: &str) -> Value {
        let mut value: Value =
            serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"));
        self.redact(&mut value);
        value
    }

    pub(crate) fn redact(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let folder = self.path().to_string_lossy().into_owned();
                *text = text.replace(path(), "SWITCHBOARD").replace(&folder, "HOME");
                *text = without_ports(text);
                if let Some((before, _)) = text.split_once("looked in: ") {
                    *text = format!("{before}looked in: …");
                }
                if text.starts_with("--- 2") {
                    *text = format!("--- TIME{}", &text[23..]);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact(item)),
            Value::Object(members) => {
                for (name, member) in members {
                    match name.as_str() {
                        "ms" => *member = json!("MS"),
                        _ => self.redact(member),
                    }
                }
            }
            _ => {}
        }
    }

    /// The logs of servers.
    pub(crate) fn logs(&self) -> Vec<PathBuf> {
        let found = std::fs::read_dir(self.path().join("data/logs"));
        let found = found.into_iter().flatten().flatten();
        found.map(|entry| entry.path()).collect()
    }

    /// The command lines of processes that run in this folder. Only Linux shows them.
    pub(crate) fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let folder = std::fs::read_link(entry.path().join("cwd"));
            if folder.is_ok_and(|folder| folder.starts_with(self.path())) {
                let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                left.push(String::from_utf8_lossy(&line).replace('\0', " "));
            }
        }
        left
    }
}

/// `127.0.0.1:PORT` for every port of this machine.
fn without_ports(text: &str) -> String {
    let mut parts = text.split("127.0.0.1:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        out.push_str("127.0.0.1:PORT");
        out.push_str(rest);
    }
    out
}

/// Flags go before `--`.
trait ConcatBeforeDashes<'a> {
    fn concat_before_dashes(&self) -> Vec<&'a str>;
}

impl<'a> ConcatBeforeDashes<'a> for [&[&'a str]; 2] {
    fn concat_before_dashes(&self) -> Vec<&'a str> {
        let [words, flags] = self;
        let at = words
            .iter()
            .position(|word| *word == "--")
            .unwrap_or(words.len());
        let (before, after) = words.split_at(at);
        [before, flags, after].concat()
    }
}

/// A file of the program's data.
pub(crate) fn data(bench: &Bench, name: &str) -> PathBuf {
    bench.path().join("data").join(name)
}

/// The permissions of a file.
#[cfg(unix)]
pub(crate) fn mode(file: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(file).unwrap().permissions()) & 0o777
}
