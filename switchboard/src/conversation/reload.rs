//! Reloading a run. Its previous driver may have ended between two commits: the run's state is
//! authoritative, and its calls and questions are stored to match it.

use std::collections::{BTreeMap, BTreeSet};

use agent_loop::{CallNumber, Run};

use crate::conversation::error::ConversationError;
use crate::conversation::lease::After;
use crate::conversation::recorder::{Recorder, json_of};
use crate::conversation::views;
use crate::store::{Change, Pending, PendingId, PendingKind};

impl Recorder {
    /// Loads the open questions, and returns those that the run no longer waits for.
    pub(super) fn take_in(
        &mut self,
        run: &Run,
        questions: Vec<Pending>,
    ) -> Vec<(PendingId, PendingKind)> {
        let digests: BTreeMap<CallNumber, String> = run
            .approvals()
            .into_iter()
            .map(|approval| (approval.record.number, approval.digest))
            .collect();
        let parked: BTreeSet<CallNumber> = run.parked().map(|(number, _)| number).collect();
        let mut over = Vec::new();
        for row in questions {
            // A question asked while a call ran cannot be answered any more: the call was
            // abandoned.
            if views::is_live(&row) {
                self.live.insert(row.id, BTreeSet::new());
                continue;
            }
            let number = row.call_id.as_ref().and_then(|id| id.parse::<u64>().ok());
            let number = number.map(CallNumber::from).filter(|number| {
                let digest = row.payload.get("digest").and_then(|it| it.as_str());
                let waits = match row.kind {
                    PendingKind::Approval => {
                        digest.is_some() && digests.get(number).map(String::as_str) == digest
                    }
                    PendingKind::Elicitation => parked.contains(number),
                };
                waits && row.message_id.as_ref() == Some(&self.answer.id)
            });
            match number {
                Some(number) if !self.questions.contains_key(&number) => {
                    self.questions.insert(number, (row.id, row.kind));
                }
                _ => over.push((row.id, row.kind)),
            }
        }
        over
    }

    /// Stores a loaded run: its current calls without abandoned ones, and its open questions.
    pub(super) async fn reload(
        &mut self,
        run: &Run,
        over: Vec<(PendingId, PendingKind)>,
        after: After,
    ) -> Result<(), ConversationError> {
        let mut changes = self.all_ended();
        for question in over {
            changes.extend(self.withdraw(question));
        }
        for record in &run.records() {
            let changed = self.call(record);
            if !changed.is_empty() {
                changes.extend(self.call_updated(record.number, None));
            }
            changes.extend(changed);
        }
        changes.extend(self.ask_again(run));
        changes.extend(self.waiting_updated());
        match (changes.is_empty(), &self.run.finish) {
            (true, Some(_)) => return Ok(()),
            (true, None) if after == After::Keep => return Ok(()),
            (true, None) => {}
            (false, _) => changes.push(self.step(run)?),
        }
        self.commit_then(changes, after).await
    }

    /// Asks the questions that the run waits for and that are not stored.
    fn ask_again(&mut self, run: &Run) -> Vec<Change> {
        let mut changes = Vec::new();
        for approval in run.approvals() {
            let number = approval.record.number;
            if let Some(asked) = self.question(number, PendingKind::Approval, json_of(&approval)) {
                changes.push(asked);
                changes.extend(self.call_updated(number, Some(&approval)));
            }
        }
        for (number, parked) in run.parked() {
            changes.extend(self.elicit(number, parked));
        }
        changes
    }
}
