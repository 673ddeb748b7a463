//! The event log of a conversation: an event for every change, in the same commit as the change.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agent_loop::{Approval, CallNumber, Reason, Run, RunEvent};
use serde_json::{Value, json};

use crate::conversation::recorder::Recorder;
use crate::conversation::views;
use crate::store::{Change, Message, NewEvent, Pending, Standing, UsageTotal};

/// Minimum interval between progress events of a call.
const PROGRESS: Duration = Duration::from_millis(100);

/// What was logged of an answer so far.
#[derive(Debug)]
pub(super) struct EventLog {
    /// How much of its text, in characters and in bytes.
    chars: usize,
    bytes: usize,
    /// When each call's progress was last logged.
    progress: BTreeMap<CallNumber, Instant>,
    /// Number of open questions in the last event.
    waiting: usize,
}

impl Recorder {
    /// Appends an event for everything that is stored from here on.
    pub(super) fn announce(&mut self) {
        self.event_log = Some(EventLog {
            chars: self.answer.content.chars().count(),
            bytes: self.answer.content.len(),
            progress: BTreeMap::new(),
            waiting: self.waiting(),
        });
    }

    /// The events for an event of the run. Called after the recorder has processed it and before
    /// the commit.
    pub(super) fn announcements(
        &mut self,
        event: &RunEvent,
        run: &Run,
        changed: bool,
    ) -> Vec<Change> {
        if self.event_log.is_none() {
            return Vec::new();
        }
        match event {
            RunEvent::Text { .. } | RunEvent::Refusal { .. } => {
                self.more_text().into_iter().collect()
            }
            RunEvent::Reasoning { text } => {
                let data = json!({ "messageId": self.answer.id, "text": text });
                vec![self.event("message.reasoning", data)]
            }
            // If it needs approval, that event follows.
            RunEvent::Call(record) if changed => {
                self.call_updated(record.number, None).into_iter().collect()
            }
            RunEvent::Approval(approval) => {
                let reported = self.call_updated(approval.record.number, Some(approval));
                reported.into_iter().collect()
            }
            RunEvent::Progress { number, progress } => {
                if !self.is_due(*number) {
                    return Vec::new();
                }
                let data = json!({
                    "messageId": self.answer.id,
                    "position": number,
                    "progress": progress.progress,
                    "total": progress.total,
                    "message": progress.message,
                });
                vec![self.event("toolCall.progress", data)]
            }
            RunEvent::Waiting { .. } => self.waiting_updated(),
            RunEvent::Done { reason } => self.finished(reason, run),
            event => {
                let notice = event.notice().map(|message| {
                    let data = json!({ "messageId": self.answer.id, "message": message });
                    self.event("run.notice", data)
                });
                notice.into_iter().collect()
            }
        }
    }

    /// Text that was not logged yet.
    fn more_text(&mut self) -> Option<Change> {
        let event_log = self.event_log.as_mut()?;
        let offset = event_log.chars;
        let text = self.answer.content.get(event_log.bytes..)?;
        if text.is_empty() {
            return None;
        }
        event_log.chars += text.chars().count();
        event_log.bytes += text.len();
        let data = json!({ "messageId": self.answer.id, "offset": offset, "text": text });
        Some(self.event("message.delta", data))
    }

    /// A call as it is now, with the question about it.
    pub(super) fn call_updated(
        &self,
        number: CallNumber,
        asked: Option<&Approval>,
    ) -> Option<Change> {
        let (Some(_), Some(call)) = (&self.event_log, self.calls.get(&number)) else {
            return None;
        };
        let asked = asked.and_then(|asked| serde_json::to_value(asked).ok());
        let data = views::call(call, asked.as_ref());
        Some(self.event("assistant.toolCall.updated", data))
    }

    /// That more or fewer questions wait than were said to.
    pub(super) fn waiting_updated(&mut self) -> Vec<Change> {
        let waiting = self.waiting();
        match &mut self.event_log {
            Some(event_log) if event_log.waiting != waiting => event_log.waiting = waiting,
            _ => return Vec::new(),
        }
        vec![self.conversation_updated()]
    }

    fn is_due(&mut self, number: CallNumber) -> bool {
        let (Some(event_log), now) = (&mut self.event_log, Instant::now()) else {
            return false;
        };
        let last = event_log.progress.get(&number);
        let due = last.is_none_or(|last| now.saturating_duration_since(*last) >= PROGRESS);
        if due {
            event_log.progress.insert(number, now);
        }
        due
    }

