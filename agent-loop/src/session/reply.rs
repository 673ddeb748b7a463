//! Requests to the model, each on its own task, so that no event is lost while the session waits for something else.

use std::sync::Arc;

use provider_adapters::{ErrorKind, Model, ModelError, Reply, ReplyEvent, Request};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing::{Instrument as _, Span};

use crate::event::RunEvent;
use crate::offer::Offer;
use crate::session::trace;

/// Events that wait to be heard.
const EVENTS: usize = 64;

/// A model that was asked. Dropping it takes the question back.
#[derive(Debug)]
pub(crate) struct Asked {
    events: mpsc::Receiver<ReplyEvent>,
    task: JoinSet<Result<Reply, ModelError>>,
    offer: Arc<Offer>,
}

/// What the model has to say.
pub(crate) enum ModelOutput {
    Event(ReplyEvent),
    End(End),
}

/// How asking the model ended.
pub(crate) enum End {
    Replied(Box<Reply>, Arc<Offer>),
    /// The conversation exceeds the model's context window.
    ContextFull,
    Failed(String),
}

/// Asks a model.
pub(crate) fn ask(
    model: Arc<dyn Model>,
    request: Arc<Request>,
    offer: Arc<Offer>,
    span: Span,
    traces_content: bool,
) -> Asked {
    let (tell, events) = mpsc::channel(EVENTS);
    let mut task = JoinSet::new();
    let noted = span.clone();
    let talk = async move {
        let asked = talk(&*model, &request, &tell).await;
        trace::chat_ended(&noted, &asked, traces_content);
        asked
    };
    task.spawn(talk.instrument(span));
    Asked {
        events,
        task,
        offer,
    }
}

async fn talk(
    model: &dyn Model,
    request: &Request,
    tell: &mpsc::Sender<ReplyEvent>,
) -> Result<Reply, ModelError> {
    let mut stream = model.start(request).await?;
    while let Some(event) = stream.next().await {
        if tell.send(event).await.is_err() {
            break;
        }
    }
    Ok(stream.finish())
}

/// Waits for the next event, or for the end once all events are heard. Cancel safe.
pub(crate) async fn listen(asked: Option<&mut Asked>) -> ModelOutput {
    let Some(asked) = asked else {
        return std::future::pending().await;
    };
    if let Some(event) = asked.events.recv().await {
        return ModelOutput::Event(event);
    }
    ModelOutput::End(match asked.task.join_next().await {
        Some(Ok(Ok(reply))) => End::Replied(Box::new(reply), Arc::clone(&asked.offer)),
        Some(Ok(Err(ModelError::Provider(error)))) if error.kind == ErrorKind::ContextWindow => {
            End::ContextFull
        }
        Some(Ok(Err(error))) => End::Failed(chain(&error)),
        Some(Err(_)) | None => End::Failed("the code that asks the model crashed".to_owned()),
    })
}

/// The run event of a model's event.
pub(crate) fn event(event: ReplyEvent) -> Option<RunEvent> {
    Some(match event {
        ReplyEvent::Text { text } => RunEvent::Text { text },
        ReplyEvent::Reasoning { text } => RunEvent::Reasoning { text },
        ReplyEvent::Refusal { text } => RunEvent::Refusal { text },
        ReplyEvent::Media(media) => RunEvent::Media(media),
        ReplyEvent::PartialOutput { value } => RunEvent::PartialOutput { value },
        ReplyEvent::ToolQuarantined { tool, reason } => RunEvent::Warning {
            message: format!("the provider refused the tool {tool:?}, which is left out: {reason}"),
        },
        // Calls, usage and errors are reported once the reply is complete.
        _ => return None,
    })
}

/// An error with all its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
