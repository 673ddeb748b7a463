//! Admission of calls to one server: which calls run, which wait and why, and which of them a question belongs to.
//!
//! Pure: no IO, no clock. The only owner of these rules.
//!
//! Calls of one conversation run sequentially, in order, unless they may share. Calls of different conversations run
//! concurrently, until the server first asks a question without identifying the call. From then on one conversation at
//! a time is served, in the order of the calls, so that every later question has one possible owner.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcp_client::{Caller, Origin, QueueReason};

/// A call's position in the order of arrival.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Ticket(u64);

/// An open question.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct QuestionId(u64);

/// The concurrency of a call with others of its conversation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Concurrency {
    /// It must run alone.
    Exclusive,
    /// It may run concurrently with others that may.
    Shared,
    /// It has already started and is only waited for: it is not queued.
    Background,
}

#[derive(Debug)]
struct Call {
    caller: Option<Arc<Caller>>,
    concurrency: Concurrency,
    runs: bool,
}

impl Call {
    /// Calls without a caller belong to one shared conversation.
    fn conversation(&self) -> Option<&str> {
        self.caller
            .as_ref()
            .map(|caller| caller.conversation.as_str())
    }
}

/// The calls and open questions of one server.
#[derive(Debug)]
pub(crate) struct Admission {
    max_running: usize,
    last: u64,
    calls: BTreeMap<Ticket, Call>,
    /// The running calls, except for background ones.
    running: Vec<Ticket>,
    /// Whether the server is known to ask questions without identifying the call.
    asks: bool,
    questions: BTreeMap<QuestionId, BTreeSet<Ticket>>,
}

/// The owner of a question.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Owner {
    /// One of these calls, all of one conversation. The question ends with the last of them.
    Calls(QuestionId, Vec<Arc<Caller>>),
    /// No call.
    NoCall,
    /// Ambiguous: calls of these conversations are open, and the question must be declined.
    Several(Vec<String>),
}

/// The effects of a call's end.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Left {
    /// The calls that start to run.
    pub(crate) started: Vec<Ticket>,
    /// The questions that no call waits for any more.
    pub(crate) orphaned: Vec<QuestionId>,
}

impl Admission {
    /// Creates the state of a server that runs at most `max_running` calls at a time.
    pub(crate) fn new(max_running: usize) -> Self {
        Self {
            max_running: max_running.max(1),
            last: 0,
            calls: BTreeMap::new(),
            running: Vec::new(),
            asks: false,
            questions: BTreeMap::new(),
        }
    }

    /// Adds a call: its ticket, and whether it runs at once.
    pub(crate) fn enter(
        &mut self,
        caller: Option<Arc<Caller>>,
        concurrency: Concurrency,
    ) -> (Ticket, bool) {
        self.last += 1;
        let ticket = Ticket(self.last);
        let runs = concurrency == Concurrency::Background;
        let call = Call {
            caller,
            concurrency,
            runs,
        };
        self.calls.insert(ticket, call);
        (ticket, runs || self.admit().contains(&ticket))
    }

    /// Removes a call that has ended or was dropped.
    pub(crate) fn leave(&mut self, ticket: Ticket) -> Left {
        if self.calls.remove(&ticket).is_none() {
            return Left::default();
        }
        self.running.retain(|running| *running != ticket);
        let mut orphaned = Vec::new();
        for (id, calls) in &mut self.questions {
            if calls.remove(&ticket) && calls.is_empty() {
                orphaned.push(*id);
            }
        }
        for id in &orphaned {
            self.questions.remove(id);
        }
        Left {
            started: self.admit(),
            orphaned,
        }
    }

    /// The reason why a call waits, and the conversation it waits for; `None` if it does not wait.
    pub(crate) fn queued(&self, ticket: Ticket) -> Option<(QueueReason, Option<String>)> {
        let call = self.calls.get(&ticket).filter(|call| !call.runs)?;
        let own = call.conversation();
        let running = || {
            self.running
                .iter()
                .filter_map(|it| self.calls.get_key_value(it))
        };
        let other = running().find(|(_, it)| it.conversation() != own);
        if let Some((_, other)) = other.filter(|_| self.asks) {
            let waits = running()
                .filter(|(_, it)| it.conversation() == other.conversation())
                .any(|(it, _)| self.questions.values().any(|calls| calls.contains(it)));
            let reason = match waits {
                true => QueueReason::Answer,
                false => QueueReason::Conversation,
            };
            return Some((reason, other.conversation().map(str::to_owned)));
        }
        let reason = match self.running.len() >= self.max_running {
            true => QueueReason::Full,
            false => QueueReason::Turn,
        };
        Some((reason, None))
    }

    /// Adds a question from the server. Requests for roots are not passed here: they belong to no conversation.
    pub(crate) fn ask(&mut self, origin: &Origin) -> Owner {
        let mut calls: BTreeSet<Ticket> = match origin {
            Origin::Calls(callers) => {
                let is_one = |call: &Call| {
                    let own = call.caller.as_ref();
                    own.is_some_and(|own| callers.iter().any(|it| Arc::ptr_eq(it, own)))
                };
                let found = self
                    .calls
                    .iter()
                    .filter(|(_, call)| call.runs && is_one(call));
                found.map(|(ticket, _)| *ticket).collect()
            }
            _ => {
                self.asks = true;
                self.running.iter().copied().collect()
            }
        };
        let conversations: BTreeSet<Option<&str>> = calls
            .iter()
            .filter_map(|ticket| Some(self.calls.get(ticket)?.conversation()))
            .collect();
        if conversations.len() > 1 {
            let names = conversations.into_iter().flatten();
            return Owner::Several(names.map(str::to_owned).collect());
        }
        if calls.is_empty() {
            return Owner::NoCall;
        }
        let callers = calls
            .iter()
            .filter_map(|it| self.calls.get(it)?.caller.clone());
        let callers = callers.collect();
        self.last += 1;
        let id = QuestionId(self.last);
        self.questions.insert(id, std::mem::take(&mut calls));
        Owner::Calls(id, callers)
    }

    /// A question was answered, declined or withdrawn.
    pub(crate) fn answered(&mut self, question: QuestionId) {
        self.questions.remove(&question);
    }

    /// Whether one conversation at a time is served.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.asks
    }

    /// Whether a call still waits for the answer.
    pub(crate) fn is_open(&self, question: QuestionId) -> bool {
        self.questions.contains_key(&question)
    }

    /// Starts calls that may run, in the order they arrived.
    fn admit(&mut self) -> Vec<Ticket> {
        let mut started = Vec::new();
        // No call overtakes one of its own conversation.
        let mut blocked: Vec<Option<String>> = Vec::new();
        let waiting = self.calls.iter().filter(|(_, call)| !call.runs);
        for (ticket, call) in waiting {
            if self.running.len() >= self.max_running {
                break;
            }
            let own = call.conversation();
            let mut beside = self.running.iter().filter_map(|it| self.calls.get(it));
            let fits = beside.all(|other| match other.conversation() == own {
                true => {
                    other.concurrency == Concurrency::Shared
                        && call.concurrency == Concurrency::Shared
                }
                false => !self.asks,
            });
            match fits && !blocked.iter().any(|it| it.as_deref() == own) {
                true => {
                    self.running.push(*ticket);
                    started.push(*ticket);
                }
                // With one conversation at a time, no call overtakes another.
                false if self.asks => break,
                false => blocked.push(own.map(str::to_owned)),
            }
        }
        for ticket in &started {
            if let Some(call) = self.calls.get_mut(ticket) {
                call.runs = true;
            }
        }
        started
    }
}

#[cfg(test)]
mod tests;
