//! The data of a connection that every call reads and that rarely changes: an immutable snapshot, replaced as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::model::{LoggingLevel, ParamHeader};

use crate::client::limits::ClientLimits;
use crate::connection::session::Session;

/// The known data of a server, and the settings of calls to it.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) session: Arc<Session>,
    pub(crate) tuning: CallDefaults,
    /// Tools that run as tasks only (2025-11-25), from the last list of tools.
    pub(crate) task_tools: Arc<BTreeSet<String>>,
    /// The `Mcp-Param-*` headers of each tool, from the last list of tools.
    pub(crate) param_headers: Arc<BTreeMap<String, Arc<[ParamHeader]>>>,
}

/// Settings that can be changed while the connection is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallDefaults {
    pub(crate) idle_timeout: Duration,
    pub(crate) deadline: Duration,
    pub(crate) log_level: Option<LoggingLevel>,
}

impl Snapshot {
    /// The state before the first handshake.
    pub(crate) fn new(limits: &ClientLimits) -> Self {
        Self {
            session: Arc::new(Session::unknown()),
            tuning: CallDefaults {
                idle_timeout: limits.call_idle_timeout(),
                deadline: limits.call_deadline(),
                log_level: None,
            },
            task_tools: Arc::default(),
            param_headers: Arc::default(),
        }
    }
}
