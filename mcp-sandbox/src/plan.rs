//! The plan: turns a profile into rules, as data. Pure: the platforms apply the rules.

mod environment;

use std::path::{Path, PathBuf};

use crate::profile::{Network, Profile};

pub(crate) use environment::environment;

/// A file or folder, and the access of a server to it and everything below it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct FileRule {
    /// The file or the folder.
    pub path: PathBuf,
    /// The access.
    pub access: FileAccess,
    /// The reason for the access.
    pub origin: Origin,
}

/// The access of a server to a file, or to all files of a folder.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum FileAccess {
    /// Read it, list it, run it.
    Read,
    /// Read and write it, without creating or removing anything: a device.
    Device,
    /// Read, change, create, remove and run.
    Write,
}

/// The reason for a rule.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Origin {
    /// Every program requires it.
    System,
    /// It is the server's program, its interpreter, or what is installed with them.
    Program,
    /// It is the server's own folder.
    Own,
    /// The profile names it.
    Profile,
}

/// The files of a program on this machine.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProgramFiles {
    /// The program, the targets of its symbolic links, and the interpreters it names: absolute paths.
    pub files: Vec<PathBuf>,
    /// The folders above them that are recognisably installations, such as a version of Node or Python
    /// or a virtual environment.
    pub installations: Vec<PathBuf>,
}

/// Whether a path is among what every profile may read.
pub(crate) fn is_system(path: &Path) -> bool {
    SYSTEM_READ.iter().any(|system| path.starts_with(system))
}

/// Read by the dynamic linker, the C library and interpreters on the common distributions.
const SYSTEM_READ: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/tls",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
];

const DEVICES: &[&str] = &[
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
];

/// Where people's programs are, among much else: of these, only the program itself is readable.
const TOO_WIDE: &[&str] = &["", ".local", ".config", ".cache", "bin", "Library"];

/// Where homes are: what is right below is one, whoever's.
const HOMES: &[&str] = &["/home", "/Users", "/var/home", "/export/home"];

/// The file rules of a profile. `home` is the user's home folder, `own` the server's.
///
/// Later rules never revoke earlier ones: Landlock adds them up.
pub fn file_rules(
    profile: &Profile,
    program: &ProgramFiles,
    home: Option<&Path>,
    own: &Path,
) -> Vec<FileRule> {
    let rule = |path: PathBuf, access, origin| FileRule {
        path,
        access,
        origin,
    };
    let system = SYSTEM_READ
        .iter()
        .map(|path| rule(path.into(), FileAccess::Read, Origin::System));
    let devices = DEVICES
        .iter()
        .map(|path| rule(path.into(), FileAccess::Device, Origin::System));
    let program = program
        .files
        .iter()
        .map(|file| installation(file, &program.installations, home))
        .map(|path| rule(path, FileAccess::Read, Origin::Program));
    let own = [rule(own.to_path_buf(), FileAccess::Write, Origin::Own)];
    let named = |paths: &[PathBuf], access| -> Vec<FileRule> {
        let paths = paths.iter().map(|path| expand(path, home));
        paths
            .map(|path| rule(path, access, Origin::Profile))
            .collect()
    };
    let mut rules: Vec<FileRule> = system
        .chain(devices)
        .chain(program)
        .chain(own)
        .chain(named(&profile.read, FileAccess::Read))
        .chain(named(&profile.write, FileAccess::Write))
        .collect();
    rules.sort();
    rules.dedup();
    rules
}

/// The folder that a program is installed in, if that is known to hold nothing else; otherwise the
/// program.
///
/// A program `P/bin/x` belongs to `P` if that is an installation; so does `P/shims/x`, which looks for the
/// version to run in `P`. A package of Node belongs to the outermost `node_modules` that it is in, which
/// has what it needs.
fn installation(file: &Path, installations: &[PathBuf], home: Option<&Path>) -> PathBuf {
    let packages = file
        .ancestors()
        .filter(|folder| folder.ends_with("node_modules"));
    if let Some(packages) = packages.last() {
        return packages.to_path_buf();
    }
    let is_installation =
        |prefix: &&Path| installations.iter().any(|it| it == prefix) && !is_wide(prefix, home);
    let prefix = prefix(file).filter(is_installation);
    prefix.unwrap_or(file).to_path_buf()
}

/// `P` of `P/bin/x` and `P/shims/x`.
pub(crate) fn prefix(program: &Path) -> Option<&Path> {
    let folder = program.parent()?;
    let is_bin = folder.ends_with("bin") || folder.ends_with("shims");
    folder.parent().filter(|_| is_bin)
}

/// Whether a folder is a home, holds homes, or holds other programs' files as `/opt` and `/srv` do.
fn is_wide(folder: &Path, home: Option<&Path>) -> bool {
    let is_home = folder == Path::new("/root")
        || folder
            .parent()
            .is_some_and(|above| HOMES.iter().any(|homes| above == Path::new(homes)));
    let holds_home = home.is_some_and(|home| {
        TOO_WIDE.iter().any(|below| home.join(below) == folder) || home.starts_with(folder)
    });
    let is_top = folder.components().count() <= 2 && folder != Path::new("/usr");
    is_home || holds_home || is_top
}

/// A path of a profile, in which a leading `~` is the user's home.
fn expand(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) if rest.as_os_str().is_empty() => home.to_path_buf(),
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_path_buf(),
    }
}

/// The kinds of sockets a server may create.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Sockets {
    /// None, except pairs of connected streams.
    None,
    /// TCP, to the proxy alone.
    Proxy,
    /// TCP and UDP.
    Internet,
}

impl From<&Network> for Sockets {
    fn from(network: &Network) -> Self {
        match network {
            Network::None => Self::None,
            Network::Hosts(_) => Self::Proxy,
            Network::All => Self::Internet,
        }
    }
}
