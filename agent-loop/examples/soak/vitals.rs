//! The resources the soak uses: memory, descriptors, tasks, processes, processor time.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::runtime::Handle;

/// One sample of the driver and its servers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vitals {
    /// The driver's resident memory, in KiB.
    pub(crate) memory: u64,
    /// The driver's open descriptors.
    pub(crate) descriptors: u64,
    /// The driver's tasks.
    pub(crate) tasks: u64,
    /// The servers' processes, of any origin.
    pub(crate) processes: u64,
    /// The driver's time on the processor so far, in clock ticks.
    pub(crate) ticks: u64,
}

/// Reads `/proc`. Servers are recognized by the soak's folder, which is in their arguments.
#[derive(Clone, Debug)]
pub(crate) struct Doctor {
    folder: PathBuf,
}

impl Doctor {
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    pub(crate) fn look(&self) -> Vitals {
        Vitals {
            memory: status("VmRSS:"),
            descriptors: entries("/proc/self/fd"),
            tasks: u64::try_from(Handle::current().metrics().num_alive_tasks()).unwrap_or(0),
            processes: self.processes(),
            ticks: ticks(),
        }
    }

    /// The number of processes with the folder in their arguments.
    fn processes(&self) -> u64 {
        let marker = self.folder.to_string_lossy();
        let Ok(all) = fs::read_dir("/proc") else {
            return 0;
        };
        let lines = all.flatten().filter_map(|entry| {
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&line).into_owned())
        });
        let ours = lines.filter(|line| line.contains(&*marker)).count();
        u64::try_from(ours).unwrap_or(0)
    }

    /// Samples until `fits`, within the time limit; returns the last sample.
    pub(crate) async fn until(&self, fits: impl Fn(&Vitals) -> bool, patience: Duration) -> Vitals {
        let end = tokio::time::Instant::now() + patience;
        loop {
            let vitals = self.look();
            if fits(&vitals) || tokio::time::Instant::now() > end {
                return vitals;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn entries(folder: &str) -> u64 {
    let count = fs::read_dir(folder).map_or(0, Iterator::count);
    u64::try_from(count).unwrap_or(0)
}

/// User and system time: the 14th and 15th field; the second may contain blanks.
fn ticks() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let (_, rest) = stat.rsplit_once(')').unwrap_or_default();
    let fields = rest.split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// The medians of the first and of the last third of the samples after the warm-up.
pub(crate) fn thirds(samples: &[Vitals], get: fn(&Vitals) -> u64) -> (u64, u64) {
    let warm = samples.len() / 6;
    let after: Vec<u64> = samples.iter().skip(warm).map(get).collect();
    let third = (after.len() / 3).max(1);
    let early = after.iter().copied().take(third).collect();
    let late = after.iter().rev().copied().take(third).collect();
    (median(early), median(late))
}

fn median(mut numbers: Vec<u64>) -> u64 {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
