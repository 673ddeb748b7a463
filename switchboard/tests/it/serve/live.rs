//! Live events of a server, as a client reads them.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;

use serde_json::Value;

/// Live events, one after the other.
pub(crate) struct Events {
    pub(super) lines: BufReader<TcpStream>,
}

/// A live event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Live {
    pub(crate) id: u64,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

impl Events {
    /// The next event; nothing once the stream has ended.
    pub(crate) fn next(&mut self) -> Option<Live> {
        let mut event = Live {
            id: 0,
            kind: String::new(),
            data: Value::Null,
        };
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end();
            match line.split_once(": ") {
                Some(("id", id)) => event.id = id.parse().unwrap(),
                Some(("event", kind)) => event.kind = kind.to_owned(),
                Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
                _ if line.is_empty() && !event.kind.is_empty() => return Some(event),
                _ => {}
            }
        }
    }

    /// All events up to the first of this kind.
    #[track_caller]
    pub(crate) fn until(&mut self, kind: &str) -> Vec<Live> {
        self.until_that(|event| event.kind == kind)
    }

    #[track_caller]
    pub(crate) fn until_that(&mut self, fits: impl Fn(&Live) -> bool) -> Vec<Live> {
        let mut all = Vec::new();
        loop {
            let event = self.next();
            let event = event.unwrap_or_else(|| panic!("the events ended: {all:#?}"));
            let last = fits(&event);
            all.push(event);
            if last {
                return all;
            }
        }
    }

    /// All events until something waits for the user.
    #[track_caller]
    pub(crate) fn until_waiting(&mut self) -> Vec<Live> {
        self.until_that(|event| {
            event.kind == "conversation.updated"
                && event.data["conversation"]["waiting"].as_u64() > Some(0)
        })
    }
}
