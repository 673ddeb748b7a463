//! Versions of messages: another answer, another question in place of one, and switching between
//! them.
//!
//! A message names the one that it follows. Those that follow the same one are its versions; one of
//! them is shown, with what followed it. Nothing is removed.

use std::collections::BTreeMap;

use provider_adapters::Conversation as Words;

use crate::conversation::attachment::UserMessage;
use crate::conversation::durable::DurableConversation;
use crate::conversation::error::ConversationError;
use crate::conversation::fork::{transcript, whole};
use crate::conversation::lease::After;
use crate::store::{Change, Message, MessageId, MessagePlace, Role, Run as RunRow};

/// The most versions of a message.
pub(crate) const MAX_VERSIONS: usize = 50;

/// The versions of each message that has several, in the order in which they were made.
pub(crate) fn versions(places: &[MessagePlace]) -> BTreeMap<MessageId, Vec<MessageId>> {
    let mut after: BTreeMap<u64, Vec<MessageId>> = BTreeMap::new();
    for place in places {
        after
            .entry(place.follows)
            .or_default()
            .push(place.id.clone());
    }
    let several = after.into_values().filter(|ids| ids.len() > 1);
    several
        .flat_map(|ids| ids.clone().into_iter().map(move |id| (id, ids.clone())))
        .collect()
}

/// The number of the latest message that follows this one, directly or not.
fn latest_after(places: &[MessagePlace], seq: u64) -> u64 {
    let mut branch = vec![seq];
    // What follows a message has a greater number.
    for place in places {
        if branch.contains(&place.follows) && place.seq > seq {
            branch.push(place.seq);
        }
    }
    branch.last().copied().unwrap_or(seq)
}

/// The messages that lead to this one, itself included, from the first on.
fn path(places: &[MessagePlace], seq: u64) -> Vec<&MessagePlace> {
    let mut wanted = seq;
    let mut path = Vec::new();
    for place in places.iter().rev() {
        if place.seq == wanted {
            wanted = place.follows;
            path.push(place);
        }
    }
    path.reverse();
    path
}

impl DurableConversation {
    /// Answers a question anew: that which this answer was given to, or this one itself. The answer
    /// before stays as another version.
    ///
    /// # Errors
    /// If there is no such message, if it has too many versions, or if it cannot be stored.
    pub async fn regenerate(&mut self, message: &MessageId) -> Result<(), ConversationError> {
        let (message, places) = self.placed(message).await?;
        let question = match message.role {
            Role::Assistant => message.follows,
            _ => message.seq,
        };
        bounded(&places, question)?;
        let (words, last) = self.words_up_to(&places, question).await?;
        if last.is_none_or(|last| last.role != Role::User) {
            return Err(ConversationError::NoMessage(message.id.to_string()));
        }
        let mut run = self.run_of(words);
        run.proceed();
        let first = self.shown(question);
        self.answer(run, None, question, first).await
    }

    /// The files of a user message, or of the one that an answer was given to: they are sent again
    /// where that one is answered anew, or another one stands in its place.
    pub(crate) async fn files_of(&self, of: &MessageId) -> Result<UserMessage, ConversationError> {
        let unknown = || ConversationError::NoMessage(of.to_string());
        let (store, conversation) = (&self.recorder.store, &self.recorder.conversation.id);
        let found = store.message(of).await?.ok_or_else(unknown)?;
        let places = store.places(conversation).await?;
        let question = match found.role {
            Role::Assistant => places.iter().find(|place| place.seq == found.follows),
            _ => places.iter().find(|place| place.seq == found.seq),
        };
        let question = question.map(|place| store.message(&place.id));
        let question = question.ok_or_else(unknown)?.await?.ok_or_else(unknown)?;
        Ok(UserMessage::default().with_files_of(&question))
    }

    /// Adds a user message in place of another one, which stays as another version. Its files go with
    /// the new one.
    ///
    /// # Errors
    /// If there is no such message of the user's, if it has too many versions, or if it cannot be
    /// stored.
    pub async fn ask_instead(
        &mut self,
        of: &MessageId,
        message: impl Into<UserMessage>,
    ) -> Result<Message, ConversationError> {
        let (before, places) = self.placed(of).await?;
        if before.role != Role::User {
            return Err(ConversationError::NoMessage(of.to_string()));
        }
        bounded(&places, before.follows)?;
        let (words, _) = self.words_up_to(&places, before.follows).await?;
        let first = self.shown(before.follows);
        let message = message.into().with_files_of(&before);
        self.ask_after(words, before.follows, message, first).await
    }

