//! The state that all connections of one server share.

use std::sync::Arc;

use mcp_jsonrpc::RawJson;
use mcp_jsonrpc::model::{CacheScope, Implementation};

use crate::dispatch::era::Eras;
use crate::dispatch::fixed_list::FixedList;
use crate::dispatch::held::HeldTable;
use crate::dispatch::request_state::Sealer;
use crate::handler::Handler;
use crate::notifier::Subscribers;
use crate::server::limits::ServerLimits;
use crate::server::shares::CallerShares;
use crate::task::TaskTable;

/// How long clients may cache lists and resources that say nothing else themselves (modern era).
#[derive(Clone, Debug)]
pub(crate) struct CacheHint {
    pub(crate) ttl_ms: i64,
    pub(crate) scope: CacheScope,
}

pub(crate) struct Shared {
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) info: Implementation,
    /// `info` as JSON: it goes with every modern result.
    pub(crate) info_json: RawJson,
    pub(crate) limits: ServerLimits,
    pub(crate) eras: Eras,
    pub(crate) cache: CacheHint,
    pub(crate) sealer: Sealer,
    pub(crate) subscribers: Subscribers,
    pub(crate) tasks: TaskTable,
    pub(crate) held: HeldTable,
    pub(crate) fixed_tools: FixedList,
    pub(crate) shares: CallerShares,
}
