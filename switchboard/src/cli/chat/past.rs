//! Earlier turns and conversations.

use std::sync::Arc;

use super::{ChatLoop, refused};
use crate::chat::Forms;
use crate::cli::session;
use crate::conversation::{Attachment, DurableConversation, fork, transcript};
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::lang::t;
use crate::setup::{RunArgs, Setup, mode_name};
use crate::store::{Conversation, Role};

/// How many conversations are listed.
const LISTED: u32 = 20;

impl ChatLoop {
    /// Answers the last message anew, its files included. The answer before stays as another version.
    pub(super) async fn retry(&mut self) -> Result<Option<Exit>, Failure> {
        let id = self.durable.conversation().id.clone();
        let messages = transcript(&*self.setup.store, &id).await?;
        let mut messages = messages.iter();
        let Some(last) = messages.rfind(|message| message.role == Role::User) else {
            self.dim(&t!("Nothing was said yet."));
            return Ok(None);
        };
        let files = self.durable.files_of(&last.id).await?;
        files.check(&self.setup.choice).map_err(refused)?;
        self.govern().await?;
        self.durable.remember(|row| self.setup.remember(row));
        self.durable.regenerate(&last.id).await?;
        self.answer().await
    }

    /// Goes on in a copy that ends before the last message. The files of that one go with the next.
    pub(super) async fn undo(&mut self) -> Result<(), Failure> {
        let store = Arc::clone(&self.setup.store);
        let id = self.durable.conversation().id.clone();
        let messages = transcript(&*store, &id).await?;
        let mut said = messages.iter().filter(|message| message.role == Role::User);
        let Some(last) = said.next_back() else {
            self.dim(&t!("Nothing was said yet."));
            return Ok(());
        };
        let files = Attachment::of_message(&*store, last).await?;
        let before = messages.iter().rfind(|message| message.seq < last.seq);
        self.durable = match before {
            Some(before) => {
                let user = &self.setup.user;
                let copy = fork(&store, user, &id, Some(before.seq)).await?;
                DurableConversation::load(store, user, &copy.id).await?
            }
            None => {
                let conversation = self.setup.conversation();
                DurableConversation::begin(store, conversation, self.setup.system())
            }
        };
        if let Some(text) = &self.instructed {
            self.durable.reinstruct(Some(text));
            self.durable.instruct(Some(text));
        }
        let text = t!(
            "Back to before: {text}. The conversation as it was is still there: /sessions {id}",
            text = untrusted::line(&crate::display::summary::summary(&last.content, 60)),
            id = id
        );
        self.dim(&text);
        if !files.is_empty() {
            self.attached = files;
            self.dim(&t!("Its files go with the next message:"));
            self.attachments();
        }
        Ok(())
    }

    /// Shows the model's instructions.
    pub(super) fn instructions(&mut self) {
        let system = self.instructed.as_deref().or(self.setup.system());
        match system.map(|text| untrusted::text(text).into_owned()) {
            Some(text) => self.console.out.say(text),
            None => self.dim(&t!(
                "The model has no instructions. /system TEXT gives it some."
            )),
        }
    }

    /// Opens another conversation as `chat --resume` does: with its own model, servers, approval mode
    /// and limits, and nothing of this one's.
    pub(super) async fn open(&mut self, name: &str) -> Result<Option<Exit>, Failure> {
        let store = Arc::clone(&self.setup.store);
        let id = session::find(&*store, name).await?;
        // No flag was meant for it.
        let mut run_args = RunArgs {
            retries: Some(self.retries.clone()),
            shown: Some(self.console.out),
            ..RunArgs::default()
        };
        session::resume(&*store, &id, &mut run_args).await?;
        let user = self.setup.user.clone();
        let durable = DurableConversation::load(Arc::clone(&store), &user, &id).await?;
        let (forms, questions) = Forms::new(self.retries.clone());
        let setup = Setup::set_up(store, run_args, forms).await?;
        std::mem::replace(&mut self.setup, setup).stop().await;
        self.console.questions = questions;
        self.durable = durable;
        (self.another, self.instructed) = (false, None);
        self.welcome();
        self.approval_mode();
        self.go_on().await
    }

    /// Shows which calls run without a question.
    pub(super) fn approval_mode(&mut self) {
        let mode = mode_name(self.setup.mode);
        self.dim(&t!("Approval mode: {mode}", mode = mode));
    }

    /// Lists the latest conversations.
    pub(super) async fn sessions(&mut self) -> Result<(), Failure> {
        let store = Arc::clone(&self.setup.store);
        let all = store.conversations(&self.setup.user, None, LISTED).await?;
        if all.is_empty() {
            self.dim(&t!("No conversations yet."));
        }
        for Conversation {
            id,
            title,
            updated_at,
            ..
        } in &all
        {
            let line = format!("{id}  {updated_at}  {}", untrusted::line(title));
            self.console.out.say(line);
        }
        self.known_sessions = all.into_iter().map(|row| row.id.to_string()).collect();
        Ok(())
    }
}
