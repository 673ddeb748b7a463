//! Records a run as it progresses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent_loop::{CallNumber, Run, RunEvent, Status, ToolCallRecord};
use mcp_client::Parked;
use mcp_jsonrpc::RawJson;
use provider_adapters::Turn;
use serde_json::{Value, json};

use crate::conversation::error::ConversationError;
use crate::conversation::event_log::EventLog;
use crate::conversation::lease::{Acquiring, After, Held};
use crate::conversation::{media, remembered};
use crate::store::{
    BlobId, CallStatus, Change, Conversation, Message, Pending, PendingId, PendingKind,
    PendingState, Run as RunRow, RunId, Server, ServerId, Store, Timestamp, ToolCall, Usage,
    UserId,
};

/// Records a run as it progresses: an event is durable when [`keep`](Self::keep) returns.
#[derive(Debug)]
pub struct Recorder {
    pub(super) store: Arc<dyn Store>,
    pub(super) user: UserId,
    pub(super) conversation: Conversation,
    /// The answer that is being written.
    pub(super) answer: Message,
    /// How many bytes of its text are stored.
    pub(super) stored_text: usize,
    pub(super) run: RunRow,
    pub(super) servers: Vec<Server>,
    pub(super) model: String,
    pub(super) calls: BTreeMap<CallNumber, ToolCall>,
    pub(super) questions: BTreeMap<CallNumber, (PendingId, PendingKind)>,
    /// What is asked while calls run, and the calls that may be the reason.
    pub(super) live: BTreeMap<PendingId, BTreeSet<CallNumber>>,
    pub(super) rounds: u32,
    /// The event log, if there may be readers.
    pub(super) event_log: Option<EventLog>,
    /// The lease, while an answer is driven.
    pub(super) lease: Option<Held>,
    /// The same, while it is being acquired.
    pub(super) acquiring: Option<Acquiring>,
    /// Whether a commit failed, so that memory and store may differ.
    pub(super) stale: bool,
}

impl Recorder {
    /// The conversation.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// The answer as far as it was stored, without its calls.
    pub fn answer(&self) -> &Message {
        &self.answer
    }

    /// The run.
    pub fn run_id(&self) -> &RunId {
        &self.run.id
    }

