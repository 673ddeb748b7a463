//! Losses as the passes find them, and the final report.

pub(crate) mod loss;
pub(crate) mod not_strict;
pub(crate) mod words;

use std::borrow::Cow;

use crate::{Action, CompileLimits, Loss, Quarantine, graph::Graph};

/// Losses by location; converted to pointers only once, at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    entries: Vec<(usize, Cow<'static, str>, Action, bool)>,
}

impl Report {
    /// Adds a difference that leaves the set of calls unchanged.
    pub(crate) fn lossless(
        &mut self,
        at: usize,
        keyword: impl Into<Cow<'static, str>>,
        action: Action,
    ) {
        self.entries.push((at, keyword.into(), action, false));
    }

    /// Adds a difference that changes the set of calls.
    pub(crate) fn lossy(
        &mut self,
        at: usize,
        keyword: impl Into<Cow<'static, str>>,
        action: Action,
    ) {
        self.entries.push((at, keyword.into(), action, true));
    }

    /// The number of differences known so far.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The locations and keywords of the differences found after the first `known`, in order.
    pub(crate) fn since(&self, known: usize) -> Vec<(usize, &str)> {
        let new = self.entries.get(known..).unwrap_or_default();
        let mut mentioned: Vec<_> = new
            .iter()
            .map(|(at, keyword, ..)| (*at, keyword.as_ref()))
            .collect();
        mentioned.sort_unstable();
        mentioned
    }

    /// The report in pointer order, each difference once.
    pub(crate) fn finish(
        mut self,
        graph: &Graph,
        limits: &CompileLimits,
    ) -> Result<Vec<Loss>, Quarantine> {
        self.entries.sort();
        self.entries.dedup();
        let mut bytes = 0;
        let mut losses = Vec::with_capacity(self.entries.len());
        for (at, keyword, action, lossy) in self.entries {
            let pointer = graph.pointer(at);
            bytes += pointer.len() + keyword.len();
            if bytes > limits.report_bytes {
                return Err(Quarantine::TooManyLosses {
                    limit: limits.report_bytes,
                });
            }
            losses.push(Loss {
                pointer,
                keyword: keyword.into_owned(),
                action,
                lossy,
            });
        }
        losses.sort_by(|a, b| {
            (&a.pointer, &a.keyword, a.action, a.lossy)
                .cmp(&(&b.pointer, &b.keyword, b.action, b.lossy))
        });
        losses.dedup();
        Ok(losses)
    }
}
