//! Summaries of old turns, each on its own task.

use std::sync::Arc;

use provider_adapters::{Conversation, Request, Usage};
use tokio::task::JoinError;
use tracing::Instrument as _;

use crate::compaction::ToSummarise;
use crate::run::messages;
use crate::session::reply::chain;
use crate::session::{Effect, Session, trace};

/// A summary and its usage, or why there is none.
pub(crate) type Summarised = Result<(String, Usage), String>;

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
            let summary = async move { Ok((summary.await?, Usage::default())) };
            self.summary.spawn(summary);
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
                Ok(reply) => Ok((reply.text(), reply.usage)),
                Err(error) => Err(chain(&error)),
            }
        };
        self.summary.spawn(summary.instrument(span));
    }

    pub(super) fn summarised(&mut self, summarised: Result<Summarised, JoinError>) {
        match summarised {
            Ok(Ok((summary, usage))) => {
                let prices = self.agent.prices.as_ref();
                let cost = prices.map(|prices| prices.cost(&usage));
                self.run.summarised(&summary, usage, cost);
            }
            Ok(Err(why)) => self.run.not_summarised(&why),
            Err(_) => self.run.not_summarised("the code that summarises crashed"),
        }
    }
}
