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
    /// The maximum size of a message, in bytes. Default: 16 MiB.
    pub fn message_bytes(&self) -> usize {
        self.message_bytes
    }

    /// The maximum nesting depth of arrays and objects, including the message itself. Default: 128.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The maximum nesting depth of a response's result, if larger than [`depth`](Self::depth). Default: 0, which means
    /// no larger. Reading the result still fails on any value deeper than 128 levels, but a list then rejects only the
    /// item that contains it.
    pub fn result_depth(&self) -> usize {
        self.result_depth
    }

    /// The maximum number of messages in a batch. Default: 1000.
    pub fn batch_len(&self) -> usize {
        self.batch_len
    }

    /// Sets the maximum size of a message, in bytes.
    #[must_use]
    pub fn with_message_bytes(mut self, bytes: usize) -> Self {
        self.message_bytes = bytes;
        self
    }

    /// Sets the maximum nesting depth of arrays and objects: at most 128, the depth of the readers.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth.min(MAX_DEPTH);
        self
    }

    /// Sets the maximum nesting depth of a response's result; each level costs a byte of memory.
    #[must_use]
    pub fn with_result_depth(mut self, depth: usize) -> Self {
        self.result_depth = depth;
        self
    }

    /// Sets the maximum number of messages in a batch.
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
