//! JSON text: read by a pull reader, kept raw where it need not be parsed.

pub(crate) mod ordered_map;
pub(crate) mod raw;
pub(crate) mod read_error;
pub(crate) mod reader;
