//! Calls of clients that cannot be asked: they wait, as questions in the store, for an answer from the
//! web page or the command line. An answer is to one question, and to exactly what it shows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_gateway::{ApprovalRequest, Approver};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::records::{self, Kind, Records};
use crate::store::{Store, StoreError, Timestamp};

/// How long a call waits.
const WAIT: Duration = Duration::from_secs(5 * 60);
/// Calls that may wait at once.
const MAX_WAITING: usize = 100;

/// A call that waits, as it is stored.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Question {
    /// Of caller, call, definition and arguments.
    pub(crate) digest: String,
    pub(crate) caller: String,
    pub(crate) client: Option<String>,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) asked: Timestamp,
    pub(crate) expires: Timestamp,
}

/// An answer, until its gateway takes it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Answer {
    /// The digest of the question that was shown.
    pub(crate) digest: String,
    pub(crate) allow: bool,
}

/// Why a question is not answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unanswerable {
    /// There is none of this id: it was answered, has expired, or its call has ended.
    Unknown,
    /// It has an answer.
    Answered,
}

/// The questions that wait, by id, oldest first within a second.
pub(crate) fn waiting(records: &Records) -> BTreeMap<String, Question> {
    let now = Timestamp::now();
    let answers = records.all::<Answer>(Kind::Answer);
    let mut questions = records.all::<Question>(Kind::Question);
    questions.retain(|id, question| question.expires > now && !answers.contains_key(id));
    questions
}

/// Answers a question. Of two answers at the same time, one counts.
pub(crate) async fn answer(
    store: &dyn Store,
    records: &Records,
    id: &str,
    allow: bool,
) -> Result<Result<(), Unanswerable>, StoreError> {
    if records.get::<Answer>(Kind::Answer, id).is_some() {
        return Ok(Err(Unanswerable::Answered));
    }
    let Some(question) = waiting(records).remove(id) else {
        return Ok(Err(Unanswerable::Unknown));
    };
    let digest = question.digest;
    let add = records::add(Kind::Answer, id, &Answer { digest, allow });
    match store.commit(vec![add]).await {
        Err(StoreError::Conflict { .. }) => Ok(Err(Unanswerable::Answered)),
        made => made.map(|_| Ok(())),
    }
}

type Table = Arc<Mutex<BTreeMap<String, (Question, Option<oneshot::Sender<bool>>)>>>;

/// The calls of this gateway that wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting(Table);

/// Takes a call out of the table when it ends, however it ends.
struct Place(Table, String);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

#[async_trait]
impl Approver for Waiting {
    async fn approve(&self, request: ApprovalRequest) -> Option<bool> {
        let now = Timestamp::now();
        let id: String = request
            .digest
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        let id: String = id.chars().rev().take(24).collect();
        let question = Question {
            digest: request.digest,
            caller: request.caller,
            client: request.client,
            server: request.server,
            tool: request.tool,
            arguments: request.arguments,
            asked: now,
            expires: Timestamp::from_millis(now.as_millis() + WAIT.as_millis() as u64),
        };
        let (sender, receiver) = oneshot::channel();
        {
            let mut table = self.0.lock();
            if table.len() >= MAX_WAITING {
                return None;
            }
            table.insert(id.clone(), (question, Some(sender)));
        }
        let _place = Place(Arc::clone(&self.0), id);
        tokio::time::timeout(WAIT, receiver).await.ok()?.ok()
    }
}

impl Waiting {
    /// Makes the store know what waits, and takes the answers it has. `reported` is what it knows of.
    pub(crate) async fn sync(
        &self,
        store: &dyn Store,
        reported: &mut BTreeSet<String>,
    ) -> Result<(), StoreError> {
        let waiting: Vec<(String, Question)> = {
            let table = self.0.lock();
            table
                .iter()
                .map(|(id, (question, _))| (id.clone(), question.clone()))
                .collect()
        };
        if waiting.is_empty() && reported.is_empty() {
            return Ok(());
        }
        let records = Records::read(store).await?;
        let mut changes = Vec::new();
        for (id, question) in &waiting {
            match records.get::<Answer>(Kind::Answer, id) {
                Some(answer) if answer.digest == question.digest => self.settle(id, answer.allow),
                Some(_) => changes.push(records::delete(Kind::Answer, id)),
                None if reported.contains(id) => {}
                None => changes.push(records::put(Kind::Question, id, question)),
            }
        }
        let now: BTreeSet<String> = self.open();
        for id in reported.difference(&now) {
            changes.push(records::delete(Kind::Question, id));
            changes.push(records::delete(Kind::Answer, id));
        }
        if !changes.is_empty() {
            store.commit(changes).await?;
        }
        *reported = now;
        Ok(())
    }

    /// The questions without an answer.
    fn open(&self) -> BTreeSet<String> {
        let table = self.0.lock();
        let open = table.iter().filter(|(_, (_, sender))| sender.is_some());
        open.map(|(id, _)| id.clone()).collect()
    }

    fn settle(&self, id: &str, allow: bool) {
        let sender = self
            .0
            .lock()
            .get_mut(id)
            .and_then(|(_, sender)| sender.take());
        if let Some(sender) = sender {
            // Its call may just have ended.
            let _ = sender.send(allow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Limits, SqliteStore};

    #[tokio::test]
    async fn of_two_who_answer_at_the_same_time_the_first_counts() {
        let store = SqliteStore::in_memory(Limits::default()).await.unwrap();
        let now = Timestamp::now();
        let question = Question {
            digest: "d".to_owned(),
            caller: "laptop".to_owned(),
            client: None,
            server: "files".to_owned(),
            tool: "write".to_owned(),
            arguments: "{}".to_owned(),
            asked: now,
            expires: Timestamp::from_millis(now.as_millis() + 60_000),
        };
        let put = records::put(Kind::Question, "q", &question);
        store.commit(vec![put]).await.unwrap();
        // Both have read before either answers.
        let seen = Records::read(&store).await.unwrap();
        let first = answer(&store, &seen, "q", false).await.unwrap();
        let second = answer(&store, &seen, "q", true).await.unwrap();
        assert_eq!((first, second), (Ok(()), Err(Unanswerable::Answered)));
        let stored = Records::read(&store).await.unwrap();
        let stored: Answer = stored.get(Kind::Answer, "q").unwrap();
        assert!(!stored.allow);
    }
}
