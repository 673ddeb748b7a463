//! Questions of servers while their call runs, and queued calls: stored and announced with the
//! conversation and call they belong to.

use std::collections::BTreeSet;

use agent_loop::CallNumber;
use mcp_manager::{Ask, Elicitation, Queued};
use serde_json::{Map, Value, json};

use crate::conversation::error::ConversationError;
use crate::conversation::recorder::{Recorder, settle};
use crate::store::{
    CallStatus, Change, ConversationId, Pending, PendingId, PendingKind, PendingState, Timestamp,
};

/// A question to be asked while its call runs. Unlike that of a parked call it lives as long as
/// the program.
#[derive(Clone, Debug)]
pub(crate) struct LiveQuestion {
    pub(crate) id: PendingId,
    /// The calls it may belong to.
    pub(crate) calls: BTreeSet<CallNumber>,
    /// The question's JSON view.
    pub(crate) payload: Value,
}

impl LiveQuestion {
    /// What a server asks, and the conversation that it is asked in; nothing if it belongs to none.
    pub(crate) fn of(elicitation: &Elicitation) -> Option<(ConversationId, Self)> {
        let conversation = ConversationId::new(&elicitation.calls.first()?.conversation);
        let calls = elicitation.calls.iter();
        let calls: BTreeSet<CallNumber> = calls
            .filter_map(|caller| caller.call.parse::<u64>().ok())
            .map(Into::into)
            .collect();
        let mut payload = json!({
            "live": true,
            "server": elicitation.server.as_str(),
            "message": elicitation.message(),
            "calls": calls,
        });
        let (key, value) = match &elicitation.ask {
            Ask::Form(form) => ("requestedSchema", json!(form.requested_schema)),
            Ask::Url(page) => ("url", json!(page.url)),
            _ => return None,
        };
        if let Some(members) = payload.as_object_mut() {
            members.insert(key.to_owned(), value);
        }
        let id = PendingId::fresh();
        Some((conversation, Self { id, calls, payload }))
    }
}

/// What is asked while a call runs, if that is what a question is.
pub(crate) fn live(row: &Pending) -> Option<Map<String, Value>> {
    let members = row.payload.as_object()?;
    let is_live = members.get("live") == Some(&Value::Bool(true));
    let kept = |(name, _): &(&String, &Value)| *name != "live";
    let copied = |(name, value): (&String, &Value)| (name.clone(), value.clone());
    is_live.then(|| members.iter().filter(kept).map(copied).collect())
}

impl Recorder {
    /// Stores and announces a server's question while its calls run. `false` if none of them runs:
    /// then it must not be asked.
    pub(super) async fn ask_live(
        &mut self,
        question: LiveQuestion,
    ) -> Result<bool, ConversationError> {
        let LiveQuestion { id, calls, payload } = question;
        let runs = |number: &CallNumber| {
            let call = self.calls.get(number);
            // The event that a queued call has its turn may come after its server's question.
            call.is_some_and(|call| {
                matches!(call.status, CallStatus::Invoking | CallStatus::Queued)
            })
        };
        let calls: BTreeSet<CallNumber> = calls.into_iter().filter(runs).collect();
        let Some(first) = calls.first() else {
            return Ok(false);
        };
        let kind = PendingKind::Elicitation;
        let mut row = Pending::new(self.conversation.id.clone(), kind, payload);
        row.id = id.clone();
        row.message_id = Some(self.answer.id.clone());
        row.call_id = Some(first.to_string());
        let mut changes = self.asked(&row);
        changes.push(Change::PutPending(row));
        self.live.insert(id.clone(), calls);
        changes.extend(self.waiting_updated());
        let stored = self.commit(changes).await;
        if stored.is_err() {
            self.live.remove(&id);
        }
        stored.map(|()| true)
    }

    /// Stores that such a question was answered or withdrawn. `false` if it is not open.
    pub(super) async fn settle_live(
        &mut self,
        id: &PendingId,
        answer: Option<Value>,
    ) -> Result<bool, ConversationError> {
        if self.live.remove(id).is_none() {
            return Ok(false);
        }
        let state = match answer {
            Some(_) => PendingState::Answered,
            None => PendingState::Withdrawn,
        };
        let mut changes = self.resolved(id);
        changes.push(settle(id.clone(), state, answer));
        changes.extend(self.waiting_updated());
        self.commit(changes).await.map(|()| true)
    }

    /// Withdraws the questions that only this finished call was waiting for.
    pub(super) fn call_ended(&mut self, number: CallNumber) -> Vec<Change> {
        let mut over = Vec::new();
        for (id, calls) in &mut self.live {
            if calls.remove(&number) && calls.is_empty() {
                over.push(id.clone());
            }
        }
        self.withdraw_live(over)
    }

    /// The answer is over.
    pub(super) fn all_ended(&mut self) -> Vec<Change> {
        let all = self.live.keys().cloned().collect();
        self.withdraw_live(all)
    }

    fn withdraw_live(&mut self, over: Vec<PendingId>) -> Vec<Change> {
        let mut changes = Vec::new();
        for id in over {
            self.live.remove(&id);
            changes.extend(self.resolved(&id));
            changes.push(settle(id, PendingState::Withdrawn, None));
        }
        if !changes.is_empty() {
            changes.extend(self.waiting_updated());
        }
        changes
    }

