//! The laws of the state machine.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::ServerState::{
    Connected, Connecting, Degraded, Disabled, Failed, Idle, NeedsAuth, Pending, Reconnecting,
};
use super::*;

/// All transitions between states.
const TABLE: [(ServerState, &[ServerState]); 9] = [
    (Disabled, &[Pending, Idle]),
    (Pending, &[Connecting, Disabled]),
    (
        Connecting,
        &[Connected, NeedsAuth, Reconnecting, Failed, Disabled],
    ),
    (
        Connected,
        &[
            Degraded,
            NeedsAuth,
            Reconnecting,
            Idle,
            Failed,
            Pending,
            Disabled,
        ],
    ),
    (
        Degraded,
        &[
            Connected,
            NeedsAuth,
            Reconnecting,
            Idle,
            Failed,
            Pending,
            Disabled,
        ],
    ),
    (NeedsAuth, &[Pending, Disabled]),
    (Reconnecting, &[Pending, Disabled]),
    (Idle, &[Pending, Disabled]),
    (Failed, &[Pending, Disabled]),
];

fn inputs() -> impl Strategy<Value = Input> {
    let refusals = prop_oneof![
        (0_u64..100).prop_map(|wait| Refusal::Passing(Some(Duration::from_secs(wait)))),
        Just(Refusal::Passing(None)),
        Just(Refusal::Lasting),
        Just(Refusal::Auth),
    ];
    let failures = prop_oneof![
        Just(ListFailure::Answered),
        Just(ListFailure::Silent),
        Just(ListFailure::Auth)
    ];
    prop_oneof![
        1 => Just(Input::Enable),
        1 => Just(Input::Wanted),
        1 => Just(Input::Retry),
        1 => Just(Input::Stop),
        3 => Just(Input::Turn),
        3 => Just(Input::Connected),
        3 => refusals.prop_map(Input::Refused),
        2 => Just(Input::Lost),
        1 => Just(Input::Listed),
        1 => failures.prop_map(Input::ListFailed),
        2 => Just(Input::Due),
        1 => Just(Input::Unused),
    ]
}

fn lives() -> impl Strategy<Value = Vec<(Input, Duration)>> {
    let moment = (0_u64..120).prop_map(Duration::from_secs);
    prop::collection::vec((inputs(), moment), 0..40)
}

fn machine(state: ServerState) -> Machine {
    Machine::new(state, RetryPolicy::default(), 1)
}

proptest! {
    #[test]
    fn the_machine_never_leaves_its_table(life in lives(), off: bool) {
        let mut machine = machine(if off { Disabled } else { Idle });
        let (mut now, mut open) = (Duration::ZERO, false);
        for (input, passed) in life {
            now += passed;
            let before = machine.state();
            let actions = machine.step(input, now);
            let after = machine.state();
            let ways = TABLE.iter().find(|(from, _)| *from == before).unwrap().1;
            prop_assert!(before == after || ways.contains(&after), "{before} → {after} by {input:?}");

            // An attempt is scheduled exactly while reconnecting, and never in the past.
            prop_assert_eq!(machine.due().is_some(), after == Reconnecting);
            if before != Reconnecting {
                prop_assert!(machine.due().is_none_or(|due| due >= now));
            }

            // There is at most one connection, and none is forgotten.
            let connects = actions.iter().any(|action| matches!(action, Action::Connect { .. }));
            prop_assert_eq!(connects, before == Pending && after == Connecting);
            let closes = actions.contains(&Action::Close);
            prop_assert!(closes || !open || after.is_connected());
            open = after.is_connected();

            // Abandoned waiters get an error, and no other waiter does.
            prop_assert_eq!(actions.contains(&Action::Removed), before != Failed && after == Failed);
        }
    }

    /// Whatever happened before: only a person starts a disabled server.
    #[test]
    fn a_server_that_was_stopped_stays_stopped(life in lives(), after in lives()) {
        let mut machine = machine(Idle);
        let mut now = Duration::ZERO;
        for (input, passed) in life {
            now += passed;
            machine.step(input, now);
        }
        machine.step(Input::Stop, now);
        for (input, passed) in after {
            now += passed;
            if !matches!(input, Input::Retry | Input::Enable) {
                prop_assert_eq!(machine.step(input, now), []);
                prop_assert_eq!(machine.state(), Disabled);
            }
        }
    }
}

