//! The named ways to misbehave.

mod http;
mod line;
mod message;
mod question;
mod twist;

use std::fmt;

pub(crate) use http::{Hit, HttpFn, On};
pub(crate) use line::{End, LineFn};
pub(crate) use question::Question;
pub(crate) use twist::{Asked, Twist};

use crate::wire::Style;
use crate::{Script, TransportKind};

/// One named way to misbehave.
///
/// Faults of messages fit every shape of connection and both eras; faults of bytes, processes and
/// HTTP fit the shape they are about. `mcp-testkit faults` lists them all.
///
/// ```
/// use mcp_testkit::{Fault, TransportKind};
///
/// let fault = Fault::named("exit-mid-call").unwrap();
/// assert_eq!(fault.about(), "exits with status 1 when the first call arrives");
/// assert!(fault.fits(TransportKind::Stdio) && !fault.fits(TransportKind::Http));
/// ```
#[derive(Clone, Copy)]
pub struct Fault {
    name: &'static str,
    about: &'static str,
    pub(crate) kind: Kind,
}

/// Where a fault takes hold.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// In what the server offers; the protocol is kept.
    Script(fn(Script) -> Script),
    /// In the answers to some requests.
    Twist(Twist),
    /// In a request of the server's own.
    Question(Question),
    /// In the bytes of lines, or in the life of the process.
    Lines(Style, LineFn),
    /// In HTTP, while speaking Streamable HTTP.
    Http(On, HttpFn),
    /// In HTTP, while speaking HTTP+SSE.
    Sse(On, HttpFn),
}

impl Fault {
    const fn new(name: &'static str, about: &'static str, kind: Kind) -> Self {
        Self { name, about, kind }
    }

    /// All of them, grouped by what they are about.
    pub fn all() -> impl Iterator<Item = Self> {
        let groups = [
            message::all(),
            question::FAULTS.to_vec(),
            line::all(),
            http::all(),
        ];
        groups.into_iter().flatten()
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|fault| fault.name == name)
    }

    /// Its name, in kebab-case.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What the server does.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Whether a server of this shape can have it.
    #[must_use]
    pub fn fits(&self, shape: TransportKind) -> bool {
        match self.kind {
            Kind::Script(_) | Kind::Twist(_) | Kind::Question(_) => true,
            Kind::Lines(..) => shape == TransportKind::Stdio,
            Kind::Http(..) => shape == TransportKind::Http,
            Kind::Sse(..) => shape == TransportKind::Sse,
        }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fault({})", self.name)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
