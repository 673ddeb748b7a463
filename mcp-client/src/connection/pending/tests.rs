use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const ZERO: Duration = Duration::ZERO;
const LIMIT: usize = 6;

fn begin(table: &mut Pending<u32>, wants: Reporting) -> i64 {
    match table.begin(wants, ZERO, ZERO, Waker::noop()) {
        Begun::Open(id) => id,
        other => panic!("{other:?}"),
    }
}

fn poll(table: &mut Pending<u32>, id: i64) -> Poll<Option<u32>> {
    table.poll(id, Waker::noop())
}

#[test]
fn the_first_outcome_counts_and_is_taken_once() {
    let mut table = Pending::new(LIMIT);
    let id = begin(&mut table, Reporting::Answer);
    assert_eq!(poll(&mut table, id), Poll::Pending);
    assert!(table.settle(id, 1).is_ok());
    assert_eq!(table.settle(id, 2).unwrap_err(), 2);
    assert_eq!(poll(&mut table, id), Poll::Ready(Some(1)));
    assert_eq!(poll(&mut table, id), Poll::Ready(None));
    assert_eq!(table.settle(id, 3).unwrap_err(), 3);
}

#[test]
fn an_answered_request_is_not_cancelled() {
    let mut table = Pending::new(LIMIT);
    let id = begin(&mut table, Reporting::Answer);
    table.settle(id, 1).unwrap();
    assert!(!table.abandon(id, Some("gone")));
    assert_eq!(table.next_abandoned(), None);
}

#[test]
fn reports_are_bounded_and_the_newest_is_kept() {
    let mut table: Pending<u32> = Pending::new(LIMIT);
    let id = begin(&mut table, Reporting::Progress);
    for step in 0..1000 {
        table.progress(id, ZERO, ProgressParams::new(id, f64::from(step)));
    }
    let reports: Vec<_> = std::iter::from_fn(|| table.next_report(id)).collect();
    assert_eq!(reports.len(), MAX_REPORTS);
    let Some(Report::Progress(last)) = reports.last() else {
        panic!("no progress");
    };
    assert_eq!(last.progress, 999.0);
}

#[test]
fn progress_does_not_ring_and_an_answered_request_is_never_due() {
    let mut table = Pending::new(LIMIT);
    let (slow, answered) = (
        begin(&mut table, Reporting::Answer),
        begin(&mut table, Reporting::Answer),
    );
    table.progress(slow, ZERO, ProgressParams::new(slow, 1.0));
    assert!(!table.take_due(slow));
    table.settle(answered, 1).unwrap();
    let (wakers, next) = table.sweep(ZERO);
    assert_eq!((wakers.len(), next), (1, None));
    assert!(table.take_due(slow) && !table.take_due(slow));
    assert!(!table.take_due(answered));
    // An extended request is due again later.
    table.extend(slow, Duration::from_secs(1));
    assert_eq!(table.sweep(ZERO).1, Some(Duration::from_secs(1)));
    table.sweep(Duration::from_secs(1));
    assert!(table.take_due(slow));
}

#[derive(Clone, Debug)]
enum Step {
    Begin,
    Settle(i64, u32),
    Poll(i64),
    Abandon(i64, bool),
    Tell,
    Close,
}

fn steps() -> impl Strategy<Value = Step> {
    let id = 1..12i64;
    prop_oneof![
        4 => Just(Step::Begin),
        4 => (id.clone(), any::<u32>()).prop_map(|(id, outcome)| Step::Settle(id, outcome)),
        4 => id.clone().prop_map(Step::Poll),
        2 => (id, any::<bool>()).prop_map(|(id, tell)| Step::Abandon(id, tell)),
        1 => Just(Step::Tell),
        1 => Just(Step::Close),
    ]
}

proptest! {
    /// Each request rings once, not before it is due and no later than the first check after that; between two reported
    /// checks, none becomes due.
    #[test]
    fn every_request_rings_when_it_is_due(dues in prop::collection::vec(0u64..50, 0..LIMIT)) {
        let mut table: Pending<u32> = Pending::new(LIMIT);
        let begin = |due: &u64| {
            match table.begin(Reporting::Answer, ZERO, Duration::from_secs(*due), Waker::noop()) {
                Begun::Open(id) => (id, *due),
                other => panic!("{other:?}"),
            }
        };
        let mut open: Vec<(i64, u64)> = dues.iter().map(begin).collect();
        let mut next = Some(ZERO);
        while let Some(now) = next {
            next = table.sweep(now).1;
            open.retain(|(id, due)| {
                let is_due = *due <= now.as_secs();
                assert_eq!(table.take_due(*id), is_due);
                !is_due
            });
            let soonest = open.iter().map(|(_, due)| Duration::from_secs(*due)).min();
            prop_assert_eq!(next, soonest);
            // It has ended: it must not ring again.
            for id in 1..=table.last {
                if !open.iter().any(|(other, _)| *other == id) {
                    table.abandon(id, None);
                }
            }
        }
        prop_assert!(open.is_empty());
    }

    /// Pending never leaks: every request leaves the table exactly once, by its one outcome or by being abandoned; ids
    /// are never reused; nothing is opened after the end; and only requests that were open and unanswered are
    /// cancelled.
    #[test]
    fn every_request_ends_exactly_once(steps in prop::collection::vec(steps(), 0..80)) {
        let mut table: Pending<u32> = Pending::new(LIMIT);
        let (mut begun, mut open, mut settled) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut closed = false;
        for step in steps {
            match step {
                Step::Begin => match table.begin(Reporting::Answer, ZERO, ZERO, Waker::noop()) {
                    Begun::Open(id) => {
                        prop_assert!(!closed && begun.insert(id), "an id was used again");
                        open.insert(id);
                    }
                    Begun::Closed => prop_assert!(closed),
                    Begun::Full => {
                        prop_assert!(open.len() + table.abandoned.len() == LIMIT);
                    }
                },
                Step::Settle(id, outcome) => {
                    let first = open.contains(&id) && !settled.contains(&id);
                    prop_assert_eq!(table.settle(id, outcome).is_ok(), first);
                    if first {
                        settled.insert(id);
                    }
                }
                Step::Poll(id) => match poll(&mut table, id) {
                    Poll::Pending => prop_assert!(open.contains(&id) && !settled.contains(&id)),
                    Poll::Ready(Some(_)) => {
                        prop_assert!(settled.contains(&id) && open.remove(&id));
                    }
                    Poll::Ready(None) => prop_assert!(!open.contains(&id)),
                },
                Step::Abandon(id, tell) => {
                    let due = open.remove(&id) && !settled.contains(&id) && tell && !closed;
                    prop_assert_eq!(table.abandon(id, tell.then_some("gone")), due);
                }
                Step::Tell => {
                    if let Some(Abandoned { id, .. }) = table.next_abandoned() {
                        prop_assert!(begun.contains(&id) && !open.contains(&id));
                    }
                }
                Step::Close => {
                    closed = true;
                    table.close(|_, _| 0);
                    settled.extend(open.iter().copied());
                }
            }
            prop_assert!(open.len() + table.abandoned.len() <= LIMIT);
            prop_assert_eq!(table.open.keys().copied().collect::<BTreeSet<_>>(), open.clone());
        }
    }
}
