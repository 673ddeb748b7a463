//! What a conversation is driven with: its model, its tools, its rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent_loop::{Agent, Mode, Policy, RunLimits};
use serde_json::Value;

use crate::exit::Failure;
use crate::models::{Choice, Tape};
use crate::serve::fleet::Equipment;
use crate::serve::runs::Shared;
use crate::servers::auto_approved;
use crate::session::{Decided, StoredOutputs};
use crate::store::{Assistant, Conversation, Server, UserId};
use crate::workbench::{self, Bounds, Options, Wishes};

/// What is known before any server is reached.
pub(super) struct Plan {
    pub(super) choice: Choice,
    pub(super) assistant: Option<Assistant>,
    wishes: Wishes,
    mode: Mode,
    bounds: Bounds,
    settings: BTreeMap<String, Value>,
    user: UserId,
}

impl Plan {
    /// Plans for a conversation.
    pub(super) async fn make(
        shared: &Shared,
        user: &UserId,
        conversation: &Conversation,
    ) -> Result<Self, Failure> {
        let settings = shared.fleet.settings(user).await?;
        let assistant = match &conversation.assistant_id {
            Some(id) => {
                let mut all = shared.store.assistants(user).await?.into_iter();
                all.find(|assistant| assistant.id == *id)
            }
            None => None,
        };
        let mut wishes = Wishes::default();
        wishes.resume(conversation)?;
        if wishes.wanted.model.is_none() {
            let of_assistant = assistant.as_ref().and_then(|it| it.model.clone());
            wishes.wanted.model = of_assistant;
        }
        let choice = workbench::choice(&wishes.wanted, &settings).await?;
        let choice = choice.with_mcp_mode(assistant.as_ref().and_then(|it| it.mcp_mode));
        let mode = workbench::mode(wishes.approve, assistant.as_ref(), &settings)?;
        let bounds = Bounds::of(&wishes, assistant.as_ref(), &settings);
        Ok(Self {
            choice,
            assistant,
            wishes,
            mode,
            bounds,
            settings,
            user: user.clone(),
        })
    }

    /// Keeps in a conversation what it goes on with.
    pub(super) fn remember(&self, conversation: &mut Conversation) {
        let mode = workbench::mode_name(self.mode);
        Options::new(&self.wishes, &self.choice, &mode, &self.bounds).keep(conversation);
    }

    /// The judge and the bounds.
    pub(super) async fn governance(
        &self,
        shared: &Shared,
        servers: &[Server],
        conversation: &Conversation,
    ) -> Result<(Policy, RunLimits), Failure> {
        let crew = shared.fleet.crew(&self.user);
        let manager = crew.manager();
        let seen = servers.iter().flat_map(|row| auto_approved(row, manager));
        shared.store.commit(seen.collect()).await?;
        let decided = Decided::read(&*shared.store, &self.user).await?;
        let policy = decided.policy(self.mode, servers, &conversation.id);
        Ok((policy, self.bounds.limits()))
    }

    /// Reaches the servers.
    pub(super) async fn equip(&self, shared: &Shared) -> Result<Equipment, Failure> {
        let assistant = self.assistant.as_ref();
        shared
            .fleet
            .equip(&self.user, &self.wishes, assistant, &self.choice)
            .await
    }

    /// The model with these tools.
    pub(super) async fn agent(
        &self,
        shared: &Shared,
        equipment: &Equipment,
        conversation: &Conversation,
    ) -> Result<Agent, Failure> {
        let is_ours = self.choice.provider.is_demo() && self.choice.base_url.is_none();
        let demo = is_ours.then_some(&*shared.demo);
        let tools = Arc::clone(&equipment.tools);
        let agent =
            workbench::agent(&self.choice, demo, tools, &Tape::None, &self.settings).await?;
        let outputs = StoredOutputs::new(Arc::clone(&shared.store), conversation.id.clone());
        let selection = equipment.selection.clone();
        let agent = agent.with_store(outputs).with_selection(selection);
        // A question of a server waits in the store, also over a restart.
        let agent = agent.with_parking();
        Ok(agent.with_conversation(conversation.id.as_str()))
    }
}
