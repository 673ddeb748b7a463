//! The history of one resumable stream, for clients that resume it.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};

use crate::protocol::Piece;

/// The maximum number of pieces a stream keeps.
const MAX_PIECES: usize = 10_000;

/// Everything one stream has sent.
#[derive(Debug)]
pub(crate) struct Replay {
    /// The stream's part of every event id.
    pub(crate) stream: u64,
    state: Mutex<State>,
    grown: Notify,
}

#[derive(Debug, Default)]
struct State {
    pieces: Vec<Piece>,
    ended: bool,
}

impl Replay {
    /// Records pieces as they arrive, until the stream ends.
    pub(crate) fn of(stream: u64, mut pieces: mpsc::Receiver<Piece>) -> Arc<Self> {
        let replay = Arc::new(Self {
            stream,
            state: Mutex::default(),
            grown: Notify::new(),
        });
        let memory = Arc::clone(&replay);
        tokio::spawn(async move {
            while let Some(piece) = pieces.recv().await {
                let full = {
                    let mut state = memory.state.lock();
                    state.pieces.push(piece);
                    state.pieces.len() >= MAX_PIECES
                };
                memory.grown.notify_waiters();
                if full {
                    break;
                }
            }
            memory.state.lock().ended = true;
            memory.grown.notify_waiters();
        });
        replay
    }

    /// The piece at this position, once it exists; `None` if the stream has ended before.
    pub(crate) async fn piece(&self, at: usize) -> Option<Piece> {
        loop {
            let grown = self.grown.notified();
            tokio::pin!(grown);
            grown.as_mut().enable();
            {
                let state = self.state.lock();
                if let Some(piece) = state.pieces.get(at) {
                    return Some(piece.clone());
                }
                if state.ended {
                    return None;
                }
            }
            grown.await;
        }
    }

    /// The id of the event at this position, counted from 1; 0 is the empty first event.
    pub(crate) fn event_id(&self, at: usize) -> String {
        format!("stream-{}-{at}", self.stream)
    }
}

/// The stream and the position in an event id.
pub(crate) fn parse_event_id(id: &str) -> Option<(u64, usize)> {
    let (stream, at) = id.strip_prefix("stream-")?.split_once('-')?;
    Some((stream.parse().ok()?, at.parse().ok()?))
}
