//! How much of a hostile schema is looked at.

/// Budgets for compiling one schema. Past any of them the schema is
/// quarantined, except [`CompileLimits::with_inlined_nodes`], past which references
/// are cut and reported.
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
    /// Subschemas alive at once, those a rewrite adds included. Default 50 000.
    #[must_use]
    pub fn with_nodes(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self
    }

    /// Schemas nested in schemas. Default 128; more than 512 is taken as 512,
    /// so that no stack overflows.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth.min(512);
        self
    }

    /// Bytes of the schema as compact JSON, before and after. Default 1 MiB.
    #[must_use]
    pub fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Bytes of all pointers in the loss report. Default 1 MiB.
    #[must_use]
    pub fn with_report_bytes(mut self, bytes: usize) -> Self {
        self.report_bytes = bytes;
        self
    }

    /// Subschemas after which no further reference is written out in place, for
    /// targets without `$defs`. Default 1000, and never less than twice what the
    /// schema has.
    #[must_use]
    pub fn with_inlined_nodes(mut self, nodes: usize) -> Self {
        self.inlined_nodes = nodes;
        self
    }

    /// How often one recursive definition may contain itself when it is written
    /// out in place, while the result is at most twice the original. Default 2.
    #[must_use]
    pub fn with_unroll(mut self, times: usize) -> Self {
        self.unroll = times;
        self
    }
}
