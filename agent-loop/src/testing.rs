//! Doubles for tests: a scripted model, scripted tools, and whole runs on a cassette.

mod cassette;
mod model;
mod tools;

pub use cassette::{Cassette, CassetteError, CassetteModel, CassetteTools};
pub use model::ScriptedModel;
pub use tools::ScriptedTools;
