//! Requests to a conversation that another process may drive.
//!
//! A request is done here if this process drives the conversation or can take it up. Otherwise it is
//! stored as a command to the process that drives it, which answers through the store as well. If
//! that one dies or lets go of the conversation, the request is tried again: each of them can be
//! repeated without harm, since answers name what they answer.

use std::time::Duration;

use mcp_jsonrpc::model::{ElicitAction, ElicitResult};
use mcp_manager::Ask;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout};

use crate::serve::app::{App, closed};
use crate::serve::error::ApiError;
use crate::serve::questions::Questions;
use crate::serve::runs::command::{Command, Edit};
use crate::serve::runs::confirm::Confirm;
use crate::serve::runs::supply::check;
use crate::serve::runs::{Runs, SWEEP};
use crate::store::{Cluster, ConversationId, PendingId, RemoteCommand, StoreError, UserId};

/// How often a request is tried while the conversation moves between processes.
const ATTEMPTS: usize = 5;
/// How long the other process may take.
const ANSWER_TIME: Duration = Duration::from_secs(20);
/// How long its answer may take once it has let go of the conversation, if it lives.
const LAST_WORD: Duration = Duration::from_secs(1);
/// How long to wait between two looks for the answer, if no wake-up arrives.
const LOOK: Duration = Duration::from_millis(200);
/// How many commands of other processes are handled at a time.
const MAX_COMMANDS: usize = 64;

/// What may be asked of a conversation, wherever it is driven.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Request {
    /// Answers an approval.
    Confirm(Box<Confirm>),
    /// Answers a server's question about a parked call.
    Supply(PendingId, Filled),
    /// Answers a server's question while its call runs.
    Answer(PendingId, Filled),
    /// Stops the answer.
    Cancel,
    /// Changes the conversation itself.
    Edit(Edit),
}

/// What a user did with a server's question.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Filled {
    pub(crate) action: Action,
    pub(crate) content: Option<Map<String, Value>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    Accept,
    Decline,
    Cancel,
}

impl From<Filled> for ElicitResult {
    fn from(filled: Filled) -> Self {
        let mut result = Self::new(match filled.action {
            Action::Accept => ElicitAction::Accept,
            Action::Decline => ElicitAction::Decline,
            Action::Cancel => ElicitAction::Cancel,
        });
        result.content = filled.content;
        result
    }
}

impl Runs {
    /// Does a request, wherever the conversation is driven. Returns what a confirmed call is then.
    pub(crate) async fn request(
        &self,
        user: &UserId,
        conversation: &ConversationId,
        request: &Request,
    ) -> Result<Value, ApiError> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let elsewhere = match self.perform(user, conversation, request.clone()).await {
                Err(error) if error.is_elsewhere() => error,
                done => return done,
            };
            let Some(cluster) = self.shared.store.cluster() else {
                return Err(elsewhere);
            };
            let (of, body) = ((user.clone(), conversation.clone()), body(request)?);
            match self.ask_driver(cluster, of, body).await? {
                Some(Err(error)) if error.is_elsewhere() => {}
                Some(answer) => return answer,
                None => {}
            }
            last = Some(elsewhere);
        }
        Err(last.unwrap_or_else(|| StoreError::Busy.into()))
    }

    /// Does a request here.
    async fn perform(
        &self,
        user: &UserId,
        conversation: &ConversationId,
        request: Request,
    ) -> Result<Value, ApiError> {
        match request {
            Request::Confirm(confirm) => {
                let command = |reply| Command::Confirm { confirm, reply };
                self.send(user, conversation, command).await
            }
            Request::Supply(question, filled) => {
                let result = Box::new(filled.into());
                let command = |reply| Command::Supply {
                    question,
                    result,
                    reply,
                };
                let supplied = self.send(user, conversation, command).await;
                supplied.map(|()| Value::Null)
            }
            // Its call runs in one process, which keeps the conversation for as long.
            Request::Answer(question, filled) => match self.shared.questions.get() {
                Some(questions) => answer(questions, user, &question, filled).await,
                None => Err(StoreError::Closed.into()),
            },
            Request::Cancel => {
                let command = |reply| Command::Cancel { reply };
                let stopped = self.send(user, conversation, command).await;
                stopped.map(|()| Value::Null)
            }
            Request::Edit(edit) => {
                let command = |reply| Command::Edit { edit, reply };
                let edited = self.send(user, conversation, command).await;
                edited.map(|_| Value::Null)
            }
        }
    }

    /// Asks the process that drives a conversation; `None` if it does not any more.
    async fn ask_driver(
        &self,
        cluster: &dyn Cluster,
        of: (UserId, ConversationId),
        body: String,
    ) -> Result<Option<Result<Value, ApiError>>, ApiError> {
        let own = self.shared.store.holder();
        let conversation = of.1.clone();
        let driver = cluster.driver(&conversation).await?;
        let Some(driver) = driver.filter(|driver| driver != own) else {
            return Ok(None);
        };
        let command = RemoteCommand::new(of, (own.clone(), driver.clone()), body);
        let mut mail = cluster.mail();
        self.shared.metrics.sent();
        cluster.send(&command).await?;
        let mut until = Instant::now() + ANSWER_TIME;
        let mut drives = true;
        let answer = loop {
            if let Some(answer) = cluster.answer_to(&command.id).await? {
                break Some(answer);
            }
            let now = Instant::now();
            if now >= until {
                break None;
            }
            if drives && cluster.driver(&conversation).await?.as_ref() != Some(&driver) {
                if cluster.withdraw(&command.id).await? {
                    return Ok(None);
                }
                // It may have answered before it died, and says nothing more.
                let over = cluster.is_over(&driver).await?;
                drives = false;
                until = match over {
                    true => now,
                    false => until.min(now + LAST_WORD),
                };
                continue;
            }
            let _ = timeout(LOOK, mail.changed()).await;
        };
        cluster.forget(&command.id).await?;
        let answer: Option<Answered> =
            answer
                .map(|text| serde_json::from_str(&text))
                .transpose()
                .map_err(|error| ApiError::from(StoreError::Failed(error.into())))?;
        Ok(answer.map(|answered| match answered {
            Answered::Done(value) => Ok(value),
            Answered::Failed(error) => Err(error),
        }))
    }
}

