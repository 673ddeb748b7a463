//! What is wrong with a server, and what to do about it.

mod diagnose;
mod examine;
mod finding;

pub(crate) use diagnose::diagnose;
pub(crate) use examine::{Examination, examine, other_transport};
pub(crate) use finding::{Finding, Problem};
