//! Faults: named kinds of misbehaviour.

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

/// A named kind of misbehaviour.
///
/// Message faults work with every kind of connection and both eras; faults of bytes, processes and HTTP work with their
/// own kind. `mcp-testkit faults` lists them all.
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

/// The place where a fault applies.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// The server's features; the protocol is respected.
    Script(fn(Script) -> Script),
    /// The responses to some requests.
    Twist(Twist),
    /// A request from the server.
    Question(Question),
    /// The bytes of lines, or the life of the process.
    Lines(Style, LineFn),
    /// HTTP, with Streamable HTTP.
    Http(On, HttpFn),
    /// HTTP, with HTTP+SSE.
    Sse(On, HttpFn),
}

impl Fault {
    const fn new(name: &'static str, about: &'static str, kind: Kind) -> Self {
        Self { name, about, kind }
    }

    /// All faults, grouped by subject.
    pub fn all() -> impl Iterator<Item = Self> {
        let groups = [
            message::all(),
            question::FAULTS.to_vec(),
            line::all(),
            http::all(),
        ];
        groups.into_iter().flatten()
    }

    /// The fault of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|fault| fault.name == name)
    }

    /// Its name, in kebab-case.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A description of what the server does.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Whether a server with this kind of connection can have it.
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
