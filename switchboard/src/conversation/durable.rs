//! A durable conversation: begun, asked, loaded, continued.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent_loop::{Agent, Compaction, Policy, Reason, Run, RunLimits};
use provider_adapters::Conversation as Words;

use crate::conversation::attachment::WithAttachments;
use crate::conversation::error::ConversationError;
use crate::conversation::lease::{After, acquire, acquired};
use crate::conversation::recorder::{Recorder, settle};
use crate::conversation::turn::Turn;
use crate::conversation::views::{INTERRUPTED, finish as finish_word};
use crate::store::{
    Change, Conversation, ConversationId, Message, Pending, PendingState, Role, Run as RunRow,
    Server, Store, Timestamp, UserId,
};

/// Whether events are logged for readers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Watched {
    Yes,
    No,
}

/// A conversation and its latest run.
#[derive(Debug)]
pub struct DurableConversation {
    pub(super) run: Run,
    pub(super) recorder: Recorder,
    /// Whether the conversation is in the store.
    pub(super) stored: bool,
    /// The number of the last message that is shown.
    pub(super) last_seq: u64,
    pub(super) next_seq: u64,
    /// Other instructions, from the next message on.
    pub(super) system: Option<String>,
}

impl DurableConversation {
    /// A new conversation. It is stored with its first message.
    pub fn begin(store: Arc<dyn Store>, conversation: Conversation, system: Option<&str>) -> Self {
        let mut words = Words::new();
        if let Some(system) = system {
            words = words.with_system(system);
        }
        let run = RunRow::new(conversation.id.clone(), "");
        let answer = Message::new(conversation.id.clone(), 0, Role::Assistant);
        Self {
            run: Run::new(words),
            recorder: recorder(store, conversation, answer, run),
            stored: false,
            last_seq: 0,
            next_seq: 1,
            system: None,
        }
    }

    /// Loads a stored conversation. Calls that were running when the program ended are abandoned:
    /// they may have taken effect, so they are never repeated. Open questions stay open.
    ///
    /// # Errors
    /// If there is none of this id, if it cannot be read, or if an answer is under way in another
    /// process.
    pub async fn load(
        store: Arc<dyn Store>,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Self, ConversationError> {
        Self::take_up(store, user, id, Watched::No).await
    }

    /// Like [`load`](Self::load), and logs an event with every change from then on.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub async fn load_watched(
        store: Arc<dyn Store>,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Self, ConversationError> {
        Self::take_up(store, user, id, Watched::Yes).await
    }

    async fn take_up(
        store: Arc<dyn Store>,
        user: &UserId,
        id: &ConversationId,
        watched: Watched,
    ) -> Result<Self, ConversationError> {
        let found = || ConversationError::NotFound(id.to_string());
        let mut seen = store.snapshot(user, id).await?.ok_or_else(found)?;
        let mut lease = None;
        if seen.run.as_ref().is_some_and(|run| run.finish.is_none()) {
            // Fails if another process drives it. Under the lease, what is read from here on stays
            // current.
            lease = Some(acquired(&mut acquire(&store, id, None)).await?);
            seen = store.snapshot(user, id).await?.ok_or_else(found)?;
        }
        let last_seq = seen.last.as_ref().map_or(0, |last| last.seq);
        let next_seq = seen.next_seq;
        let Some(row) = seen.run else {
            let mut durable = Self::begin(store, seen.conversation, None);
            (durable.stored, durable.next_seq) = (true, next_seq);
            durable.last_seq = last_seq;
            if watched == Watched::Yes {
                durable.recorder.announce();
            }
            return Ok(durable);
        };
        let run: Run = serde_json::from_str(&row.state).map_err(ConversationError::Unreadable)?;
        let nothing = || Message::new(id.clone(), 0, Role::Assistant);
        let answer = match &row.message_id {
            Some(_) => seen.answer,
            // Nothing was said yet, or nothing was answered.
            None => Some(seen.last.unwrap_or_else(nothing)),
        };
        let answer = answer.ok_or_else(found)?;
        let mut recorder = recorder(store, seen.conversation, answer, row);
        recorder.lease = lease;
        recorder.rounds = recorder.run.round;
        for call in std::mem::take(&mut recorder.answer.tool_calls) {
            recorder.calls.insert(u64::from(call.position).into(), call);
        }
        let over = recorder.take_in(&run, seen.questions);
        if watched == Watched::Yes {
            recorder.announce();
        }
        // A cut-off answer that is about to be driven on is not let go of in between.
        let cut_off = recorder.run.finish.is_none() && recorder.questions.is_empty();
        let after = match (watched, cut_off) {
            (Watched::Yes, true) => After::Keep,
            _ => After::Release,
        };
        recorder.reload(&run, over, after).await?;
        Ok(Self {
            run,
            recorder,
            stored: true,
            last_seq,
            next_seq,
            system: None,
        })
    }

    /// The conversation.
    pub fn conversation(&self) -> &Conversation {
        self.recorder.conversation()
    }

    /// The run as it is.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// What is stored of the latest answer.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Whether something is under way: questions to answer, or an answer that was cut off.
    pub fn is_open(&self) -> bool {
        self.has_run() && self.recorder.run.finish.is_none()
    }

    /// Whether an answer is running that does not wait for the user.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.is_open() && self.recorder.waiting() == 0
    }

