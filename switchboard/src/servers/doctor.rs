//! Diagnosis of server problems, with suggested fixes.

mod diagnose;
mod examine;
mod finding;
mod trial;

pub(crate) use diagnose::diagnose;
pub(crate) use examine::{Examination, examine, other_transport};
pub(crate) use finding::{Finding, Problem};
pub(crate) use trial::trial;
