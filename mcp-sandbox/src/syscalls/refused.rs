//! System calls that reach beyond the server: always refused, or depending on their arguments or the profile.

use super::Condition::{Is, IsNot, IsSet, Masked};
use super::{Call, Condition, Refusal, calls};
use crate::plan::Sockets;
use crate::profile::Profile;

/// Other processes' memory and state, mounts and namespaces, the kernel's own state, key rings,
/// shared memory by key, and calls that do the work of others behind a filter's back (`io_uring`).
#[rustfmt::skip]
const ALWAYS: &[Call] = calls![
    SYS_acct, SYS_add_key, SYS_adjtimex, SYS_bpf, SYS_chroot, SYS_clock_adjtime,
    SYS_clock_settime, SYS_delete_module, SYS_fanotify_init, SYS_fanotify_mark, SYS_finit_module,
    SYS_fsconfig, SYS_fsmount, SYS_fsopen, SYS_fspick, SYS_init_module, SYS_io_uring_enter,
    SYS_io_uring_register, SYS_io_uring_setup, SYS_kcmp, SYS_kexec_file_load, SYS_kexec_load,
    SYS_keyctl, SYS_lookup_dcookie, SYS_migrate_pages, SYS_mount, SYS_mount_setattr,
    SYS_move_mount, SYS_move_pages, SYS_mq_getsetattr, SYS_mq_notify, SYS_mq_open,
    SYS_mq_timedreceive, SYS_mq_timedsend, SYS_mq_unlink, SYS_msgctl, SYS_msgget, SYS_msgrcv,
    SYS_msgsnd, SYS_name_to_handle_at, SYS_nfsservctl, SYS_open_by_handle_at, SYS_open_tree,
    SYS_perf_event_open, SYS_pidfd_getfd, SYS_pivot_root, SYS_process_madvise,
    SYS_process_mrelease, SYS_process_vm_readv, SYS_process_vm_writev, SYS_ptrace, SYS_quotactl,
    SYS_reboot, SYS_request_key, SYS_semctl, SYS_semget, SYS_semop, SYS_semtimedop,
    SYS_setdomainname, SYS_sethostname, SYS_setns, SYS_settimeofday, SYS_shmat, SYS_shmctl,
    SYS_shmdt, SYS_shmget, SYS_swapoff, SYS_swapon, SYS_syslog, SYS_umount2, SYS_unshare,
    SYS_userfaultfd, SYS_vhangup,
];

/// Permissions, owners and times of files by their path, which Landlock does not restrict. A filter cannot
/// see how a file was opened, so the calls that take an open one stay: programs that copy files need them.
#[rustfmt::skip]
const ATTRIBUTES: &[Call] = calls![
    SYS_fchmodat, SYS_fchownat, SYS_lremovexattr, SYS_lsetxattr, SYS_removexattr, SYS_setxattr,
];

#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const OLDER_ATTRIBUTES: &[Call] = calls![
    SYS_chmod, SYS_chown, SYS_futimesat, SYS_lchown, SYS_utime, SYS_utimes,
];

#[cfg(not(target_arch = "x86_64"))]
const OLDER_ATTRIBUTES: &[Call] = &[];

/// The flags of `clone` that make namespaces.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// A socket's type, without its flags.
const TYPE: u32 = 0xf;

