//! The chaos cases: the client's task for each misbehaving server, and the expected outcome.
//!
//! `mcp-testkit chaos --driver PROGRAM` runs them all against a client on Linux. For each case it starts the program as
//!
//! ```text
//! PROGRAM (stdio|http|sse) CASE -- (SERVER COMMAND… | URL)
//! ```
//!
//! with these variables, which tell it everything it needs:
//!
//! | variable | meaning |
//! |---|---|
//! | `HOSTILE_PLAN` | the task, see [`Plan`] |
//! | `HOSTILE_TIMEOUT_MS` | the time-out to configure, for connecting and for each request |
//! | `HOSTILE_BEARER` | over HTTP, the token to send as `Authorization: Bearer` |
//! | `HOSTILE_API_KEY` | over HTTP, the value to send as `X-Api-Key` |
//!
//! The program prints one line of JSON, closes its connection, and exits by itself with status 0:
//!
//! ```text
//! {"ok": true, "text": "…", "len": 5}     the text, cut to 64 characters if longer than 1000
//! {"ok": false, "error": "…"}             also for a tool result with isError
//! {"unsupported": "…"}                    the case is left out
//! ```
//!
//! The judge checks the outcome, its latency, the way the process ended, its peak memory, processes left behind, what
//! the server saw, and secrets sent to another origin.

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

/// The driver's bearer token and API key, which must not reach any other origin.
pub const SECRET: &str = "s3cr3t-2b8f0c71d9";
