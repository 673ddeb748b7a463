//! Drives an answer to its end with the user at the console.

use std::collections::BTreeMap;
use std::time::Duration;

use agent_loop::{Agent, CallNumber, Reason, RunEvent};
use mcp_client::Parked;
use serde_json::json;
use tokio::time::MissedTickBehavior;

use crate::chat::console::{Asked, Console, Verdict};
use crate::conversation::{ConversationError, DurableConversation, LiveQuestion, Model, Turn};
use crate::display::out::Style;
use crate::lang::t;
use crate::store::PendingKind;

/// How often the time that passes is shown.
const TICK: Duration = Duration::from_millis(120);

/// How an answer ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Ended {
    /// By itself, by a limit, or by Ctrl-C.
    Over(Reason),
    /// A second Ctrl-C: the user wants to leave.
    Quit,
    /// It waits for an answer that cannot be given here.
    Waiting,
}

/// Drives a conversation's answer to its end: shows events and asks questions.
pub(crate) async fn drive(
    durable: &mut DurableConversation,
    agent: &Agent,
    model: Model<'_>,
    console: &mut Console,
) -> Result<Ended, ConversationError> {
    let mut parked: BTreeMap<CallNumber, Parked> = BTreeMap::new();
    for question in durable.open_questions().await? {
        let number = question.call_id.and_then(|id| id.parse::<u64>().ok());
        if let (Some(number), PendingKind::Elicitation) = (number, question.kind)
            && let Ok(value) = serde_json::from_value(question.payload)
        {
            parked.insert(number.into(), value);
        }
    }
    let mut turn = durable.turn(agent, model);
    let mut presses = 0;
    loop {
        let Some(event) = next(&mut turn, console, &mut presses).await? else {
            return Ok(Ended::Over(Reason::Finished));
        };
        let Some(event) = event else {
            return Ok(Ended::Quit);
        };
        console.screen.event(&event);
        match event {
            RunEvent::Elicitation { number, parked: it } => {
                parked.insert(number, *it);
            }
            RunEvent::Waiting { numbers } => {
                match wait(&mut turn, console, &numbers, &parked).await? {
                    Verdict::Decided(_) => {}
                    Verdict::Stop => {
                        presses += 1;
                        turn.cancel();
                    }
                    Verdict::End => return Ok(Ended::Waiting),
                }
            }
            RunEvent::Done { reason } => return Ok(Ended::Over(reason)),
            _ => {}
        }
    }
}

/// The next event; `Some(None)` if the user wants to leave. Handles servers' questions and Ctrl-C
/// meanwhile.
async fn next(
    turn: &mut Turn<'_>,
    console: &mut Console,
    presses: &mut u32,
) -> Result<Option<Option<RunEvent>>, ConversationError> {
    let handle = turn.handle();
    let mut clock = tokio::time::interval(TICK);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let pressed = tokio::select! {
            biased;
            () = console.interrupts.next() => true,
            Some(notice) = console.notices.recv() => !console.notice(&notice),
            Some(text) = console.retries.recv() => {
                console.screen.line(Style::Dim, &text);
                false
            }
            () = turn.ready() => return Ok(turn.next().await?.map(Some)),
            Some(asked) = console.questions.recv() => {
                elicit(turn, console, asked).await?;
                false
            }
            _ = clock.tick() => {
                console.screen.tick();
                false
            }
        };
        if !pressed {
            continue;
        }
        *presses += 1;
        if *presses > 1 {
            return Ok(Some(None));
        }
        let text = t!("Stopping. Ctrl-C again ends the program.");
        console.screen.line(Style::Dim, &text);
        handle.cancel();
    }
}

/// Asks a server's question while its call runs: it is stored first, and shown with the name of the
/// server.
async fn elicit(
    turn: &mut Turn<'_>,
    console: &mut Console,
    asked: Asked,
) -> Result<(), ConversationError> {
    let Some((_, question)) = LiveQuestion::of(&asked.0) else {
        // It is of a kind that is not known here: the reply channel is dropped.
        return Ok(());
    };
    let (id, calls) = (question.id.clone(), question.calls.clone());
    if !turn.ask(question).await? {
        // Its call is over, so the reply channel is dropped.
        return Ok(());
    }
    let records = turn.run().records();
    let tools = records.iter().filter(|it| calls.contains(&it.number));
    let tools: Vec<&str> = tools.map(|it| it.tool_name.as_str()).collect();
    let action = console.elicit(asked, &tools.join(" or ")).await;
    turn.settle(&id, action.map(|action| json!({ "action": action })))
        .await
        .map(drop)
}

/// Asks every question that the answer waits for.
async fn wait(
    turn: &mut Turn<'_>,
    console: &mut Console,
    numbers: &[CallNumber],
    parked: &BTreeMap<CallNumber, Parked>,
) -> Result<Verdict, ConversationError> {
    let mut last = Verdict::End;
    for number in numbers {
        if let Some(parked) = parked.get(number) {
            let answers = console.supply(parked).await;
            turn.supply(*number, answers).await?;
            last = Verdict::Decided(Box::new(agent_loop::Answer::Once.into()));
            continue;
        }
        let mut problem: Option<String> = None;
        loop {
            // A lasting approval may have answered another question.
            let open = turn.run().approvals();
            let Some(approval) = open.iter().find(|open| open.record.number == *number) else {
                break;
            };
            last = console.approve(approval, problem.as_deref()).await;
            let Verdict::Decided(decision) = &last else {
                return Ok(last);
            };
            match turn.answer(&approval.consent(), (**decision).clone()).await {
                Ok(()) => break,
                Err(ConversationError::Answer(error)) => problem = Some(error.to_string()),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(last)
}
