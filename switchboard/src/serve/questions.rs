//! Questions of servers while their calls wait for the answer.
//!
//! A question is asked in the conversation whose call caused it: it goes to that conversation's
//! task, which stores and announces it, and it ends there, whatever happens.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use mcp_client::HostError;
use mcp_jsonrpc::model::ElicitResult;
use mcp_manager::{Ask, Elicitation, ElicitationHandler, ServerName};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::conversation::LiveQuestion;
use crate::serve::error::ApiError;
use crate::serve::runs::{Command, WeakRuns};
use crate::store::{ConversationId, PendingId, UserId};

/// Maximum number of open questions per user; further ones are cancelled.
const MAX_OPEN_QUESTIONS: usize = 64;

/// The questions that wait: a cheap clone. They live as long as the calls that wait for them.
#[derive(Clone, Default)]
pub(crate) struct Questions {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Where they are asked.
    runs: OnceLock<WeakRuns>,
    open: Mutex<BTreeMap<PendingId, Open>>,
}

struct Open {
    user: UserId,
    conversation: ConversationId,
    ask: Ask,
    answer: oneshot::Sender<ElicitResult>,
}

impl Questions {
    /// Says where questions are asked: once, before there are any.
    pub(crate) fn ask_in(&self, runs: WeakRuns) {
        let _ = self.shared.runs.set(runs);
    }

    /// Asks this user whatever a server wants to know.
    pub(crate) fn asker(&self, user: &UserId) -> Asker {
        let (questions, user) = (self.clone(), user.clone());
        Asker { questions, user }
    }

    /// What a question asks for, and in which conversation, if it waits for this user.
    pub(crate) fn find(&self, user: &UserId, id: &PendingId) -> Option<(ConversationId, Ask)> {
        let open = self.shared.open.lock();
        let found = open.get(id).filter(|open| open.user == *user);
        found.map(|open| (open.conversation.clone(), open.ask.clone()))
    }

    /// Answers a question: stored first, then sent to the server.
    pub(crate) async fn answer(
        &self,
        user: &UserId,
        id: &PendingId,
        answer: ElicitResult,
    ) -> Result<(), ApiError> {
        let answered =
            || ApiError::conflict("already_answered", "this question was answered already");
        let open = {
            let mut open = self.shared.open.lock();
            let theirs = open.get(id).is_some_and(|open| open.user == *user);
            theirs.then(|| open.remove(id)).flatten()
        };
        let open = open.ok_or_else(answered)?;
        let command = |reply| Command::Settle {
            question: id.clone(),
            answer: Some(json!({ "action": answer.action })),
            reply,
        };
        let runs = self.shared.runs.get().ok_or_else(answered)?;
        runs.send_to_active(&open.conversation, command).await?;
        open.answer.send(answer).map_err(|_| answered())
    }

    /// Posts a notice in these conversations.
    pub(crate) async fn notice(&self, conversations: &[String], message: &str) {
        let Some(runs) = self.shared.runs.get() else {
            return;
        };
        for conversation in conversations {
            let command = |reply| Command::Notice {
                message: message.to_owned(),
                reply,
            };
            let id = ConversationId::new(conversation);
            // One in which nothing is under way any more needs no notice.
            let _ = runs.send_to_active(&id, command).await;
        }
    }

    /// Whether another question of this user's may wait.
    fn open(&self, id: &PendingId, open: Open) -> bool {
        let mut all = self.shared.open.lock();
        let theirs = all.values().filter(|it| it.user == open.user);
        if theirs.count() >= MAX_OPEN_QUESTIONS {
            return false;
        }
        all.insert(id.clone(), open);
        true
    }
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions")
            .field("open", &self.shared.open.lock().len())
            .finish_non_exhaustive()
    }
}

/// Asks one user.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    questions: Questions,
    user: UserId,
}

#[async_trait]
impl ElicitationHandler for Asker {
    async fn elicit(&self, elicitation: Elicitation) -> Result<ElicitResult, HostError> {
        if elicitation.can_park && matches!(elicitation.ask, Ask::Form(_)) {
            return Err(HostError::Later);
        }
        let shared = &self.questions.shared;
        let (Some((conversation, question)), Some(runs)) =
            (LiveQuestion::of(&elicitation), shared.runs.get())
        else {
            self.note(&elicitation.server).await;
            return Ok(ElicitResult::cancel());
        };
        let id = question.id.clone();
        let (answer, wait) = oneshot::channel();
        let open = Open {
            user: self.user.clone(),
            conversation: conversation.clone(),
            ask: elicitation.ask,
            answer,
        };
        if !self.questions.open(&id, open) {
            return Ok(ElicitResult::cancel());
        }
        // Ended in the store and for all who watch, however that comes about.
        let _over = Over {
            questions: self.questions.clone(),
            conversation: conversation.clone(),
            id,
        };
        let question = Box::new(question);
        let command = |reply| Command::Ask { question, reply };
        if runs.send_to_active(&conversation, command).await.is_err() {
            return Ok(ElicitResult::cancel());
        }
        Ok(wait.await.unwrap_or_else(|_| ElicitResult::cancel()))
    }
}

impl Asker {
    /// A question that belongs to no conversation has no place where it could be asked.
    async fn note(&self, server: &ServerName) {
        let runs = self.questions.shared.runs.get();
        if let Some(server_pool) = runs.and_then(WeakRuns::server_pool) {
            let text = "It asked something outside of any conversation's call; that was cancelled.";
            let user_servers = server_pool.user_servers(&self.user);
            user_servers.note(server, text.to_owned()).await;
        }
    }
}

/// Ends a question when it is dropped.
struct Over {
    questions: Questions,
    conversation: ConversationId,
    id: PendingId,
}

impl Drop for Over {
    fn drop(&mut self) {
        let shared = Arc::clone(&self.questions.shared);
        shared.open.lock().remove(&self.id);
        let (conversation, question) = (self.conversation.clone(), self.id.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let command = |reply| Command::Settle {
                    question,
                    answer: None::<Value>,
                    reply,
                };
                // Where nothing is under way any more, it has ended with its call.
                if let Some(runs) = shared.runs.get() {
                    let _ = runs.send_to_active(&conversation, command).await;
                }
            });
        }
    }
}
