//! Files that go with the next message.

use std::path::Path;

use super::ChatLoop;
use crate::conversation::{Attachment, UserMessage};
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::lang::t;

impl ChatLoop {
    pub(super) fn attachments(&mut self) {
        if self.attached.is_empty() {
            self.dim(&t!("No file goes with the next message."));
        }
        for file in &self.attached {
            let line = format!("{}  {}", file.name(), file.mime_type());
            self.console.out.say(untrusted::line(&line));
        }
    }

    /// Adds a file, if it can be sent with what there is.
    pub(super) fn attach(&mut self, file: &str) -> Result<(), Failure> {
        let file = match (file.strip_prefix("~/"), std::env::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => Path::new(file).to_owned(),
        };
        self.add(Attachment::read(&file).map_err(refused)?)
    }

    pub(super) fn add(&mut self, file: Attachment) -> Result<(), Failure> {
        let name = untrusted::line(file.name()).into_owned();
        self.attached.push(file);
        if let Err(failure) = self.message("") {
            self.attached.pop();
            return Err(failure);
        }
        self.dim(&t!("{name} goes with the next message.", name = name));
        Ok(())
    }

    /// A message with the files that go with it.
    pub(super) fn message(&self, text: &str) -> Result<UserMessage, Failure> {
        let message = UserMessage::new(text, self.attached.clone()).map_err(refused)?;
        message.check(&self.setup.choice).map_err(refused)?;
        Ok(message)
    }
}

/// A file that cannot be sent.
pub(in crate::cli) fn refused(error: crate::conversation::AttachmentError) -> Failure {
    Failure::new(Exit::Other, "a file cannot be attached").caused_by(error)
}
