//! Compaction as a step of a run.

use std::collections::BTreeSet;

use provider_adapters::Usage;
use tool_schema::estimate_tokens;

use crate::compaction::plan::{Context, Plan, Uncompactable};
use crate::compaction::size::Scale;
use crate::compaction::{Compaction, Strategy, ToSummarise, apply};
use crate::event::RunEvent;
use crate::run::Run;
use crate::run::state::{Measured, Phase};
use crate::run::step::Reason;

impl Run {
    /// Compacts the conversation when it becomes too long. By default runs do not.
    #[must_use]
    pub fn with_compaction(mut self, compaction: Compaction) -> Self {
        self.state.compaction = Some(compaction);
        self
    }

    /// The settings of compaction.
    pub fn compaction(&self) -> Option<&Compaction> {
        self.state.compaction.as_ref()
    }

    /// Keeps a turn, by its position in the [conversation](Self::conversation), out of compactions. Compactions change
    /// positions; [`pinned`](Self::pinned) has the current ones.
    pub fn pin(&mut self, turn: usize) {
        if turn < self.state.conversation.turns().len() {
            self.state.pinned.insert(turn);
        }
    }

    /// Allows compactions to remove a turn again.
    pub fn unpin(&mut self, turn: usize) {
        self.state.pinned.remove(&turn);
    }

    /// The positions of the pinned turns.
    pub fn pinned(&self) -> &BTreeSet<usize> {
        &self.state.pinned
    }

    /// The approximate number of tokens of the next request to the model: the provider's last count, and an estimate of
    /// what was added since.
    pub fn context_tokens(&self) -> u64 {
        let turns = self.state.conversation.turns();
        match self.state.measured {
            Some(measured) => {
                let added = turns.get(measured.turns..).unwrap_or_default();
                measured.tokens + measured.scale.of_all(added)
            }
            None => self.context().tokens(),
        }
    }

    /// Compacts the conversation now, between two steps; the next step may be to summarise. Without its own settings
    /// the run uses [`Compaction::when_full`]. Returns whether there is anything to remove.
    ///
    /// # Errors
    /// A message if the pinned turns exceed the target.
    pub fn compact(&mut self) -> Result<bool, String> {
        if matches!(self.state.phase, Phase::Acting(_)) {
            return Ok(false);
        }
        let settings = self.state.compaction.unwrap_or_else(Compaction::when_full);
        self.plan_compaction(&settings)
            .map_err(|error| error.to_string())
    }

    /// The tokens of instructions and tools, by estimate.
    fn estimated_overhead(&self) -> u64 {
        let system = self.state.conversation.system().unwrap_or_default();
        estimate_tokens(system) as u64 + self.state.tool_tokens
    }

