//! Doubles for tests: a scripted model, scripted tools, and whole runs on tape.

mod model;
mod tape;
mod tools;

pub use model::ScriptedModel;
pub use tape::{Tape, TapeError, TapedModel, TapedTools};
pub use tools::ScriptedTools;
