#![doc = include_str!("../README.md")]

mod compile;
mod graph;
mod name;
mod pass;
mod report;
mod restore;
mod target;
#[cfg(feature = "validate")]
mod validate;

pub use compile::limits::CompileLimits;
pub use compile::list::{ListedTool, Tool, ToolList, compile_tools, compile_tools_within};
pub use compile::quarantine::Quarantine;
pub use compile::tokens::estimate as estimate_tokens;
pub use compile::{Compiled, compile, compile_within};
pub use name::{Alphabet, NameRule, Names};
pub use report::loss::{Action, Loss};
pub use report::not_strict::NotStrict;
pub use restore::Restore;
pub use target::{
    Enums, KeyRule, KeyScope, Nulls, OpenObjects, Optional, Patterns, Recursion, RefSiblings,
    StrictLimits, Target, TypeLists, Unions, Untyped,
};
#[cfg(feature = "validate")]
pub use validate::{Mismatch, Uncheckable, Validator};
