//! The task of a conversation.

use std::collections::VecDeque;
use std::sync::Arc;

use agent_loop::RunEvent;
use axum::http::StatusCode;
use tokio::sync::mpsc;

use crate::exit::Failure;
use crate::serve::app;
use crate::serve::error::ApiError;
use crate::serve::fleet::Equipment;
use crate::serve::runs::Shared;
use crate::serve::runs::order::{Order, Reply, Said};
use crate::serve::runs::prepare::Plan;
use crate::serve::runs::supply::supply;
use crate::session::{Model, SessionError, Talk, Turn};
use crate::store::{ConversationId, UserId};

/// Does what is ordered, drives what there is to drive, and ends when there is nothing to do.
pub(super) async fn work(
    shared: Arc<Shared>,
    user: UserId,
    id: ConversationId,
    mut orders: mpsc::Receiver<Order>,
) {
    // It is never closed.
    let _turn = shared.gate.acquire().await;
    let loaded = Talk::load_watched(Arc::clone(&shared.store), &user, &id).await;
    let mut task = match loaded {
        Ok(talk) => Task {
            shared: Arc::clone(&shared),
            user,
            talk,
        },
        Err(error) => {
            let error = ApiError::from(error);
            while let Some(order) = shared.next(&id, &mut orders) {
                order.refuse(error.clone());
            }
            return;
        }
    };
    while let Some(order) = shared.next(&id, &mut orders) {
        if let Err(error) = task.obey(order, &mut orders).await {
            // What is in memory is not what is stored: whoever comes next loads it again.
            task.rescue(&error).await;
            while let Some(order) = shared.next(&id, &mut orders) {
                order.refuse(error.clone());
            }
            return;
        }
    }
}

struct Task {
    shared: Arc<Shared>,
    user: UserId,
    talk: Talk,
}

impl Task {
    /// Does what is ordered while nothing is driven. An error means that the conversation must be
    /// loaded again.
    async fn obey(
        &mut self,
        order: Order,
        orders: &mut mpsc::Receiver<Order>,
    ) -> Result<(), ApiError> {
        match order {
            Order::Say { content, reply } => self.say(&content, reply, orders).await,
            Order::Confirm { .. } | Order::Supply { .. } => {
                if !self.talk.is_open() {
                    let message = "nothing waits for an answer any more";
                    order.refuse(ApiError::conflict("already_answered", message));
                    return Ok(());
                }
                self.drive(VecDeque::from([order]), orders).await
            }
            Order::Ask { .. } | Order::Settle { .. } | Order::Notice { .. } => {
                let message = "no call runs in this conversation any more";
                order.refuse(ApiError::conflict("already_answered", message));
                Ok(())
            }
            Order::Cancel { reply } => {
                let ended = match self.talk.is_open() {
                    true => self.talk.cancel().await,
                    false => Ok(()),
                };
                answer(reply, ended)
            }
            Order::Continue { reply } => {
                if let Some(error) = self.cannot_continue() {
                    let _ = reply.send(Err(error));
                    return Ok(());
                }
                let begun = self.talk.proceed().await;
                if begun.is_err() {
                    return answer(reply, begun);
                }
                let _ = reply.send(Ok(()));
                self.drive(VecDeque::new(), orders).await
            }
            Order::Edit { edit, reply } => {
                let edited = self.talk.edit(|row| edit.make(row)).await;
                let row = self.talk.conversation().clone();
                answer(reply, edited.map(|()| Box::new(row)))
            }
            Order::Recover { reply } => {
                let ended = match self.talk.is_cut_off() {
                    true => self.talk.interrupt().await,
                    false => Ok(()),
                };
                answer(reply, ended)
            }
        }
    }

    async fn say(
        &mut self,
        content: &str,
        reply: Reply<Box<Said>>,
        orders: &mut mpsc::Receiver<Order>,
    ) -> Result<(), ApiError> {
        if self.talk.is_open() && self.talk.ledger().waiting() > 0 {
            let _ = reply.send(Err(running()));
            return Ok(());
        }
        let planned = self.plan().await;
        let plan = match planned {
            Ok(plan) => plan,
            Err(failure) => {
                let _ = reply.send(Err(failure.into()));
                return Ok(());
            }
        };
        let system = plan.assistant.as_ref().and_then(|it| it.system.clone());
        self.talk.instruct(system.as_deref());
        self.talk.remember(|row| plan.remember(row));
        let said = match self.talk.ask(content).await {
            Ok(said) => said,
            Err(error) => return answer(reply, Err(error)),
        };
        let ledger = self.talk.ledger();
        let (begun, run) = (ledger.answer().clone(), ledger.run_id().clone());
        let said = Said {
            said,
            answer: begun,
            run,
        };
        let _ = reply.send(Ok(Box::new(said)));
        self.drive_with(plan, VecDeque::new(), orders).await
    }

