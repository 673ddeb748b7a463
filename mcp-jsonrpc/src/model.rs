//! Every message of every revision, in one file per page of the specification.
//!
//! One struct serves all revisions: a member that a revision does not have is `None`, and [`Revision`](crate::Revision)
//! defines what may be sent. Members unknown to this crate stay in `extra` and are written back. A struct's
//! documentation names the revisions only where they differ.

pub(crate) mod base;
pub(crate) mod cancellation;
pub(crate) mod capability;
pub(crate) mod completion;
pub(crate) mod content;
pub(crate) mod elicitation;
pub(crate) mod error_data;
pub mod experimental_task;
mod flatten;
pub(crate) mod form;
pub(crate) mod form_answer;
pub(crate) mod icon;
pub(crate) mod input;
pub(crate) mod lifecycle;
pub(crate) mod logging;
pub(crate) mod meta;
pub(crate) mod param_header;
pub(crate) mod progress;
pub(crate) mod prompt;
pub(crate) mod resource;
pub(crate) mod roots;
pub(crate) mod sampling;
pub(crate) mod skill;
pub(crate) mod subscription;
pub mod task;
pub(crate) mod tool;

pub use base::*;
pub use cancellation::*;
pub use capability::*;
pub use completion::*;
pub use content::*;
pub use elicitation::*;
pub use error_data::*;
pub use flatten::flatten;
pub use form::*;
pub use form_answer::*;
pub use icon::*;
pub use input::*;
pub use lifecycle::*;
pub use logging::*;
pub use meta::*;
pub use param_header::*;
pub use progress::*;
pub use prompt::*;
pub use resource::*;
pub use roots::*;
pub use sampling::*;
pub use skill::*;
pub use subscription::*;
pub use tool::*;
