//! What clients see: the names, lists, instructions and skills of all servers together.

pub(crate) mod lists;
pub(crate) mod meta_tools;
mod outputs;
pub(crate) mod profile;
pub(crate) mod routes;
pub(crate) mod skills;
mod status;
