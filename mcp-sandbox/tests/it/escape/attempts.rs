//! The attempts: each is `Ok` if it got out.
#![expect(unsafe_code, reason = "a hostile server does not ask std")]

mod files;
mod kernel;
mod network;
mod processes;

use std::io;
use std::path::PathBuf;

/// What an attempt got, or the error it met.
pub(super) type Attempt = fn() -> io::Result<String>;

/// All attempts by name.
pub(super) const ALL: &[(&str, Attempt)] = &[
    ("read a key", files::read_key),
    ("list the folder of keys", files::list_keys),
    ("read by a symbolic link", files::read_by_symlink),
    ("read by a hard link", files::read_by_hard_link),
    ("read by a race of links", files::read_by_race),
    ("read by /proc/self/root", files::read_by_proc_root),
    ("move a key", files::move_key),
    ("read a file of the system", files::read_system),
    ("write outside", files::write_outside),
    ("cut a file outside", files::cut),
    ("delete outside", files::delete),
    ("run a program outside", files::run_program),
    ("change permissions", files::change_permissions),
    ("change times", files::change_times),
    ("change extended attributes", files::change_attributes),
    ("write a file of 2 GiB", files::write_large),
    ("read an inherited descriptor", files::read_inherited),
    ("open the terminal", files::open_terminal),
    ("read the host's variables", processes::read_variables),
    ("read another's command line", processes::read_command_line),
    ("read another's environment", processes::read_environment),
    ("list processes", processes::list),
    ("signal another process", processes::signal),
    ("limit another process", processes::limit),
    ("slow another process", processes::slow),
    ("trace another process", processes::trace),
    ("read another's memory", processes::read_memory),
    ("take another's descriptor", processes::take_descriptor),
    ("start a thousand processes", processes::fork_bomb),
    ("take 8 GiB of memory", processes::take_memory),
    ("connect by TCP", network::tcp),
    ("send by UDP", network::udp),
    ("open a raw socket", network::raw),
    ("open a netlink socket", network::netlink),
    ("open a socket to the hypervisor", network::vsock),
    ("connect to a Unix socket", network::unix),
    ("connect to an abstract socket", network::abstract_unix),
    ("send by a datagram pair", network::datagram_pair),
    ("send by a raw pair", network::raw_pair),
    ("work by io_uring", kernel::io_uring),
    ("make a user namespace", kernel::unshare),
    ("clone into a namespace", kernel::clone),
    ("clone3 into a namespace", kernel::clone3),
    ("mount", kernel::mount),
    ("use the key ring", kernel::keyring),
    ("load a program into the kernel", kernel::bpf),
    ("watch performance", kernel::perf),
    ("handle page faults", kernel::userfaultfd),
    ("share memory by key", kernel::shared_memory),
    ("gain rights by a program", kernel::new_privileges),
];

/// The result of a system call.
fn got(result: impl Into<i64>, what: &str) -> io::Result<String> {
    match result.into() {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(what.to_owned()),
    }
}

fn world() -> PathBuf {
    std::env::var_os("WORLD").unwrap().into()
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap()
}

fn victim() -> i32 {
    variable("VICTIM").parse().unwrap()
}

/// Whether root runs the tests.
pub(super) fn is_root() -> bool {
    // SAFETY: takes nothing.
    unsafe { libc::geteuid() == 0 }
}

/// Children of this process get a copy of this descriptor.
pub(super) fn make_inheritable(descriptor: i32) {
    // SAFETY: takes numbers only.
    unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) };
}
