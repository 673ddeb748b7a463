//! The schedule of requests for a server's lists. Pure: time is passed in.

use std::time::Duration;

use crate::limits::ManagerLimits;

/// A list of a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ListKind {
    Tools,
    Prompts,
    /// Resources, with their templates.
    Resources,
}

impl ListKind {
    pub(crate) const ALL: [Self; 3] = [Self::Tools, Self::Prompts, Self::Resources];
}

/// A server's declaration about a list.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Offer {
    /// It has no such list.
    #[default]
    None,
    /// It has one, and does not announce changes.
    Silent,
    /// It has one, and announces changes.
    Announced,
}

/// The clocks of a server's three lists.
#[derive(Debug)]
pub(crate) struct ListRefresh {
    clocks: [Clock; 3],
    ttl: Duration,
    shortest_ttl: Duration,
    pause: Duration,
    back_off: Duration,
}

/// The number of consecutive requests made as soon as the pause allows; then the pause grows.
const MAX_PROMPT_REQUESTS: u32 = 3;

#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    offer: Offer,
    due: Option<Duration>,
    asked: Option<Duration>,
    /// The number of consecutive requests made as soon as the pause allowed.
    hurried: u32,
    under_way: bool,
    /// Whether it has changed since it was requested.
    changed: bool,
}

impl ListRefresh {
    pub(crate) fn new(limits: &ManagerLimits) -> Self {
        Self {
            clocks: [Clock::default(); 3],
            ttl: limits.list_ttl(),
            shortest_ttl: limits.shortest_list_ttl(),
            pause: limits.list_pause(),
            back_off: limits.list_back_off(),
        }
    }

    /// A new connection, on which nothing was requested yet.
    pub(crate) fn begin(&mut self, offer: impl Fn(ListKind) -> Offer) {
        self.clocks = ListKind::ALL.map(|kind| Clock {
            offer: offer(kind),
            ..Clock::default()
        });
    }

    /// Changes will not be announced after all.
    pub(crate) fn silence(&mut self, now: Duration) {
        let due = now.saturating_add(self.ttl);
        for clock in &mut self.clocks {
            if clock.offer == Offer::Announced {
                clock.offer = Offer::Silent;
                clock.due = clock.due.or(Some(due));
            }
        }
    }

    /// A list changed, or may have.
    pub(crate) fn changed(&mut self, kind: ListKind, now: Duration) {
        let pauses = self.pauses();
        if let Some(clock) = self.clock(kind) {
            if clock.under_way {
                clock.changed = true;
            } else {
                clock.hurry(now, pauses);
            }
        }
    }

    /// A list changed, and a caller waits for it: it is due at once, regardless of the pause. Returns whether there is
    /// such a list.
    pub(crate) fn wanted(&mut self, kind: ListKind, now: Duration) -> bool {
        let Some(clock) = self.clock(kind) else {
            return false;
        };
        if clock.under_way {
            clock.changed = true;
        } else {
            clock.due = Some(now);
        }
        true
    }

    /// The lists to request now. Report the outcome of each with [`done`](Self::done).
    pub(crate) fn take_due(&mut self, now: Duration) -> Vec<ListKind> {
        let pauses = self.pauses();
        let mut due = Vec::new();
        for kind in ListKind::ALL {
            if let Some(clock) = self.clock(kind)
                && clock.due.is_some_and(|at| at <= now)
            {
                clock.ask(now, pauses);
                due.push(kind);
            }
        }
        due
    }

    /// All lists, to be requested now.
    pub(crate) fn take_all(&mut self, now: Duration) -> Vec<ListKind> {
        let pauses = self.pauses();
        let mut all = Vec::new();
        for kind in ListKind::ALL {
            if let Some(clock) = self.clock(kind) {
                clock.ask(now, pauses);
                all.push(kind);
            }
        }
        all
    }

    /// A list arrived, with its TTL, or failed.
    pub(crate) fn done(
        &mut self,
        kind: ListKind,
        outcome: Result<Option<Duration>, ()>,
        now: Duration,
    ) {
        let (ttl, shortest, back_off) = (self.ttl, self.shortest_ttl, self.back_off);
        let pauses = self.pauses();
        let Some(clock) = self.clock(kind) else {
            return;
        };
        clock.under_way = false;
        clock.due = match outcome {
            Err(()) => Some(now.saturating_add(back_off)),
            Ok(Some(ttl)) if !ttl.is_zero() => Some(now.saturating_add(ttl.max(shortest))),
            Ok(_) if clock.offer == Offer::Announced => None,
            Ok(_) => Some(now.saturating_add(ttl)),
        };
        if std::mem::take(&mut clock.changed) && outcome.is_ok() {
            clock.hurry(now, pauses);
        }
    }

    /// The time the next list is due.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.clocks.iter().filter_map(|clock| clock.due).min()
    }

    /// The minimum and the maximum pause between two requests for a list, however many changes are announced.
    fn pauses(&self) -> (Duration, Duration) {
        (self.pause, self.pause.max(self.back_off))
    }

    fn clock(&mut self, kind: ListKind) -> Option<&mut Clock> {
        let clock = self.clocks.get_mut(kind as usize)?;
        (clock.offer != Offer::None).then_some(clock)
    }
}

