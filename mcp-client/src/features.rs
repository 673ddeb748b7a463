//! The features of a server: tools, resources, prompts, tasks, subscriptions, skills.

pub(crate) mod event;
pub(crate) mod listing;
pub(crate) mod pages;
mod prompts;
mod resources;
#[cfg(feature = "skills")]
pub(crate) mod skill;
mod skill_list;
pub(crate) mod subscription;
pub(crate) mod task;
mod tools;

use mcp_jsonrpc::model::ServerCapabilities;

use crate::call::error::CallError;
use crate::client::Client;
use crate::connection::session::Session;

impl Client {
    /// Fails if the server lacks a capability that a call requires.
    pub(crate) fn require(
        &self,
        method: &str,
        capability: &'static str,
        has: impl FnOnce(&ServerCapabilities) -> bool,
    ) -> Result<(), CallError> {
        self.require_of(&self.connection().session(), method, capability, has)
    }

    /// Like [`require`](Self::require), for this session.
    pub(crate) fn require_of(
        &self,
        session: &Session,
        method: &str,
        capability: &'static str,
        has: impl FnOnce(&ServerCapabilities) -> bool,
    ) -> Result<(), CallError> {
        if has(&session.facts.capabilities) {
            Ok(())
        } else {
            Err(CallError::Unsupported {
                call: self.call_name(method),
                capability,
            })
        }
    }
}