#[test]
fn every_state_and_every_way_can_be_reached() {
    let inputs = [
        Input::Enable,
        Input::Wanted,
        Input::Retry,
        Input::Stop,
        Input::Turn,
        Input::Connected,
        Input::Refused(Refusal::Passing(None)),
        Input::Refused(Refusal::Lasting),
        Input::Refused(Refusal::Auth),
        Input::Lost,
        Input::Listed,
        Input::ListFailed(ListFailure::Answered),
        Input::ListFailed(ListFailure::Silent),
        Input::ListFailed(ListFailure::Auth),
        Input::Due,
        Input::Unused,
    ];
    let (mut seen, mut ways) = (BTreeSet::new(), BTreeSet::new());
    let mut random = 1_u64;
    for start in [Disabled, Idle] {
        let mut machine = Machine::new(start, RetryPolicy::default().with_tries(1), 1);
        for _ in 0..100_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let before = machine.state();
            machine.step(
                inputs[(random >> 33) as usize % inputs.len()],
                Duration::ZERO,
            );
            seen.insert(machine.state());
            if before != machine.state() {
                ways.insert((before, machine.state()));
            }
        }
    }
    assert_eq!(seen, ServerState::ALL.iter().copied().collect());
    let table = TABLE
        .iter()
        .flat_map(|(from, to)| to.iter().map(|to| (*from, *to)));
    assert_eq!(ways, table.collect());
}

#[test]
fn a_lasting_refusal_ends_a_new_server_and_not_a_proven_one() {
    let mut fresh = machine(Idle);
    fresh.step(Input::Wanted, Duration::ZERO);
    fresh.step(Input::Turn, Duration::ZERO);
    let actions = fresh.step(Input::Refused(Refusal::Lasting), Duration::ZERO);
    assert_eq!((fresh.state(), actions), (Failed, vec![Action::Removed]));

    let mut proven = machine(Idle);
    for input in [
        Input::Wanted,
        Input::Turn,
        Input::Connected,
        Input::Lost,
        Input::Due,
        Input::Turn,
    ] {
        proven.step(input, Duration::ZERO);
    }
    let actions = proven.step(Input::Refused(Refusal::Lasting), Duration::ZERO);
    assert_eq!(
        (proven.state(), actions),
        (Reconnecting, vec![Action::TryFailed { attempt: 1 }])
    );
}

#[test]
fn three_silences_in_a_row_count_as_a_loss() {
    let mut machine = machine(Idle);
    for input in [Input::Wanted, Input::Turn, Input::Connected] {
        machine.step(input, Duration::ZERO);
    }
    let silent = Input::ListFailed(ListFailure::Silent);
    for input in [silent, silent, Input::Listed, silent, silent] {
        assert_eq!(machine.step(input, Duration::ZERO), []);
    }
    assert_eq!(machine.state(), Degraded);
    assert_eq!(machine.step(silent, Duration::ZERO), [Action::Close]);
    assert_eq!(machine.state(), Reconnecting);
}

#[test]
fn four_coarse_states_cover_all_states() {
    let coarse: Vec<_> = ServerState::ALL
        .iter()
        .map(|state| format!("{state}: {}", state.status()))
        .collect();
    assert_eq!(
        coarse,
        [
            "disabled: disconnected",
            "pending: connecting",
            "connecting: connecting",
            "connected: connected",
            "degraded: connected",
            "needs_auth: error",
            "reconnecting: connecting",
            "idle: disconnected",
            "failed: error",
        ]
    );
}
