//! Faults in messages.

mod flood;
mod greeting;
mod id;
mod modern;
mod page;
mod round;
mod shape;
mod text;

use super::Fault;

pub(super) fn all() -> Vec<Fault> {
    [
        id::FAULTS,
        shape::FAULTS,
        text::FAULTS,
        page::FAULTS,
        flood::FAULTS,
        greeting::FAULTS,
        round::FAULTS,
        modern::FAULTS,
    ]
    .concat()
}