impl Clock {
    fn ask(&mut self, now: Duration, pauses: (Duration, Duration)) {
        let calm = self.pause(pauses).saturating_mul(2);
        let soon = self
            .asked
            .is_some_and(|asked| now <= asked.saturating_add(calm));
        *self = Self {
            due: None,
            asked: Some(now),
            hurried: if soon {
                self.hurried.saturating_add(1)
            } else {
                0
            },
            under_way: true,
            changed: false,
            ..*self
        };
    }

    /// The pause after the last request: it doubles where changes never end.
    fn pause(&self, (shortest, longest): (Duration, Duration)) -> Duration {
        let doublings = self.hurried.saturating_sub(MAX_PROMPT_REQUESTS).min(20);
        shortest.saturating_mul(1 << doublings).min(longest)
    }

    /// As soon as the pause since the last request allows.
    fn hurry(&mut self, now: Duration, pauses: (Duration, Duration)) {
        let pause = self.pause(pauses);
        let at = self
            .asked
            .map_or(now, |asked| now.max(asked.saturating_add(pause)));
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn fresh(offer: Offer) -> ListRefresh {
        let mut fresh = ListRefresh::new(&ManagerLimits::default());
        fresh.begin(|kind| {
            if kind == ListKind::Tools {
                offer
            } else {
                Offer::None
            }
        });
        assert_eq!(fresh.take_all(SECOND), [ListKind::Tools]);
        fresh
    }

    #[test]
    fn lists_follow_announcements_their_own_time_and_the_back_off() {
        let mut silent = fresh(Offer::Silent);
        silent.done(ListKind::Tools, Ok(None), SECOND);
        assert_eq!(
            silent.due(),
            Some(SECOND * 301),
            "five minutes where nothing is announced"
        );

        let mut announced = fresh(Offer::Announced);
        announced.done(ListKind::Tools, Ok(None), SECOND);
        assert_eq!(announced.due(), None, "only when it changes");
        announced.changed(ListKind::Tools, SECOND * 50);
        assert_eq!(announced.take_due(SECOND * 50), [ListKind::Tools]);
        announced.done(ListKind::Tools, Err(()), SECOND * 51);
        assert_eq!(
            announced.due(),
            Some(SECOND * 81),
            "half a minute after a failure"
        );
        announced.done(ListKind::Tools, Ok(Some(SECOND * 60)), SECOND * 81);
        assert_eq!(
            announced.due(),
            Some(SECOND * 141),
            "what the server says counts"
        );
        announced.done(ListKind::Tools, Ok(None), SECOND * 141);
        announced.silence(SECOND * 142);
        assert_eq!(announced.due(), Some(SECOND * 442));
    }

    #[test]
    fn a_server_whose_changes_never_end_is_asked_at_growing_intervals() {
        let mut fresh = fresh(Offer::Announced);
        let mut asked = vec![SECOND];
        for _ in 0..11 {
            let now = *asked.last().unwrap();
            fresh.changed(ListKind::Tools, now);
            fresh.done(ListKind::Tools, Ok(None), now);
            let due = fresh.due().unwrap();
            assert_eq!(fresh.take_due(due), [ListKind::Tools]);
            asked.push(due);
        }
        let gaps: Vec<u64> = asked
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs())
            .collect();
        assert_eq!(gaps, [1, 1, 1, 1, 2, 4, 8, 16, 30, 30, 30]);

        // Once changes have stopped for a while, it is requested at once again.
        let calm = *asked.last().unwrap() + SECOND * 61;
        fresh.done(ListKind::Tools, Ok(None), calm);
        fresh.changed(ListKind::Tools, calm);
        assert_eq!(fresh.take_due(calm), [ListKind::Tools]);
        fresh.done(ListKind::Tools, Ok(None), calm);
        fresh.changed(ListKind::Tools, calm);
        assert_eq!(fresh.due(), Some(calm + SECOND));
    }

    proptest! {
        #[test]
        fn a_flood_of_changes_is_coalesced_and_the_last_one_is_never_lost(
            gaps in prop::collection::vec((0_u64..700, 0_u64..900), 1..200),
        ) {
            let mut fresh = fresh(Offer::Announced);
            fresh.done(ListKind::Tools, Ok(None), SECOND);
            let (mut now, mut asked, mut answered) = (SECOND, vec![SECOND], None);
            let mut last_change = Duration::ZERO;
            for (gap, takes) in gaps {
                let until = now + Duration::from_millis(gap);
                // Everything that is due before the next change.
                loop {
                    let next = [answered, fresh.due()].into_iter().flatten().min();
                    let Some(next) = next.filter(|next| *next <= until) else { break };
                    now = now.max(next);
                    if answered.is_some_and(|at| at <= now) {
                        answered = None;
                        fresh.done(ListKind::Tools, Ok(None), now);
                    } else if !fresh.take_due(now).is_empty() {
                        asked.push(now);
                        answered = Some(now + Duration::from_millis(takes));
                    }
                }
                now = until;
                fresh.changed(ListKind::Tools, now);
                last_change = now;
            }
            if let Some(at) = answered {
                now = now.max(at);
                fresh.done(ListKind::Tools, Ok(None), now);
            }
            if let Some(due) = fresh.due() {
                prop_assert_eq!(fresh.take_due(due), [ListKind::Tools]);
                asked.push(due);
            }
            prop_assert!(*asked.last().unwrap() >= last_change);
            for pair in asked.windows(2) {
                prop_assert!(pair[1] - pair[0] >= SECOND);
            }
        }
    }
}
