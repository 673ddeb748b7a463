//! The program's start-up, and `switchboard tools -- server` against the MCP Inspector's CLI mode:
//! wall time, in turns, in one run.
//!
//! Builds `switchboard` and the server, `mcp-testkit`, in release mode unless `PROGRAMS` names a
//! folder that has both. The Inspector is `INSPECTOR`, the path of its installed `mcp-inspector`;
//! without it that row is left out.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bench::table::{Table, median, number, ratio};

const ROUNDS: usize = 15;
/// The entrant that lists tools.
const LIST: usize = 2;

fn main() {
    let programs = match std::env::var_os("PROGRAMS") {
        Some(path) => PathBuf::from(path),
        None => build(),
    };
    let program = programs.join("switchboard");
    let server = programs.join("mcp-testkit");
    let server = server.to_string_lossy();
    let home = std::env::temp_dir().join(format!("switchboard-bench-{}", std::process::id()));
    let mut entrants = vec![
        Entrant::new("switchboard --version", &program, &["--version"]),
        Entrant::new(
            "switchboard, first prompt, then the end of input",
            &program,
            &[],
        ),
    ];
    let tools = ["tools", "--json", "--", &server, "--stdio"];
    entrants.push(Entrant::new(
        "switchboard tools -- server",
        &program,
        &tools,
    ));
    match std::env::var_os("INSPECTOR") {
        Some(inspector) => {
            let list = ["--cli", &server, "--stdio", "--method", "tools/list"];
            let inspector = PathBuf::from(inspector);
            entrants.push(Entrant::new("MCP Inspector --cli", &inspector, &list));
        }
        None => println!("INSPECTOR is not set: the MCP Inspector is left out"),
    }
    for round in 0..=ROUNDS {
        for entrant in &mut entrants {
            let took = entrant.run(&home);
            // The first round only warms the caches.
            if round > 0 {
                entrant.times.push(took.as_secs_f64() * 1000.0);
            }
        }
    }
    let list: Vec<f64> = entrants[LIST].times.clone();
    let title = format!("wall time, {ROUNDS} rounds");
    let mut table = Table::new(title, &["time × `switchboard tools`", "ms"]);
    for Entrant { name, times, .. } in &entrants {
        table.row(name, [ratio(times, &list), number(median(times))]);
    }
    table.print();
    // Whatever stays is in the folder for temporary files.
    let _ = std::fs::remove_dir_all(&home);
}

struct Entrant {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    /// In milliseconds.
    times: Vec<f64>,
}

impl Entrant {
    fn new(name: &'static str, program: &Path, arguments: &[&str]) -> Self {
        Self {
            name,
            program: program.to_owned(),
            arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
            times: Vec::new(),
        }
    }

    fn run(&self, home: &Path) -> Duration {
        let began = Instant::now();
        let status = Command::new(&self.program)
            .args(&self.arguments)
            .env("SWITCHBOARD_HOME", home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("the program can be started");
        let took = began.elapsed();
        assert!(status.success(), "{} ended with {status}", self.name);
        took
    }
}

fn build() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "build",
            "--profile",
            "dist",
            "-p",
            "switchboard",
            "-p",
            "mcp-testkit",
        ])
        .current_dir(&root);
    assert!(cargo.status().expect("cargo is there").success());
    root.join("target/dist")
}