    /// A call waits for its turn at its server, or does not any more.
    pub(super) async fn queued(
        &mut self,
        number: CallNumber,
        queued: Option<&Queued>,
    ) -> Vec<Change> {
        let reason = match queued {
            Some(queued) => Some(self.in_words(queued).await),
            None => None,
        };
        let Some(call) = self.calls.get_mut(&number) else {
            return Vec::new();
        };
        // Only the latest report is kept: a call that left the queue at once never was queued here.
        let was_queued = call.status == CallStatus::Queued;
        if !was_queued && (call.status != CallStatus::Invoking || reason.is_none()) {
            return Vec::new();
        }
        (call.status, call.started_at) = match reason {
            Some(_) => (CallStatus::Queued, None),
            None => (CallStatus::Invoking, Some(Timestamp::now())),
        };
        call.queued = reason;
        let mut changes = vec![Change::PutToolCall(Box::new(call.clone()))];
        changes.extend(self.call_updated(number, None));
        changes
    }

    /// Why a call is queued, with the other conversation's title.
    async fn in_words(&self, queued: &Queued) -> String {
        let Some(id) = &queued.conversation else {
            return queued.to_string();
        };
        let id = ConversationId::new(id);
        match self.store.conversation(&self.user, &id).await {
            Ok(Some(row)) if !row.title.is_empty() => queued.in_words(&format!("“{}”", row.title)),
            _ => queued.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agent_loop::testing::ScriptedModel;
    use agent_loop::{
        Agent, CallContext, Invocation, Mode, Outcome, Policy, RunEvent, RunLimits, ToolInfo,
        Toolbox,
    };
    use async_trait::async_trait;
    use mcp_manager::QueueReason;

    use super::*;
    use crate::conversation::{DurableConversation, Model};
    use crate::store::{Conversation, Limits as StoreLimits, SqliteStore, Store, UserId};

    /// A tool whose call is queued, leaves the queue at once if so chosen, and is never answered.
    struct Queue {
        leaves: bool,
    }

    #[async_trait]
    impl Toolbox for Queue {
        async fn tools(&self) -> Arc<[ToolInfo]> {
            let schema = serde_json::from_str(r#"{"type":"object"}"#).unwrap();
            Arc::from([ToolInfo::new("files", "act", schema).with_fingerprint("1")])
        }

        async fn call(&self, _: Invocation, context: CallContext) -> Outcome {
            context.queued(Some(&Queued::new("files", QueueReason::Turn, None)));
            if self.leaves {
                context.queued(None);
            }
            std::future::pending().await
        }
    }

    fn question(id: &str, call: u64) -> LiveQuestion {
        LiveQuestion {
            id: PendingId::new(id),
            calls: BTreeSet::from([call.into()]),
            payload: json!({"live": true, "server": "files", "message": "Which?"}),
        }
    }

    #[tokio::test]
    async fn a_question_of_a_call_that_was_queued_is_asked_and_ends_once() {
        let store = SqliteStore::in_memory(StoreLimits::default())
            .await
            .unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let conversation = Conversation::new(UserId::local(), "");
        let mut durable = DurableConversation::begin(Arc::clone(&store), conversation, None);
        durable.govern(Policy::new(Mode::Auto), RunLimits::default());
        durable.ask("Go.").await.unwrap();
        let id = durable.conversation().id.clone();
        let model = ScriptedModel::new().calls([("act", json!({}))]);
        let agent = Agent::new(model)
            .with_model_name("scripted")
            .tools(Queue { leaves: false });
        let mut turn = durable.turn(
            &agent,
            Model {
                name: "scripted",
                servers: &[],
            },
        );
        let number = loop {
            if let RunEvent::Queued { number, .. } = turn.next().await.unwrap().unwrap() {
                break number.get();
            }
        };
        let call = turn.recorder().calls().next().unwrap();
        assert_eq!((call.status, call.started_at), (CallStatus::Queued, None));
        assert!(!turn.ask(question("none", number + 1)).await.unwrap());
        assert!(turn.ask(question("q", number)).await.unwrap());
        let open = store.open_questions(&id).await.unwrap();
        assert_eq!(open[0].call_id.as_deref(), Some(&*number.to_string()));
        let standing = store.standings(std::slice::from_ref(&id)).await.unwrap();
        assert_eq!((standing[0].waiting, standing[0].invoking), (1, 1));
        turn.cancel();
        while turn.next().await.unwrap().is_some() {}
        assert!(store.open_questions(&id).await.unwrap().is_empty());
        let q = PendingId::new("q");
        assert!(!turn.settle(&q, None).await.unwrap(), "it has ended");
        let row = store.question(&q).await.unwrap().unwrap();
        assert_eq!(row.state, PendingState::Withdrawn);
    }

    #[tokio::test]
    async fn a_call_that_leaves_the_queue_at_once_starts_once() {
        let store = SqliteStore::in_memory(StoreLimits::default())
            .await
            .unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let conversation = Conversation::new(UserId::local(), "");
        let mut durable = DurableConversation::begin(Arc::clone(&store), conversation, None);
        durable.govern(Policy::new(Mode::Auto), RunLimits::default());
        durable.ask("Go.").await.unwrap();
        let model = ScriptedModel::new().calls([("act", json!({}))]);
        let agent = Agent::new(model)
            .with_model_name("scripted")
            .tools(Queue { leaves: true });
        let mut turn = durable.turn(
            &agent,
            Model {
                name: "scripted",
                servers: &[],
            },
        );
        let mut started = None;
        loop {
            let event = turn.next().await.unwrap().unwrap();
            let call = turn.recorder().calls().next();
            started = started.or(call.and_then(|call| call.started_at));
            if matches!(event, RunEvent::Queued { queued: None, .. }) {
                break;
            }
        }
        let call = turn.recorder().calls().next().unwrap();
        assert_eq!(call.status, CallStatus::Invoking);
        assert!(started.is_some());
        assert_eq!(call.started_at, started, "announced as started again");
        turn.cancel();
        while turn.next().await.unwrap().is_some() {}
    }
}
