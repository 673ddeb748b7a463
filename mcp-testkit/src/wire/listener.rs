//! A listening port and the connections it accepts.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::replay::Replay;
use super::{Conn, HttpRequest, http, legacy};
use crate::TransportKind;
use crate::fault::{Hit, Kind, On};
use crate::log::{Origin, Seen};
use crate::protocol::{Session, World};

/// The time streams may take to end normally when the server stops.
const GRACE: Duration = Duration::from_secs(1);

/// One origin: a port on the loopback address.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) world: Arc<World>,
    pub(crate) shape: TransportKind,
    pub(crate) origin: Origin,
    /// `http://127.0.0.1:PORT`.
    pub(crate) base: String,
    /// The base of the other origin.
    pub(crate) other: Option<String>,
    pub(crate) sessions: Mutex<BTreeMap<String, Arc<Session>>>,
    pub(super) replays: Mutex<BTreeMap<u64, Arc<Replay>>>,
    /// The contents of a resumed stream.
    pub(crate) pending: Mutex<Vec<u8>>,
    away: mpsc::Sender<Duration>,
    epoch: watch::Sender<u64>,
}

impl Site {
    /// Serves on this port until the future is dropped or the world stops.
    pub(crate) fn open(
        world: &Arc<World>,
        shape: TransportKind,
        origin: Origin,
        listener: TcpListener,
        other: Option<String>,
    ) -> io::Result<(Arc<Self>, impl Future<Output = ()> + Send + 'static)> {
        let (away, commands) = mpsc::channel(1);
        let site = Arc::new(Self {
            world: Arc::clone(world),
            shape,
            origin,
            base: format!("http://{}", listener.local_addr()?),
            other,
            sessions: Mutex::default(),
            replays: Mutex::default(),
            pending: Mutex::default(),
            away,
            epoch: watch::Sender::new(0),
        });
        Ok((Arc::clone(&site), site.accept(listener, commands)))
    }

    /// The URL clients connect to.
    pub(crate) fn url(&self) -> String {
        let path = match self.shape {
            TransportKind::Sse => "/sse",
            TransportKind::Stdio | TransportKind::Http => "/mcp",
        };
        format!("{}{path}", self.base)
    }

    /// Refuses connections for a while and drops the open ones.
    pub(crate) fn go_away(&self, time: Duration) {
        // A second request during the first is dropped.
        let _ = self.away.try_send(time);
    }

    /// Closes every open connection.
    pub(crate) fn drop_connections(&self) {
        self.epoch.send_modify(|epoch| *epoch += 1);
    }

    async fn accept(
        self: Arc<Self>,
        listener: TcpListener,
        mut commands: mpsc::Receiver<Duration>,
    ) {
        let address = listener.local_addr();
        let mut listener = Some(listener);
        let mut connections = JoinSet::new();
        let mut number = 0;
        loop {
            let Some(open) = &listener else { return };
            tokio::select! {
                accepted = open.accept() => {
                    let Ok((stream, _)) = accepted else {
                        // Most likely out of file descriptors: some will be free again.
                        tokio::time::sleep(Duration::from_millis(10)).await;
                        continue;
                    };
                    number += 1;
                    let conn = Conn::new(stream, number, self.world.log.clone());
                    connections.spawn(Arc::clone(&self).serve(conn));
                }
                Some(time) = commands.recv() => {
                    listener = None;
                    self.world.log.mark("away", 0);
                    self.drop_connections();
                    tokio::time::sleep(time).await;
                    if let Ok(address) = address {
                        listener = TcpListener::bind(address).await.ok();
                        self.world.log.mark("back", 0);
                    }
                }
                Some(_) = connections.join_next() => {}
                () = self.world.stopped() => break,
                // Connections end with the set, at any point.
                _ = self.world.exited() => return,
            }
        }
        drop(listener);
        let ended = async { while connections.join_next().await.is_some() {} };
        // Connections that have not ended by then are dropped with the set.
        let _ = tokio::time::timeout(GRACE, ended).await;
    }

    async fn serve(self: Arc<Self>, mut conn: Conn) {
        self.world.log.record(Seen::Connected {
            origin: self.origin,
            connection: conn.number,
        });
        let mut epoch = self.epoch.subscribe();
        tokio::select! {
            // Only the client needs to see how its connection ended.
            _ = self.requests(&mut conn) => {}
            _ = epoch.changed() => {}
        }
    }

    async fn requests(&self, conn: &mut Conn) -> io::Result<()> {
        let fault = match self.world.fault_kind() {
            Some(Kind::Http(on, fault)) if self.shape == TransportKind::Http => Some((on, fault)),
            Some(Kind::Sse(on, fault)) if self.shape == TransportKind::Sse => Some((on, fault)),
            _ => None,
        };
        if let (Origin::First, Some((On::Connect, fault))) = (self.origin, fault) {
            return fault(&mut Hit::new(self, conn, &HttpRequest::default())).await;
        }
        loop {
            let request = tokio::select! {
                request = conn.read_request() => request?,
                () = self.world.stopped() => None,
            };
            let Some(request) = request else {
                return Ok(());
            };
            self.log(conn, &request);
            let mut hit = Hit::new(self, conn, &request);
            match fault {
                Some((on, fault)) if hit.is(on) => fault(&mut hit).await?,
                _ => hit.behave().await?,
            }
        }
    }

    fn log(&self, conn: &Conn, request: &HttpRequest) {
        let message: Option<Value> = serde_json::from_slice(&request.body).ok();
        let rpc = message.as_ref().and_then(|m| m.get("method")?.as_str());
        self.world.log.record(Seen::Http {
            origin: self.origin,
            connection: conn.number,
            method: request.method.clone(),
            path: request.target.clone(),
            headers: request.headers.to_vec(),
            rpc: rpc.map(str::to_owned),
        });
        if let Some(message) = message {
            self.world
                .log
                .message(self.origin, &message, request.body.len());
        }
    }

    /// Handles a request like a well-behaved server.
    pub(crate) async fn behave(&self, conn: &mut Conn, request: &HttpRequest) -> io::Result<()> {
        match self.shape {
            TransportKind::Sse => legacy::serve(self, conn, request).await,
            TransportKind::Stdio | TransportKind::Http => http::serve(self, conn, request).await,
        }
    }
}
