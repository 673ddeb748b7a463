//! What `switchboard gateway` adds to the library: the policy of the store, and the audit log.

pub(crate) mod audit_chain;
pub(crate) mod audit_file;
pub(crate) mod profile;