/// What is refused under a profile.
pub(crate) fn refused(profile: &Profile) -> Vec<Refusal> {
    let always = |call: &Call| Refusal {
        call: *call,
        when: Vec::new(),
    };
    let mut all: Vec<Refusal> = ALWAYS.iter().map(always).collect();
    let mut when = |calls: &[Call], when: &[Vec<Condition>]| {
        all.extend(calls.iter().map(|call| Refusal {
            call: *call,
            when: when.to_vec(),
        }));
    };
    // Other processes' limits and priorities: the first argument, or the second, names them.
    when(calls![SYS_prlimit64], &[vec![IsNot(0, 0), IsSet(2)]]);
    let others = calls![
        SYS_sched_setaffinity,
        SYS_sched_setattr,
        SYS_sched_setparam,
        SYS_sched_setscheduler
    ];
    when(others, &[vec![IsNot(0, 0)]]);
    when(
        calls![SYS_setpriority],
        &[vec![IsNot(0, 0)], vec![IsNot(1, 0)]],
    );
    when(
        calls![SYS_ioprio_set],
        &[vec![IsNot(0, 1)], vec![IsNot(1, 0)]],
    );
    let namespaces = NAMESPACES.map(|flag| vec![Masked(0, flag as u32, flag as u32)]);
    when(calls![SYS_clone], &namespaces);
    // Typing into the terminal; the request number is the second argument.
    let typing = [libc::TIOCSTI as u32, 0x541C].map(|request| vec![Is(1, request)]);
    when(calls![SYS_ioctl], &typing);
    // Anything but to ask, and the ordinary personality.
    when(
        calls![SYS_personality],
        &[vec![IsNot(0, u32::MAX), IsNot(0, 0)]],
    );
    if !profile.may_change_attributes {
        when(ATTRIBUTES, &[]);
        when(OLDER_ATTRIBUTES, &[]);
        when(calls![SYS_utimensat], &[vec![IsSet(1)]]);
    }
    sockets(profile, &mut when);
    all
}

fn sockets(profile: &Profile, when: &mut impl FnMut(&[Call], &[Vec<Condition>])) {
    let unix = libc::AF_UNIX as u32;
    if !profile.may_use_unix_sockets {
        // A pair of any other type is one of datagrams, which can still send to others.
        let connected = [libc::SOCK_STREAM as u32, libc::SOCK_SEQPACKET as u32];
        let others = (0..=TYPE).filter(|kind| !connected.contains(kind));
        let mut pairs: Vec<_> = others.map(|kind| vec![Masked(1, TYPE, kind)]).collect();
        pairs.push(vec![IsNot(0, unix)]);
        when(calls![SYS_socketpair], &pairs);
    }
    let mut domains: Vec<u32> = match Sockets::from(&profile.network) {
        Sockets::None => Vec::new(),
        Sockets::Proxy => vec![libc::AF_INET as u32, libc::AF_INET6 as u32],
        Sockets::Internet => {
            let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
            families.map(|family| family as u32).to_vec()
        }
    };
    if profile.may_use_unix_sockets {
        domains.push(unix);
    }
    if domains.is_empty() {
        when(calls![SYS_socket, SYS_connect, SYS_bind, SYS_listen], &[]);
        return;
    }
    let mut socket = vec![domains.iter().map(|domain| IsNot(0, *domain)).collect()];
    match Sockets::from(&profile.network) {
        Sockets::Internet => {
            // Interfaces and routes may be asked for, and no other part of the kernel.
            let netlink = libc::AF_NETLINK as u32;
            socket.push(vec![Is(0, netlink), IsNot(2, 0)]);
            socket.push(vec![
                IsNot(0, netlink),
                Masked(1, TYPE, libc::SOCK_RAW as u32),
            ]);
        }
        // TCP and nothing else: Landlock does not know MPTCP, SCTP and UDP.
        _ => {
            let stream = libc::SOCK_STREAM as u32;
            for other in (0..=TYPE).filter(|kind| *kind != stream) {
                socket.push(vec![IsNot(0, unix), Masked(1, TYPE, other)]);
            }
            let tcp = libc::IPPROTO_TCP as u32;
            socket.push(vec![IsNot(0, unix), IsNot(2, 0), IsNot(2, tcp)]);
            // Connecting by sending.
            let fast = libc::MSG_FASTOPEN as u32;
            let by_sending = |flags: u8| [vec![Masked(flags, fast, fast)]];
            when(calls![SYS_sendto, SYS_sendmmsg], &by_sending(3));
            when(calls![SYS_sendmsg], &by_sending(2));
            if !profile.may_use_unix_sockets {
                when(calls![SYS_bind, SYS_listen], &[]);
            }
        }
    }
    when(calls![SYS_socket], &socket);
}
