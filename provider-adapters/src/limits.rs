//! How much a reply may hold.

/// Bounds on a reply, so that a broken or hostile server cannot fill the memory.
///
/// ```
/// let limits = provider_adapters::Limits::default().with_calls(8);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    pub(crate) event_bytes: usize,
    pub(crate) reply_bytes: usize,
    pub(crate) calls: usize,
    pub(crate) media_bytes: usize,
}

impl Limits {
    /// The most bytes of one server-sent event. 32 MiB by default: room for a picture.
    #[must_use]
    pub fn with_event_bytes(mut self, bytes: usize) -> Self {
        self.event_bytes = bytes;
        self
    }

    /// The most bytes of a whole reply. 256 MiB by default.
    #[must_use]
    pub fn with_reply_bytes(mut self, bytes: usize) -> Self {
        self.reply_bytes = bytes;
        self
    }

    /// The most tool calls of one reply. 128 by default.
    #[must_use]
    pub fn with_calls(mut self, calls: usize) -> Self {
        self.calls = calls;
        self
    }

    /// The most bytes (in base64) of one image, sound or file sent to a model; what is bigger is
    /// named instead of sent. 20 MiB by default.
    #[must_use]
    pub fn with_media_bytes(mut self, bytes: usize) -> Self {
        self.media_bytes = bytes;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            event_bytes: 32 << 20,
            reply_bytes: 256 << 20,
            calls: 128,
            media_bytes: 20 << 20,
        }
    }
}
