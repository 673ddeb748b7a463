//! Drives an answer to its end with the user at the console.

use std::collections::BTreeMap;

use agent_loop::{Agent, CallNumber, Reason, RunEvent};
use mcp_client::Parked;
use serde_json::json;

use crate::chat::console::{Asked, Console, Verdict};
use crate::out::Style;
use crate::session::{LiveQuestion, Model, SessionError, Talk, Turn};
use crate::store::PendingKind;

/// How an answer ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Ended {
    /// By itself, by a limit, or by Ctrl-C.
    Over(Reason),
    /// A second Ctrl-C: the user wants to leave.
    Quit,
    /// It waits for an answer that nobody will give now.
    Waiting,
}

/// Drives a conversation's answer to its end: shows what happens, asks what must be asked.
pub(crate) async fn drive(
    talk: &mut Talk,
    agent: &Agent,
    model: Model<'_>,
    console: &mut Console,
) -> Result<Ended, SessionError> {
    let mut parked: BTreeMap<CallNumber, Parked> = BTreeMap::new();
    for question in talk.open_questions().await? {
        let number = question.call_id.and_then(|id| id.parse::<u64>().ok());
        if let (Some(number), PendingKind::Elicitation) = (number, question.kind)
            && let Ok(value) = serde_json::from_value(question.payload)
        {
            parked.insert(number.into(), value);
        }
    }
    let mut turn = talk.turn(agent, model);
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

/// The next event; `Some(None)` if the user wants to leave. Servers' questions and Ctrl-C are
/// heard meanwhile.
async fn next(
    turn: &mut Turn<'_>,
    console: &mut Console,
    presses: &mut u32,
) -> Result<Option<Option<RunEvent>>, SessionError> {
    let handle = turn.handle();
    loop {
        let pressed = tokio::select! {
            biased;
            () = console.interrupts.next() => true,
            Some(notice) = console.notices.recv() => !console.notice(&notice),
            () = turn.ready() => return Ok(turn.next().await?.map(Some)),
            Some(asked) = console.questions.recv() => {
                elicit(turn, console, asked).await?;
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
        let text = "Stopping. Ctrl-C again ends the program.";
        console.screen.line(Style::Dim, text);
        handle.cancel();
    }
}

/// Asks what a server wants to know while its call runs: stored, and said whose question it is.
async fn elicit(
    turn: &mut Turn<'_>,
    console: &mut Console,
    asked: Asked,
) -> Result<(), SessionError> {
    let Some((_, question)) = LiveQuestion::of(&asked.0) else {
        console.elicit(asked, "").await;
        return Ok(());
    };
    let (id, calls) = (question.id.clone(), question.calls.clone());
    if !turn.ask(question).await? {
        // Its call is over: the server is told that by nobody answering.
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

/// Asks for everything that an answer waits for.
async fn wait(
    turn: &mut Turn<'_>,
    console: &mut Console,
    numbers: &[CallNumber],
    parked: &BTreeMap<CallNumber, Parked>,
) -> Result<Verdict, SessionError> {
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
            // A yes to one may have answered for another.
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
                Err(SessionError::Answer(error)) => problem = Some(error.to_string()),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(last)
}
