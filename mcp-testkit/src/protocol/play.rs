//! Plays a tool's steps and returns its result.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::session::Session;
use super::task::Task;
use super::world::Change;
use super::{Out, dialect, notification};
use crate::Refusal;
use crate::script::{Ask, Called, Step, Tool};

/// One call in progress.
pub(super) struct Play<'a> {
    pub(super) session: &'a Session,
    pub(super) request: &'a Value,
    pub(super) out: &'a Out,
    pub(super) way: Way<'a>,
}

/// The way the client is asked.
#[derive(Clone, Copy)]
pub(super) enum Way<'a> {
    /// With the server's own requests.
    Requests,
    /// With `input_required` results.
    Rounds,
    /// With the task's input requests.
    Task(&'a Task),
}

impl Play<'_> {
    pub(super) async fn run(&self, tool: &Tool) -> Result<Value, Refusal> {
        let params = self.request.get("params").cloned().unwrap_or_default();
        let arguments = params
            .get("arguments")
            .cloned()
            .unwrap_or_else(|| json!({}));
        let (mut at, mut answers) = match self.way {
            Way::Rounds => resume(&params)?,
            Way::Requests | Way::Task(_) => (0, Map::new()),
        };
        while let Some(step) = tool.steps.get(at) {
            if let (Step::Ask(_), Way::Rounds) = (step, self.way) {
                let asks = asks_from(tool, at);
                let missing: Vec<&Ask> = asks
                    .iter()
                    .copied()
                    .filter(|ask| !answers.contains_key(&ask.key))
                    .collect();
                if !missing.is_empty() {
                    return self.input_required(&missing, at, &answers);
                }
                at += asks.len();
                continue;
            }
            match step {
                Step::Ask(ask) => match self.ask(ask).await {
                    Some(answer) => {
                        answers.insert(ask.key.clone(), answer);
                    }
                    None => return Ok(incapable(ask)),
                },
                step => self.step(step, &arguments).await,
            }
            at += 1;
        }
        tool.answer(&Called {
            arguments: &arguments,
            answers: &answers,
        })
    }

    async fn step(&self, step: &Step, arguments: &Value) {
        match step {
            Step::Progress {
                progress,
                total,
                message,
            } => {
                if let Some(token) = dialect::meta(self.request, "progressToken") {
                    let mut params = json!({"progressToken": token, "progress": progress});
                    insert(&mut params, "total", total.map(Value::from));
                    insert(&mut params, "message", message.clone().map(Value::from));
                    self.tell("notifications/progress", params).await;
                }
            }
            Step::ProgressForEver(every) => {
                let token = dialect::meta(self.request, "progressToken");
                let token = token.cloned().unwrap_or_else(|| "no-token".into());
                for progress in 1_u64.. {
                    let params = json!({"progressToken": token, "progress": progress});
                    self.tell("notifications/progress", params).await;
                    sleep(*every).await;
                }
            }
            Step::Log { level, data } => {
                if self.session.wants_log(self.request, level) {
                    let params = json!({"level": level, "logger": "mcp-testkit", "data": data});
                    self.tell("notifications/message", params).await;
                }
            }
            Step::Pause(time) => sleep(*time).await,
            Step::PauseArgument { name, default } => {
                let given = arguments.get(name).and_then(Value::as_u64);
                sleep(given.map_or(*default, Duration::from_millis)).await;
            }
            Step::Hang => std::future::pending().await,
            Step::Edit(edit) => self
                .session
                .world
                .edit(|script| edit.apply(script, arguments)),
            Step::Exit(status) => {
                self.session.world.exit(*status);
                std::future::pending().await
            }
            Step::ToolsChanged => self.session.world.announce(Change::List("tools")),
            Step::ResourceUpdated(uri) => self.session.world.announce(Change::Resource(uri)),
            Step::Ask(_) => {}
        }
    }

    async fn tell(&self, method: &str, params: Value) {
        self.out.send(&notification(method, params)).await;
    }

    /// The result or error of the response; `None` if the client does not support the question.
    async fn ask(&self, ask: &Ask) -> Option<Value> {
        if let Way::Task(task) = self.way {
            return Some(task.ask(&self.session.world, ask).await);
        }
        if ask
            .capability()
            .is_some_and(|needed| !self.session.can(needed))
        {
            return None;
        }
        let answer = self.session.ask(self.out, &ask.method, &ask.params).await;
        Some(match answer.get("result") {
            Some(result) => result.clone(),
            None => json!({"error": answer.get("error")}),
        })
    }

    fn input_required(
        &self,
        asks: &[&Ask],
        at: usize,
        answers: &Map<String, Value>,
    ) -> Result<Value, Refusal> {
        let capabilities = dialect::client_capabilities(self.request);
        for needed in asks.iter().filter_map(|ask| ask.capability()) {
            if capabilities.get(needed).is_none() {
                return Err(Refusal::new(-32021, "Missing required client capability")
                    .with_data(json!({"requiredCapabilities": {needed: {}}})));
            }
        }
        let requests: Map<String, Value> = asks
            .iter()
            .map(|ask| (ask.key.clone(), input_request(ask)))
            .collect();
        let state = json!({"at": at, "answers": answers}).to_string();
        Ok(json!({
            "resultType": "input_required",
            "inputRequests": requests,
            "requestState": format!("{state}#{:016x}", checksum(&state)),
        }))
    }
}

/// A question in the form of modern results, without the members that only 2025-11-25 has.
pub(super) fn input_request(ask: &Ask) -> Value {
    let mut params = ask.params.clone();
    if let Some(members) = params.as_object_mut() {
        members.shift_remove("elicitationId");
    }
    json!({"method": ask.method, "params": params})
}

/// The step at which an earlier round stopped, with all answers since the first.
fn resume(params: &Value) -> Result<(usize, Map<String, Value>), Refusal> {
    let (mut at, mut answers) = (0, Map::new());
    if let Some(state) = params.get("requestState") {
        let state = state.as_str().and_then(|state| {
            let (state, sum) = state.rsplit_once('#')?;
            (format!("{:016x}", checksum(state)) == sum).then_some(state)
        });
        let Some(state) = state.and_then(|state| serde_json::from_str::<Value>(state).ok()) else {
            return Err(Refusal::new(
                -32602,
                "requestState is not the one that was given",
            ));
        };
        at = state
            .get("at")
            .and_then(Value::as_u64)
            .and_then(|at| usize::try_from(at).ok())
            .unwrap_or(0);
        if let Some(Value::Object(earlier)) = state.get("answers") {
            answers.clone_from(earlier);
        }
    }
    if let Some(Value::Object(new)) = params.get("inputResponses") {
        answers.extend(
            new.iter()
                .map(|(key, answer)| (key.clone(), answer.clone())),
        );
    }
    Ok((at, answers))
}

/// The consecutive questions from this step on: one round asks them all.
fn asks_from(tool: &Tool, at: usize) -> Vec<&Ask> {
    let rest = tool.steps.iter().skip(at);
    rest.map_while(|step| match step {
        Step::Ask(ask) => Some(ask),
        _ => None,
    })
    .collect()
}

/// The result of a well-behaved server for a client that cannot be asked.
fn incapable(ask: &Ask) -> Value {
    let text = format!(
        "this client does not offer {}",
        ask.capability().unwrap_or_default()
    );
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

fn insert(params: &mut Value, name: &str, value: Option<Value>) {
    if let (Some(members), Some(value)) = (params.as_object_mut(), value) {
        members.insert(name.to_owned(), value);
    }
}

/// FNV-1a: sufficient to detect a modified state.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
