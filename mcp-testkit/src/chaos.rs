//! The chaos cases: what a client is asked to do against each misbehaving server, and what must
//! come out.
//!
//! `mcp-testkit chaos --driver PROGRAM` runs them all against a client on Linux: it starts the
//! program once a case as
//!
//! ```text
//! PROGRAM (stdio|http|sse) CASE -- (SERVER COMMAND… | URL)
//! ```
//!
//! with these variables, which are all it has to know:
//!
//! | variable | meaning |
//! |---|---|
//! | `HOSTILE_PLAN` | what to do, see [`Plan`] |
//! | `HOSTILE_TIMEOUT_MS` | the time-out to configure, for connecting and for each request |
//! | `HOSTILE_BEARER` | over HTTP, send `Authorization: Bearer` with this |
//! | `HOSTILE_API_KEY` | over HTTP, send `X-Api-Key` with this |
//!
//! The program prints one line of JSON, closes its connection, and exits by itself with status 0:
//!
//! ```text
//! {"ok": true, "text": "…", "len": 5}     the text, cut to 64 characters if longer than 1000
//! {"ok": false, "error": "…"}             also for a tool result with isError
//! {"unsupported": "…"}                    the case is left out
//! ```
//!
//! Judged are the outcome, the time to it, the way the process ended, its peak memory, processes
//! left behind, what the server saw, and secrets that reached another origin.

mod case;
mod check;
mod judge;
mod table;

pub use case::{Case, Expect, Plan, Target, Text};
pub use check::{Check, Count};
pub use judge::{Ended, Observed, Verdict};

/// All cases, in a fixed order.
///
/// ```
/// let cases = mcp_testkit::chaos::cases();
/// assert!(cases.iter().any(|case| case.name == "stdio/exit-mid-call"));
/// ```
#[must_use]
pub fn cases() -> Vec<Case> {
    table::all()
}

/// What a driver sends as its bearer token and API key, and what must reach no other origin.
pub const SECRET: &str = "s3cr3t-2b8f0c71d9";
