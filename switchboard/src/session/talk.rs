//! A conversation: begun, asked, loaded, forked.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent_loop::{Agent, Policy, Reason, Run, RunLimits};
use provider_adapters::Conversation as Words;

use crate::brief::brief;
use crate::session::error::SessionError;
use crate::session::lease::{After, acquire, acquired};
use crate::session::ledger::{Ledger, settle};
use crate::session::shape::{INTERRUPTED, finish as finish_word};
use crate::session::turn::Turn;
use crate::store::{
    Change, Conversation, ConversationId, Message, Pending, PendingState, Role, Run as RunRow,
    Server, Store, Timestamp, UserId,
};

/// How much of the first message becomes the title.
const TITLE: usize = 60;

/// Whether somebody may watch from elsewhere.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Watched {
    Yes,
    No,
}

/// A conversation and its latest run.
#[derive(Debug)]
pub struct Talk {
    run: Run,
    ledger: Ledger,
    /// Whether the conversation is in the store.
    stored: bool,
    next_seq: u64,
    /// Other instructions, from the next message on.
    system: Option<String>,
}

impl Talk {
    /// A conversation in which nothing was said. It is stored with its first message.
    pub fn begin(store: Arc<dyn Store>, conversation: Conversation, system: Option<&str>) -> Self {
        let mut words = Words::new();
        if let Some(system) = system {
            words = words.with_system(system);
        }
        let run = RunRow::new(conversation.id.clone(), "");
        let answer = Message::new(conversation.id.clone(), 0, Role::Assistant);
        Self {
            run: Run::new(words),
            ledger: ledger(store, conversation, answer, run),
            stored: false,
            next_seq: 1,
            system: None,
        }
    }

    /// A stored conversation, as it was left. Calls that were under way when the program ended
    /// are given up: they may have taken effect, so they are never made again. Questions that
    /// were open are still open.
    ///
    /// # Errors
    /// If there is none of this id, if it cannot be read, or if an answer is under way in another
    /// process.
    pub async fn load(
        store: Arc<dyn Store>,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Self, SessionError> {
        Self::take_up(store, user, id, Watched::No).await
    }

    /// As [`load`](Self::load), and from then on everything is announced to those who watch: an
    /// event with every change.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub async fn load_watched(
        store: Arc<dyn Store>,
        user: &UserId,
        id: &ConversationId,
    ) -> Result<Self, SessionError> {
        Self::take_up(store, user, id, Watched::Yes).await
    }

    async fn take_up(
        store: Arc<dyn Store>,
        user: &UserId,
        id: &ConversationId,
        watched: Watched,
    ) -> Result<Self, SessionError> {
        let found = || SessionError::NotFound(id.to_string());
        let mut seen = store.snapshot(user, id).await?.ok_or_else(found)?;
        let mut lease = None;
        if seen.run.as_ref().is_some_and(|run| run.finish.is_none()) {
            // If another process drives it, it is not ours to go on with. Once it is, nobody else
            // moves it on: what is read from here on is how it stands.
            lease = Some(acquired(&mut acquire(&store, id, None)).await?);
            seen = store.snapshot(user, id).await?.ok_or_else(found)?;
        }
        let next_seq = seen.last.as_ref().map_or(1, |last| last.seq + 1);
        let Some(row) = seen.run else {
            let mut talk = Self::begin(store, seen.conversation, None);
            (talk.stored, talk.next_seq) = (true, next_seq);
            if watched == Watched::Yes {
                talk.ledger.announce();
            }
            return Ok(talk);
        };
        let run: Run = serde_json::from_str(&row.state).map_err(SessionError::Unreadable)?;
        let nothing = || Message::new(id.clone(), 0, Role::Assistant);
        let answer = match &row.message_id {
            Some(_) => seen.answer,
            // Nothing was said yet, or nothing was answered.
            None => Some(seen.last.unwrap_or_else(nothing)),
        };
        let answer = answer.ok_or_else(found)?;
        let mut ledger = ledger(store, seen.conversation, answer, row);
        ledger.lease = lease;
        ledger.rounds = ledger.run.round;
        for call in std::mem::take(&mut ledger.answer.tool_calls) {
            ledger.calls.insert(u64::from(call.position).into(), call);
        }
        let over = ledger.take_in(&run, seen.questions);
        if watched == Watched::Yes {
            ledger.announce();
        }
        ledger.reload(&run, over).await?;
        Ok(Self {
            run,
            ledger,
            stored: true,
            next_seq,
            system: None,
        })
    }

