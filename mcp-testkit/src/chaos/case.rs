//! One case.

use std::fmt;
use std::time::Duration;

use super::Check;
use crate::{Era, Fault, TransportKind};

/// The time-out where the client must detect the fault without it.
const PROMPT: Duration = Duration::from_secs(60);

/// One row of the table: a server, the client's task, and the expected outcome.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Case {
    /// The name, such as `stdio/exit-mid-call`; modern ones begin with `stdio-modern/` or `http-modern/`.
    pub name: String,
    /// The connection between the client and the server.
    pub shape: TransportKind,
    /// The only era the server speaks.
    pub era: Era,
    /// The other end of the connection.
    pub target: Target,
    /// The client's task.
    pub plan: Plan,
    /// The expected outcome.
    pub expect: Expect,
    /// Words that must never be in the outcome: they come from forged responses.
    pub never: Vec<&'static str>,
    /// The client's time-out. It is long if the fault can be detected without it.
    pub timeout: Duration,
    /// The time limit for the outcome.
    pub within: Duration,
    /// The time limit for the client's exit.
    pub exit_within: Duration,
    /// The client's memory limit, in MB.
    pub memory_mb: u64,
    /// A program that the server leaves behind and that the client need not end.
    pub may_leave: Option<&'static str>,
    /// What the server must have seen.
    pub checks: Vec<Check>,
    /// The reason for the case.
    pub reason: &'static str,
}

/// The other end of the connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Target {
    /// A server with the minimal script and these options.
    Server {
        /// Its fault, if any.
        fault: Option<Fault>,
        /// Options of `mcp-testkit`.
        options: Vec<&'static str>,
    },
    /// A command that does not exist.
    MissingCommand,
    /// A port without a listener.
    ClosedPort,
}

/// The task of a client. `echo` and `slow` are the server's tools.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Plan {
    /// `basic`: connect, list the tools, call `echo {"text":"hello"}`; the outcome is the call's text.
    Basic,
    /// `twice`: the same, then call `echo` with `again`; the outcome is both texts, joined by `|`.
    Twice,
    /// `pause`: like `twice`, with a pause of 1.2 s between the calls.
    Pause,
    /// `second`: call `echo` with `hello`, which may fail; wait 1.2 s if it did; call `echo` with `again` on the same
    /// client. The outcome is that of the second call.
    Second,
    /// `concurrent:N`: N concurrent calls, from `hello-0`; the outcome is N if each got its own response.
    Concurrent(u32),
    /// `cancel`: call `slow {"text":"slow"}`, cancel it after 300 ms with the library's API, then call `echo` with
    /// `hello`.
    Cancel,
    /// `big:N`: call `echo` with N letters `x`; the server answers `len:N`.
    Big(u32),
    /// `listall`: list all pages with the library's API, then call `echo` with `hello`.
    ListAll,
    /// `subscribe`: subscribe to changes of the list of tools, then call `echo` with `hello`. A subscription that is
    /// not acknowledged is an error.
    Subscribe,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Basic => f.write_str("basic"),
            Self::Twice => f.write_str("twice"),
            Self::Pause => f.write_str("pause"),
            Self::Second => f.write_str("second"),
            Self::Concurrent(calls) => write!(f, "concurrent:{calls}"),
            Self::Cancel => f.write_str("cancel"),
            Self::Big(letters) => write!(f, "big:{letters}"),
            Self::ListAll => f.write_str("listall"),
            Self::Subscribe => f.write_str("subscribe"),
        }
    }
}

/// The expected outcome.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Expect {
    /// This text.
    Ok(Text),
    /// A proper error whose text contains all these words, in any case.
    Error(Vec<&'static str>),
    /// This text, or a proper error.
    Either(Text),
}

/// The text of a result.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Text {
    /// Exactly this.
    Exactly(String),
    /// This many letters `x`.
    Letters(usize),
}

/// A case that must succeed with `hello`.
pub(super) fn ok(name: &str, reason: &'static str) -> Case {
    Case::new(name, Expect::Ok(Text::Exactly("hello".to_owned())), reason)
}

