//! What the targets share.

mod cut;
mod reply;

pub use cut::{however_cut, seed};
pub use reply::Replies;
