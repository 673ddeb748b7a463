//! Output: printing, escaping and formatting of text.

pub(crate) mod out;
pub(crate) mod signature;
pub(crate) mod summary;
pub(crate) mod untrusted;
pub(crate) mod utc;