    fn cannot_continue(&self) -> Option<ApiError> {
        if self.talk.run().conversation().turns().is_empty() {
            return Some(ApiError::conflict(
                "nothing_to_continue",
                "nothing was said yet",
            ));
        }
        (self.talk.ledger().waiting() > 0).then(running)
    }

    async fn plan(&self) -> Result<Plan, Failure> {
        Plan::make(&self.shared, &self.user, self.talk.conversation()).await
    }

    /// Drives the answer until it is over or waits for people.
    async fn drive(
        &mut self,
        first: VecDeque<Order>,
        orders: &mut mpsc::Receiver<Order>,
    ) -> Result<(), ApiError> {
        match self.plan().await {
            Ok(plan) => self.drive_with(plan, first, orders).await,
            Err(failure) => self.fail(failure, first).await,
        }
    }

    async fn drive_with(
        &mut self,
        plan: Plan,
        first: VecDeque<Order>,
        orders: &mut mpsc::Receiver<Order>,
    ) -> Result<(), ApiError> {
        let shared = Arc::clone(&self.shared);
        let conversation = self.talk.conversation().clone();
        let equipment = match plan.equip(&shared).await {
            Ok(equipment) => equipment,
            Err(failure) => return self.fail(failure, first).await,
        };
        if let Some(server) = self.absent(&equipment, &first).await {
            // The question stays: the server may come back.
            let message = format!("{server} cannot be reached now, so its tool cannot be run");
            let error = ApiError::new(StatusCode::BAD_GATEWAY, "unreachable", message)
                .with_hint("Try again when it is connected, or deny the call.");
            refuse(first, error);
            return Ok(());
        }
        let agent = match plan.agent(&shared, &equipment, &conversation).await {
            Ok(agent) => agent,
            Err(failure) => return self.fail(failure, first).await,
        };
        let servers = &equipment.servers;
        let governance = plan.governance(&shared, servers, &conversation).await;
        let (policy, limits) = match governance {
            Ok(governance) => governance,
            Err(error) => return Err(refuse(first, error.into())),
        };
        self.talk.govern(policy, limits);
        let name = plan.choice.name();
        let model = Model {
            name: &name,
            servers,
        };
        let mut turn = self.talk.turn(&agent, model);
        for notice in &equipment.notices {
            if let Err(error) = turn.notice(notice).await {
                return Err(refuse(first, error.into()));
            }
        }
        let mut driving = Driving {
            shared: &shared,
            turn,
            first,
            stops: Vec::new(),
        };
        let driven = driving.drive(orders).await;
        driving.end(&driven);
        driven
    }

    /// A server that is to run a call now and offers nothing at all.
    async fn absent(&self, equipment: &Equipment, first: &VecDeque<Order>) -> Option<String> {
        let approved: Vec<_> = first.iter().filter_map(Order::approves).collect();
        let tools = equipment.tools.tools().await;
        let waiting = self.talk.run().approvals().into_iter();
        waiting
            .filter(|it| approved.contains(&it.record.number))
            .filter(|it| !it.is_built_in())
            .map(|it| it.record.server_name)
            .find(|server| !tools.iter().any(|tool| tool.server == *server))
    }

    /// An answer whose next step could not be stored is over, unless somebody else drives it.
    async fn rescue(self, error: &ApiError) {
        if error.is_overtaken() {
            return;
        }
        let (store, id) = (&self.shared.store, &self.talk.conversation().id);
        let loaded = Talk::load_watched(Arc::clone(store), &self.user, id).await;
        if let Ok(mut talk) = loaded
            && talk.is_cut_off()
        {
            // If that cannot be stored either, the next start sees to it.
            let _ = talk.fail(error.to_string()).await;
        }
    }

    /// The model cannot be asked: orders that wait for that are refused, and an answer that waits
    /// for nobody is over.
    async fn fail(&mut self, failure: Failure, first: VecDeque<Order>) -> Result<(), ApiError> {
        let message = failure.chain();
        let error = ApiError::from(failure);
        if self.talk.is_cut_off() {
            self.talk.fail(message).await?;
        }
        refuse(first, error);
        Ok(())
    }
}

/// An answer that is driven.
struct Driving<'t> {
    shared: &'t Shared,
    turn: Turn<'t>,
    /// Orders that came before it was driven.
    first: VecDeque<Order>,
    /// Who wants to know that it has stopped.
    stops: Vec<Reply<()>>,
}

