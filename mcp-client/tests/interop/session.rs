//! A connected client, and what a test can see of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::{Client, ClientBuilder, ClientEvent, ClientLimits, EraMode, HostCapabilities};
use mcp_jsonrpc::model::CallToolResult;
use mcp_transport::{
    Connect, LocalSpawner, ProcessTracker, ServerCommand, StdioConnect, TransportKind,
};
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::answers::Answers;
use crate::recording::{Recorded, Sent};

/// What takes longer than this never comes: machines under test may be slow and busy.
const TEST_TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) host: Answers,
    events: mpsc::Receiver<ClientEvent>,
    sent: Sent,
    kind: watch::Sender<Option<TransportKind>>,
    processes: ProcessTracker,
}

impl Session {
    /// Starts a server and connects to it, with a host that cannot answer anything.
    pub(crate) async fn start(command: ServerCommand, mode: EraMode) -> Self {
        Self::start_with(command, mode, HostCapabilities::default()).await
    }

    pub(crate) async fn start_with(
        command: ServerCommand,
        mode: EraMode,
        can: HostCapabilities,
    ) -> Self {
        let processes = ProcessTracker::new();
        let connect = StdioConnect::new(command, Arc::new(LocalSpawner::new()))
            .with_tracker(processes.clone());
        let session = Self::open(Arc::new(connect), mode, can, processes).await;
        assert_eq!(session.processes.processes().len(), 1);
        session
    }

    /// Connects to a server that runs already.
    pub(crate) async fn reach(connect: Arc<dyn Connect>, can: HostCapabilities) -> Self {
        Self::open(connect, EraMode::Auto, can, ProcessTracker::new()).await
    }

    async fn open(
        connect: Arc<dyn Connect>,
        mode: EraMode,
        can: HostCapabilities,
        processes: ProcessTracker,
    ) -> Self {
        let sent = Sent::default();
        let kind = watch::Sender::default();
        let host = Answers::default();
        let (tell, events) = mpsc::channel(1024);
        let recorded = Recorded {
            connect,
            sent: sent.clone(),
            kind: kind.clone(),
        };
        let client = ClientBuilder::new(Arc::new(recorded))
            .name("interop")
            .era(mode)
            .limits(
                ClientLimits::default()
                    .with_connect_timeout(TEST_TIMEOUT)
                    .with_probe_timeout(TEST_TIMEOUT),
            )
            .host(host.clone(), can)
            .on_event(move |event| {
                let tell = tell.clone();
                async move {
                    let _ = tell.send(event).await;
                }
            })
            .connect()
            .await
            .unwrap();
        Self {
            client,
            host,
            events,
            sent,
            kind,
            processes,
        }
    }

    /// Calls a tool that should not fail.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let result = self.client.call_tool(tool, arguments).await.unwrap();
        assert!(!result.failed(), "{tool}: {result:?}");
        result
    }

    /// Calls a tool that should not fail; what it says, as one text.
    pub(crate) async fn say(&self, tool: &str, arguments: Value) -> String {
        said(&self.call(tool, arguments).await)
    }

    /// Calls a tool that should fail; what it says of that.
    pub(crate) async fn complaint(&self, tool: &str, arguments: Value) -> String {
        let result = self.client.call_tool(tool, arguments).await.unwrap();
        assert!(result.failed(), "{tool}: {result:?}");
        said(&result)
    }

    /// The tools' names, in the server's order.
    pub(crate) async fn tools(&self) -> Vec<String> {
        let tools = self.client.list_tools().await.unwrap();
        assert_eq!((tools.skipped, tools.truncated), (vec![], None));
        tools.items.into_iter().map(|tool| tool.name).collect()
    }

    /// The next event that `pick` finds something in; those before it are forgotten.
    pub(crate) async fn event<T>(&mut self, pick: impl Fn(ClientEvent) -> Option<T>) -> T {
        let next = async {
            loop {
                let event = self.events.recv().await.expect("the client is open");
                if let Some(found) = pick(event) {
                    return found;
                }
            }
        };
        timeout(TEST_TIMEOUT, next).await.expect("an event")
    }

    /// Waits until a message was sent that `is` the one; at once if it was already.
    pub(crate) async fn sent(&self, is: impl Fn(&Value) -> bool) -> Value {
        let mut sent = self.sent.subscribe();
        let found = sent.wait_for(|sent| sent.iter().any(&is));
        let sent = timeout(TEST_TIMEOUT, found)
            .await
            .expect("a message")
            .unwrap();
        sent.iter().rfind(|message| is(message)).unwrap().clone()
    }

    /// How many requests of this method were sent.
    pub(crate) fn how_often(&self, method: &str) -> usize {
        let sent = self.sent.borrow();
        let asked = sent.iter().filter(|message| message["method"] == method);
        asked.count()
    }

    /// Closes the client; no process may be left then, which Linux shows in `/proc`.
    pub(crate) async fn close(self) {
        let ids = self.processes.processes().into_iter().map(|one| one.id);
        let ids: Vec<u32> = ids.map(Option::unwrap).collect();
        self.client.close().await;
        assert!(!self.client.is_alive());
        assert_eq!(self.processes.processes(), []);
        for id in ids {
            let left = PathBuf::from(format!("/proc/{id}"));
            assert!(!left.exists(), "process {id} is left");
        }
    }

    /// By which transport the server was reached.
    pub(crate) fn kind(&self) -> Option<TransportKind> {
        *self.kind.borrow()
    }
}

/// All texts of a result.
pub(crate) fn said(result: &CallToolResult) -> String {
    result
        .content
        .iter()
        .filter_map(|one| one.as_text())
        .collect()
}

/// A result's structured content.
pub(crate) fn structured(result: &CallToolResult) -> Value {
    let content = result.structured_content.as_ref().unwrap();
    content.parse().unwrap()
}
