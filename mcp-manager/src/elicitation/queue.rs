//! The queue of questions: those of one conversation are answered one at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_config::ServerName;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::ManagerLimits;

/// The open questions of all servers.
#[derive(Debug)]
pub(crate) struct Queue {
    turns: Mutex<BTreeMap<Option<String>, Arc<Semaphore>>>,
    open: Mutex<BTreeMap<ServerName, usize>>,
    most: usize,
    most_per_server: usize,
}

/// Permission to ask now.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    // Dropped before the place, which the next one must find free.
    _permit: OwnedSemaphorePermit,
    _place: Place<'a>,
}

/// A place in the queue.
#[derive(Debug)]
struct Place<'a> {
    queue: &'a Queue,
    server: ServerName,
}

impl Queue {
    pub(crate) fn new(limits: &ManagerLimits) -> Self {
        Self {
            turns: Mutex::default(),
            open: Mutex::default(),
            most: limits.queued_questions(),
            most_per_server: limits.questions_per_server(),
        }
    }

    /// Waits for the turn of a question in its conversation; `None` if too many already wait.
    pub(crate) async fn turn(
        &self,
        server: &ServerName,
        conversation: Option<String>,
    ) -> Option<Turn<'_>> {
        let place = self.place(server)?;
        let turn = {
            let mut turns = self.turns.lock();
            // Those without holders and waiters are recreated when they are required.
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            let turn = turns.entry(conversation);
            Arc::clone(turn.or_insert_with(|| Arc::new(Semaphore::new(1))))
        };
        let permit = turn.acquire_owned().await.ok()?;
        Some(Turn {
            _permit: permit,
            _place: place,
        })
    }

    fn place(&self, server: &ServerName) -> Option<Place<'_>> {
        let mut open = self.open.lock();
        let all: usize = open.values().sum();
        let own = open.get(server).copied().unwrap_or_default();
        if all >= self.most || own >= self.most_per_server {
            return None;
        }
        open.insert(server.clone(), own + 1);
        Some(Place {
            queue: self,
            server: server.clone(),
        })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut open = self.queue.open.lock();
        match open.get_mut(&self.server) {
            Some(own) if *own > 1 => *own -= 1,
            _ => {
                open.remove(&self.server);
            }
        }
    }
}
