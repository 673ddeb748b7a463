//! What a conversation is driven with: its model, its tools, its rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent_loop::{Agent, Limits, Mode, Policy};
use serde_json::Value;

use crate::exit::Failure;
use crate::home;
use crate::models::{Choice, Tape, Wanted};
use crate::serve::fleet::Equipment;
use crate::serve::parking::Parking;
use crate::serve::runs::Shared;
use crate::servers::auto_approved;
use crate::session::{Decided, StoredOutputs};
use crate::store::{Assistant, Conversation, Server, UserId};
use crate::workbench::{self, Wishes};

/// What is known before any server is reached.
pub(super) struct Plan {
    pub(super) choice: Choice,
    pub(super) assistant: Option<Assistant>,
    mode: Mode,
    limits: Limits,
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
        let settings = home::settings(&*shared.store, user).await?;
        let assistant = match &conversation.assistant_id {
            Some(id) => {
                let mut all = shared.store.assistants(user).await?.into_iter();
                all.find(|assistant| assistant.id == *id)
            }
            None => None,
        };
        let option = |name: &str| conversation.options.get(name).and_then(Value::as_str);
        let of_assistant = assistant.as_ref().and_then(|it| it.model.as_deref());
        let model = option("model").or(of_assistant).map(str::to_owned);
        let choice = workbench::choice(&Wanted::model(model), &settings).await?;
        let wished = option("approvalMode").map(workbench::named_mode);
        let wished = wished.transpose()?;
        let mode = workbench::mode(wished, assistant.as_ref(), &settings)?;
        let limits = workbench::limits(&Wishes::default(), assistant.as_ref(), &settings);
        Ok(Self {
            choice,
            assistant,
            mode,
            limits,
            settings,
            user: user.clone(),
        })
    }

    /// The judge and the bounds.
    pub(super) async fn governance(
        &self,
        shared: &Shared,
        servers: &[Server],
        conversation: &Conversation,
    ) -> Result<(Policy, Limits), Failure> {
        let crew = shared.fleet.crew(&self.user);
        let manager = crew.manager();
        let seen = servers.iter().flat_map(|row| auto_approved(row, manager));
        shared.store.commit(seen.collect()).await?;
        let decided = Decided::read(&*shared.store, &self.user).await?;
        let policy = decided.policy(self.mode, servers, &conversation.id);
        Ok((policy, self.limits))
    }

    /// Reaches the servers.
    pub(super) async fn equip(&self, shared: &Shared) -> Result<Equipment, Failure> {
        let assistant = self.assistant.as_ref();
        shared
            .fleet
            .equip(&self.user, assistant, &self.choice)
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
        let tools = Arc::new(Parking(Arc::clone(&equipment.tools)));
        let agent =
            workbench::agent(&self.choice, demo, tools, &Tape::None, &self.settings).await?;
        let outputs = StoredOutputs::new(Arc::clone(&shared.store), conversation.id.clone());
        let selection = equipment.selection.clone();
        let agent = agent.with_store(outputs).with_selection(selection);
        Ok(agent.with_conversation(conversation.id.as_str()))
    }
}