    /// When the run was last stored.
    pub(crate) fn updated_at(&self) -> Timestamp {
        self.recorder.run.updated_at
    }

    /// Whether anything was said.
    pub fn has_run(&self) -> bool {
        self.stored && self.recorder.run.revision > 0
    }

    /// Gives the model its instructions, if nothing was said yet.
    pub fn instruct(&mut self, system: Option<&str>) {
        if let (Some(system), false) = (system, self.has_run()) {
            let words = Words::new().with_system(system);
            self.run = Run::new(words).with_policy(self.run.policy().clone());
        }
    }

    /// Gives the model other instructions, from the next message on.
    pub(crate) fn reinstruct(&mut self, system: Option<&str>) {
        self.system = system.map(str::to_owned);
    }

    /// Changes the conversation's own fields.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub async fn edit(
        &mut self,
        edit: impl FnOnce(&mut Conversation),
    ) -> Result<(), ConversationError> {
        self.recorder.edit(edit).await
    }

    /// Changes the conversation's own fields; stored with the next message or continuation.
    pub(crate) fn remember(&mut self, edit: impl FnOnce(&mut Conversation)) {
        edit(&mut self.recorder.conversation);
    }

    /// The questions that wait for the user.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn open_questions(&self) -> Result<Vec<Pending>, ConversationError> {
        let id = &self.recorder.conversation.id;
        Ok(self.recorder.store.open_questions(id).await?)
    }

    /// Sets the policy and limits. Approvals for this conversation stay.
    pub fn govern(&mut self, policy: Policy, limits: RunLimits) {
        let ours = self.run.policy().grants().iter();
        let policy = ours
            .filter(|grant| grant.this_run)
            .cloned()
            .fold(policy, Policy::with_grant);
        let run = std::mem::take(&mut self.run);
        self.run = run.with_policy(policy).with_limits(limits);
    }

    /// Loads it again if what is in memory is not what is stored.
    pub(super) async fn refresh(&mut self) -> Result<(), ConversationError> {
        if !self.recorder.stale || !self.stored {
            return Ok(());
        }
        let watched = match self.recorder.event_log {
            Some(_) => Watched::Yes,
            None => Watched::No,
        };
        let (policy, limits) = (self.run.policy().clone(), *self.run.limits());
        let (kept, system) = (self.recorder.conversation.clone(), self.system.take());
        let (store, id) = (
            Arc::clone(&self.recorder.store),
            &self.recorder.conversation.id,
        );
        *self = Self::take_up(store, &self.recorder.user, id, watched).await?;
        self.system = system;
        self.govern(policy, limits);
        self.remember(|row| {
            row.options = kept.options;
            row.assistant_id = kept.assistant_id;
        });
        Ok(())
    }

    /// Goes on after a limit, a cancellation or an interruption, as if nothing had stopped it. An
    /// answer that is not over goes on as it is.
    ///
    /// # Errors
    /// If it cannot be stored, or an answer is under way in another process.
    pub async fn proceed(&mut self) -> Result<(), ConversationError> {
        self.refresh().await?;
        if self.is_open() {
            return Ok(());
        }
        self.run.proceed();
        let recorder = &mut self.recorder;
        // It is no longer finished, so a fork leaves it out.
        recorder.run.finish = None;
        recorder.answer.finish = None;
        recorder.answer.provider_raw = None;
        let mut reported = Vec::new();
        if recorder.answer.role != Role::Assistant {
            // The copy of a conversation that ends with a question: now it is answered.
            let id = recorder.conversation.id.clone();
            recorder.answer = Message::new(id, self.next_seq, Role::Assistant);
            recorder.answer.follows = self.last_seq;
            recorder.run.message_id = Some(recorder.answer.id.clone());
            recorder.calls.clear();
            self.last_seq = self.next_seq;
            self.next_seq += 1;
            reported = recorder.created(&[&recorder.answer]);
        } else if recorder.event_log.is_some() {
            reported.push(recorder.conversation_updated());
        }
        let mut changes = vec![
            Change::PutConversation(recorder.conversation.clone()),
            recorder.answer_row(),
            recorder.step(&self.run)?,
        ];
        changes.extend(reported);
        recorder.commit(changes).await
    }

    /// Begins to compact the conversation: the next [turn](Self::turn) does it, and answers nothing.
    /// `false` if there is nothing to remove, or an answer is not over.
    ///
    /// # Errors
    /// If it cannot be read, or an answer is under way in another process.
    pub async fn compact(&mut self) -> Result<bool, ConversationError> {
        self.refresh().await?;
        if !self.has_run() || self.is_open() {
            return Ok(false);
        }
        // Nothing is pinned here.
        Ok(self.run.compact().unwrap_or(false))
    }

    /// Ends an answer that is not being driven: open calls get an interrupted result. It can be
    /// continued.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub async fn cancel(&mut self) -> Result<(), ConversationError> {
        self.give_up(Reason::Cancelled.to_string()).await
    }

    /// Ends an answer that was cut off by the end of the program. It can be continued.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub async fn interrupt(&mut self) -> Result<(), ConversationError> {
        let finish = match self.run.reason() {
            Some(reason) => reason.to_string(),
            None => INTERRUPTED.to_owned(),
        };
        self.give_up(finish).await
    }

    /// Ends an answer because the model cannot be asked. It can be continued.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub async fn fail(&mut self, message: String) -> Result<(), ConversationError> {
        self.give_up(Reason::Failed { message }.to_string()).await
    }

    async fn give_up(&mut self, finish: String) -> Result<(), ConversationError> {
        self.run.cancel("");
        let recorder = &mut self.recorder;
        // Questions of the round that belong to none of its calls end with it.
        let mut others = recorder
            .store
            .open_questions(&recorder.conversation.id)
            .await?;
        others.retain(|it| recorder.asked_about(&it.id).is_none());
        let withdrawn = |it: Pending| settle(it.id, PendingState::Withdrawn, None);
        let mut changes: Vec<Change> = others.into_iter().map(withdrawn).collect();
        // Its driver may have ended before all of its events were stored.
        drop(self.run.take_events());
        for record in self.run.records() {
            let changed = recorder.call(&record);
            if !changed.is_empty() {
                changes.extend(changed);
                changes.extend(recorder.call_updated(record.number, None));
            }
        }
        changes.extend(recorder.end(finish.clone(), &self.run));
        changes.extend(recorder.over(finish_word(&finish), &finish, None));
        changes.push(recorder.step(&self.run)?);
        recorder.commit_then(changes, After::Release).await
    }

    /// Drives the answer with a model and tools.
    pub fn turn<'t>(&'t mut self, agent: &Agent, model: Model<'_>) -> Turn<'t> {
        model.name.clone_into(&mut self.recorder.model);
        self.recorder.servers = model.servers.to_vec();
        let compaction = agent.compaction().copied();
        let compaction = compaction.unwrap_or_else(Compaction::when_full);
        self.run = std::mem::take(&mut self.run).with_compaction(compaction);
        let (store, id) = (&self.recorder.store, &self.recorder.conversation.id);
        let model = Arc::clone(agent.model());
        let model = WithAttachments::new(model, Arc::clone(store), id.clone());
        let agent = agent.clone().with_model(model);
        Turn::new(agent.session(&mut self.run), &mut self.recorder)
    }
}

/// The model and servers of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    /// The model's name, as in `openai/gpt-5`.
    pub name: &'a str,
    /// The user's stored servers.
    pub servers: &'a [Server],
}

fn recorder(
    store: Arc<dyn Store>,
    conversation: Conversation,
    answer: Message,
    mut run: RunRow,
) -> Recorder {
    if run.state.is_empty() {
        run.revision = 0;
    }
    Recorder {
        user: conversation.user_id.clone(),
        store,
        conversation,
        stored_text: answer.content.len(),
        answer,
        run,
        servers: Vec::new(),
        model: String::new(),
        calls: BTreeMap::new(),
        questions: BTreeMap::new(),
        live: BTreeMap::new(),
        rounds: 0,
        event_log: None,
        lease: None,
        acquiring: None,
        stale: false,
    }
}
