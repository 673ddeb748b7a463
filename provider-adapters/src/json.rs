//! JSON text: written in order, read as it arrives, with every digit preserved.

pub(crate) mod big_number;
pub(crate) mod end;
pub(crate) mod repair;
pub(crate) mod text;
pub(crate) mod writer;
