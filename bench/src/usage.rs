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

/// The CPU time of another process so far, in user and system mode, by the clock's ticks of 10 ms.
pub fn cpu_time_of(pid: u32) -> Duration {
    let fields = stat(&pid.to_string());
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}

/// The first child of this process.
pub fn child_process() -> Option<u32> {
    let own = std::process::id().to_string();
    let names = std::fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.file_name());
    let mut pids = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
    pids.find(|pid| stat(&pid.to_string()).get(1) == Some(&own))
}

/// What the system says of a process, from its state on.
fn stat(pid: &str) -> Vec<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    fields.split_whitespace().map(str::to_owned).collect()
}

fn memory(kind: &str) -> u64 {
    memory_in("self", kind)
}

/// A figure of another process's memory, in KiB; 0 where that is not known.
pub fn memory_of(pid: u32, kind: &str) -> u64 {
    memory_in(&pid.to_string(), kind)
}

fn memory_in(process: &str, kind: &str) -> u64 {
    std::fs::read_to_string(format!("/proc/{process}/status"))
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|line| line.starts_with(kind))?;
            line.split_whitespace().nth(1)?.parse().ok()
        })
        .unwrap_or(0)
}
