//! Clients of `mcp-testkit`'s servers, in both eras.

use mcp_client::{Client, ClientBuilder};
use mcp_testkit::{Era, Running, Script, Server};
use mcp_transport::HttpConfig;

pub(crate) const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// A server that plays `script` in one era.
pub(crate) async fn server(script: Script, era: Era) -> Running {
    Server::new(script.only(era)).start_http().await.unwrap()
}

/// A client of it, with tasks.
pub(crate) async fn client(server: &Running) -> Client {
    let connect = HttpConfig::new(&server.url()).unwrap().into_connect();
    let builder = ClientBuilder::new(connect.unwrap()).name("kit").tasks();
    builder.connect().await.unwrap()
}
