//! The limits of decoding.

use crate::json::reader::MAX_DEPTH;

/// The limits of decoding.
///
/// ```
/// let limits = mcp_jsonrpc::DecodeLimits::default().with_message_bytes(1 << 20);
/// assert_eq!(limits.message_bytes(), 1 << 20);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DecodeLimits {
    message_bytes: usize,
    depth: usize,
    result_depth: usize,
    batch_len: usize,
}

impl DecodeLimits {
    /// The largest message, in bytes. Default: 16 MiB.
    pub fn message_bytes(&self) -> usize {
        self.message_bytes
    }

    /// How deep arrays and objects may nest, including the message itself. Default: 128.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// How deep the result of a response may nest, if that is more than [`depth`](Self::depth).
    /// Default: 0, which means no more. Reading it still fails on any value deeper than 128 levels, but a
    /// list then rejects only the item that contains it.
    pub fn result_depth(&self) -> usize {
        self.result_depth
    }

    /// How many messages a batch may hold. Default: 1000.
    pub fn batch_len(&self) -> usize {
        self.batch_len
    }

    /// Sets the largest message, in bytes.
    #[must_use]
    pub fn with_message_bytes(mut self, bytes: usize) -> Self {
        self.message_bytes = bytes;
        self
    }

    /// Sets how deep arrays and objects may nest: at most 128, as deep as anything is read.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth.min(MAX_DEPTH);
        self
    }

    /// Sets how deep the result of a response may nest, in levels; a byte of memory each.
    #[must_use]
    pub fn with_result_depth(mut self, depth: usize) -> Self {
        self.result_depth = depth;
        self
    }

    /// Sets how many messages a batch may hold.
    #[must_use]
    pub fn with_batch_len(mut self, messages: usize) -> Self {
        self.batch_len = messages;
        self
    }
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self {
            message_bytes: 16 << 20,
            depth: MAX_DEPTH,
            result_depth: 0,
            batch_len: 1000,
        }
    }
}
