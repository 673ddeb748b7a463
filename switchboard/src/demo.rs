//! The first run, without a key and without a network: a server, a model and a tour of both.

mod deferred;
mod fill;
mod habit;
mod model;
mod script;
mod server;
mod stage;
mod tour;

pub use model::DemoModel;
pub use script::{DemoScript, LABEL, MODEL, Played, ScriptError};
pub use server::{DemoServer, demo_server};
pub use stage::{DemoStage, SERVER, demo_server_config};
pub(crate) use stage::{start_model, this_program};
pub(crate) use tour::tour;