/// A case that must end in a proper error.
pub(super) fn error(name: &str, reason: &'static str) -> Case {
    Case::new(name, Expect::Error(Vec::new()), reason)
}

/// A case that must succeed with `hello`, or end in a proper error.
pub(super) fn either(name: &str, reason: &'static str) -> Case {
    Case::new(
        name,
        Expect::Either(Text::Exactly("hello".to_owned())),
        reason,
    )
}

impl Case {
    /// A case whose fault has the name after the slash.
    fn new(name: &str, expect: Expect, reason: &'static str) -> Self {
        let (place, fault) = name.split_once('/').unwrap_or(("stdio", name));
        let shape = match place {
            "stdio" | "stdio-modern" => TransportKind::Stdio,
            "sse" => TransportKind::Sse,
            _ => TransportKind::Http,
        };
        Self {
            name: name.to_owned(),
            shape,
            era: if place.ends_with("-modern") {
                Era::Modern
            } else {
                Era::Legacy
            },
            target: Target::Server {
                fault: Fault::named(fault),
                options: Vec::new(),
            },
            plan: Plan::Basic,
            expect,
            never: Vec::new(),
            timeout: PROMPT,
            within: Duration::from_secs(10),
            exit_within: Duration::from_secs(18),
            memory_mb: 100,
            may_leave: None,
            checks: Vec::new(),
            reason,
        }
    }

    /// Sets a fault with another name.
    pub(super) fn fault(mut self, name: &str) -> Self {
        self.target = Target::Server {
            fault: Fault::named(name),
            options: Vec::new(),
        };
        self
    }

    pub(super) fn option(mut self, more: &[&'static str]) -> Self {
        if let Target::Server { options, .. } = &mut self.target {
            options.extend(more);
        }
        self
    }

    pub(super) fn target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    /// Sets another plan, with its expected text.
    pub(super) fn plan(mut self, plan: Plan) -> Self {
        self.plan = plan;
        self.text(match plan {
            Plan::Twice | Plan::Pause => "hello|again".to_owned(),
            Plan::Second => "again".to_owned(),
            Plan::Concurrent(calls) => calls.to_string(),
            Plan::Big(letters) => format!("len:{letters}"),
            Plan::Basic | Plan::Cancel | Plan::ListAll | Plan::Subscribe => "hello".to_owned(),
        })
    }

    pub(super) fn text(mut self, wanted: impl Into<String>) -> Self {
        if let Expect::Ok(text) | Expect::Either(text) = &mut self.expect {
            *text = Text::Exactly(wanted.into());
        }
        self
    }

    /// Expects this many letters `x`, within this time and memory.
    pub(super) fn letters(mut self, count: usize, seconds: u64, memory_mb: u64) -> Self {
        if let Expect::Ok(text) | Expect::Either(text) = &mut self.expect {
            *text = Text::Letters(count);
        }
        self.heavy(seconds, memory_mb)
    }

    /// Also accepts a proper error.
    pub(super) fn or_error(mut self) -> Self {
        if let Expect::Ok(text) = self.expect {
            self.expect = Expect::Either(text);
        }
        self
    }

    pub(super) fn mentions(mut self, words: &[&'static str]) -> Self {
        if let Expect::Error(mentions) = &mut self.expect {
            mentions.extend(words);
        }
        self
    }

    /// Declares that only this time-out can reveal the fault.
    pub(super) fn silent(mut self, timeout_ms: u64) -> Self {
        self.timeout = Duration::from_millis(timeout_ms);
        self
    }

    /// Allows this many seconds and this much memory.
    pub(super) fn heavy(mut self, seconds: u64, memory_mb: u64) -> Self {
        self.within = Duration::from_secs(seconds);
        self.exit_within = Duration::from_secs(seconds + 10);
        if self.timeout >= PROMPT {
            self.timeout = PROMPT.max(2 * self.within);
        }
        self.memory_mb = memory_mb;
        self
    }

    pub(super) fn never(mut self, word: &'static str) -> Self {
        self.never.push(word);
        self
    }

    pub(super) fn leaving(mut self, program: &'static str) -> Self {
        self.may_leave = Some(program);
        self
    }

    pub(super) fn check(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }
}
