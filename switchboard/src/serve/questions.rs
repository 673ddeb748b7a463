//! What servers ask of a user while a call of theirs waits for the answer.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::HostError;
use mcp_jsonrpc::model::ElicitResult;
use mcp_manager::{Ask, Elicitation, ElicitationHandler};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::serve::parking::can_park;
use crate::store::{Change, NewEvent, PendingId, Store, UserId};

/// The most questions of one user that wait at a time; another one is cancelled at once.
const MOST: usize = 64;
/// So many questions that are over are remembered.
const PAST: usize = 256;

/// The questions that wait: a cheap clone. They live as long as the calls that wait for them.
#[derive(Clone)]
pub(crate) struct Questions {
    store: Arc<dyn Store>,
    open: Arc<Mutex<BTreeMap<PendingId, Open>>>,
    /// The latest that are over: who answers one of them is told so.
    over: Arc<Mutex<VecDeque<(UserId, PendingId)>>>,
}

struct Open {
    user: UserId,
    elicitation: Elicitation,
    answer: oneshot::Sender<ElicitResult>,
}

impl Questions {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            open: Arc::default(),
            over: Arc::default(),
        }
    }

    /// Asks this user whatever a server wants to know.
    pub(crate) fn asker(&self, user: &UserId) -> Asker {
        let (questions, user) = (self.clone(), user.clone());
        Asker { questions, user }
    }

    /// The questions that wait for a user.
    pub(crate) fn open(&self, user: &UserId) -> Vec<Value> {
        let open = self.open.lock();
        let theirs = open.iter().filter(|(_, open)| open.user == *user);
        theirs
            .map(|(id, open)| asked(id, &open.elicitation))
            .collect()
    }

    /// What a question asks for, if it waits for this user.
    pub(crate) fn find(&self, user: &UserId, id: &PendingId) -> Option<Elicitation> {
        let open = self.open.lock();
        let found = open.get(id).filter(|open| open.user == *user);
        found.map(|open| open.elicitation.clone())
    }

    /// Whether a question waited for this user, and does no more.
    pub(crate) fn was_asked(&self, user: &UserId, id: &PendingId) -> bool {
        let over = self.over.lock();
        over.iter().any(|(whose, past)| whose == user && past == id)
    }

    /// Answers a question. False if it does not wait any more.
    pub(crate) fn answer(&self, user: &UserId, id: &PendingId, answer: ElicitResult) -> bool {
        let mut open = self.open.lock();
        if open.get(id).is_none_or(|open| open.user != *user) {
            return false;
        }
        let found = open.remove(id);
        found.is_some_and(|open| open.answer.send(answer).is_ok())
    }

    async fn tell(&self, user: &UserId, kind: &str, data: Value) {
        let event = NewEvent::new(user.clone(), None, kind, data);
        // Whoever does not hear of it finds it in the list of questions.
        let _ = self.store.commit(vec![Change::AppendEvent(event)]).await;
    }
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions")
            .field("open", &self.open.lock().len())
            .finish_non_exhaustive()
    }
}

/// A question in the words of the API.
fn asked(id: &PendingId, elicitation: &Elicitation) -> Value {
    let mut told = json!({
        "id": id,
        "conversationId": null,
        "server": elicitation.server.as_str(),
        "message": elicitation.message(),
    });
    let (key, value) = match &elicitation.ask {
        Ask::Form(form) => ("requestedSchema", json!(form.requested_schema)),
        Ask::Url(page) => ("url", json!(page.url)),
        _ => return told,
    };
    if let Some(members) = told.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
    told
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
        if can_park() && matches!(elicitation.ask, Ask::Form(_)) {
            return Err(HostError::Later);
        }
        let id = PendingId::fresh();
        let told = asked(&id, &elicitation);
        let (answer, wait) = oneshot::channel();
        {
            let mut open = self.questions.open.lock();
            let theirs = open.values().filter(|open| open.user == self.user);
            if theirs.count() >= MOST {
                return Ok(ElicitResult::cancel());
            }
            let user = self.user.clone();
            let question = Open {
                user,
                elicitation,
                answer,
            };
            open.insert(id.clone(), question);
        }
        // Told when it is over, however that comes about.
        let _over = Over {
            asker: self.clone(),
            id,
        };
        self.questions
            .tell(&self.user, "elicitation.requested", told)
            .await;
        Ok(wait.await.unwrap_or_else(|_| ElicitResult::cancel()))
    }
}

/// Ends a question when it is dropped.
struct Over {
    asker: Asker,
    id: PendingId,
}

impl Drop for Over {
    fn drop(&mut self) {
        let Asker { questions, user } = self.asker.clone();
        questions.open.lock().remove(&self.id);
        let mut over = questions.over.lock();
        over.push_back((user.clone(), self.id.clone()));
        if over.len() > PAST {
            over.pop_front();
        }
        drop(over);
        let data = json!({ "id": self.id, "conversationId": null });
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                questions.tell(&user, "elicitation.resolved", data).await;
            });
        }
    }
}