impl Driving<'_> {
    async fn drive(&mut self, orders: &mut mpsc::Receiver<Order>) -> Result<(), ApiError> {
        let mut closing = self.shared.closing.clone();
        // Answers can be taken once the tools are known: with the first event they are.
        let (mut begun, mut waits, mut closed) = (false, false, false);
        loop {
            if waits && self.first.is_empty() && orders.is_empty() {
                return Ok(());
            }
            tokio::select! {
                biased;
                // What happened before an order is stored and announced before it.
                order = next(&mut self.first, orders), if begun && !self.turn.has_queued() => {
                    // What an order shows to be different now is stored and announced as well.
                    waits &= !self.obey(order).await? && !self.turn.has_queued();
                    continue;
                }
                () = app::closed(&mut closing), if !closed => {
                    // A question may wait for the next start; what runs may not.
                    if waits {
                        return Ok(());
                    }
                    closed = true;
                    self.turn.cancel();
                    continue;
                }
                () = self.turn.ready() => {}
            }
            begun = true;
            match self.turn.next().await? {
                None | Some(RunEvent::Done { .. }) => return Ok(()),
                Some(RunEvent::Waiting { .. }) => waits = true,
                Some(_) => {}
            }
        }
    }

    /// Does what is ordered meanwhile. True if something may happen because of it.
    async fn obey(&mut self, order: Order) -> Result<bool, ApiError> {
        match order {
            Order::Confirm { confirm, reply } => {
                let given = confirm.give(&mut self.turn).await;
                tell(reply, given)
            }
            Order::Supply {
                question,
                result,
                reply,
            } => {
                let store = &*self.shared.store;
                let given = supply(&mut self.turn, store, &question, *result).await;
                let goes_on = !matches!(given, Ok(false));
                Ok(tell(reply, given.map(drop))? && goes_on)
            }
            Order::Ask { question, reply } => {
                let asked = self.turn.ask(*question).await;
                tell(reply, counts(asked)).map(|_| false)
            }
            Order::Settle {
                question,
                answer,
                reply,
            } => {
                let settled = self.turn.settle(&question, answer).await;
                tell(reply, counts(settled)).map(|_| false)
            }
            Order::Notice { message, reply } => {
                let told = self.turn.notice(&message).await;
                tell(reply, told.map_err(ApiError::from)).map(|_| false)
            }
            Order::Cancel { reply } => {
                self.turn.cancel();
                self.stops.push(reply);
                Ok(true)
            }
            Order::Edit { edit, reply } => {
                let edited = self.turn.edit(|row| edit.make(row)).await;
                let row = self.turn.ledger().conversation().clone();
                let edited = edited.map(|()| Box::new(row));
                tell(reply, edited.map_err(ApiError::from))?;
                Ok(false)
            }
            Order::Recover { reply } => {
                let _ = reply.send(Ok(()));
                Ok(false)
            }
            order @ (Order::Say { .. } | Order::Continue { .. }) => {
                order.refuse(running());
                Ok(false)
            }
        }
    }

    fn end(self, driven: &Result<(), ApiError>) {
        for reply in self.stops {
            let _ = reply.send(driven.clone());
        }
        let over = || ApiError::conflict("overtaken", "the conversation was moved on elsewhere");
        let error = driven.as_ref().err().cloned().unwrap_or_else(over);
        refuse(self.first, error);
    }
}

/// Orders that came early, then those that come. Cancel safe.
async fn next(first: &mut VecDeque<Order>, orders: &mut mpsc::Receiver<Order>) -> Order {
    if let Some(order) = first.pop_front() {
        return order;
    }
    match orders.recv().await {
        Some(order) => order,
        // Whoever could give orders has gone: there will be none.
        None => std::future::pending().await,
    }
}

/// Passes on what came of an answer: whether it counts. An error means that what is in memory is
/// no longer what is stored.
fn tell<T>(reply: Reply<T>, given: Result<T, ApiError>) -> Result<bool, ApiError> {
    let told = match &given {
        Err(error) if error.is_overtaken() || error.status.is_server_error() => Err(error.clone()),
        given => Ok(given.is_ok()),
    };
    let _ = reply.send(given);
    told
}

fn answer<T>(reply: Reply<T>, done: Result<T, SessionError>) -> Result<(), ApiError> {
    match done {
        Ok(done) => {
            // Whoever asked may have gone away.
            let _ = reply.send(Ok(done));
            Ok(())
        }
        Err(error) => {
            let error = ApiError::from(error);
            let _ = reply.send(Err(error.clone()));
            Err(error)
        }
    }
}

/// Orders that are not done, for this reason.
fn refuse(orders: VecDeque<Order>, error: ApiError) -> ApiError {
    orders
        .into_iter()
        .for_each(|order| order.refuse(error.clone()));
    error
}

/// Whether a question was still there to be asked or settled.
fn counts(done: Result<bool, SessionError>) -> Result<(), ApiError> {
    match done? {
        true => Ok(()),
        false => Err(answered()),
    }
}

fn answered() -> ApiError {
    ApiError::conflict("already_answered", "this question was answered already")
}

fn running() -> ApiError {
    let message = "an answer is under way";
    ApiError::conflict("running", message)
        .with_hint("Wait for it, answer what it asks, or cancel it.")
}
