//! Summaries of old turns, each on its own task.

use std::sync::Arc;

use provider_adapters::{Conversation, Reply, Request, StopReason, Usage};
use tokio::task::JoinError;
use tracing::Instrument as _;

use crate::compaction::ToSummarise;
use crate::run::messages;
use crate::session::reply::chain;
use crate::session::{Effect, Session, trace};

/// A summary, or why there is none.
type Summary = Result<String, String>;

/// A summary, and what was paid for it.
pub(crate) type Summarised = (Summary, Usage);

/// Characters of a transcript for each token that the model is known to take.
const CHARS_PER_TOKEN: u64 = 3;
/// The fewest characters of a transcript.
const MIN_CHARS: usize = 20_000;

impl Session<'_> {
    /// Has turns summarised: by the agent's function, or by the model.
    pub(super) fn compact(&mut self, turns: &ToSummarise) {
        self.effect = Effect::Listen;
        if let Some(summarise) = &self.agent.on_compaction {
            let summary = summarise(turns.clone());
            self.summary
                .spawn(async move { (summary.await, Usage::default()) });
            return;
        }
        // Whatever came before fitted: half of it does, too.
        let chars = self.run.context_tokens() / 2 * CHARS_PER_TOKEN;
        let chars = usize::try_from(chars).unwrap_or(usize::MAX).max(MIN_CHARS);
        let words = turns.max_tokens / 2;
        let mut conversation = Conversation::new();
        conversation.ask(messages::summarise(&turns.transcript(chars), words));
        let request = Request::new(&self.agent.model_name, conversation);
        let request = request.with_options(self.agent.options.clone());
        let model = Arc::clone(&self.agent.model);
        let span = self.trace.chat(&self.agent, model.adapter().wire());
        let (noted, content) = (span.clone(), self.agent.traces_content);
        let summary = async move {
            let reply = model.ask(&request).await;
            trace::chat_ended(&noted, &reply, content);
            match reply {
                Ok(reply) => (text(&reply), reply.usage),
                Err(error) => (Err(chain(&error)), Usage::default()),
            }
        };
        self.summary.spawn(summary.instrument(span));
    }

    pub(super) fn summarised(&mut self, summarised: Result<Summarised, JoinError>) {
        let crashed = || Err("the code that summarises crashed".to_owned());
        let (summary, usage) = summarised.unwrap_or_else(|_| (crashed(), Usage::default()));
        let prices = self.agent.prices.as_ref();
        let cost = prices.map(|prices| prices.cost(&usage));
        match summary {
            Ok(summary) => self.run.summarised(&summary, usage, cost),
            Err(why) => {
                if usage != Usage::default() {
                    self.run.charge(usage, cost);
                }
                self.run.not_summarised(&why);
            }
        }
    }
}

/// The text of a reply that is a whole summary.
fn text(reply: &Reply) -> Summary {
    let why = match reply.stop_reason() {
        None | Some(StopReason::End | StopReason::StopSequence | StopReason::Other) => {
            return Ok(reply.text());
        }
        Some(StopReason::Refusal | StopReason::Filtered) => "the model declined",
        Some(StopReason::MaxTokens | StopReason::ContextWindow) => "its text was cut off",
        Some(_) => "the model did not finish it",
    };
    Err(why.to_owned())
}
