//! Durable conversations: runs of the loop that are stored before anything is shown or started.

mod ask;
pub(crate) mod attachment;
mod durable;
mod error;
mod event_log;
mod fork;
mod lease;
mod live_question;
mod media;
mod outputs;
mod recorder;
mod reload;
mod remembered;
mod turn;
pub(crate) mod version;
pub(crate) mod views;

pub use attachment::{Attachment, AttachmentError, UserMessage};
pub use durable::{DurableConversation, Model};
pub use error::ConversationError;
pub(crate) use error::LEASED_HINT;
pub use fork::{fork, transcript};
pub(crate) use live_question::LiveQuestion;
pub use outputs::StoredOutputs;
pub use recorder::Recorder;
pub use remembered::Decided;
pub use turn::Turn;
