//! The servers of an agent.

use std::fmt;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use mcp_manager::{Manager, ServerConfig, Wait};
use tokio::sync::OnceCell;
use tool_policy::ToolInfo;

use crate::agent::Agent;
use crate::agent::ask::AskError;
use crate::session::reply::chain;
use crate::toolbox::context::CallContext;
use crate::toolbox::managed::ManagedTools;
use crate::toolbox::{Invocation, Outcome, Toolbox};

impl Agent {
    /// Connects the agent's [servers](Self::servers), once; otherwise a run connects them on first use.
    ///
    /// # Errors
    /// [`AskError::Servers`] with those that could not be connected. The others are connected, and a run in a
    /// [`session`](Self::session) continues with them.
    pub async fn connect(&self) -> Result<(), AskError> {
        match &self.servers {
            Some(servers) => match servers.connect().await {
                [] => Ok(()),
                failed => Err(AskError::Servers(failed.to_vec())),
            },
            None => Ok(()),
        }
    }

    /// Closes the agent's [servers](Self::servers), and returns when all of them have ended. Dropping the last clone of
    /// the agent closes them as well, in the background.
    pub async fn close(&self) {
        if let Some(managed) = self.servers.as_ref().and_then(|it| it.managed.get()) {
            managed.manager().shutdown().await;
        }
    }
}

/// Servers that are connected when they are first needed, by a manager of their own.
pub(crate) struct ServerTools {
    configs: Vec<ServerConfig>,
    managed: OnceLock<ManagedTools>,
    /// Those that could not be connected.
    failed: OnceCell<Vec<(String, String)>>,
}

impl ServerTools {
    pub(crate) fn new(configs: Vec<ServerConfig>) -> Self {
        Self {
            configs,
            managed: OnceLock::new(),
            failed: OnceCell::new(),
        }
    }

    fn managed(&self) -> &ManagedTools {
        self.managed
            .get_or_init(|| ManagedTools::new(Manager::builder().build()))
    }

    async fn connect(&self) -> &[(String, String)] {
        let connect = || async {
            let manager = self.managed().manager();
            let startup = manager.connect_all(self.configs.clone(), Wait::All).await;
            let failed = startup.errors.iter();
            failed
                .map(|(name, error)| (name.to_string(), chain(error)))
                .inspect(|(name, error)| tracing::warn!(server = name, error, "not connected"))
                .collect()
        };
        self.failed.get_or_init(connect).await
    }
}

#[async_trait]
impl Toolbox for ServerTools {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        self.connect().await;
        self.managed().tools().await
    }

    async fn refresh(&self) {
        self.connect().await;
        self.managed().refresh().await;
    }

    async fn call(&self, call: Invocation, context: CallContext) -> Outcome {
        self.managed().call(call, context).await
    }

    fn search(&self, tools: &[ToolInfo], query: &str, limit: usize) -> Vec<usize> {
        self.managed().search(tools, query, limit)
    }
}

impl fmt::Debug for ServerTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.configs.iter().map(|config| config.name().as_str());
        f.debug_list().entries(names).finish()
    }
}
