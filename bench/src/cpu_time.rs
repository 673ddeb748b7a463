//! The time a thread really had the processor.

use std::time::Duration;

/// The CPU time of this thread so far.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a live timespec, and the clock exists on every Unix we build for.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "no clock for the thread's CPU time");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The time that passed, where there is nothing better.
#[cfg(not(unix))]
pub fn cpu_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
