#![doc = include_str!("../README.md")]

pub mod chaos;
mod era;
mod fault;
mod log;
mod protocol;
mod running;
mod script;
mod server;
mod wire;

pub use era::{Era, TransportKind};
pub use fault::Fault;
pub use log::{Event, Log, Origin, Seen};
pub use running::Running;
pub use script::{
    Ask, Called, Edit, Polling, Prompt, Refusal, Replies, Resource, Script, Step, TaskSupport, Tool,
};
pub use server::{Server, StartError};
