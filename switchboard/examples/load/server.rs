//! A process of `switchboard serve`, and what it uses.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::door::Door;

/// The program, and its users' access to it.
pub(super) struct Server {
    child: Child,
    pub(super) doors: Vec<Door>,
}

impl Server {
    /// The program beside this example's folder, in a home of its own.
    pub(super) fn start(home: &Path, args: &[&str]) -> Self {
        let example = std::env::current_exe().unwrap();
        let folder = example.parent().and_then(Path::parent).unwrap();
        let mut child = Command::new(folder.join("switchboard"))
            .args(["serve", "--json", "--port", "0"])
            .args(args)
            .env("SWITCHBOARD_HOME", home)
            .env("OLLAMA_HOST", "127.0.0.1:9")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let reported: Value = serde_json::from_str(&line).unwrap();
        let links = reported["links"].as_array().unwrap().iter();
        let doors = links.map(|link| Door::new(link["url"].as_str().unwrap()));
        Self {
            child,
            doors: doors.collect(),
        }
    }

    /// The first user's access.
    pub(super) fn door(&self) -> &Door {
        &self.doors[0]
    }

    /// How much memory the program has in use, in KiB; 0 where the system does not tell.
    pub(super) fn memory(&self) -> u64 {
        self.of_status("VmRSS:")
    }

    /// The most that it ever had in use.
    pub(super) fn peak_memory(&self) -> u64 {
        self.of_status("VmHWM:")
    }

    fn of_status(&self, name: &str) -> u64 {
        let file = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(file).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with(name));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    /// How many seconds of CPU the program has used; 0 where the system does not tell.
    pub(super) fn cpu(&self) -> f64 {
        cpu(self.child.id(), 2)
    }

    /// How many bytes the program has written to files; 0 where the system does not tell.
    pub(super) fn written(&self) -> u64 {
        let file = format!("/proc/{}/io", self.child.id());
        let io = std::fs::read_to_string(file).unwrap_or_default();
        let line = io
            .lines()
            .find_map(|line| line.strip_prefix("write_bytes: "));
        line.and_then(|bytes| bytes.trim().parse().ok())
            .unwrap_or(0)
    }

    /// Waits until the program has nothing to do any more.
    pub(super) fn settle(&self) {
        std::thread::sleep(Duration::from_secs(2));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The seconds of CPU of a process; with four `fields`, also those of its children that have ended.
pub(super) fn cpu(process: u32, fields: usize) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Its name is in parentheses; user and system time follow, in hundredths of a second.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let ticks = rest.split_whitespace().skip(11).take(fields);
    ticks.filter_map(|it| it.parse::<f64>().ok()).sum::<f64>() / 100.0
}