/// What comes back.
#[derive(Deserialize, Serialize)]
enum Answered {
    Done(Value),
    Failed(ApiError),
}

fn body<T: Serialize>(value: &T) -> Result<String, ApiError> {
    serde_json::to_string(value).map_err(|error| StoreError::Failed(error.into()).into())
}

/// Answers a question while its call runs here.
async fn answer(
    questions: &Questions,
    user: &UserId,
    id: &PendingId,
    filled: Filled,
) -> Result<Value, ApiError> {
    let Some((_, ask)) = questions.find(user, id) else {
        let message = "this question is asked by another program that uses the same database";
        let error = ApiError::conflict("asked_elsewhere", message);
        return Err(error.with_hint("Answer it there."));
    };
    let form = match &ask {
        Ask::Form(form) => Some(&form.requested_schema),
        _ => None,
    };
    let result = check(form, filled.into())?;
    questions.answer(user, id, result).await?;
    Ok(Value::Null)
}

/// Does what other processes ask of this one, until the program ends: while its last calls run, their
/// questions are still answered.
pub(crate) async fn receive(app: App) {
    let mut closing = app.closing.clone();
    let Some(cluster) = app.store.cluster() else {
        return;
    };
    let mut mail = cluster.mail();
    let mut tasks = tokio::task::JoinSet::new();
    loop {
        let is_closing = *closing.borrow();
        if is_closing && app.runs.active() == 0 {
            break;
        }
        tokio::select! {
            () = closed(&mut closing), if !is_closing => {}
            _ = timeout(SWEEP, mail.changed()), if tasks.len() < MAX_COMMANDS => {}
            Some(_) = tasks.join_next() => continue,
        }
        let taken = match cluster.take().await {
            Err(StoreError::Closed) => break,
            // If the store fails now, it may work the next time.
            taken => taken.unwrap_or_default(),
        };
        for command in taken {
            tasks.spawn(obey(app.clone(), command));
        }
    }
    while tasks.join_next().await.is_some() {}
}

/// Does what another process asks, and answers.
async fn obey(app: App, command: RemoteCommand) {
    app.metrics.received();
    let (user, conversation) = (&command.user, &command.conversation);
    let done = match serde_json::from_str::<Request>(&command.body) {
        Ok(request) => app.runs.perform(user, conversation, request).await,
        Err(_) => Err(ApiError::bad_request(
            "another version of the program asks something unknown",
        )),
    };
    let answered = match done {
        // Whoever asked does it itself once this process has let go of the conversation.
        Err(error) if error.is_closing() => return,
        Ok(value) => Answered::Done(value),
        Err(error) => Answered::Failed(error),
    };
    if let (Some(cluster), Ok(answer)) = (app.store.cluster(), body(&answered)) {
        // Whoever asked tries again.
        let _ = cluster.answer(&command, &answer).await;
    }
}
