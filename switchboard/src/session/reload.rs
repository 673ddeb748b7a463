//! A run that is taken up again. Whoever drove it may have ended between two commits: the run is
//! what counts, and its calls and questions are stored as it has them.

use std::collections::{BTreeMap, BTreeSet};

use agent_loop::{CallNumber, Run};

use crate::session::error::SessionError;
use crate::session::lease::After;
use crate::session::ledger::{Ledger, json_of};
use crate::session::shape;
use crate::store::{Change, Pending, PendingId, PendingKind};

impl Ledger {
    /// Takes in the questions that are stored as open, and gives back those that are not what the
    /// run waits for.
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
            // What was asked while a call ran cannot be answered any more: the call was given up.
            if shape::is_live(&row) {
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

    /// Stores a run that was loaded: its calls as they are now, without those that were given up,
    /// and what it waits for.
    pub(super) async fn reload(
        &mut self,
        run: &Run,
        over: Vec<(PendingId, PendingKind)>,
    ) -> Result<(), SessionError> {
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
            (true, None) => {}
            (false, _) => changes.push(self.step(run)?),
        }
        self.commit_then(changes, After::Release).await
    }

    /// What the run waits for and nobody was asked.
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