    /// Shows a version of a message, with what followed it last.
    ///
    /// # Errors
    /// If there is no such message, or it cannot be stored.
    pub async fn show(&mut self, message: &MessageId) -> Result<(), ConversationError> {
        let (message, places) = self.placed(message).await?;
        let seq = latest_after(&places, message.seq);
        let (words, last) = self.words_up_to(&places, seq).await?;
        let mut last = last.ok_or_else(|| ConversationError::NoMessage(message.id.to_string()))?;
        last.is_aside = false;
        let run = self.run_of(words);
        let recorder = &mut self.recorder;
        let mut row = RunRow::new(recorder.conversation.id.clone(), "");
        row.message_id = Some(last.id.clone());
        row.finish = Some(last.finish.clone().unwrap_or_else(|| "forked".to_owned()));
        row.revision = 0;
        let mut changes = vec![Change::PutConversation(recorder.conversation.clone())];
        changes.extend(recorder.superseded());
        let old = std::mem::replace(&mut recorder.run, row);
        changes.push(recorder.step(&run)?);
        changes.extend(self.shown(seq));
        let recorder = &mut self.recorder;
        if let Err(error) = recorder.commit_then(changes, After::Release).await {
            recorder.run = old;
            return Err(error);
        }
        recorder.begin(last);
        self.run = run;
        self.last_seq = seq;
        Ok(())
    }

    /// A message of this conversation, and where all stand. What was running is interrupted.
    async fn placed(
        &mut self,
        id: &MessageId,
    ) -> Result<(Message, Vec<MessagePlace>), ConversationError> {
        self.refresh().await?;
        if self.is_open() {
            self.interrupt().await?;
        }
        let store = &self.recorder.store;
        let conversation = &self.recorder.conversation.id;
        let found = store.message(id).await?;
        let message = found.filter(|message| message.conversation_id == *conversation);
        let message = message.ok_or_else(|| ConversationError::NoMessage(id.to_string()))?;
        Ok((message, store.places(conversation).await?))
    }

    /// What was said up to a message, and that message; nothing but the instructions up to 0.
    async fn words_up_to(
        &self,
        places: &[MessagePlace],
        seq: u64,
    ) -> Result<(Words, Option<Message>), ConversationError> {
        let mut words = self.run.conversation().clone();
        words.truncate(0);
        let store = &*self.recorder.store;
        let shown = transcript(store, &self.recorder.conversation.id).await?;
        let mut shown: BTreeMap<u64, Message> = shown.into_iter().map(|it| (it.seq, it)).collect();
        let mut last = None;
        for place in path(places, seq) {
            let message = match shown.remove(&place.seq) {
                Some(message) => Some(message),
                None => store.message(&place.id).await?,
            };
            let Some(message) = message else { continue };
            for turn in whole(&message).into_iter().flatten() {
                words.push(turn);
            }
            last = Some(message);
        }
        Ok((words, last))
    }

    /// Shows the messages up to this one, and announces it.
    fn shown(&self, seq: u64) -> Vec<Change> {
        let recorder = &self.recorder;
        let shown = Change::ShowUpTo(recorder.conversation.id.clone(), seq);
        let mut changes = vec![shown];
        changes.extend(recorder.switched());
        changes
    }
}

/// Whether there is room for another version of what follows a message.
fn bounded(places: &[MessagePlace], follows: u64) -> Result<(), ConversationError> {
    let versions = places.iter().filter(|place| place.follows == follows);
    match versions.count() {
        count if count >= MAX_VERSIONS => Err(ConversationError::TooManyVersions),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(of: &[(u64, u64)]) -> Vec<MessagePlace> {
        let place = |(seq, follows): &(u64, u64)| MessagePlace {
            id: MessageId::new(format!("m{seq}")),
            seq: *seq,
            follows: *follows,
        };
        of.iter().map(place).collect()
    }

    #[test]
    fn versions_follow_the_same_message_and_lead_to_different_ends() {
        // 1 2 3 4, then 2 again as 5, then 3 again as 6 7 (after 2).
        let all = places(&[(1, 0), (2, 1), (3, 2), (4, 3), (5, 1), (6, 2), (7, 6)]);
        let of = versions(&all);
        let named = |id: &str| {
            let ids = of.get(&MessageId::new(id));
            ids.map(|ids| ids.iter().map(MessageId::as_str).collect::<Vec<_>>())
        };
        assert_eq!(named("m1"), None);
        assert_eq!(named("m5"), Some(vec!["m2", "m5"]));
        assert_eq!(named("m3"), Some(vec!["m3", "m6"]));
        assert_eq!(named("m7"), None);
        for (seq, latest) in [(1, 7), (2, 7), (3, 4), (5, 5), (6, 7)] {
            assert_eq!(latest_after(&all, seq), latest, "{seq}");
        }
        let seqs = |seq| path(&all, seq).iter().map(|it| it.seq).collect::<Vec<_>>();
        assert_eq!(seqs(7), [1, 2, 6, 7]);
        assert_eq!(seqs(5), [1, 5]);
        assert_eq!(seqs(0), Vec::<u64>::new());
    }
}
