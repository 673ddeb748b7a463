//! `switchboard demo`.

use clap::{Args, ValueEnum};
use provider_adapters::Wire;

use crate::chat::Interrupts;
use crate::demo::{DemoScript, DemoStage, this_program, tour};
use crate::display::out::Out;
use crate::exit::{Exit, Failure};

/// Shows a server's tools, a call, an approval and an answer, with a demo model (which is not an
/// AI) and a demo server. Needs no key, no network and no terminal.
#[derive(Args, Debug, Default)]
pub(crate) struct Demo {
    /// Use this wire format
    #[arg(long, value_enum, default_value_t)]
    wire: DemoWire,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum DemoWire {
    /// OpenAI Chat Completions
    #[default]
    #[value(name = "openai-chat")]
    OpenAiChat,
    /// OpenAI Responses
    #[value(name = "openai-responses")]
    OpenAiResponses,
    /// Anthropic Messages
    Anthropic,
    /// Gemini
    Gemini,
    /// Prompt mode: tools described in the prompt, calls written as text
    Prompt,
}

impl From<DemoWire> for Wire {
    fn from(wire: DemoWire) -> Self {
        match wire {
            DemoWire::OpenAiChat => Self::OpenAiChat,
            DemoWire::OpenAiResponses => Self::OpenAiResponses,
            DemoWire::Anthropic => Self::Anthropic,
            DemoWire::Gemini => Self::Gemini,
            DemoWire::Prompt => Self::Prompt,
        }
    }
}

/// What to try next, by the verb it needs.
const NEXT: [(&str, &str, &str); 6] = [
    (
        "chat",
        "switchboard",
        "chat with the demo model and the demo server",
    ),
    (
        "import",
        "switchboard import",
        "take over the servers of your other clients",
    ),
    ("model", "switchboard model set", "choose a real model"),
    (
        "tools",
        "switchboard tools -- npx -y SERVER",
        "look at any server",
    ),
    (
        "demo",
        "switchboard demo --wire anthropic",
        "the same over another provider's wire",
    ),
    (
        "demo-server",
        "switchboard demo-server --http",
        "a server to try other clients with",
    ),
];

impl Demo {
    /// Runs with the verbs there are; only those are recommended.
    pub(crate) async fn run(
        self,
        has_verb: impl Fn(&str) -> bool,
        out: &Out,
    ) -> Result<Exit, Failure> {
        let next: Vec<String> = NEXT
            .iter()
            .filter(|(verb, ..)| has_verb(verb))
            .map(|(_, line, what)| format!("{line:<36} {what}"))
            .collect();
        let stage = DemoStage::start(&this_program()?, DemoScript::default(), None).await?;
        let mut interrupts = Interrupts::new();
        let ended = tokio::select! {
            ended = tour(&stage, self.wire.into(), &next, out) => ended,
            () = interrupts.next() => Ok(Exit::Cancelled),
        };
        stage.stop().await;
        ended
    }
}
