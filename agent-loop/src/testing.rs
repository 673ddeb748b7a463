//! Test doubles: a scripted model, scripted tools, and complete runs on a cassette.

mod cassette;
mod model;
mod tools;

pub use cassette::{Cassette, CassetteError, CassetteModel, CassetteTools};
pub use model::ScriptedModel;
pub use tools::ScriptedTools;
