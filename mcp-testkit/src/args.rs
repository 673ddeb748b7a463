//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use mcp_testkit::{Era, Fault, Polling, Replies, Script, TransportKind};

pub(crate) const USAGE: &str = "\
usage: mcp-testkit (--stdio | --http | --sse) [options]
       mcp-testkit faults                    list the ways to misbehave
       mcp-testkit chaos --driver PROGRAM    run a client against all of them (Linux)
             [--only PATTERN,...] [--jobs N] [--list]

  --stdio            serve lines on standard input and output
  --http             serve Streamable HTTP on a free loopback port; its URL is the first line printed
  --sse              the same for HTTP+SSE of 2024-11-05

  --fault NAME       misbehave in this way
  --script NAME      standard (one of everything; the default) or minimal (echo and slow)
  --era ERA          legacy, modern or both (the default)
  --tools N          offer N generated tools more
  --page N           list N items a page
  --replies KIND     json (the default) or sse
  --no-sessions      assign no session id
  --retry MS         resumable streams that hang up and ask to come back after MS
  --log FILE         append what the server sees to FILE, a line of JSON each
  --lifetime SECS    end after so long, whatever happens
";

/// The command to run.
#[derive(Debug)]
pub(crate) enum Command {
    Help,
    Faults,
    #[cfg(target_os = "linux")]
    ListCases {
        only: Option<String>,
    },
    #[cfg(target_os = "linux")]
    Chaos(crate::judge::Chaos),
    #[cfg(target_os = "linux")]
    ChaosCase {
        name: String,
        driver: String,
    },
    Serve(Box<Serve>),
}

/// The server to run.
#[derive(Debug)]
pub(crate) struct Serve {
    pub(crate) shape: TransportKind,
    pub(crate) script: Script,
    pub(crate) fault: Option<Fault>,
    pub(crate) log: Option<PathBuf>,
    pub(crate) lifetime: Option<Duration>,
}

pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Command, String> {
    let mut shape = None;
    let mut script = Script::standard();
    let mut changes: Vec<Box<dyn FnOnce(Script) -> Script>> = Vec::new();
    let (mut fault, mut log, mut lifetime) = (None, None, None);
    while let Some(arg) = args.next() {
        let mut value = || {
            args.next()
                .ok_or_else(|| format!("{arg} needs a value\n\n{USAGE}"))
        };
        match arg.as_str() {
            "--help" | "-h" | "help" => return Ok(Command::Help),
            "faults" => return Ok(Command::Faults),
            "chaos" => return chaos(args),
            "chaos-case" => return chaos_case(args),
            "--stdio" => shape = Some(TransportKind::Stdio),
            "--http" => shape = Some(TransportKind::Http),
            "--sse" => shape = Some(TransportKind::Sse),
            "--script" => {
                script = match value()?.as_str() {
                    "standard" => Script::standard(),
                    "minimal" => Script::minimal(),
                    other => return Err(format!("no script is called {other}\n\n{USAGE}")),
                }
            }
            "--era" => match value()?.as_str() {
                "legacy" => changes.push(Box::new(|script| script.only(Era::Legacy))),
                "modern" => changes.push(Box::new(|script| script.only(Era::Modern))),
                "both" => {}
                other => return Err(format!("no era is called {other}\n\n{USAGE}")),
            },
            "--tools" => {
                let count = number(&arg, &value()?)?;
                changes.push(Box::new(move |script| script.with_generated_tools(count)));
            }
            "--page" => {
                let size = number(&arg, &value()?)?;
                changes.push(Box::new(move |script| script.with_page_size(size)));
            }
            "--replies" => match value()?.as_str() {
                "json" => {}
                "sse" => changes.push(Box::new(|script| script.with_replies(Replies::Sse))),
                other => return Err(format!("replies are json or sse, not {other}\n\n{USAGE}")),
            },
            "--no-sessions" => changes.push(Box::new(Script::without_sessions)),
            "--retry" => {
                let retry = Duration::from_millis(number(&arg, &value()?)?);
                let polling = Polling::new().with_retry(retry).hanging_up();
                changes.push(Box::new(move |script| script.with_polling(polling)));
            }
            "--fault" => {
                let name = value()?;
                let found = Fault::named(&name);
                fault =
                    Some(found.ok_or_else(|| {
                        format!("no fault is called {name}: see mcp-testkit faults")
                    })?);
            }
            "--log" => log = Some(PathBuf::from(value()?)),
            "--lifetime" => lifetime = Some(Duration::from_secs(number(&arg, &value()?)?)),
            other => return Err(format!("unknown option {other}\n\n{USAGE}")),
        }
    }
    let shape = shape.ok_or_else(|| USAGE.to_owned())?;
    let script = changes
        .into_iter()
        .fold(script, |script, change| change(script));
    Ok(Command::Serve(Box::new(Serve {
        shape,
        script,
        fault,
        log,
        lifetime,
    })))
}

fn number<T: std::str::FromStr>(option: &str, text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("{option} needs a number, not {text}"))
}

#[cfg(target_os = "linux")]
fn chaos(mut args: impl Iterator<Item = String>) -> Result<Command, String> {
    let (mut driver, mut only, mut list) = (None, None, false);
    let mut jobs = std::thread::available_parallelism().map_or(2, |cores| cores.get() * 2);
    while let Some(arg) = args.next() {
        let mut value = || {
            args.next()
                .ok_or_else(|| format!("{arg} needs a value\n\n{USAGE}"))
        };
        match arg.as_str() {
            "--driver" => driver = Some(value()?),
            "--only" => only = Some(value()?),
            "--jobs" => jobs = number(&arg, &value()?)?,
            "--list" => list = true,
            other => return Err(format!("unknown option {other}\n\n{USAGE}")),
        }
    }
    match driver {
        _ if list => Ok(Command::ListCases { only }),
        Some(driver) => Ok(Command::Chaos(crate::judge::Chaos { driver, only, jobs })),
        None => Err(format!("chaos needs --driver\n\n{USAGE}")),
    }
}

#[cfg(target_os = "linux")]
fn chaos_case(mut args: impl Iterator<Item = String>) -> Result<Command, String> {
    match (args.next(), args.next(), args.next()) {
        (Some(name), Some(option), Some(driver)) if option == "--driver" => {
            Ok(Command::ChaosCase { name, driver })
        }
        _ => Err(USAGE.to_owned()),
    }
}

#[cfg(not(target_os = "linux"))]
fn chaos(_: impl Iterator<Item = String>) -> Result<Command, String> {
    Err("the chaos cases are judged on Linux only".to_owned())
}

#[cfg(not(target_os = "linux"))]
fn chaos_case(args: impl Iterator<Item = String>) -> Result<Command, String> {
    chaos(args)
}
