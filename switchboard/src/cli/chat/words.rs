//! What the Tab key knows.

use super::ChatLoop;
use crate::chat::{NAMES, Words};

/// The most names of a kind.
const MAX_NAMES: usize = 2000;

impl ChatLoop {
    /// Brings what can be completed up to date.
    pub(super) fn learn_words(&self) {
        if !self.interactive {
            return;
        }
        let catalog = self.setup.manager.catalog();
        let servers = self.setup.manager.connected();
        let words = Words {
            commands: NAMES.map(str::to_owned).to_vec(),
            servers: first(servers.iter().map(ToString::to_string)),
            tools: first(catalog.enabled_tools().map(|tool| tool.name().to_owned())),
            prompts: first(catalog.prompts().map(|(_, prompt)| prompt.name.clone())),
            resources: first(
                catalog
                    .resources()
                    .map(|(_, resource)| resource.uri.clone()),
            ),
            models: vec![self.setup.choice.name(), "demo".to_owned()],
            sessions: self.known_sessions.clone(),
        };
        *self.console.words.lock() = words;
    }
}

fn first(names: impl Iterator<Item = String>) -> Vec<String> {
    names.take(MAX_NAMES).collect()
}
