//! Macros that map the model's structs to JSON and back, and preserve unknown members.
//!
//! serde's `flatten` would buffer each value and could not keep raw JSON, hence these macros.

pub(crate) mod rejected;

pub(crate) mod field;
pub(crate) mod object;
pub(crate) mod string_enum;
pub(crate) mod tagged;
