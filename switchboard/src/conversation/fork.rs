//! Transcripts and forks of conversations.

use std::sync::Arc;

use agent_loop::Run;
use provider_adapters::{Conversation as Words, MediaSource};
use serde_json::Value;

use crate::conversation::error::ConversationError;
use crate::conversation::{attachment, media};
use crate::store::{
    Blob, BlobId, Change, Conversation, ConversationId, Message, MessageId, Run as RunRow, RunId,
    Span, Store, UserId,
};

/// How many messages are read at a time.
const PAGE: u32 = 500;

/// All messages of a conversation, oldest first.
///
/// # Errors
/// If the store fails.
pub async fn transcript(
    store: &dyn Store,
    id: &ConversationId,
) -> Result<Vec<Message>, ConversationError> {
    let mut all: Vec<Message> = Vec::new();
    loop {
        let from = all.last().map_or(0, |last| last.seq + 1);
        let page = store.messages(id, Span::From(from, PAGE)).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// The title of a copy: the original's with a number that no other of these has.
fn forked(title: &str, taken: &[String]) -> String {
    let numbered = title
        .strip_suffix(')')
        .and_then(|it| it.rsplit_once(" (fork"));
    let bare = match numbered {
        Some((bare, number)) if number.trim_start().parse::<u32>().is_ok() => bare,
        Some((bare, "")) => bare,
        _ => title,
    };
    let mut name = format!("{bare} (fork)");
    let mut number = 1;
    while taken.contains(&name) {
        number += 1;
        name = format!("{bare} (fork {number})");
    }
    name
}

/// Copies a conversation, up to a message, into one of its own: all of it or nothing.
///
/// # Errors
/// If there is none of this id, or it cannot be read or stored.
pub async fn fork(
    store: &Arc<dyn Store>,
    user: &UserId,
    id: &ConversationId,
    upto: Option<u64>,
) -> Result<Conversation, ConversationError> {
    let original = store.conversation(user, id).await?;
    let original = original.ok_or_else(|| ConversationError::NotFound(id.to_string()))?;
    let others = store.conversations(user, None, PAGE).await?;
    let others: Vec<String> = others.into_iter().map(|other| other.title).collect();
    let mut copy = Conversation::new(user.clone(), forked(&original.title, &others));
    copy.assistant_id = original.assistant_id;
    copy.parent = Some(original.id);
    copy.options = original.options;
    if let Some(options) = copy.options.as_object_mut() {
        options.remove("pinned");
    }
    let run = store.latest_run(id).await?;
    let mut words: Words = match &run {
        Some(run) => serde_json::from_str::<Run>(&run.state)
            .map_err(ConversationError::Unreadable)?
            .conversation()
            .clone(),
        None => Words::new(),
    };
    words.truncate(0);
    let mut changes = vec![Change::PutConversation(copy.clone())];
    let mut last = None;
    let messages = transcript(&**store, id).await?;
    for mut message in messages {
        if upto.is_some_and(|upto| message.seq > upto) {
            break;
        }
        let Some(mut turns) = whole(&message) else {
            break;
        };
        let mut renamed = false;
        for (blob, media) in attachment::stored(&mut turns) {
            if let Some(blob) = copied(&**store, id, &blob, &copy.id).await? {
                media.source = MediaSource::Stored(blob.id.to_string());
                changes.push(Change::PutBlob(blob));
                renamed = true;
            }
        }
        if renamed {
            message.provider_raw = serde_json::to_string(&turns).ok();
        }
        for turn in turns {
            words.push(turn);
        }
        message.id = MessageId::fresh();
        message.conversation_id = copy.id.clone();
        for call in &mut message.tool_calls {
            call.message_id = message.id.clone();
            if let Some(whole) = call.result_blob.take()
                && let Some(blob) = copied(&**store, id, &whole, &copy.id).await?
            {
                call.result_blob = Some(blob.id.clone());
                changes.push(Change::PutBlob(blob));
            }
            let blobs = call.response.as_mut().map(media::blobs);
            for (blob, named) in blobs.into_iter().flatten() {
                if let Some(blob) = copied(&**store, id, &blob, &copy.id).await? {
                    *named = Value::from(blob.id.as_str());
                    changes.push(Change::PutBlob(blob));
                }
            }
        }
        last = Some(message.id.clone());
        changes.push(Change::PutMessage(Box::new(message)));
    }
    let state = serde_json::to_string(&Run::new(words)).map_err(ConversationError::Unreadable)?;
    let mut row = RunRow::new(copy.id.clone(), state);
    row.id = RunId::fresh();
    row.message_id = last;
    row.finish = Some("forked".to_owned());
    changes.push(Change::PutRun(Box::new(row)));
    store.commit(changes).await?;
    Ok(copy)
}

/// A copy of a conversation's blob for another one.
async fn copied(
    store: &dyn Store,
    from: &ConversationId,
    blob: &BlobId,
    to: &ConversationId,
) -> Result<Option<Blob>, ConversationError> {
    let found = store.blob(from, blob).await?;
    Ok(found.map(|mut blob| {
        blob.id = BlobId::fresh();
        blob.conversation_id = to.clone();
        blob
    }))
}

/// A message's turns, if it was finished.
pub(super) fn whole(message: &Message) -> Option<Vec<provider_adapters::Turn>> {
    let raw = message.provider_raw.as_deref()?;
    let turns: Value = serde_json::from_str(raw).ok()?;
    serde_json::from_value(turns).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_forks_of_a_conversation_have_one_title() {
        let mut titles = vec!["Trip".to_owned()];
        for (from, fork) in [
            ("Trip", "Trip (fork)"),
            ("Trip", "Trip (fork 2)"),
            ("Trip (fork)", "Trip (fork 3)"),
            ("Trip (fork 3)", "Trip (fork 4)"),
            ("a (forked)", "a (forked) (fork)"),
        ] {
            let title = forked(from, &titles);
            assert_eq!(title, fork);
            titles.push(title);
        }
    }
}
