//! How a struct of the model becomes JSON and comes back, without losing what it does not know.
//!
//! serde's `flatten` would buffer each value and could not keep raw JSON, hence these macros.

pub(crate) mod rejected;

pub(crate) mod field;
pub(crate) mod object;
pub(crate) mod string_enum;
pub(crate) mod tagged;