    fn context(&self) -> Context<'_> {
        let turns = self.state.conversation.turns();
        let (scale, overhead) = match self.state.measured {
            Some(measured) => {
                let counted = turns.get(..measured.turns).unwrap_or(turns);
                let counted = measured.scale.of_all(counted);
                (measured.scale, measured.tokens.saturating_sub(counted))
            }
            None => (Scale::default(), self.estimated_overhead()),
        };
        Context {
            turns,
            pinned: &self.state.pinned,
            overhead,
            scale,
        }
    }

    /// Notes the provider's count of a request's tokens. What instructions and tools do not account for is the turns'.
    pub(crate) fn measure(&mut self, usage: &Usage) {
        if let Some(tokens) = usage.input {
            let turns = self.state.conversation.turns();
            let counted = tokens.saturating_sub(self.estimated_overhead());
            self.state.measured = Some(Measured {
                tokens,
                turns: turns.len(),
                scale: Scale::new(counted, Scale::default().of_all(turns)),
            });
        }
    }

    /// Compacts, or begins to, if the conversation is too long. Returns whether it did, or failed to.
    pub(super) fn compact_if_due(&mut self) -> bool {
        let Some(settings) = self.state.compaction else {
            return false;
        };
        let turns = self.state.conversation.turns().len();
        // What is left after a compaction is not compacted again before something is added.
        if turns == self.state.compacted_turns || !settings.is_due(self.context_tokens()) {
            return false;
        }
        self.plan_or_fail(&settings)
    }

    /// Plans a compaction. Returns whether there is anything to remove, or the run has failed for what is pinned.
    fn plan_or_fail(&mut self, settings: &Compaction) -> bool {
        self.plan_compaction(settings).unwrap_or_else(|error| {
            let message = error.to_string();
            self.end(Reason::Failed { message });
            true
        })
    }

    /// Plans a compaction, and carries it out unless it needs a summary. Returns whether there is
    /// anything to remove.
    fn plan_compaction(&mut self, settings: &Compaction) -> Result<bool, Uncompactable> {
        let context = self.context();
        let target = settings.target_of(context.tokens());
        let Some(plan) = context.plan(settings, target)? else {
            return Ok(false);
        };
        if settings.summarises() && !plan.cut.is_empty() {
            let tokens = plan.before;
            self.state.compacting = Some(plan);
            self.events.push(RunEvent::Compacting { tokens });
        } else {
            self.carry_out(&plan, None);
        }
        Ok(true)
    }

    fn carry_out(&mut self, plan: &Plan, summary: Option<&str>) {
        let Context {
            overhead, scale, ..
        } = self.context();
        let (conversation, pinned) =
            apply::apply(&self.state.conversation, &self.state.pinned, plan, summary);
        self.replace(conversation, pinned);
        self.state.measured = Some(Measured {
            tokens: overhead,
            turns: 0,
            scale,
        });
        self.state.compacted_turns = self.state.conversation.turns().len();
        self.events.push(RunEvent::Compacted {
            turns: plan.cut.len(),
            results: plan.shrink.len(),
            before: plan.before,
            after: self.context_tokens(),
        });
    }

    /// What a compaction under way needs summarised.
    pub(super) fn to_summarise(&self) -> Option<Box<ToSummarise>> {
        let plan = self.state.compacting.as_ref()?;
        let turns = self.state.conversation.turns().iter().enumerate();
        let cut = turns.filter(|(at, _)| plan.cut.contains(at));
        Some(Box::new(ToSummarise {
            turns: cut.map(|(_, turn)| turn.clone()).collect(),
            max_tokens: plan.summary,
        }))
    }

    /// Adds the summary requested by a [`Step::Compact`](crate::Step::Compact), and its cost if known.
    pub fn summarised(&mut self, summary: &str, usage: Usage, cost_micros: Option<u64>) {
        let Some(plan) = self.state.compacting.take() else {
            return;
        };
        self.charge(usage, cost_micros);
        if summary.trim().is_empty() {
            self.state.compacting = Some(plan);
            return self.not_summarised("it is empty");
        }
        self.carry_out(&plan, Some(summary));
    }

    /// Reports that there is no summary. A run that goes on drops results and old turns instead; the conversation of one
    /// that is over stays unchanged.
    pub fn not_summarised(&mut self, why: &str) {
        if self.state.compacting.take().is_none() {
            return;
        }
        let message = format!("the conversation cannot be summarised: {why}");
        self.events.push(RunEvent::Warning { message });
        if matches!(self.state.phase, Phase::Done(_)) {
            return;
        }
        let settings = self.state.compaction.unwrap_or_else(Compaction::when_full);
        // Not tried again before something is added.
        self.state.compacted_turns = self.state.conversation.turns().len();
        self.plan_or_fail(&settings.strategy(Strategy::DropResults));
    }

    /// Reports that the provider rejected the request because it exceeds the model's context window. The conversation
    /// is compacted and the request repeated, once; otherwise the run ends.
    pub fn context_full(&mut self) {
        if !matches!(self.state.phase, Phase::Model) {
            return;
        }
        let settings = self.state.compaction.filter(|_| !self.state.full);
        match settings.is_some_and(|settings| self.plan_or_fail(&settings)) {
            true => self.state.full = true,
            false => self.end(Reason::ContextFull),
        }
    }
}
