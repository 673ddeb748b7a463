//! The demo server as a child of this program and the demo model behind its endpoint, under the
//! same manager and the same loop that serve real ones.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_loop::{Agent, ManagedTools};
use mcp_manager::{EnvPolicy, Manager, ServerCommand, ServerConfig, ServerName, Wait};
use provider_adapters::Wire;

use super::model::DemoModel;
use super::script::{DemoScript, MODEL};
use crate::exit::{Exit, Failure};

/// The demo server's name among servers.
pub const SERVER: &str = "demo";
/// How long the demo server may take to start.
const START: Duration = Duration::from_secs(10);

/// A running demo server and demo model.
#[derive(Debug)]
pub struct DemoStage {
    manager: Manager,
    model: DemoModel,
}

impl DemoStage {
    /// Starts both; `program` is this program, which serves the demo tools as well. With a clock,
    /// that is the time it always is there.
    pub async fn start(
        program: &Path,
        script: DemoScript,
        clock: Option<i64>,
    ) -> Result<Self, Failure> {
        let model = start_model(script).await?;
        let manager = Manager::builder().build();
        let server = demo_server_config(program, clock)?.with_connect_timeout(START);
        let started = manager.connect_all([server], Wait::All).await;
        if let Some((_, error)) = started.errors.into_iter().next() {
            manager.shutdown().await;
            return Err(
                Failure::new(Exit::Unreachable, "the demo server did not start").caused_by(error),
            );
        }
        Ok(Self { manager, model })
    }

    /// The manager, with the demo server in it.
    pub fn manager(&self) -> &Manager {
        &self.manager
    }

    /// An agent of both, on this wire.
    pub fn agent(&self, wire: Wire) -> Result<Agent, Failure> {
        let model = self.model.client(wire).map_err(|error| {
            Failure::new(Exit::Model, "the demo model cannot be asked").caused_by(error)
        })?;
        let tools = ManagedTools::new(self.manager.clone());
        Ok(Agent::new(model).with_model_name(MODEL).tools(tools))
    }

    /// Stops both, and returns once no process is left.
    pub async fn stop(self) {
        self.manager.shutdown().await;
        self.model.stop().await;
    }
}

/// Starts the demo model, on any port.
pub(crate) async fn start_model(script: DemoScript) -> Result<DemoModel, Failure> {
    let failed = |error| Failure::new(Exit::Model, "the demo model did not start").caused_by(error);
    DemoModel::start(script, 0).await.map_err(failed)
}

/// Where this program is.
pub(crate) fn this_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| {
        Failure::new(Exit::Other, "this program cannot find itself").caused_by(error)
    })
}

/// Configuration that starts this program as the demo server, with its annotations trusted.
pub fn demo_server_config(program: &Path, clock: Option<i64>) -> Result<ServerConfig, Failure> {
    let unusable = |what: &str| {
        Failure::new(
            Exit::Other,
            format!("{what} cannot be used to start the demo server"),
        )
    };
    let name: ServerName = SERVER.parse().map_err(|_| unusable(SERVER))?;
    let command = program
        .to_str()
        .ok_or_else(|| unusable(&program.display().to_string()))?;
    let clock = clock.map(|time| format!("--clock={time}"));
    let arguments = [Some("demo-server".to_owned()), clock];
    let command = ServerCommand::new(command)
        .with_args(arguments.into_iter().flatten())
        .with_env_policy(EnvPolicy::Safe);
    Ok(ServerConfig::stdio(name, command).trusted())
}
