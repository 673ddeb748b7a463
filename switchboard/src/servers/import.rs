//! Import of other programs' servers: their files are found, read and compared with the stored
//! servers. They are never written.

pub(crate) mod line;
mod place;
mod plan;
mod take_over;

pub(crate) use place::{Place, Scope, named, of_client, usual};
pub(crate) use plan::{Item, Plan, Question, State};
pub(crate) use take_over::{Refused, take_over};
