//! A soak: the manager and the loop against misbehaving servers, for any length of time.
//!
//! `cargo xtask soak --minutes N` builds and runs it. Fifteen child processes and five remote servers, most of which
//! misbehave, serve some two dozen concurrent runs, in which calls are approved, denied, cancelled, stored and resumed.
//! Every call carries an id; the loop, the toolbox and the servers each record the ids they saw, and in the end the
//! records must agree. Memory, descriptors, tasks and processes must stay flat.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a program for developers"
)]

mod claim;
mod drive;
mod model;
mod random;
mod recorder;
mod role;
mod server;
mod tools;
mod user;
mod vitals;
mod work;

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let ended = match words.as_slice() {
        ["serve", name, folder] => server::serve(name, folder),
        ["host", folder] => server::host(folder),
        ["--minutes", _] if !cfg!(target_os = "linux") => {
            Err("it looks at /proc: it runs on Linux only".into())
        }
        ["--minutes", minutes] => match minutes.parse::<u64>() {
            Ok(minutes) if minutes > 0 => drive::run(std::time::Duration::from_secs(60 * minutes)),
            _ => Err(format!("--minutes needs a whole number from 1 on, not {minutes}").into()),
        },
        _ => Err("usage: soak --minutes N".into()),
    };
    // Not a return: a pending read of standard input must not keep the process alive.
    std::process::exit(ended.unwrap_or_else(|error| {
        eprintln!("soak: {error}");
        2
    }))
}
