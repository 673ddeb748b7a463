//! The identity of a process: ids are reused, pairs of id and start time are not.

use std::fmt;

/// The start time of a process, in the system's own format. Only meant for comparison.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct StartTime(String);

impl StartTime {
    /// The value where the system does not provide it.
    pub(super) fn unknown() -> Self {
        Self("0".to_owned())
    }

    /// Parses the output of `Display`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        (!text.is_empty() && text.bytes().all(plain)).then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for StartTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The start time of the process with this id; `None` if there is none, or only a zombie.
pub(super) fn start_time(pid: u32) -> Option<StartTime> {
    #[cfg(target_os = "linux")]
    return linux::stat(pid)
        .filter(|stat| stat.is_running)
        .map(|stat| stat.started);
    #[cfg(all(unix, not(target_os = "linux")))]
    return posix::start_time(pid);
    #[cfg(not(unix))]
    return {
        let _ = pid;
        None
    };
}

/// The id of the current boot, because process ids are meaningless in another. Empty if unknown.
pub(super) fn boot() -> String {
    #[cfg(target_os = "linux")]
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    #[cfg(not(target_os = "linux"))]
    let boot = String::new();
    boot.trim().to_owned()
}

/// On Linux, from `/proc`.
#[cfg(target_os = "linux")]
pub(super) mod linux {
    use super::StartTime;

    /// The content of `/proc/<pid>/stat`.
    #[derive(Debug, Eq, PartialEq)]
    pub(crate) struct Stat {
        pub(crate) parent: u32,
        pub(crate) group: u32,
        pub(crate) started: StartTime,
        /// Whether it is neither a zombie nor dead.
        pub(crate) is_running: bool,
    }

    pub(crate) fn stat(pid: u32) -> Option<Stat> {
        parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// All processes; `None` if `/proc` cannot be read.
    pub(crate) fn processes() -> Option<Vec<u32>> {
        let entries = std::fs::read_dir("/proc").ok()?;
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        Some(pids.collect())
    }

    /// The running processes of a group; `None` if `/proc` cannot be read.
    pub(crate) fn members(group: u32) -> Option<Vec<u32>> {
        let is_member = |pid: &u32| stat(*pid).is_some_and(|s| s.is_running && s.group == group);
        Some(processes()?.into_iter().filter(is_member).collect())
    }

    /// Whether a process was started with this environment variable.
    pub(crate) fn has_variable(pid: u32, name: &str, value: &str) -> bool {
        let wanted = format!("{name}={value}");
        std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
            environment
                .split(|byte| *byte == 0)
                .any(|entry| entry == wanted.as_bytes())
        })
    }

    /// The second field is the program's name in brackets and may contain anything, brackets too.
    fn parse(stat: &str) -> Option<Stat> {
        let (_, rest) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        Some(Stat {
            is_running: !matches!(*fields.first()?, "Z" | "X" | "x"),
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            started: StartTime::parse(fields.get(19)?)?,
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// A line whose fields hold their own numbers, counted as in the manual.
        fn line(name: &str, state: &str) -> String {
            let rest: Vec<String> = (4..=52).map(|field| field.to_string()).collect();
            format!("1 ({name}) {state} {}", rest.join(" "))
        }

        #[test]
        fn a_stat_line_is_read_whatever_the_program_is_called() {
            for name in ["cat", "a b", "x) Z 1 (y", ")", ""] {
                let stat = parse(&line(name, "S")).unwrap();
                let started = StartTime("22".into());
                assert_eq!(
                    stat,
                    Stat {
                        parent: 4,
                        group: 5,
                        started,
                        is_running: true
                    },
                    "{name}"
                );
            }
        }

        #[test]
        fn a_zombie_does_not_run() {
            assert!(!parse(&line("x", "Z")).unwrap().is_running);
        }

        #[test]
        fn we_are_a_member_of_our_own_group() {
            let pid = std::process::id();
            let stat = stat(pid).unwrap();
            assert!(members(stat.group).unwrap().contains(&pid));
        }
    }
}

/// Elsewhere from `ps`, to the second.
#[cfg(all(unix, not(target_os = "linux")))]
mod posix {
    use std::process::{Command, Stdio};

    use super::StartTime;

    pub(super) fn start_time(pid: u32) -> Option<StartTime> {
        let mut ps = Command::new("/bin/ps");
        ps.args(["-o", "lstart=", "-p", &pid.to_string()])
            .env("LC_ALL", "C")
            .env("TZ", "UTC");
        let output = ps
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let words: Vec<&str> = std::str::from_utf8(&output.stdout)
            .ok()?
            .split_whitespace()
            .collect();
        StartTime::parse(&words.join("_").replace(':', "_"))
    }
}
