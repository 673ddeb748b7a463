//! The guarantees that can be enforced on this machine.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A guarantee of a sandbox.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Guarantee {
    /// Only the files of the profile are read, changed and run.
    Files,
    /// Permissions, owners and times of files stay as they are.
    Attributes,
    /// Names, sizes and times of other files are hidden.
    Metadata,
    /// Connections go only where the profile allows.
    Network,
    /// No session bus, key agent or daemon on this machine is reached.
    UnixSockets,
    /// Signals reach only what the server has started.
    Signals,
    /// Memory, descriptors, limits and priorities of other processes are out of reach.
    OtherProcesses,
    /// No mounts, namespaces, key rings, `io_uring`, `bpf` or calls newer than the list.
    Kernel,
    /// No capabilities, and no gain of privileges through `sudo` or the like.
    Privileges,
    /// Nothing is inherited but standard input, output and error.
    Descriptors,
    /// Only the variables of the profile are passed on.
    Environment,
    /// Memory is limited.
    Memory,
    /// Processes and threads are limited.
    Processes,
    /// The size of files is limited.
    FileSize,
    /// Open files are limited.
    OpenFiles,
}

/// Whether a guarantee holds.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Holding {
    /// It is enforced.
    Holds,
    /// It is enforced within bounds set by the profile or the method.
    Partly(String),
    /// It is not enforced, for this reason.
    Not(String),
}

impl Holding {
    pub(crate) fn partly(how: impl Into<String>) -> Self {
        Self::Partly(how.into())
    }

    pub(crate) fn not(why: impl Into<String>) -> Self {
        Self::Not(why.into())
    }
}

/// The guarantees for a server under a profile on this machine.
///
/// Displays as one line for each guarantee.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Containment {
    guarantees: Vec<(Guarantee, Holding)>,
}

impl Containment {
    pub(crate) fn new(guarantees: impl IntoIterator<Item = (Guarantee, Holding)>) -> Self {
        Self {
            guarantees: guarantees.into_iter().collect(),
        }
    }

    /// Nothing holds, for this reason.
    #[cfg_attr(target_os = "linux", expect(dead_code, reason = "other systems"))]
    pub(crate) fn none(why: &str) -> Self {
        Self::new(ALL.map(|guarantee| (guarantee, Holding::not(why))))
    }

    /// Every guarantee and whether it is enforced.
    pub fn guarantees(&self) -> impl Iterator<Item = (Guarantee, &Holding)> {
        self.guarantees
            .iter()
            .map(|(which, holding)| (*which, holding))
    }

    /// Whether a guarantee is enforced; an unknown one is not.
    pub fn holds(&self, guarantee: Guarantee) -> bool {
        let mut all = self.guarantees();
        all.any(|(which, holding)| which == guarantee && *holding == Holding::Holds)
    }

    /// The guarantees of the profile that this machine cannot enforce. [`Guarantee::Metadata`] is excluded: no machine
    /// can enforce it.
    pub fn missing(&self) -> impl Iterator<Item = (Guarantee, &str)> {
        self.guarantees()
            .filter_map(|(which, holding)| match holding {
                Holding::Not(why) if which != Guarantee::Metadata => Some((which, why.as_str())),
                _ => None,
            })
    }
}

const ALL: [Guarantee; 15] = [
    Guarantee::Files,
    Guarantee::Attributes,
    Guarantee::Metadata,
    Guarantee::Network,
    Guarantee::UnixSockets,
    Guarantee::Signals,
    Guarantee::OtherProcesses,
    Guarantee::Kernel,
    Guarantee::Privileges,
    Guarantee::Descriptors,
    Guarantee::Environment,
    Guarantee::Memory,
    Guarantee::Processes,
    Guarantee::FileSize,
    Guarantee::OpenFiles,
];

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Files => "files",
            Self::Attributes => "file attributes",
            Self::Metadata => "file metadata",
            Self::Network => "network",
            Self::UnixSockets => "Unix sockets",
            Self::Signals => "signals",
            Self::OtherProcesses => "other processes",
            Self::Kernel => "kernel interfaces",
            Self::Privileges => "privileges",
            Self::Descriptors => "descriptors",
            Self::Environment => "environment",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::FileSize => "file size",
            Self::OpenFiles => "open files",
        })
    }
}

impl fmt::Display for Containment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (which, holding) in self.guarantees() {
            match holding {
                Holding::Holds => writeln!(f, "{which:<18} contained")?,
                Holding::Partly(how) => writeln!(f, "{which:<18} contained in part: {how}")?,
                Holding::Not(why) => writeln!(f, "{which:<18} not contained: {why}")?,
            }
        }
        Ok(())
    }
}
