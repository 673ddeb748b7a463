//! Process cleanup: what servers start is recorded, and ended when the program exits.

use std::pin::pin;
use std::process::ExitCode;
#[cfg(unix)]
use std::task::Poll;

use mcp_transport::{ProcessLedger, ProcessTracker};

use super::{Cli, Verb, run};
#[cfg(unix)]
use crate::chat::InterruptFilter;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::home;

/// The number of Ctrl-C, which verbs may deal with themselves.
#[cfg(unix)]
const INTERRUPT: u8 = 2;

/// How the program ended.
pub(super) enum Ended {
    Itself(Exit),
    /// By a signal of this number.
    Signal(u8),
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Itself(exit) => exit.into(),
            // As shells report it.
            Ended::Signal(number) => Self::from(128 + number),
        }
    }
}

/// Runs a verb. First ends what a program that was killed has left; on a signal, ends everything
/// that was started. What has left its session or cleared its environment is ended when the program
/// exits.
pub(super) async fn watched(cli: Cli, out: Out) -> Result<Ended, Failure> {
    let starts_servers = starts_servers(cli.verb.as_ref());
    if !starts_servers {
        return run(cli, out).await.map(Ended::Itself);
    }
    keep_ledger(&out).await;
    if let Err(error) = ProcessTracker::adopt_orphans() {
        out.note(format!(
            "! what servers leave behind may outlive this program: {error}"
        ));
    }
    let mut signals = Signals::beside(cli.verb.as_ref());
    let mut verb = pin!(run(cli, out));
    let number = tokio::select! {
        // A Ctrl-C that the verb deals with is heard before the verb has dealt with it.
        biased;
        number = signals.next() => number,
        ended = &mut verb => return ended.map(Ended::Itself),
    };
    crate::chat::restore();
    let tracker = ProcessTracker::global();
    tokio::select! {
        () = tracker.close_all() => {}
        // A second signal does not wait.
        _ = signals.next() => {}
    }
    Ok(Ended::Signal(number))
}

/// Whether a verb may start servers.
fn starts_servers(verb: Option<&Verb>) -> bool {
    !matches!(
        verb,
        Some(
            Verb::Approvals(_)
                | Verb::Assistants(_)
                | Verb::Usage(_)
                | Verb::Model(_)
                | Verb::Config(_)
                | Verb::Export(_)
                | Verb::Completions(_)
                | Verb::DemoServer(_)
                | Verb::DemoModel(_)
        )
    )
}

/// Ends processes left behind by killed runs, and records what this one starts.
async fn keep_ledger(out: &Out) {
    let folder = home::folder().join("processes");
    let opened = tokio::task::spawn_blocking(move || ProcessLedger::open(folder)).await;
    match opened {
        Ok(Ok(ledger)) => {
            if !ledger.reaped().is_empty() {
                let count = ledger.reaped().len();
                let plural = if count == 1 { "" } else { "es" };
                out.note(format!(
                    "! ended {count} process{plural} that an earlier run left behind"
                ));
            }
            let _ = ProcessTracker::global().keep_ledger(ledger);
        }
        // This is a second line of defence: servers are ended on exit without it, too.
        Ok(Err(error)) => out.note(format!(
            "! what servers start cannot be written down in {}: {error}",
            home::folder().join("processes").display()
        )),
        Err(_) => {}
    }
}

/// The signals that end a verb which does not deal with them itself.
struct Signals {
    #[cfg(unix)]
    listened: Vec<(u8, tokio::signal::unix::Signal)>,
    #[cfg(unix)]
    interrupts: InterruptFilter,
}

#[cfg(unix)]
impl Signals {
    fn beside(verb: Option<&Verb>) -> Self {
        use tokio::signal::unix::{SignalKind, signal};

        let mut kinds = vec![(INTERRUPT, SignalKind::interrupt())];
        // It handles shutdown itself.
        if !matches!(verb, Some(Verb::Serve(_))) {
            kinds.push((15, SignalKind::terminate()));
            if !ignores_hangup() {
                kinds.push((1, SignalKind::hangup()));
            }
        }
        // With a handler, a write beyond the file size limit fails instead of killing the program.
        let file_size = rustix::process::Signal::XFSZ.as_raw();
        drop(signal(SignalKind::from_raw(file_size)));
        let listened = kinds.into_iter();
        let listened = listened.filter_map(|(number, kind)| Some((number, signal(kind).ok()?)));
        Self {
            listened: listened.collect(),
            interrupts: InterruptFilter::default(),
        }
    }

    /// The number of the next one.
    async fn next(&mut self) -> u8 {
        loop {
            let number = std::future::poll_fn(|context| {
                let mut heard = self.listened.iter_mut();
                let heard = heard.find_map(|(number, signal)| {
                    signal.poll_recv(context).is_ready().then_some(*number)
                });
                heard.map_or(Poll::Pending, Poll::Ready)
            });
            let number = number.await;
            if number != INTERRUPT || !self.interrupts.is_handled() {
                return number;
            }
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    fn beside(_verb: Option<&Verb>) -> Self {
        Self {}
    }

    async fn next(&mut self) -> u8 {
        std::future::pending().await
    }
}

/// Whether SIGHUP is ignored, as under `nohup`. Known on Linux only; elsewhere the signal is left
/// to the system.
#[cfg(unix)]
pub(super) fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_none_or(|mask| mask & 1 == 1)
}
