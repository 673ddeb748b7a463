//! `mcp-testkit`: the test servers as a program.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program prints"
)]

mod args;
#[cfg(target_os = "linux")]
mod judge;

use std::process::ExitCode;
use std::time::Duration;

use args::{Command, Serve};
use mcp_testkit::{Fault, Log, Server, TransportKind};

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(message) => {
            eprintln!("mcp-testkit: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, String> {
    let command = args::parse(std::env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    match command {
        Command::Help => {
            print!("{}", args::USAGE);
            Ok(ExitCode::SUCCESS)
        }
        Command::Faults => {
            for fault in Fault::all() {
                println!("{:<28} {}", fault.name(), fault.about());
            }
            Ok(ExitCode::SUCCESS)
        }
        #[cfg(target_os = "linux")]
        Command::ListCases { only } => {
            judge::list(only.as_deref());
            Ok(ExitCode::SUCCESS)
        }
        #[cfg(target_os = "linux")]
        Command::Chaos(chaos) => judge::run(&chaos),
        #[cfg(target_os = "linux")]
        Command::ChaosCase { name, driver } => judge::run_one(&name, &driver),
        Command::Serve(serve) => {
            let code = runtime.block_on(async {
                let lifetime = serve
                    .lifetime
                    .unwrap_or(Duration::from_secs(u32::MAX.into()));
                match tokio::time::timeout(lifetime, start(*serve)).await {
                    Ok(ended) => ended,
                    Err(_) => Ok(1),
                }
            })?;
            // Not a return: a pending read of standard input must not keep the process alive.
            std::process::exit(code)
        }
    }
}

/// Serves until the client or a signal ends it; returns the exit status.
async fn start(serve: Serve) -> Result<i32, String> {
    let explain = |error: &dyn std::error::Error| match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    let mut server = Server::new(serve.script);
    if let Some(fault) = serve.fault {
        server = server.with_fault(fault);
    }
    if let Some(path) = &serve.log {
        let log = Log::to_file(path).map_err(|error| format!("{}: {error}", path.display()))?;
        server = server.with_log(log);
    }
    let running = match serve.shape {
        TransportKind::Http => server.start_http().await.map_err(|error| explain(&error))?,
        TransportKind::Sse => server.start_sse().await.map_err(|error| explain(&error))?,
        _ => return server.serve_stdio().await.map_err(|error| explain(&error)),
    };
    println!("{}", running.url());
    std::future::pending().await
}
