//! Denied operations of a server, described for people, with the rule that would allow them.

mod precious;
mod text;

use std::collections::VecDeque;
use std::fmt;
use std::path::Path;

use parking_lot::Mutex;

/// How many denials are remembered; the oldest make room.
const MAX_DENIALS: usize = 100;

/// A denied operation of a server.
///
/// Displays as in "wanted to read /home/me/.ssh/id_rsa".
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct Denial {
    /// The operation.
    pub wanted: Wanted,
    /// The number of times.
    pub count: u32,
}

/// An operation of a server.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Wanted {
    /// Reading a file, listing a folder or running a program.
    Read(String),
    /// Writing, creating or removing a file.
    Write(String),
    /// Using a file in an unknown way.
    Use(String),
    /// Connecting to a host and port.
    Connect(String),
    /// Opening a socket of any kind.
    Socket,
    /// Changing the permissions, the owner or the times of a file.
    ChangeAttributes(String),
    /// Signalling another process.
    Signal,
    /// Starting more processes or threads than its limit allows.
    Process,
}

impl Wanted {
    /// What to add to the profile to allow it: a member's name and value. `None` if no rule would,
    /// or if it [would undo the sandbox](Self::is_precious).
    pub fn rule(&self) -> Option<(&'static str, &str)> {
        if self.is_precious() {
            return None;
        }
        match self {
            Self::Read(path) | Self::Use(path) => Some(("read", path)),
            Self::Write(path) => Some(("write", parent(path))),
            Self::Connect(host) => Some(("network.hosts", host)),
            Self::Socket => Some(("network", "hosts, or all")),
            Self::ChangeAttributes(_) => Some(("mayChangeAttributes", "true")),
            Self::Process => Some(("limits.processes", "a higher number")),
            Self::Signal => None,
        }
    }

    /// Whether to allow it would give away keys, credentials, a whole home or the machine. A server may
    /// claim to need anything, so no rule is proposed for that; whoever means it writes it by hand.
    pub fn is_precious(&self) -> bool {
        precious::is_precious(self)
    }
}

/// The folder of a file: whoever writes a file makes others beside it.
fn parent(path: &str) -> &str {
    let folder = Path::new(path).parent().and_then(Path::to_str);
    folder.filter(|folder| folder.len() > 1).unwrap_or(path)
}

impl Denial {
    /// Extracts denials from the text a program wrote, to standard error or into a result, in the formats of Node,
    /// Python, Rust, Go, Git, the C library, and the kernel's audit log.
    ///
    /// A program may write anything there, so denials are hints and prove nothing. Paths under `home` are shown with
    /// `~`.
    pub fn in_text(text: &str, home: Option<&Path>) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for mut wanted in text.lines().filter_map(text::read) {
            shorten(&mut wanted, home);
            if let Some(known) = found.iter_mut().find(|denial| denial.wanted == wanted) {
                known.count = known.count.saturating_add(1);
            } else if found.len() < MAX_DENIALS {
                found.push(Self { wanted, count: 1 });
            }
        }
        found
    }
}

fn shorten(wanted: &mut Wanted, home: Option<&Path>) {
    let (Wanted::Read(path)
    | Wanted::Write(path)
    | Wanted::Use(path)
    | Wanted::ChangeAttributes(path)) = wanted
    else {
        return;
    };
    let below = home.and_then(|home| Path::new(path).strip_prefix(home).ok());
    match below.and_then(Path::to_str) {
        Some("") => "~".clone_into(path),
        Some(below) => *path = format!("~/{below}"),
        None => {}
    }
}

/// Who hears of what the sandbox refuses.
type Observer = Box<dyn Fn(&Wanted) + Send + Sync>;

/// What the sandbox itself has refused: it knows, and need not read it from text.
#[derive(Default)]
pub(crate) struct Denials {
    all: Mutex<VecDeque<Denial>>,
    observer: Option<Observer>,
}

impl Denials {
    pub(crate) fn observed(observer: impl Fn(&Wanted) + Send + Sync + 'static) -> Self {
        Self {
            all: Mutex::default(),
            observer: Some(Box::new(observer)),
        }
    }

    pub(crate) fn add(&self, wanted: Wanted) {
        let mut all = self.all.lock();
        if let Some(denial) = all.iter_mut().find(|denial| denial.wanted == wanted) {
            denial.count = denial.count.saturating_add(1);
            return;
        }
        if all.len() >= MAX_DENIALS {
            all.pop_front();
        }
        let first = wanted.clone();
        all.push_back(Denial { wanted, count: 1 });
        drop(all);
        if let Some(observer) = &self.observer {
            observer(&first);
        }
    }

    pub(crate) fn all(&self) -> Vec<Denial> {
        self.all.lock().iter().cloned().collect()
    }
}

impl fmt::Debug for Denials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Denials").field(&self.all).finish()
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(f, "wanted to read {path}"),
            Self::Write(path) => write!(f, "wanted to write {path}"),
            Self::Use(path) => write!(f, "wanted to use {path}"),
            Self::Connect(host) => write!(f, "wanted to connect to {host}"),
            Self::Socket => f.write_str("wanted to open a network connection"),
            Self::ChangeAttributes(path) => {
                write!(f, "wanted to change the permissions or times of {path}")
            }
            Self::Signal => f.write_str("wanted to signal another process"),
            Self::Process => f.write_str("wanted to start more processes or threads"),
        }
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.wanted)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        match self.wanted.rule() {
            Some((member, value)) => write!(f, "; to allow it: {member} = {value}"),
            None if self.wanted.is_precious() => {
                f.write_str("; no rule is proposed for keys, credentials or folders that hold all")
            }
            None => f.write_str("; no rule allows it"),
        }
    }
}
