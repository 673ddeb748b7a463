//! Limits on requests and replies.

/// Limits on a request's media and on its reply, so that a broken or hostile server cannot exhaust memory.
///
/// ```
/// let limits = provider_adapters::RequestLimits::default().with_calls(8);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RequestLimits {
    pub(crate) event_bytes: usize,
    pub(crate) reply_bytes: usize,
    pub(crate) calls: usize,
    pub(crate) media_bytes: usize,
}

impl RequestLimits {
    /// Sets the maximum size of one server-sent event, in bytes. Default: 32 MiB, enough for an image.
    #[must_use]
    pub fn with_event_bytes(mut self, bytes: usize) -> Self {
        self.event_bytes = bytes;
        self
    }

    /// Sets the maximum size of a whole reply, in bytes. Default: 256 MiB.
    #[must_use]
    pub fn with_reply_bytes(mut self, bytes: usize) -> Self {
        self.reply_bytes = bytes;
        self
    }

    /// Sets the maximum number of tool calls in one reply. Default: 128.
    #[must_use]
    pub fn with_calls(mut self, calls: usize) -> Self {
        self.calls = calls;
        self
    }

    /// Sets the maximum size (in base64) of one image, audio or file sent to a model, in bytes; a larger one is
    /// replaced by a placeholder. Default: 20 MiB.
    #[must_use]
    pub fn with_media_bytes(mut self, bytes: usize) -> Self {
        self.media_bytes = bytes;
        self
    }
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            event_bytes: 32 << 20,
            reply_bytes: 256 << 20,
            calls: 128,
            media_bytes: 20 << 20,
        }
    }
}
