//! Approvals that outlast one call.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::tool::{Definition, ToolInfo};

/// The identity on whose behalf a call is made, such as a user of a gateway. The default, an empty
/// name, is the only caller of a single-user program.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Caller(String);

impl Caller {
    /// Creates a caller with a name chosen by the host.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_default(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An approval that was given earlier. It covers exactly the caller, the server identity and the
/// definitions it was given for: a tool that was added or changed since, a server with another
/// endpoint, or another caller needs approval again.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Grant {
    /// The caller it was given to.
    #[serde(default, skip_serializing_if = "Caller::is_default")]
    pub caller: Caller,
    /// The server.
    pub server: String,
    /// The [identity](ToolInfo::server_identity) of the server's endpoint at that time.
    #[serde(default)]
    pub server_identity: String,
    /// The tools it covers.
    pub scope: GrantScope,
    /// Whether it ends with the run.
    pub this_run: bool,
    /// The time it expires, in seconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

/// The tools that a grant covers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GrantScope {
    /// One tool, as it was defined at that time.
    Tool {
        /// The tool, by the name its server gives it.
        tool: String,
        /// Its fingerprint at that time.
        fingerprint: String,
    },
    /// The server's read-only tools, as they were defined at that time.
    ReadOnly {
        /// Their fingerprints at that time, by the names the server gives them.
        fingerprints: BTreeMap<String, String>,
    },
}

impl Grant {
    /// A grant for one tool.
    pub fn tool(definition: Definition) -> Self {
        let scope = GrantScope::Tool {
            tool: definition.tool,
            fingerprint: definition.fingerprint,
        };
        Self::new(definition.server, definition.server_identity, scope)
    }

    /// A grant for a server's read-only tools, by their fingerprints.
    pub fn read_only(
        server: impl Into<String>,
        server_identity: impl Into<String>,
        fingerprints: BTreeMap<String, String>,
    ) -> Self {
        let scope = GrantScope::ReadOnly { fingerprints };
        Self::new(server.into(), server_identity.into(), scope)
    }

    fn new(server: String, server_identity: String, scope: GrantScope) -> Self {
        Self {
            caller: Caller::default(),
            server,
            server_identity,
            scope,
            this_run: false,
            expires_at: None,
        }
    }

    /// Binds the grant to a caller.
    #[must_use]
    pub fn for_caller(mut self, caller: Caller) -> Self {
        self.caller = caller;
        self
    }

    /// Ends the grant with the run.
    #[must_use]
    pub fn for_this_run(mut self) -> Self {
        self.this_run = true;
        self
    }

    /// Ends the grant at a point in time, rounded down to seconds.
    #[must_use]
    pub fn until(mut self, time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH);
        self.expires_at = Some(since.map_or(0, |since| since.as_secs()));
        self
    }

    /// Whether the grant covers a call of `tool` by `caller` at `now`. Where the time is unknown, a
    /// grant that expires covers nothing.
    pub fn covers(&self, caller: &Caller, tool: &ToolInfo, now: Option<SystemTime>) -> bool {
        if self.caller != *caller
            || self.server != tool.server
            || self.server_identity != tool.server_identity
            || self.is_expired(now)
        {
            return false;
        }
        match &self.scope {
            GrantScope::Tool {
                tool: name,
                fingerprint,
            } => *name == tool.tool && *fingerprint == tool.fingerprint,
            GrantScope::ReadOnly { fingerprints } => {
                tool.is_read_only() && fingerprints.get(&tool.tool) == Some(&tool.fingerprint)
            }
        }
    }

    /// The fingerprint that the tool had when the grant was given, if it names the tool at this endpoint.
    pub(crate) fn fingerprint_of(&self, tool: &ToolInfo) -> Option<&str> {
        if self.server != tool.server || self.server_identity != tool.server_identity {
            return None;
        }
        match &self.scope {
            GrantScope::Tool {
                tool: name,
                fingerprint,
            } => (*name == tool.tool).then_some(fingerprint),
            GrantScope::ReadOnly { fingerprints } => {
                fingerprints.get(&tool.tool).map(String::as_str)
            }
        }
    }

    fn is_expired(&self, now: Option<SystemTime>) -> bool {
        self.expires_at.is_some_and(|seconds| {
            let end = UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
            !matches!((end, now), (Some(end), Some(now)) if now < end)
        })
    }
}
