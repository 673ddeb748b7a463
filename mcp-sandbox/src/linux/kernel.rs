//! The features that this kernel can enforce, and the limits in its terms.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::{filter, sys};
use crate::containment::{Containment, Guarantee, Holding};
use crate::profile::{Network, Profile, SandboxLimits};

pub(super) use sys::landlock_abi;

/// What holds for a server under this profile on this machine.
pub(crate) fn containment(profile: &Profile) -> Containment {
    judge(profile, landlock_abi(), filter::is_supported(), is_root())
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

/// Whether connections of a server to listed hosts can be made for it, which takes a look at its memory.
pub(super) fn answers_connects() -> bool {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    may_look_at_children(&scope, &status)
}

/// Pure: from Yama's setting and our own `/proc/self/status`. Up to 1, a process may look at what it started; with 2
/// only those that may trace anything; with 3 none.
fn may_look_at_children(scope: &str, status: &str) -> bool {
    const CAP_SYS_PTRACE: u64 = 1 << 19;
    let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = capabilities.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    match scope.trim() {
        "2" => capabilities.is_some_and(|them| them & CAP_SYS_PTRACE != 0),
        "3" => false,
        _ => true,
    }
}

/// Pure: the same for a kernel that is described.
pub(crate) fn judge(profile: &Profile, abi: i32, has_filters: bool, is_root: bool) -> Containment {
    use Guarantee as G;
    let since = |needed: i32, what: &str| match abi {
        0 => Holding::not("this kernel has no Landlock, or it is not enabled (`lsm=landlock,…`)"),
        abi if abi < needed => Holding::not(format!(
            "{what} needs Landlock ABI {needed}; this kernel has {abi}"
        )),
        _ => Holding::Holds,
    };
    let filtered = || match has_filters {
        true => Holding::Holds,
        false => Holding::not(format!(
            "there are no system call filters for {}",
            std::env::consts::ARCH
        )),
    };
    let processes = match is_root {
        true => Holding::not("Linux does not limit the processes of root: run as another user"),
        false => Holding::partly(
            "the limit counts all processes of the user, so it is what the user has plus the server's share",
        ),
    };
    let memory = Holding::partly("per process; memory shared between processes is not counted");
    let network = match profile.network {
        Network::All => Holding::partly("the profile allows all connections"),
        _ => filtered(),
    };
    let unix = match profile.may_use_unix_sockets {
        true => Holding::partly("the profile allows Unix sockets"),
        false => filtered(),
    };
    let attributes = match profile.may_change_attributes {
        true => Holding::partly(
            "the profile allows changes to permissions and times of any file of the user",
        ),
        false => match filtered() {
            Holding::Holds => Holding::partly(
                "not by a file's path; of a file that it may open, also only to read, it can change \
                 them by the open file, if the file is the user's",
            ),
            other => other,
        },
    };
    let files = match since(3, "stopping files from being cut") {
        Holding::Holds => since(5, "stopping control requests to devices"),
        other => other,
    };
    Containment::new([
        (G::Files, files),
        (G::Attributes, attributes),
        (
            G::Metadata,
            Holding::not(
                "names, sizes and times of files can be seen where permissions allow it; contents cannot",
            ),
        ),
        (G::Network, network),
        (G::UnixSockets, unix),
        (G::Signals, since(6, "keeping signals inside")),
        (G::OtherProcesses, filtered()),
        (G::Kernel, filtered()),
        (G::Privileges, Holding::Holds),
        (G::Descriptors, Holding::Holds),
        (G::Environment, Holding::Holds),
        (G::Memory, memory),
        (G::Processes, processes),
        (
            G::FileSize,
            Holding::partly("each file; not the space that all of them take"),
        ),
        (G::OpenFiles, Holding::Holds),
    ])
}

/// The limits as the kernel takes them.
#[allow(
    clippy::unnecessary_cast,
    reason = "the C libraries differ in the type of resources"
)]
pub(super) fn limits(limits: &SandboxLimits) -> Vec<(u32, u64)> {
    vec![
        (libc::RLIMIT_CORE as u32, 0),
        (libc::RLIMIT_DATA as u32, limits.memory_bytes),
        (libc::RLIMIT_FSIZE as u32, limits.file_bytes),
        (libc::RLIMIT_NOFILE as u32, limits.open_files),
        (
            libc::RLIMIT_NPROC as u32,
            tasks().saturating_add(limits.processes),
        ),
    ]
}

/// How many processes and threads this user has.
fn tasks() -> u64 {
    let Ok(own) = fs::metadata("/proc/self") else {
        return 0;
    };
    let Ok(entries) = fs::read_dir("/proc") else {
        return 0;
    };
    let processes = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes()
            .first()
            .is_some_and(u8::is_ascii_digit)
            && entry.metadata().is_ok_and(|it| it.uid() == own.uid())
    });
    // A folder has a link from each folder in it, and two of its own.
    let threads = processes.map(|entry| {
        let tasks = fs::metadata(entry.path().join("task"));
        tasks.map_or(1, |it| it.nlink().saturating_sub(2))
    });
    threads.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(abi: i32, has_filters: bool, is_root: bool) -> Vec<Guarantee> {
        let containment = judge(&Profile::new(), abi, has_filters, is_root);
        containment.missing().map(|(which, _)| which).collect()
    }

    #[test]
    fn what_an_older_kernel_cannot_enforce_is_missing() {
        use Guarantee as G;
        assert_eq!(missing(6, true, false), []);
        assert_eq!(missing(9, true, true), [G::Processes]);
        assert_eq!(missing(5, true, false), [G::Signals]);
        assert_eq!(missing(4, true, false), [G::Files, G::Signals]);
        assert_eq!(missing(0, true, false), [G::Files, G::Signals]);
        let without_filters = [
            G::Attributes,
            G::Network,
            G::UnixSockets,
            G::OtherProcesses,
            G::Kernel,
        ];
        assert_eq!(missing(7, false, false), without_filters);
    }

    #[test]
    fn listed_hosts_need_a_look_at_the_server() {
        let (none, all) = (
            "CapEff:\t0000000000000000\n",
            "Name:\tx\nCapEff:\t000001ffffffffff\n",
        );
        for (scope, status, holds) in [
            ("", none, true),
            ("1\n", none, true),
            ("2\n", none, false),
            ("2\n", all, true),
            ("3\n", all, false),
        ] {
            assert_eq!(
                may_look_at_children(scope, status),
                holds,
                "{scope:?} {status:?}"
            );
        }
    }

    #[test]
    fn what_a_profile_allows_is_not_called_contained() {
        let profile = Profile::new()
            .with_network(Network::All)
            .with_attributes()
            .with_unix_sockets();
        let containment = judge(&profile, 7, true, false);
        for which in [
            Guarantee::Network,
            Guarantee::Attributes,
            Guarantee::UnixSockets,
        ] {
            assert!(!containment.holds(which), "{which}");
        }
        assert!(containment.holds(Guarantee::Files));
    }
}
