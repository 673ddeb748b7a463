//! Limits on hostile schemas.

/// Limits for compiling one schema. A schema that exceeds one is quarantined. The exception is
/// [`CompileLimits::with_inlined_nodes`], beyond which references are cut and reported.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CompileLimits {
    pub(crate) nodes: usize,
    pub(crate) depth: usize,
    pub(crate) bytes: usize,
    pub(crate) report_bytes: usize,
    pub(crate) inlined_nodes: usize,
    pub(crate) unroll: usize,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self {
            nodes: 50_000,
            depth: 128,
            bytes: 1 << 20,
            report_bytes: 1 << 20,
            inlined_nodes: 1_000,
            unroll: 2,
        }
    }
}

impl CompileLimits {
    /// Sets the maximum number of subschemas alive at once, including those a rewrite adds. Default: 50 000.
    #[must_use]
    pub fn with_nodes(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self
    }

    /// Sets the maximum nesting depth of schemas. Default: 128; more than 512 is reduced to 512, so that no stack
    /// overflows.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth.min(512);
        self
    }

    /// Sets the maximum size of the schema as compact JSON in bytes, before and after. Default: 1 MiB.
    #[must_use]
    pub fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets the maximum size of all pointers in the loss report, in bytes. Default: 1 MiB.
    #[must_use]
    pub fn with_report_bytes(mut self, bytes: usize) -> Self {
        self.report_bytes = bytes;
        self
    }

    /// Sets the number of subschemas after which no further reference is inlined, for targets without `$defs`. Default:
    /// 1000, and never less than twice the number in the schema.
    #[must_use]
    pub fn with_inlined_nodes(mut self, nodes: usize) -> Self {
        self.inlined_nodes = nodes;
        self
    }

    /// Sets how many times one recursive definition may contain itself when it is inlined, while the result is at most
    /// twice the original. Default: 2.
    #[must_use]
    pub fn with_unroll(mut self, times: usize) -> Self {
        self.unroll = times;
        self
    }
}
