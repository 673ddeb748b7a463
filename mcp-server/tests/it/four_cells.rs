//! Our client and our server in every pair of eras: whatever handlers do and callers drop, every
//! request ends in exactly one outcome, and nothing is left running.

use std::time::Duration;

use mcp_client::{CallError, Client, EraMode};
use mcp_jsonrpc::ErrorCode;
use mcp_jsonrpc::model::experimental_task::{TaskSupport, ToolExecution};
use mcp_server::{Context, Eras, Error, Roots, Service};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kit::{
    Alive, MODERN, Obliging, any, everything, listen, name_form, server, text, until,
};

/// What a handler does, as the call's arguments say.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Return,
    Fail,
    Refuse,
    Panic,
    Ask,
    AskTwice,
    AskAtOnce,
    Progress,
    Detach,
    DetachAndAsk,
    Hang,
}

const ACTS: [Act; 11] = [
    Act::Return,
    Act::Fail,
    Act::Refuse,
    Act::Panic,
    Act::Ask,
    Act::AskTwice,
    Act::AskAtOnce,
    Act::Progress,
    Act::Detach,
    Act::DetachAndAsk,
    Act::Hang,
];

async fn act(act: Act, cx: &Context) -> Result<&'static str, Error> {
    match act {
        Act::Return => {}
        Act::Fail => return Err(Error::failed("failed")),
        Act::Refuse => return Err(Error::code(ErrorCode::new(-7), "refused")),
        Act::Panic => panic!("as planned"),
        Act::Ask => drop(cx.ask("name", name_form()).await?),
        Act::AskTwice => {
            cx.ask("name", name_form()).await?;
            cx.ask("roots", Roots::new()).await?;
        }
        Act::AskAtOnce => {
            let (name, roots) =
                tokio::join!(cx.ask("name", name_form()), cx.ask("roots", Roots::new()));
            name?;
            roots?;
        }
        Act::Progress => {
            for step in 0..5 {
                cx.progress(f64::from(step), None, Some("working"));
                tokio::task::yield_now().await;
            }
        }
        Act::Detach => drop(cx.detach().await),
        Act::DetachAndAsk => {
            cx.detach().await;
            cx.ask("name", name_form()).await?;
        }
        Act::Hang => std::future::pending().await,
    }
    Ok("done")
}

fn service(eras: Eras, alive: &Alive) -> Service {
    let alive = alive.clone();
    let mut tool = any("act");
    let mut execution = ToolExecution::default();
    execution.task_support = Some(TaskSupport::Optional);
    tool.execution = Some(execution);
    server()
        .tool_with_schema(tool, move |arguments: Value, cx: Context| {
            let guard = alive.enter();
            async move {
                let _guard = guard;
                let index = arguments["act"].as_u64().unwrap_or(0);
                act(ACTS[usize::try_from(index).unwrap()], &cx).await
            }
        })
        .eras(eras)
        .build()
}

/// The four cells: what the client tries, what the server speaks.
const CELLS: [(EraMode, Eras); 6] = [
    (EraMode::Legacy, Eras::Legacy),
    (MODERN, Eras::Modern),
    (EraMode::PreferModern, Eras::Legacy),
    (EraMode::Auto, Eras::Modern),
    (EraMode::Legacy, Eras::Both),
    (MODERN, Eras::Both),
];

/// One call: what its handler does, and after how many polls its caller loses interest, if ever.
type Plan = Vec<(usize, Option<u32>)>;

fn plan() -> impl Strategy<Value = Plan> {
    let patience = prop_oneof![2 => Just(None), 1 => (0u32..12).prop_map(Some)];
    prop::collection::vec((0..ACTS.len(), patience), 1..24)
}

async fn call(
    client: Client,
    index: usize,
    polls: Option<u32>,
) -> Option<Result<String, CallError>> {
    let calling = async {
        let result = client.call_tool("act", json!({"act": index})).await?;
        Ok(format!("{} {}", result.failed(), text(&result)))
    };
    let polls = match (polls, ACTS[index]) {
        (None, Act::Hang) => Some(30),
        (polls, _) => polls,
    };
    let mut calling = std::pin::pin!(calling);
    match polls {
        None => Some(calling.await),
        Some(polls) => {
            for _ in 0..polls {
                let polled =
                    std::future::poll_fn(|cx| std::task::Poll::Ready(calling.as_mut().poll(cx)));
                if let std::task::Poll::Ready(outcome) = polled.await {
                    return Some(outcome);
                }
                tokio::task::yield_now().await;
            }
            None
        }
    }
}

fn is_right(act: Act, outcome: &Result<String, CallError>) -> bool {
    let code = |want: ErrorCode| matches!(outcome, Err(error) if error.peer().map(|error| error.code) == Some(want));
    match act {
        Act::Fail => matches!(outcome, Ok(text) if text == "true failed"),
        Act::Refuse => code(ErrorCode::new(-7)),
        Act::Panic => code(ErrorCode::INTERNAL_ERROR),
        Act::Hang => false,
        _ => matches!(outcome, Ok(text) if text == "false done"),
    }
}

fn check(cell: usize, plan: &Plan) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let (mode, eras) = CELLS[cell];
        let alive = Alive::default();
        let service = service(eras, &alive);
        let client = Client::builder(listen(&service))
            .era(mode)
            .host(Obliging::default(), everything())
            .tasks()
            .connect()
            .await
            .unwrap();
        let calls: Vec<_> = plan
            .iter()
            .map(|&(index, polls)| {
                (
                    ACTS[index],
                    tokio::spawn(call(client.clone(), index, polls)),
                )
            })
            .collect();
        for (act, running) in calls {
            let outcome = running.await.unwrap();
            if let Some(outcome) = outcome {
                prop_assert!(
                    is_right(act, &outcome),
                    "{mode:?} {eras:?} {act:?}: {outcome:?}"
                );
            }
        }
        // Whoever was dropped is cancelled, at once or, if it became a task whose handle nobody has,
        // once its time is up.
        tokio::time::sleep(Duration::from_secs(2 * 3600)).await;
        until(|| alive.count() == 0).await;
        // And the connection is as good as new.
        let after = call(client.clone(), 0, None).await;
        prop_assert!(
            matches!(&after, Some(Ok(text)) if text == "false done"),
            "{after:?}"
        );
        client.close().await;
        Ok(())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_request_ends_in_one_outcome_in_every_pair_of_eras(plan in plan()) {
        for cell in 0..CELLS.len() {
            check(cell, &plan)?;
        }
    }
}
