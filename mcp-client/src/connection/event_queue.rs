//! The bounded queue between the reader and the event handler: pure.

use std::collections::VecDeque;

use crate::features::event::ClientEvent;

/// The events queued for their handler, in order.
///
/// The queue is bounded even during a burst: an event that equals a queued one is merged into it; when the queue is
/// full, log messages and unknown notifications are dropped and counted, and anything that must not be lost becomes a
/// [`ClientEvent::Gap`].
#[derive(Debug)]
pub(crate) struct EventQueue {
    queue: VecDeque<ClientEvent>,
    limit: usize,
    dropped: u64,
    gap: bool,
}

impl EventQueue {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            limit,
            dropped: 0,
            gap: false,
        }
    }

    /// Queues an event.
    pub(crate) fn push(&mut self, event: ClientEvent) {
        let full = self.queue.len() >= self.limit;
        match event {
            ClientEvent::ToolsChanged
            | ClientEvent::PromptsChanged
            | ClientEvent::ResourcesChanged
            | ClientEvent::ResourceUpdated { .. }
                if self.queue.contains(&event) => {}
            ClientEvent::Gap => self.gap = true,
            ClientEvent::Dropped { count } => self.dropped += count,
            ClientEvent::Log(_) | ClientEvent::Other { .. } if full => self.dropped += 1,
            _ if full => self.gap = true,
            _ => self.queue.push_back(event),
        }
    }

    /// Takes the oldest event. Gaps and drops are reported after the queued events.
    pub(crate) fn pop(&mut self) -> Option<ClientEvent> {
        if let Some(event) = self.queue.pop_front() {
            return Some(event);
        }
        if std::mem::take(&mut self.gap) {
            return Some(ClientEvent::Gap);
        }
        match std::mem::take(&mut self.dropped) {
            0 => None,
            count => Some(ClientEvent::Dropped { count }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn other(n: u32) -> ClientEvent {
        ClientEvent::Other {
            method: n.to_string(),
            params: None,
        }
    }

    fn drain(events: &mut EventQueue) -> Vec<ClientEvent> {
        std::iter::from_fn(|| events.pop()).collect()
    }

    #[test]
    fn a_storm_of_changes_is_one_change() {
        let mut events = EventQueue::new(8);
        for _ in 0..10_000 {
            events.push(ClientEvent::ToolsChanged);
            events.push(ClientEvent::ResourceUpdated {
                uri: "a".to_owned(),
            });
        }
        let want = [
            ClientEvent::ToolsChanged,
            ClientEvent::ResourceUpdated {
                uri: "a".to_owned(),
            },
        ];
        assert_eq!(drain(&mut events), want);
    }

    #[test]
    fn what_does_not_fit_is_counted_and_never_silently_lost() {
        let mut events = EventQueue::new(2);
        for n in 0..5 {
            events.push(other(n));
        }
        events.push(ClientEvent::ToolsChanged);
        let want = [
            other(0),
            other(1),
            ClientEvent::Gap,
            ClientEvent::Dropped { count: 3 },
        ];
        assert_eq!(drain(&mut events), want);
    }

    fn events() -> impl Strategy<Value = ClientEvent> {
        prop_oneof![
            Just(ClientEvent::ToolsChanged),
            Just(ClientEvent::PromptsChanged),
            Just(ClientEvent::Gap),
            "[ab]".prop_map(|uri| ClientEvent::ResourceUpdated { uri }),
            (0u32..100).prop_map(other),
        ]
    }

    proptest! {
        /// Bounded, in order, and everything is accounted for: delivered, merged, counted, or a gap.
        #[test]
        fn nothing_is_lost_without_a_word(
            steps in prop::collection::vec((events(), prop::bool::weighted(0.3)), 0..200),
        ) {
            let mut events = EventQueue::new(4);
            let (mut sent, mut got) = (0u64, 0u64);
            for (event, take) in steps {
                sent += u64::from(matches!(event, ClientEvent::Other { .. }));
                events.push(event);
                prop_assert!(events.queue.len() <= 4);
                if take {
                    match events.pop() {
                        Some(ClientEvent::Other { .. }) => got += 1,
                        Some(ClientEvent::Dropped { count }) => got += count,
                        _ => {}
                    }
                }
            }
            for event in drain(&mut events) {
                match event {
                    ClientEvent::Other { .. } => got += 1,
                    ClientEvent::Dropped { count } => got += count,
                    _ => {}
                }
            }
            prop_assert_eq!(sent, got);
        }

        /// An announced change is always followed by a delivery that covers it.
        #[test]
        fn a_change_always_reaches_the_handler(noise in prop::collection::vec(events(), 0..50)) {
            let mut events = EventQueue::new(4);
            noise.into_iter().for_each(|event| events.push(event));
            events.push(ClientEvent::PromptsChanged);
            let got = drain(&mut events);
            prop_assert!(got.contains(&ClientEvent::PromptsChanged) || got.contains(&ClientEvent::Gap));
        }
    }
}
