//! Servers that other programs know: found, compared with ours, taken over. Their files are only
//! ever read.

mod place;
mod plan;
mod take_over;

pub(crate) use place::{named, usual};
pub(crate) use plan::{Item, Plan, Question, State};
pub(crate) use take_over::take_over;
