//! What begins an answer: a message, another message in place of one, or another try.

use agent_loop::Run;
use provider_adapters::Conversation as Words;

use crate::conversation::attachment::UserMessage;
use crate::conversation::durable::DurableConversation;
use crate::conversation::error::ConversationError;
use crate::display::summary::summary;
use crate::store::{Change, Message, Role, Run as RunRow, Timestamp};

/// How much of the first message becomes the title.
const TITLE: usize = 60;

impl DurableConversation {
    /// Adds a user message, stored with the run that answers it. A running answer is interrupted
    /// first: its results stay part of the history, and its questions are withdrawn.
    ///
    /// # Errors
    /// If it cannot be stored, or an answer is running in another process. The message was not
    /// added then.
    pub async fn ask(
        &mut self,
        message: impl Into<UserMessage>,
    ) -> Result<Message, ConversationError> {
        self.refresh().await?;
        if self.is_open() {
            self.interrupt().await?;
        }
        let words = self.run.conversation().clone();
        let follows = self.last_seq;
        self.ask_after(words, follows, message.into(), Vec::new())
            .await
    }

    /// Adds a user message that follows these words, the last of which have this number.
    pub(super) async fn ask_after(
        &mut self,
        words: Words,
        follows: u64,
        message: UserMessage,
        mut first: Vec<Change>,
    ) -> Result<Message, ConversationError> {
        let mut run = self.run_of(words);
        let conversation = &mut self.recorder.conversation;
        if conversation.title.is_empty() {
            conversation.title = summary(message.subject(), TITLE);
        }
        let id = conversation.id.clone();
        let mut said = Message::new(id.clone(), self.next_seq, Role::User);
        said.follows = follows;
        message.text().clone_into(&mut said.content);
        let (turn, blobs) = message.into_turn(&id);
        run.say(turn);
        let turn = run.conversation().turns().last();
        said.provider_raw = serde_json::to_string(&turn.as_slice()).ok();
        first.extend(blobs.into_iter().map(Change::PutBlob));
        self.answer(run, Some(&said), said.seq, first).await?;
        Ok(said)
    }

    /// A run that goes on from these words, by the same rules.
    pub(super) fn run_of(&self, mut words: Words) -> Run {
        if let Some(system) = &self.system {
            words = words.with_system(system);
        }
        Run::new(words)
            .with_policy(self.run.policy().clone())
            .with_limits(*self.run.limits())
    }

    /// Stores an answer that is to be written, with the run that writes it and what it answers, in
    /// one commit.
    pub(super) async fn answer(
        &mut self,
        run: Run,
        said: Option<&Message>,
        follows: u64,
        first: Vec<Change>,
    ) -> Result<(), ConversationError> {
        let recorder = &mut self.recorder;
        recorder.conversation.updated_at = Timestamp::now();
        let id = recorder.conversation.id.clone();
        let seq = said.map_or(self.next_seq, |said| said.seq + 1);
        let mut answer = Message::new(id.clone(), seq, Role::Assistant);
        answer.follows = follows;
        let mut row = RunRow::new(id, "");
        row.message_id = Some(answer.id.clone());
        row.revision = 0;
        let mut changes = vec![Change::PutConversation(recorder.conversation.clone())];
        changes.extend(first);
        changes.extend(said.map(|said| Change::PutMessage(Box::new(said.clone()))));
        changes.push(Change::PutMessage(Box::new(answer.clone())));
        changes.extend(recorder.superseded().filter(|_| self.stored));
        let old = std::mem::replace(&mut recorder.run, row);
        changes.push(recorder.step(&run)?);
        let created: Vec<&Message> = said.into_iter().chain([&answer]).collect();
        changes.extend(recorder.created(&created));
        if let Err(error) = recorder.commit(changes).await {
            recorder.run = old;
            return Err(error);
        }
        recorder.begin(answer);
        self.run = run;
        self.stored = true;
        self.last_seq = seq;
        self.next_seq = seq + 1;
        Ok(())
    }
}