    fn finished(&self, reason: &Reason, run: &Run) -> Vec<Change> {
        let word = views::finish(&reason.to_string());
        self.over(word, &reason.to_string(), Some(run))
    }

    /// That the answer is over.
    pub(super) fn over(&self, word: &str, why: &str, run: Option<&Run>) -> Vec<Change> {
        if self.event_log.is_none() {
            return Vec::new();
        }
        let usage = run.map(|run| {
            let spent = run.spent();
            json!({
                "rounds": spent.rounds,
                "tokens": spent.tokens,
                "costMicros": spent.cost_micros,
            })
        });
        let completed = json!({
            "message": views::message(&self.whole_answer(), &[]),
            "finish": word,
            "usage": usage,
        });
        let finished = json!({
            "conversationId": self.conversation.id,
            "messageId": self.answer.id,
            "reason": word,
            "message": why,
        });
        vec![
            self.event("message.completed", completed),
            self.event("run.finished", finished),
            self.conversation_updated(),
            Change::prune_events(&self.user),
        ]
    }

    /// That messages were added.
    pub(super) fn created(&self, messages: &[&Message]) -> Vec<Change> {
        if self.event_log.is_none() {
            return Vec::new();
        }
        let created = messages.iter().map(|message| {
            let data = json!({ "message": views::message(message, &[]) });
            self.event("message.created", data)
        });
        created.chain([self.conversation_updated()]).collect()
    }

    /// That other messages are shown.
    pub(super) fn switched(&self) -> Vec<Change> {
        let data = || json!({ "conversationId": self.conversation.id });
        let event = |_| self.event("conversation.switched", data());
        let mut events: Vec<Change> = self.event_log.iter().map(event).collect();
        events.extend(self.event_log.iter().map(|_| self.conversation_updated()));
        events
    }

    /// That a server asks something.
    pub(super) fn asked(&self, question: &Pending) -> Vec<Change> {
        let reported = || self.event("elicitation.requested", views::elicitation(question));
        self.event_log.iter().map(|_| reported()).collect()
    }

    /// That a server's question was answered, or needs no answer any more.
    pub(super) fn resolved(&self, id: &crate::store::PendingId) -> Vec<Change> {
        let data = json!({ "id": id, "conversationId": self.conversation.id });
        let reported = || self.event("elicitation.resolved", data.clone());
        self.event_log.iter().map(|_| reported()).collect()
    }

    /// What the conversation has used, with a round that is about to be stored.
    pub(super) async fn used(&self, round: &crate::store::Usage) -> Vec<Change> {
        if self.event_log.is_none() {
            return Vec::new();
        }
        let id = &self.conversation.id;
        let totals = self.store.usage(&self.user, Some(id), None).await;
        let totals = with_round(totals.unwrap_or_default(), round);
        let answer = self
            .store
            .usage_of(std::slice::from_ref(&self.answer.id))
            .await;
        let answer = answer
            .unwrap_or_default()
            .into_iter()
            .map(|(_, total)| total);
        let answer = with_round(answer.collect(), round);
        let data = json!({
            "conversationId": id,
            "totals": views::usage(&totals),
            "messageId": self.answer.id,
            "answer": views::usage(&answer),
        });
        vec![self.event("usage.updated", data)]
    }

    pub(super) fn conversation_updated(&self) -> Change {
        let mut standing = Standing::new(self.conversation.id.clone());
        standing.open = self.run.finish.is_none();
        standing.waiting = self.waiting() as u64;
        standing.finish.clone_from(&self.run.finish);
        let data = json!({ "conversation": views::conversation(&self.conversation, &standing) });
        self.event("conversation.updated", data)
    }

    fn event(&self, kind: &str, data: Value) -> Change {
        let (user, id) = (self.user.clone(), self.conversation.id.clone());
        Change::AppendEvent(NewEvent::new(user, Some(id), kind, data))
    }
}

/// Totals with one more round.
fn with_round(mut totals: Vec<UsageTotal>, round: &crate::store::Usage) -> Vec<UsageTotal> {
    let place = totals.iter().position(|total| total.model == round.model);
    let place = place.unwrap_or_else(|| {
        let mut total = UsageTotal::default();
        total.model.clone_from(&round.model);
        totals.push(total);
        totals.len() - 1
    });
    if let Some(total) = totals.get_mut(place) {
        total.rounds += 1;
        total.input += round.input;
        total.output += round.output;
        total.cache_read += round.cache_read;
        total.cache_write += round.cache_write;
        total.cost_micros += round.cost_micros.unwrap_or(0);
        total.unpriced_rounds += u64::from(round.cost_micros.is_none());
    }
    totals
}
