//! JSON text: a pull reader, and values that stay raw until they are parsed.

pub(crate) mod ordered_map;
pub(crate) mod raw;
pub(crate) mod read_error;
pub(crate) mod reader;
