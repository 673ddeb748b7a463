//! What a process has used of the machine.

use std::time::Duration;

/// The CPU time of all threads of this process so far, in user and system mode.
#[cfg(unix)]
pub fn process_cpu_time() -> Duration {
    // SAFETY: an all-zero rusage is valid, and the call only writes into it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let time = |t: libc::timeval| {
        Duration::from_secs(t.tv_sec as u64) + Duration::from_micros(t.tv_usec as u64)
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// The time that passed, where there is nothing better.
#[cfg(not(unix))]
pub fn process_cpu_time() -> Duration {
    crate::cpu_time::cpu_time()
}

/// The most memory this process has had, in KiB; 0 where that is not known.
pub fn peak_memory() -> u64 {
    memory("VmHWM:")
}

/// What of [`peak_memory`] is not the program itself, which is mapped from its file.
pub fn peak_own_memory() -> u64 {
    peak_memory().saturating_sub(memory("RssFile:"))
}

/// The memory this process has now, in KiB; 0 where that is not known.
pub fn resident_memory() -> u64 {
    memory("VmRSS:")
}

fn memory(kind: &str) -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|line| line.starts_with(kind))?;
            line.split_whitespace().nth(1)?.parse().ok()
        })
        .unwrap_or(0)
}
