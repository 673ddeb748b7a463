//! What `switchboard gateway` adds to the library: clients' files, servers, policy and callers from
//! the store, and the audit log.

pub(crate) mod approvals;
pub(crate) mod audit_chain;
pub(crate) mod audit_file;
pub(crate) mod audit_folder;
pub(crate) mod audit_list;
pub(crate) mod client_file;
pub(crate) mod follow;
pub(crate) mod install;
pub(crate) mod presence;
pub(crate) mod process;
pub(crate) mod records;
pub(crate) mod source;
pub(crate) mod state_key;
pub(crate) mod token;
