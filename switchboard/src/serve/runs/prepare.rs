//! Preparation of a conversation's run: model, tools and policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent_loop::{Agent, Mode, Policy, RunLimits};
use serde_json::Value;

use crate::conversation::{Decided, StoredOutputs};
use crate::exit::Failure;
use crate::models::{Cassette, Choice};
use crate::serve::runs::Shared;
use crate::serve::server_pool::Equipment;
use crate::servers::{auto_approved, scan};
use crate::setup::{self, Bounds, Options, RunArgs};
use crate::store::{Assistant, Conversation, Server, UserId};

/// What is known before any server is reached.
pub(super) struct Plan {
    pub(super) choice: Choice,
    pub(super) assistant: Option<Assistant>,
    run_args: RunArgs,
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
        let settings = shared.server_pool.settings(user).await?;
        let assistant = match &conversation.assistant_id {
            Some(id) => {
                let mut all = shared.store.assistants(user).await?.into_iter();
                all.find(|assistant| assistant.id == *id)
            }
            None => None,
        };
        let mut run_args = RunArgs::default();
        run_args.resume(conversation)?;
        if run_args.wanted.model.is_none() {
            let of_assistant = assistant.as_ref().and_then(|it| it.model.clone());
            run_args.wanted.model = of_assistant;
        }
        let pool = &shared.server_pool;
        let choice = pool.choice(user, &run_args.wanted, &settings).await?;
        let choice = choice.with_mcp_mode(assistant.as_ref().and_then(|it| it.mcp_mode));
        let mode = setup::mode(run_args.approve, assistant.as_ref(), &settings)?;
        let bounds = Bounds::of(&run_args, assistant.as_ref(), &settings);
        Ok(Self {
            choice,
            assistant,
            run_args,
            mode,
            bounds,
            settings,
            user: user.clone(),
        })
    }

    /// Stores the options in the conversation, for resuming it.
    pub(super) fn remember(&self, conversation: &mut Conversation) {
        let mode = setup::mode_name(self.mode);
        Options::new(&self.run_args, &self.choice, &mode, &self.bounds).keep(conversation);
    }

    /// The judge and the bounds.
    pub(super) async fn governance(
        &self,
        shared: &Shared,
        servers: &[Server],
        conversation: &Conversation,
    ) -> Result<(Policy, RunLimits), Failure> {
        let user_servers = shared.server_pool.user_servers(&self.user);
        let manager = user_servers.manager();
        let seen = servers.iter().flat_map(|row| auto_approved(row, manager));
        shared.store.commit(seen.collect()).await?;
        let decided = Decided::read(&*shared.store, &self.user).await?;
        let policy = decided
            .policy(self.mode, servers, &conversation.id)
            .with_scan(scan::policy(&self.settings));
        Ok((policy, self.bounds.limits()))
    }

    /// Reaches the servers.
    pub(super) async fn equip(&self, shared: &Shared) -> Result<Equipment, Failure> {
        let assistant = self.assistant.as_ref();
        shared
            .server_pool
            .equip(&self.user, &self.run_args, assistant, &self.choice)
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
        let agent = setup::agent(
            &self.choice,
            demo,
            tools,
            &Cassette::None,
            None,
            &self.settings,
        )
        .await?;
        let user_servers = shared.server_pool.user_servers(&self.user);
        let agent = setup::guarded(agent, user_servers.manager());
        let outputs = StoredOutputs::new(Arc::clone(&shared.store), conversation.id.clone());
        let selection = equipment.selection.clone();
        let options = setup::model_options(&self.run_args, self.assistant.as_ref());
        let agent = agent.with_store(outputs).with_selection(selection);
        let agent = agent.with_options(options);
        // A question of a server waits in the store, also over a restart.
        let agent = agent.with_parking();
        Ok(agent.with_conversation(conversation.id.as_str()))
    }
}
