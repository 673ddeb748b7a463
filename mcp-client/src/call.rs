//! Calls: one request's life, the rounds a call may take, and how it can fail.

pub(crate) mod caller;
pub(crate) mod error;
pub(crate) mod exchange;
mod failure;
pub(crate) mod mrtr;
pub(crate) mod parked;
pub(crate) mod queued;
pub(crate) mod request;
pub(crate) mod response;