    /// The calls of the answer, as they were stored.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.calls.values()
    }

    /// Stores an event of a run.
    ///
    /// # Errors
    /// If the store fails, or another process has driven the run. Nothing is stored then, and
    /// nothing must be shown or started.
    pub async fn keep(&mut self, event: &RunEvent, run: &Run) -> Result<(), ConversationError> {
        let mut changes = self.changes(event, run).await;
        if event.is_milestone() {
            changes.push(self.step(run)?);
        }
        let after = after(event);
        if changes.is_empty() && (after == After::Keep || self.lease.is_none()) {
            return Ok(());
        }
        self.commit_then(changes, after).await
    }

    /// What an event changes in the store, without the run's own state.
    async fn changes(&mut self, event: &RunEvent, run: &Run) -> Vec<Change> {
        let mut changes = Vec::new();
        match event {
            RunEvent::Round { .. } => {
                // Text of different rounds is separated into paragraphs.
                let content = &mut self.answer.content;
                if !content.is_empty() && !content.ends_with('\n') {
                    content.push_str("\n\n");
                }
            }
            RunEvent::Text { text } | RunEvent::Refusal { text } => {
                self.answer.content.push_str(text);
                changes.extend(self.more_content());
            }
            RunEvent::Call(record) => changes.extend(self.call(record)),
            RunEvent::Queued { number, queued } => {
                changes.extend(self.queued(*number, queued.as_ref()).await);
            }
            RunEvent::ResultStored { number, id } => {
                if let Some(call) = self.calls.get_mut(number) {
                    call.result_blob = Some(BlobId::new(id));
                    changes.push(Change::PutToolCall(Box::new(call.clone())));
                }
            }
            RunEvent::Approval(approval) => {
                let number = approval.record.number;
                // An earlier question about this call is superseded.
                if let Some(question) = self.questions.remove(&number) {
                    changes.extend(self.withdraw(question));
                }
                changes.extend(self.question(number, PendingKind::Approval, json_of(approval)));
            }
            RunEvent::Elicitation { number, parked } => {
                changes.extend(self.elicit(*number, parked));
            }
            RunEvent::Granted(grant) => {
                let row = remembered::granted(&self.user, grant, &self.servers);
                changes.extend(row.map(Change::PutRule));
            }
            RunEvent::Pinned { definition, tool } => {
                let row = remembered::pinned(definition, tool.as_deref(), &self.servers);
                changes.extend(row.map(Change::PutDefinition));
            }
            RunEvent::Forbidden(rule) => {
                let row = remembered::forbidden(&self.user, rule, &self.servers);
                changes.extend(row.map(Change::PutRule));
            }
            RunEvent::Usage {
                usage, cost_micros, ..
            } => {
                let round = self.usage(usage, *cost_micros);
                changes.extend(self.used(&round).await);
                changes.push(Change::PutUsage(round));
            }
            RunEvent::Done { reason } => {
                let finish = reason.to_string();
                changes.extend(self.end(finish, run));
            }
            _ => {}
        }
        let reported = self.announcements(event, run, !changes.is_empty());
        changes.extend(reported);
        changes
    }

    /// The answer is over.
    pub(super) fn end(&mut self, finish: String, run: &Run) -> Vec<Change> {
        self.run.finish = Some(finish.clone());
        self.answer.finish = Some(finish);
        // A compaction after the end does not change what was answered.
        if self.answer.provider_raw.is_none() {
            self.answer.provider_raw = turns(run);
        }
        self.conversation.updated_at = Timestamp::now();
        let mut changes = vec![Change::PutConversation(self.conversation.clone())];
        for question in std::mem::take(&mut self.questions).into_values() {
            changes.extend(self.withdraw(question));
        }
        changes.extend(self.all_ended());
        changes.push(self.answer_row());
        changes
    }

    /// Stores that a question was answered, the state of the run after that, and what the answer
    /// led to at once: the rule it leaves behind belongs to it.
    pub(super) async fn answered(
        &mut self,
        number: CallNumber,
        answer: Value,
        events: &[RunEvent],
        run: &Run,
    ) -> Result<(), ConversationError> {
        let decided = answer.get("answer").and_then(Value::as_str);
        let denied = matches!(decided, Some("deny" | "always_deny"));
        let mut changes = vec![self.step(run)?];
        if let Some((id, kind)) = self.questions.remove(&number) {
            if kind == PendingKind::Elicitation {
                changes.extend(self.resolved(&id));
            }
            changes.push(settle(id, PendingState::Answered, Some(answer)));
        }
        // One open question less.
        changes.extend(self.waiting_updated());
        if let Some(call) = self.calls.get_mut(&number).filter(|_| !denied) {
            call.approved_by = Some("user".to_owned());
            changes.push(Change::PutToolCall(Box::new(call.clone())));
            changes.extend(self.call_updated(number, None));
        }
        let mut then = After::Keep;
        for event in events {
            changes.extend(self.changes(event, run).await);
            if after(event) == After::Release {
                then = After::Release;
            }
        }
        self.commit_then(changes, then).await
    }

    /// Stores that one of several questions about a call was answered, and asks the next one.
    pub(super) async fn answered_one(
        &mut self,
        number: CallNumber,
        parked: &Parked,
        run: &Run,
    ) -> Result<(), ConversationError> {
        let mut changes = vec![self.step(run)?];
        if let Some((id, _)) = self.questions.remove(&number) {
            changes.extend(self.resolved(&id));
            changes.push(settle(id, PendingState::Answered, Some(json!("supplied"))));
        }
        changes.extend(self.elicit(number, parked));
        self.commit_then(changes, After::Release).await
    }

    /// Changes the conversation's own fields.
    pub(super) async fn edit(
        &mut self,
        edit: impl FnOnce(&mut Conversation),
    ) -> Result<(), ConversationError> {
        let mut edited = self.conversation.clone();
        edit(&mut edited);
        let before = std::mem::replace(&mut self.conversation, edited);
        let mut changes: Vec<Change> = self.lease.iter().map(Held::renewal).collect();
        changes.push(Change::PutConversation(self.conversation.clone()));
        if self.event_log.is_some() {
            changes.push(self.conversation_updated());
        }
        if let Err(error) = self.store.commit(changes).await {
            self.conversation = before;
            return Err(error.into());
        }
        Ok(())
    }

    /// A call as it will be stored next.
    pub(crate) fn preview(&self, record: &ToolCallRecord) -> ToolCall {
        self.call_row(record, self.calls.get(&record.number))
    }

    /// The call that a question is about.
    pub(crate) fn asked_about(&self, question: &PendingId) -> Option<CallNumber> {
        let mut open = self.questions.iter();
        open.find(|(_, (id, _))| id == question)
            .map(|(number, _)| *number)
    }

    /// How many questions wait for the user.
    pub(crate) fn waiting(&self) -> usize {
        self.questions.len() + self.live.len()
    }

    /// The run as it is now, one revision on.
    pub(super) fn step(&mut self, run: &Run) -> Result<Change, ConversationError> {
        self.run.state = serde_json::to_string(run).map_err(ConversationError::Unreadable)?;
        self.run.revision += 1;
        self.run.round = self.rounds;
        self.run.updated_at = Timestamp::now();
        Ok(Change::PutRun(Box::new(self.run.clone())))
    }

    /// The run as it is over, because another one has its state; nothing if it was never stored.
    pub(super) fn superseded(&self) -> Option<Change> {
        let mut past = self.run.clone();
        past.state.clear();
        past.revision += 1;
        past.finish.get_or_insert_with(|| "superseded".to_owned());
        (self.run.revision > 0).then(|| Change::PutRun(Box::new(past)))
    }

    /// From here on this is the answer.
    pub(super) fn begin(&mut self, mut answer: Message) {
        self.calls = std::mem::take(&mut answer.tool_calls)
            .into_iter()
            .map(|call| (u64::from(call.position).into(), call))
            .collect();
        self.stored_text = answer.content.len();
        self.answer = answer;
        self.questions.clear();
        self.rounds = 0;
        if self.event_log.is_some() {
            self.announce();
        }
    }

    /// The answer with all its calls.
    pub(super) fn whole_answer(&self) -> Message {
        let mut answer = self.answer.clone();
        answer.tool_calls = self.calls.values().cloned().collect();
        answer
    }

    pub(super) fn answer_row(&mut self) -> Change {
        self.stored_text = self.answer.content.len();
        Change::PutMessage(Box::new(self.whole_answer()))
    }

    /// Appends the text that is not stored yet.
    fn more_content(&mut self) -> Option<Change> {
        let more = self.answer.content.get(self.stored_text..)?;
        if more.is_empty() {
            return None;
        }
        let more = Change::AppendContent(self.answer.id.clone(), more.to_owned());
        self.stored_text = self.answer.content.len();
        Some(more)
    }

    /// Stores a changed call, and withdraws its question if it no longer waits.
    pub(super) fn call(&mut self, record: &ToolCallRecord) -> Vec<Change> {
        let before = self.calls.get(&record.number);
        let mut row = self.call_row(record, before);
        if before == Some(&row) {
            return Vec::new();
        }
        let mut changes = Vec::new();
        if before.is_none_or(|before| before.response.is_none())
            && let Some(response) = &mut row.response
        {
            let blobs = media::detach(response, &self.conversation.id);
            changes.extend(blobs.into_iter().map(Change::PutBlob));
        }
        if record.status != Status::Pending
            && let Some(question) = self.questions.remove(&record.number)
        {
            changes.extend(self.withdraw(question));
        }
        if record.status.is_over() {
            changes.extend(self.call_ended(record.number));
        }
        self.calls.insert(record.number, row.clone());
        changes.push(Change::PutToolCall(Box::new(row)));
        changes
    }

    fn call_row(&self, record: &ToolCallRecord, before: Option<&ToolCall>) -> ToolCall {
        let id = record.id.to_string();
        let new = || ToolCall::new(self.answer.id.clone(), id, record.tool_name.clone());
        let mut row = before.cloned().unwrap_or_else(new);
        row.position = u32::try_from(record.number.get()).unwrap_or(u32::MAX);
        if before.is_none() {
            row.round = self.rounds;
            row.text_offset = self.answer.content.chars().count() as u64;
        }
        // One that is not stored has no id but its name.
        row.server_id = Some(&record.server_id)
            .filter(|id| !id.is_empty() && **id != record.server_name)
            .map(ServerId::new);
        row.server_name.clone_from(&record.server_name);
        row.tool.clone_from(&record.tool_name);
        row.display_name.clone_from(&record.display_name);
        row.arguments = json_of(&record.arguments);
        row.status = match record.status {
            Status::Pending => CallStatus::Pending,
            Status::Invoking if row.queued.is_some() => CallStatus::Queued,
            Status::Invoking => CallStatus::Invoking,
            Status::Done => CallStatus::Done,
            Status::Denied => CallStatus::Denied,
            Status::Cancelled => CallStatus::Cancelled,
            _ => CallStatus::Error,
        };
        // An answer is stored once; what was taken out of it is not put back.
        if row.response.is_none() {
            row.response = record.response.as_ref().map(raw);
        }
        row.is_error = record.is_error;
        if row.status == CallStatus::Invoking && row.started_at.is_none() {
            row.started_at = Some(Timestamp::now());
            row.approved_by.get_or_insert_with(|| "policy".to_owned());
        }
        if record.status != Status::Invoking {
            row.queued = None;
        }
        if record.status.is_over() && row.ended_at.is_none() {
            row.ended_at = Some(Timestamp::now());
        }
        row
    }

    pub(super) fn question(
        &mut self,
        number: CallNumber,
        kind: PendingKind,
        payload: Value,
    ) -> Option<Change> {
        if self.questions.contains_key(&number) {
            return None;
        }
        let mut row = Pending::new(self.conversation.id.clone(), kind, payload);
        row.message_id = Some(self.answer.id.clone());
        row.call_id = Some(number.to_string());
        self.questions.insert(number, (row.id.clone(), kind));
        Some(Change::PutPending(row))
    }

    /// What a server asks about a call.
    pub(super) fn elicit(&mut self, number: CallNumber, parked: &Parked) -> Vec<Change> {
        let asked = self.question(number, PendingKind::Elicitation, json_of(parked));
        let mut changes = match &asked {
            Some(Change::PutPending(question)) => self.asked(question),
            _ => Vec::new(),
        };
        changes.extend(asked);
        changes
    }

    /// Withdraws a question.
    pub(super) fn withdraw(&self, (id, kind): (PendingId, PendingKind)) -> Vec<Change> {
        let mut changes = match kind {
            PendingKind::Elicitation => self.resolved(&id),
            _ => Vec::new(),
        };
        changes.push(settle(id, PendingState::Withdrawn, None));
        changes
    }

    fn usage(&mut self, usage: &provider_adapters::Usage, cost: Option<u64>) -> Usage {
        self.rounds += 1;
        let mut row = Usage::new(
            self.user.clone(),
            self.conversation.id.clone(),
            self.run.id.clone(),
            self.rounds,
            self.model.clone(),
        );
        row.input = usage.input.unwrap_or(0);
        row.output = usage.output.unwrap_or(0);
        row.cache_read = usage.cache_read.unwrap_or(0);
        row.cache_write = usage.cache_write.unwrap_or(0);
        row.cost_micros = cost;
        row
    }
}

/// What becomes of the lease after an event: what the run waits for may be answered by any process.
fn after(event: &RunEvent) -> After {
    match event {
        RunEvent::Waiting { .. } | RunEvent::Done { .. } => After::Release,
        _ => After::Keep,
    }
}

pub(super) fn settle(id: PendingId, state: PendingState, answer: Option<Value>) -> Change {
    let at = Timestamp::now();
    Change::Settle {
        id,
        state,
        answer,
        at,
    }
}

/// The turns since the user's last message, as the model needs them.
fn turns(run: &Run) -> Option<String> {
    let turns = run.conversation().turns();
    let user = |turn: &Turn| matches!(turn, Turn::User(_));
    let from = turns.iter().rposition(user).map_or(0, |place| place + 1);
    serde_json::to_string(turns.get(from..)?).ok()
}

/// JSON as a value; as text where it is nested too deep.
fn raw(json: &RawJson) -> Value {
    serde_json::from_str(json.get()).unwrap_or_else(|_| json!(json.get()))
}

pub(super) fn json_of(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}
