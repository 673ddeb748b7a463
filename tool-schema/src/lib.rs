#![doc = include_str!("../README.md")]

mod compile;
mod graph;
mod keyword;
mod limits;
mod list;
mod loss;
mod name;
mod not_strict;
mod pass;
mod quarantine;
mod report;
mod restore;
mod strictness;
mod target;
mod tokens;
mod types;
#[cfg(feature = "validate")]
mod validate;
mod words;

pub use compile::{Compiled, compile, compile_within};
pub use limits::CompileLimits;
pub use list::{ListedTool, Tool, ToolList, compile_tools, compile_tools_within};
pub use loss::{Action, Loss};
pub use name::{Alphabet, NameRule, Names};
pub use not_strict::NotStrict;
pub use quarantine::Quarantine;
pub use restore::Restore;
pub use target::{
    Enums, KeyRule, KeyScope, Nulls, OpenObjects, Optional, Patterns, Recursion, RefSiblings,
    StrictLimits, Target, TypeLists, Unions, Untyped,
};
pub use tokens::estimate as estimate_tokens;
#[cfg(feature = "validate")]
pub use validate::{Mismatch, Uncheckable, Validator};
