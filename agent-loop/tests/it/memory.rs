//! Scripted servers in this process, reached through the transport in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_client::ClientBuilder;
use mcp_manager::{Connector, ServerCommand, ServerConfig};
use mcp_testkit::{Script, Server};
use mcp_transport::memory::{self, MemoryConnect, MemoryTransport};
use mcp_transport::{BoxError, Incoming, Outgoing, Transport as _};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

/// Starts a server that can be connected to again and again.
pub(crate) fn serve(script: Script) -> MemoryConnect {
    let (connect, mut listener) = memory::listen();
    tokio::spawn(async move {
        while let Some(end) = listener.accept().await {
            let (stream, server) = Server::new(script.clone()).pipe().unwrap();
            tokio::spawn(async move {
                pass_on(end, stream).await;
                server.shutdown().await;
            });
        }
    });
    connect
}

/// Passes messages on between a client in memory and a server that reads lines.
async fn pass_on(end: MemoryTransport, stream: DuplexStream) {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = BufReader::new(reader).lines();
    loop {
        tokio::select! {
            incoming = end.recv() => match incoming {
                Incoming::Message { mut body, .. } => {
                    body.push(b'\n');
                    writer.write_all(&body).await.unwrap();
                }
                _ => return,
            },
            line = lines.next_line() => match line {
                Ok(Some(line)) => {
                    let message = Outgoing::notification("any", line.into_bytes());
                    if end.send(message).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}

/// Reaches servers in memory by their names.
#[derive(Debug, Default)]
pub(crate) struct InMemory(BTreeMap<String, MemoryConnect>);

impl InMemory {
    pub(crate) fn with(mut self, name: &str, script: Script) -> Self {
        self.0.insert(name.to_owned(), serve(script));
        self
    }
}

#[async_trait]
impl Connector for InMemory {
    fn builder(&self, config: &ServerConfig) -> Result<ClientBuilder, BoxError> {
        let connect = self.0.get(config.name().as_str());
        let connect = connect.ok_or("there is no such server in memory")?;
        Ok(ClientBuilder::new(Arc::new(connect.clone())))
    }
}

/// The configuration of a server in memory.
pub(crate) fn config(name: &str) -> ServerConfig {
    ServerConfig::stdio(name.parse().unwrap(), ServerCommand::new("in memory"))
}