    /// The conversation.
    pub fn conversation(&self) -> &Conversation {
        self.ledger.conversation()
    }

    /// The run as it is.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// What is stored of the latest answer.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether something is under way: questions to answer, or an answer that was cut off.
    pub fn is_open(&self) -> bool {
        self.has_run() && self.ledger.run.finish.is_none()
    }

    /// Whether an answer is under way that waits for nobody.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.is_open() && self.ledger.waiting() == 0
    }

    /// Whether anything was said.
    pub fn has_run(&self) -> bool {
        self.stored && self.ledger.run.revision > 0
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
    pub async fn edit(&mut self, edit: impl FnOnce(&mut Conversation)) -> Result<(), SessionError> {
        self.ledger.edit(edit).await
    }

    /// Changes the conversation's own fields; stored with what is said, or goes on, next.
    pub(crate) fn remember(&mut self, edit: impl FnOnce(&mut Conversation)) {
        edit(&mut self.ledger.conversation);
    }

    /// The questions that wait for the user.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn open_questions(&self) -> Result<Vec<Pending>, SessionError> {
        let id = &self.ledger.conversation.id;
        Ok(self.ledger.store.open_questions(id).await?)
    }

    /// Sets the judge and the bounds for what follows. Yeses for this conversation stay.
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
    async fn refresh(&mut self) -> Result<(), SessionError> {
        if !self.ledger.stale || !self.stored {
            return Ok(());
        }
        let watched = match self.ledger.announcer {
            Some(_) => Watched::Yes,
            None => Watched::No,
        };
        let (policy, limits) = (self.run.policy().clone(), *self.run.limits());
        let (kept, system) = (self.ledger.conversation.clone(), self.system.take());
        let (store, id) = (Arc::clone(&self.ledger.store), &self.ledger.conversation.id);
        *self = Self::take_up(store, &self.ledger.user, id, watched).await?;
        self.system = system;
        self.govern(policy, limits);
        self.remember(|row| {
            row.options = kept.options;
            row.assistant_id = kept.assistant_id;
        });
        Ok(())
    }

    /// Says something: stored, together with the run that answers it, when this returns. An answer
    /// that was under way is interrupted first: what was done in it stays part of what the model
    /// knows, and what it asked needs no answer any more.
    ///
    /// # Errors
    /// If it cannot be stored, or an answer is under way in another process: then it was not said.
    pub async fn ask(&mut self, text: &str) -> Result<Message, SessionError> {
        self.refresh().await?;
        if self.is_open() {
            self.interrupt().await?;
        }
        let mut words = self.run.conversation().clone();
        if let Some(system) = &self.system {
            words = words.with_system(system);
        }
        let mut run = Run::new(words)
            .with_policy(self.run.policy().clone())
            .with_limits(*self.run.limits());
        if self.run.has_stored_results() {
            run.stored_result();
        }
        run.ask(text);
        let now = Timestamp::now();
        let ledger = &mut self.ledger;
        let id = ledger.conversation.id.clone();
        if ledger.conversation.title.is_empty() {
            ledger.conversation.title = brief(text, TITLE);
        }
        ledger.conversation.updated_at = now;
        let mut said = Message::new(id.clone(), self.next_seq, Role::User);
        text.clone_into(&mut said.content);
        let turn = run.conversation().turns().last();
        said.provider_raw = serde_json::to_string(&turn.as_slice()).ok();
        let answer = Message::new(id.clone(), self.next_seq + 1, Role::Assistant);
        let mut row = RunRow::new(id, "");
        row.message_id = Some(answer.id.clone());
        row.revision = 0;
        let mut changes = vec![
            Change::PutConversation(ledger.conversation.clone()),
            Change::PutMessage(Box::new(said.clone())),
            Change::PutMessage(Box::new(answer.clone())),
        ];
        // The run before this one is over, and its state is part of this one's.
        if self.stored && ledger.run.revision > 0 {
            let mut past = ledger.run.clone();
            past.state.clear();
            past.revision += 1;
            past.finish.get_or_insert_with(|| "superseded".to_owned());
            changes.push(Change::PutRun(Box::new(past)));
        }
        let old = std::mem::replace(&mut ledger.run, row);
        changes.push(ledger.step(&run)?);
        changes.extend(ledger.created(&[&said, &answer]));
        if let Err(error) = ledger.commit(changes).await {
            ledger.run = old;
            return Err(error);
        }
        ledger.answer = answer;
        ledger.stored_text = 0;
        ledger.calls.clear();
        ledger.questions.clear();
        ledger.rounds = 0;
        if ledger.announcer.is_some() {
            ledger.announce();
        }
        self.run = run;
        self.stored = true;
        self.next_seq += 2;
        Ok(said)
    }

    /// Goes on after a limit, a cancellation or an interruption, as if nothing had stopped it. An
    /// answer that is not over goes on as it is.
    ///
    /// # Errors
    /// If it cannot be stored, or an answer is under way in another process.
    pub async fn proceed(&mut self) -> Result<(), SessionError> {
        self.refresh().await?;
        if self.is_open() {
            return Ok(());
        }
        self.run.proceed();
        let ledger = &mut self.ledger;
        // It is not over any more: whoever copies the conversation leaves it out.
        ledger.run.finish = None;
        ledger.answer.finish = None;
        ledger.answer.provider_raw = None;
        let mut told = Vec::new();
        if ledger.answer.role != Role::Assistant {
            // The copy of a conversation that ends with a question: now it is answered.
            let id = ledger.conversation.id.clone();
            ledger.answer = Message::new(id, self.next_seq, Role::Assistant);
            ledger.run.message_id = Some(ledger.answer.id.clone());
            ledger.calls.clear();
            self.next_seq += 1;
            told = ledger.created(&[&ledger.answer]);
        } else if ledger.announcer.is_some() {
            told.push(ledger.conversation_updated());
        }
        let mut changes = vec![
            Change::PutConversation(ledger.conversation.clone()),
            ledger.answer_row(),
            ledger.step(&self.run)?,
        ];
        changes.extend(told);
        ledger.commit(changes).await
    }

    /// Ends an answer that nobody drives: what is open gets a result that says so. It can be
    /// continued.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub async fn cancel(&mut self) -> Result<(), SessionError> {
        self.give_up(Reason::Cancelled.to_string()).await
    }

    /// Ends an answer that was cut off by the end of the program. It can be continued.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub async fn interrupt(&mut self) -> Result<(), SessionError> {
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
    pub async fn fail(&mut self, message: String) -> Result<(), SessionError> {
        self.give_up(Reason::Failed { message }.to_string()).await
    }

    async fn give_up(&mut self, finish: String) -> Result<(), SessionError> {
        self.run.cancel("");
        let ledger = &mut self.ledger;
        // Questions of the round that belong to none of its calls end with it.
        let mut others = ledger.store.open_questions(&ledger.conversation.id).await?;
        others.retain(|it| ledger.asked_about(&it.id).is_none());
        let withdrawn = |it: Pending| settle(it.id, PendingState::Withdrawn, None);
        let mut changes: Vec<Change> = others.into_iter().map(withdrawn).collect();
        // Whoever drove it may have gone before all its events were stored.
        drop(self.run.take_events());
        for record in self.run.records() {
            let changed = ledger.call(&record);
            if !changed.is_empty() {
                changes.extend(changed);
                changes.extend(ledger.call_updated(record.number, None));
            }
        }
        changes.extend(ledger.end(finish.clone(), &self.run));
        changes.extend(ledger.over(finish_word(&finish), &finish, None));
        changes.push(ledger.step(&self.run)?);
        ledger.commit_then(changes, After::Release).await
    }

    /// Drives the answer with a model and tools.
    pub fn turn<'t>(&'t mut self, agent: &Agent, model: Model<'_>) -> Turn<'t> {
        model.name.clone_into(&mut self.ledger.model);
        self.ledger.servers = model.servers.to_vec();
        Turn::new(agent.session(&mut self.run), &mut self.ledger)
    }
}

/// What the ledger must know of the model and the servers.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    /// The model's name, as in `openai/gpt-5`.
    pub name: &'a str,
    /// The user's stored servers.
    pub servers: &'a [Server],
}

fn ledger(
    store: Arc<dyn Store>,
    conversation: Conversation,
    answer: Message,
    mut run: RunRow,
) -> Ledger {
    if run.state.is_empty() {
        run.revision = 0;
    }
    Ledger {
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
        announcer: None,
        lease: None,
        acquiring: None,
        stale: false,
    }
}
