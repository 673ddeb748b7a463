//! Earlier turns and conversations.

use std::sync::Arc;

use super::ChatLoop;
use crate::chat::Forms;
use crate::cli::session;
use crate::conversation::{DurableConversation, fork, transcript};
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::lang::t;
use crate::setup::{Setup, mode_name};
use crate::store::{Conversation, Role};

/// How many conversations are listed.
const LISTED: u32 = 20;

impl ChatLoop {
    /// Goes on in a copy that ends before the last message, and returns that message.
    pub(super) async fn undo(&mut self) -> Result<Option<String>, Failure> {
        let store = Arc::clone(&self.setup.store);
        let id = self.durable.conversation().id.clone();
        let messages = transcript(&*store, &id).await?;
        let mut said = messages.iter().filter(|message| message.role == Role::User);
        let Some(last) = said.next_back() else {
            self.dim(&t!("Nothing was said yet."));
            return Ok(None);
        };
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
        Ok(Some(last.content.clone()))
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
        let mut run_args = self.setup.another();
        session::resume(&*store, &id, &mut run_args).await?;
        let user = self.setup.user.clone();
        let durable = DurableConversation::load(Arc::clone(&store), &user, &id).await?;
        let (forms, questions) = Forms::new();
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
