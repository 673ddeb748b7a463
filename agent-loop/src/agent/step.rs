//! The next request to the model, for hooks.

use provider_adapters::{Options, ToolChoice};

use crate::run::Run;

/// The next request to the model: what a [hook](crate::Agent::on_step) may change.
#[derive(Debug)]
#[non_exhaustive]
pub struct NextRequest<'r> {
    /// The run, with the conversation so far.
    pub run: &'r Run,
    /// The number of the round since the last user turn, from 1.
    pub round: u32,
    /// The model's name.
    pub model: String,
    /// The tools it may or must call. At a limit, and in a mode without tools, it is [`None`](ToolChoice::None)
    /// regardless of the hook.
    pub choice: ToolChoice,
    /// Sampling and reasoning options.
    pub options: Options,
}
