//! The client under test as a process: its output, its time, its memory.

use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mcp_testkit::chaos::{Case, Ended};
use parking_lot::Mutex;

use super::proc;

/// The number of bytes kept of each output.
const KEPT: usize = 256 << 10;
/// The interval of checks of the client.
const TICK: Duration = Duration::from_millis(10);

/// Observations of the client itself.
pub(super) struct Run {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) answered_after: Option<Duration>,
    pub(super) exited_after: Duration,
    pub(super) ended: Ended,
    pub(super) memory_mb: u64,
}

/// Runs the client to its end, or ends it when it exceeds a limit.
pub(super) fn run(case: &Case, command: &mut Command) -> io::Result<Run> {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdout = Drain::of(child.stdout.take(), Keep::Head);
    let stderr = Drain::of(child.stderr.take(), Keep::Tail);
    let (ended, peak_kb) = watch(case, &mut child, started)?;
    let exited_after = started.elapsed();
    // Processes that inherited the pipes may keep them open: what has arrived by now is enough.
    stdout.settle();
    stderr.settle();
    Ok(Run {
        answered_after: stdout.first_line_at().map(|at| at.duration_since(started)),
        stdout: stdout.text(),
        stderr: stderr.text(),
        exited_after,
        ended,
        memory_mb: peak_kb.max(proc::children_peak_kb()) / 1024,
    })
}

fn watch(case: &Case, child: &mut Child, started: Instant) -> io::Result<(Ended, u64)> {
    let mut peak_kb = 0;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((ended(status), peak_kb));
        }
        peak_kb = peak_kb.max(proc::peak_kb(child.id()));
        let limit = if peak_kb / 1024 > case.memory_mb {
            Some(Ended::TooBig)
        } else if started.elapsed() > case.exit_within {
            Some(Ended::TooSlow)
        } else {
            None
        };
        if let Some(limit) = limit {
            child.kill()?;
            child.wait()?;
            return Ok((limit, peak_kb));
        }
        thread::sleep(TICK);
    }
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Status(code),
        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
    }
}

/// The end of an output that is kept.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Keep {
    Head,
    Tail,
}

/// Reads a pipe to its end.
struct Drain {
    state: Arc<Mutex<Drained>>,
    thread: thread::JoinHandle<()>,
}

#[derive(Default)]
struct Drained {
    bytes: Vec<u8>,
    first_line_at: Option<Instant>,
}

impl Drain {
    fn of<R: Read + Send + 'static>(pipe: Option<R>, keep: Keep) -> Self {
        let state = Arc::new(Mutex::new(Drained::default()));
        let shared = Arc::clone(&state);
        let thread = thread::spawn(move || {
            let Some(mut pipe) = pipe else { return };
            let mut buffer = vec![0; 64 << 10];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let mut state = shared.lock();
                let read = buffer.get(..count).unwrap_or_default();
                match keep {
                    Keep::Head => {
                        let room = KEPT.saturating_sub(state.bytes.len()).min(count);
                        state
                            .bytes
                            .extend_from_slice(read.get(..room).unwrap_or_default());
                    }
                    Keep::Tail => {
                        state.bytes.extend_from_slice(read);
                        let over = state.bytes.len().saturating_sub(KEPT);
                        state.bytes.drain(..over);
                    }
                }
                if state.first_line_at.is_none() && read.contains(&b'\n') {
                    state.first_line_at = Some(Instant::now());
                }
            }
        });
        Self { state, thread }
    }

    /// Waits briefly for the end of the pipe.
    fn settle(&self) {
        let deadline = Instant::now() + Duration::from_secs(1);
        while !self.thread.is_finished() && Instant::now() < deadline {
            thread::sleep(TICK);
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.state.lock().bytes).into_owned()
    }

    fn first_line_at(&self) -> Option<Instant> {
        self.state.lock().first_line_at
    }
}
