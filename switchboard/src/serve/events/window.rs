//! The latest events of a user, for all who read them: read once, kept for a while.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::store::{ConversationId, Event};

/// An event as it is sent.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) seq: u64,
    conversation: Option<ConversationId>,
    pub(super) kind: String,
    pub(super) data: String,
}

impl From<Event> for Line {
    fn from(event: Event) -> Self {
        Self {
            seq: event.seq,
            conversation: event.conversation_id,
            kind: event.kind,
            data: event.data.to_string(),
        }
    }
}

impl Line {
    /// Whether it is for those who read this conversation, or all of them.
    pub(super) fn is_for(&self, place: Option<&ConversationId>) -> bool {
        place.is_none() || self.conversation.is_none() || self.conversation.as_ref() == place
    }
}

/// All of a user's events after a number, up to the latest that was read. What is too old or too
/// much goes first; who needs it reads the store.
#[derive(Debug)]
pub(super) struct Window {
    /// Every event after this one is here.
    after: u64,
    latest: u64,
    lines: VecDeque<Arc<Line>>,
    bytes: usize,
    most_lines: usize,
    most_bytes: usize,
}

impl Window {
    /// Starts after the latest event, with a capacity in lines and bytes.
    pub(super) fn new(latest: u64, most_lines: usize, most_bytes: usize) -> Self {
        Self {
            after: latest,
            latest,
            lines: VecDeque::new(),
            bytes: 0,
            most_lines,
            most_bytes,
        }
    }

    /// The number of the latest event.
    pub(super) fn latest(&self) -> u64 {
        self.latest
    }

    /// Takes in the next event.
    pub(super) fn push(&mut self, line: Line) {
        self.latest = line.seq;
        self.bytes += line.data.len();
        self.lines.push_back(Arc::new(line));
        while self.lines.len() > self.most_lines || self.bytes > self.most_bytes {
            let Some(oldest) = self.lines.pop_front() else {
                return;
            };
            self.after = oldest.seq;
            self.bytes -= oldest.data.len();
        }
    }

    /// At most `limit` events after this number; `None` if some of them were dropped.
    pub(super) fn read(&self, after: u64, limit: usize) -> Option<Vec<Arc<Line>>> {
        if after < self.after {
            return None;
        }
        let from = self.lines.partition_point(|line| line.seq <= after);
        Some(self.lines.iter().skip(from).take(limit).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What happens next.
    #[derive(Clone, Debug)]
    enum Step {
        /// Appends events, of one of two conversations or of none.
        Append(Vec<Option<bool>>),
        /// They are read once for all.
        Feed(usize),
        /// A reader reads on.
        Read(usize, usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let place = prop::option::of(any::<bool>());
        prop_oneof![
            prop::collection::vec(place, 1..6).prop_map(Step::Append),
            (1..8usize).prop_map(Step::Feed),
            (0..3usize, 1..5usize).prop_map(|(reader, limit)| Step::Read(reader, limit)),
        ]
    }

    fn id(place: bool) -> ConversationId {
        ConversationId::new(if place { "one" } else { "other" })
    }

    fn line(seq: u64, place: Option<bool>) -> Line {
        Line {
            seq,
            conversation: place.map(id),
            kind: "kind".to_owned(),
            data: "x".repeat(seq as usize % 7),
        }
    }

    struct Reader {
        place: Option<ConversationId>,
        after: u64,
        got: Vec<u64>,
    }

    /// The same as a reader of the live events does.
    fn read(reader: &mut Reader, window: &Window, store: &[(u64, Option<bool>)], limit: usize) {
        let known = window.latest();
        let (lines, page) = match window.read(reader.after, limit) {
            Some(lines) => (lines, None),
            None => {
                let place = reader.place.as_ref();
                let stored = store.iter().filter(|(seq, _)| *seq > reader.after);
                let stored = stored.map(|(seq, place)| Arc::new(line(*seq, *place)));
                let page: Vec<_> = stored.filter(|it| it.is_for(place)).take(limit).collect();
                let full = page.len() == limit;
                (page, Some(full))
            }
        };
        for line in lines {
            reader.after = line.seq;
            if line.is_for(reader.place.as_ref()) {
                reader.got.push(line.seq);
            }
        }
        if page == Some(false) {
            reader.after = reader.after.max(known);
        }
    }

    proptest! {
        /// However slow a reader is, it gets every event that concerns it, once and in order.
        #[test]
        fn nothing_is_lost_doubled_or_out_of_order(
            steps in prop::collection::vec(step(), 0..120),
            begun in prop::collection::vec(0..4u64, 3),
        ) {
            let mut store: Vec<(u64, Option<bool>)> = (1..=3).map(|seq| (seq, None)).collect();
            let mut window = Window::new(3, 6, 20);
            let places = [None, Some(id(true)), Some(id(false))];
            let mut readers: Vec<Reader> = places
                .iter()
                .zip(&begun)
                .map(|(place, after)| Reader { place: place.clone(), after: *after, got: Vec::new() })
                .collect();
            let mut seq = 3;
            let rest = (0..400).flat_map(|_| [Step::Feed(8), Step::Read(0, 4), Step::Read(1, 4), Step::Read(2, 4)]);
            for step in steps.into_iter().chain(rest) {
                match step {
                    Step::Append(places) => for place in places {
                        // Other users' events have numbers in between.
                        seq += 1 + seq % 2;
                        store.push((seq, place));
                    },
                    Step::Feed(limit) => {
                        let new = store.iter().filter(|(seq, _)| *seq > window.latest());
                        let new: Vec<_> = new.take(limit).copied().collect();
                        for (seq, place) in new {
                            window.push(line(seq, place));
                        }
                        prop_assert!(window.lines.len() <= 6 && window.bytes <= 20);
                    }
                    Step::Read(reader, limit) => read(&mut readers[reader], &window, &store, limit),
                }
            }
            for (reader, after) in readers.iter().zip(begun) {
                let all = store.iter().filter(|(seq, place)| {
                    *seq > after && line(*seq, *place).is_for(reader.place.as_ref())
                });
                let all: Vec<u64> = all.map(|(seq, _)| *seq).collect();
                prop_assert_eq!(&reader.got, &all);
            }
        }
    }
}
