//! Calls: the life of a request, the rounds of a call, and its errors.

pub(crate) mod caller;
pub(crate) mod error;
pub(crate) mod exchange;
mod failure;
pub(crate) mod mrtr;
pub(crate) mod parked;
pub(crate) mod queued;
pub(crate) mod request;
pub(crate) mod response;
