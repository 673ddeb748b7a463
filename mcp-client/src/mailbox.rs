//! The bounded queue between the reader and the event handler: pure.

use std::collections::VecDeque;

use crate::event::Event;

/// Events that wait for their handler, in order.
///
/// A storm is bounded: an event that says no more than one that waits already is merged into it;
/// when the queue is full, log messages and unknown notifications are dropped and counted, and
/// anything that must not be lost becomes a [`Event::Gap`].
#[derive(Debug)]
pub(crate) struct Mailbox {
    queue: VecDeque<Event>,
    limit: usize,
    dropped: u64,
    gap: bool,
}

impl Mailbox {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            limit,
            dropped: 0,
            gap: false,
        }
    }

    /// Takes an event in.
    pub(crate) fn push(&mut self, event: Event) {
        let full = self.queue.len() >= self.limit;
        match event {
            Event::ToolsChanged
            | Event::PromptsChanged
            | Event::ResourcesChanged
            | Event::ResourceUpdated { .. }
                if self.queue.contains(&event) => {}
            Event::Gap => self.gap = true,
            Event::Dropped { count } => self.dropped += count,
            Event::Log(_) | Event::Other { .. } if full => self.dropped += 1,
            _ if full => self.gap = true,
            _ => self.queue.push_back(event),
        }
    }

    /// Hands the oldest event out. What was dropped or may be missing comes after what was kept.
    pub(crate) fn pop(&mut self) -> Option<Event> {
        if let Some(event) = self.queue.pop_front() {
            return Some(event);
        }
        if std::mem::take(&mut self.gap) {
            return Some(Event::Gap);
        }
        match std::mem::take(&mut self.dropped) {
            0 => None,
            count => Some(Event::Dropped { count }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn other(n: u32) -> Event {
        Event::Other {
            method: n.to_string(),
            params: None,
        }
    }

    fn drain(mailbox: &mut Mailbox) -> Vec<Event> {
        std::iter::from_fn(|| mailbox.pop()).collect()
    }

    #[test]
    fn a_storm_of_changes_is_one_change() {
        let mut mailbox = Mailbox::new(8);
        for _ in 0..10_000 {
            mailbox.push(Event::ToolsChanged);
            mailbox.push(Event::ResourceUpdated {
                uri: "a".to_owned(),
            });
        }
        let want = [
            Event::ToolsChanged,
            Event::ResourceUpdated {
                uri: "a".to_owned(),
            },
        ];
        assert_eq!(drain(&mut mailbox), want);
    }

    #[test]
    fn what_does_not_fit_is_counted_and_never_silently_lost() {
        let mut mailbox = Mailbox::new(2);
        for n in 0..5 {
            mailbox.push(other(n));
        }
        mailbox.push(Event::ToolsChanged);
        let want = [other(0), other(1), Event::Gap, Event::Dropped { count: 3 }];
        assert_eq!(drain(&mut mailbox), want);
    }

    fn events() -> impl Strategy<Value = Event> {
        prop_oneof![
            Just(Event::ToolsChanged),
            Just(Event::PromptsChanged),
            Just(Event::Gap),
            "[ab]".prop_map(|uri| Event::ResourceUpdated { uri }),
            (0u32..100).prop_map(other),
        ]
    }

    proptest! {
        /// Bounded, in order, and everything is accounted for: delivered, merged, counted, or a gap.
        #[test]
        fn nothing_is_lost_without_a_word(
            steps in prop::collection::vec((events(), prop::bool::weighted(0.3)), 0..200),
        ) {
            let mut mailbox = Mailbox::new(4);
            let (mut sent, mut got) = (0u64, 0u64);
            for (event, take) in steps {
                sent += u64::from(matches!(event, Event::Other { .. }));
                mailbox.push(event);
                prop_assert!(mailbox.queue.len() <= 4);
                if take {
                    match mailbox.pop() {
                        Some(Event::Other { .. }) => got += 1,
                        Some(Event::Dropped { count }) => got += count,
                        _ => {}
                    }
                }
            }
            for event in drain(&mut mailbox) {
                match event {
                    Event::Other { .. } => got += 1,
                    Event::Dropped { count } => got += count,
                    _ => {}
                }
            }
            prop_assert_eq!(sent, got);
        }

        /// A change that was announced is always followed by a delivery that covers it.
        #[test]
        fn a_change_always_reaches_the_handler(noise in prop::collection::vec(events(), 0..50)) {
            let mut mailbox = Mailbox::new(4);
            noise.into_iter().for_each(|event| mailbox.push(event));
            mailbox.push(Event::PromptsChanged);
            let got = drain(&mut mailbox);
            prop_assert!(got.contains(&Event::PromptsChanged) || got.contains(&Event::Gap));
        }
    }
}
