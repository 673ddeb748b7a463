//! What is shown while servers start.

use std::future::Future;
use std::time::{Duration, Instant};

use mcp_manager::{Manager, ServerState};

use crate::display::out::Out;
use crate::display::untrusted;
use crate::lang::t;

/// How often it is shown.
const TICK: Duration = Duration::from_millis(150);
/// How long they may take before it is shown.
const PATIENT: Duration = Duration::from_millis(500);
/// The most names that are shown.
const MAX_NAMES: usize = 3;

/// Waits for servers to start, and shows which ones are not there yet.
pub(super) async fn shown<T>(
    starting: impl Future<Output = T>,
    manager: &Manager,
    count: usize,
    out: &Out,
) -> T {
    let began = Instant::now();
    let mut starting = std::pin::pin!(starting);
    let mut clock = tokio::time::interval(TICK);
    let mut is_said = false;
    loop {
        tokio::select! {
            started = &mut starting => {
                out.progress("");
                return started;
            }
            _ = clock.tick() => {}
        }
        if began.elapsed() < PATIENT {
            continue;
        }
        let servers = manager.servers();
        let waiting =
            |state: &ServerState| matches!(state, ServerState::Pending | ServerState::Connecting);
        let waiting = servers.iter().filter(|server| waiting(&server.state));
        let names: Vec<_> = waiting
            .map(|server| untrusted::line(server.name.as_str()))
            .collect();
        let more = if names.len() > MAX_NAMES { ", …" } else { "" };
        let shown: Vec<&str> = names.iter().take(MAX_NAMES).map(AsRef::as_ref).collect();
        let line = t!(
            "Starting servers: {done} of {count} ({names}), {n} s",
            done = count.saturating_sub(names.len()),
            count = count,
            names = format!("{}{more}", shown.join(", ")),
            n = began.elapsed().as_secs()
        );
        if !out.is_plain() {
            out.progress(&line);
        } else if out.is_interactive() && !std::mem::replace(&mut is_said, true) {
            out.note(line);
        }
    }
}
