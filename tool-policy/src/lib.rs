#![doc = include_str!("../README.md")]

mod definition_diff;
mod fingerprint;
mod hidden;
mod meta_tools;
mod pointer;
mod policy;
mod scan;
mod search;
mod secrets;
mod tool;

pub use definition_diff::{DefinitionChange, definition_diff};
pub use fingerprint::{Fingerprint, InvalidFingerprint, consent_digest};
pub use hidden::{is_bidi_control, is_hidden};
pub use meta_tools::{
    BUILT_IN, CALL, InvalidMetaCall, MAX_FOUND, MetaCall, READ, SEARCH, reader, search_results,
    stand_ins,
};
pub use policy::grant::{Caller, Grant, GrantScope};
pub use policy::pattern::Pattern;
pub use policy::rule::{Effect, Rule};
pub use policy::{AskReason, DenyReason, Mode, Policy, Verdict};
pub use scan::{
    Alarm, Finding, Neighbours, SCAN_RULES, ScanPolicy, ScanResponse, ScanRule, Severity, ToolScan,
    scan_instructions, scan_result, scan_tool, screen_error, screen_instructions, screen_result,
};
pub use search::{Document, Hit, SearchIndex};
pub use secrets::{SecretSource, Secrets};
pub use tool::{Definition, ToolInfo};
