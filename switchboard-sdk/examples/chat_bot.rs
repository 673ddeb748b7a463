//! A bot behind an HTTP endpoint, for services such as Slack: each room has a conversation.
//!
//! ```text
//! cargo run -p switchboard-sdk --features testing --example chat_bot &
//! curl http://127.0.0.1:8080/ --json '{"room": "general", "text": "Do I need an umbrella?"}'
//! ```
#![allow(clippy::print_stdout, reason = "an example")]
#![allow(
    clippy::disallowed_types,
    reason = "a room's lock is held while its run is driven"
)]

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use switchboard_sdk::agent::testing::ScriptedModel;
use switchboard_sdk::prelude::{Agent, LocalTools, Mode, Policy, Run};
use switchboard_sdk::providers::{Arguments, AssistantPart, Reply, ToolCall, Turn};
use tokio::sync::Mutex;

/// The maximum number of rooms: an endpoint on the network needs a limit.
const MAX_ROOMS: usize = 1000;

#[derive(serde::Deserialize)]
struct Message {
    room: String,
    text: String,
}

#[derive(serde::Serialize)]
struct Answer {
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Weather {
    city: String,
}

struct Bot {
    agent: Agent,
    rooms: Mutex<HashMap<String, Arc<Mutex<Option<Run>>>>>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = LocalTools::new("local").tool("weather", "The weather", |it: Weather| async move {
        format!("It rains in {}.", it.city)
    });
    // There is no one to ask, so calls that need approval are denied; this bot's only tool may run.
    let policy = Policy::new(Mode::Auto).unattended();
    let agent = Agent::new(model()).tools(tools).with_policy(policy);
    let rooms = Mutex::default();
    let app = Router::new()
        .route("/", post(answer))
        .with_state(Arc::new(Bot { agent, rooms }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}

async fn answer(State(bot): State<Arc<Bot>>, Json(message): Json<Message>) -> Json<Answer> {
    let room = {
        let mut rooms = bot.rooms.lock().await;
        if rooms.len() >= MAX_ROOMS && !rooms.contains_key(&message.room) {
            let text = "I am in too many rooms.".to_owned();
            return Json(Answer { text });
        }
        Arc::clone(rooms.entry(message.room).or_default())
    };
    // A room's messages are handled one after the other; rooms do not wait for each other.
    let mut run = room.lock().await;
    let run = match run.as_mut() {
        Some(run) => {
            run.ask(message.text);
            run
        }
        None => run.insert(bot.agent.begin(message.text)),
    };
    let reason = bot.agent.finish(run).await;
    let text = match run.text() {
        text if text.is_empty() => format!("I have no answer: {reason:?}"),
        text => text,
    };
    Json(Answer { text })
}

/// Looks up the weather in Oslo, and repeats the result. Replace it with a real model.
fn model() -> ScriptedModel {
    ScriptedModel::improvising(|request| {
        let mut reply = Reply::default();
        reply.parts.push(match request.conversation.turns().last() {
            Some(Turn::Assistant(turn)) => {
                let content = turn.results().iter().flat_map(|result| &result.content);
                let texts: Vec<&str> = content.filter_map(|block| block.as_text()).collect();
                AssistantPart::text(texts.concat())
            }
            _ => ToolCall::new("call", "weather", Arguments::read(r#"{"city": "Oslo"}"#)).into(),
        });
        reply
    })
}
