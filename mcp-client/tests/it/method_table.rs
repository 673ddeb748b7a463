//! Every public async method, against a server that misbehaves at each of its requests in turn.
//!
//! The law: a method ends within its limits, in one way, and what it returns is what the server
//! really sent for that very request.

#[cfg(feature = "skills")]
mod complete;
mod good;
mod row;
mod server;

use std::sync::Arc;
use std::time::Duration;

use mcp_transport::TransportKind;
use proptest::prelude::*;

use self::row::{Bench, End, Era, Row, limits, rows};
use self::server::{ACTS, Act, Record, Scripted};

const SHAPES: [TransportKind; 2] = [TransportKind::Pipe, TransportKind::Http];
const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// The time any one method may take, by the limits that are set: a second try at most of a call
/// that becomes a task, each with its rounds of questions, and the connecting in between.
fn most() -> Duration {
    let limits = limits();
    let questions = limits.input_timeout() * limits.rounds() * 2;
    let call =
        limits.call_deadline() + limits.call_idle_timeout() + limits.connect_timeout() + questions;
    (call * 2 + limits.task_timeout() + limits.list_timeout() + limits.connect_timeout()) * 2
}

/// Runs one method, and tells how it broke the law, if it did.
fn breach(row: &Row, era: Era, shape: TransportKind, acts: &[Act], last: Act) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let record = Arc::new(Record::default());
    let bench = Bench {
        era,
        server: Scripted {
            shape,
            record: Arc::clone(&record),
        },
        misbehave: Box::new({
            let (record, acts) = (Arc::clone(&record), acts.to_vec());
            move || {
                record.answered.lock().clear();
                record.misbehave(&acts, last);
            }
        }),
    };
    let case = format!(
        "{} of {era:?} over {shape:?}: {acts:?}, then {last:?}",
        row.name
    );
    let run = async { tokio::time::timeout(most(), (row.run)(bench)).await };
    let Ok(end) = runtime.block_on(run) else {
        return Some(format!("{case}: does not end"));
    };
    match end {
        End::Error | End::Done([]) => None,
        End::Done(needed) => {
            let answered = record.answered.lock();
            let is_answered = needed.iter().any(|method| answered.contains(*method));
            (!is_answered).then(|| format!("{case}: done, but answered were {answered:?}"))
        }
        End::Value(value) => {
            let sent = record.sent.lock();
            let is_sent = marks(&value).next().is_some() && marks(&value).all(|m| sent.contains(m));
            (!is_sent).then(|| format!("{case}: {value} is not of {sent:?}"))
        }
    }
}

/// The marks of results in a value.
fn marks(value: &str) -> impl Iterator<Item = &str> {
    value.match_indices("mark-").map(|(at, found)| {
        let rest = &value[at + found.len()..];
        let end = rest.find('-').map_or(rest.len(), |end| end + 1);
        &value[at..at + found.len() + end]
    })
}

/// All of one act from the first, the second or the third request on.
fn each_act(shape: TransportKind, era: Era) {
    let mut breaches = Vec::new();
    for row in rows() {
        for act in ACTS {
            for before in 0..3 {
                breaches.extend(breach(&row, era, shape, &vec![Act::Good; before], act));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn every_method_ends_within_its_limits_on_a_legacy_pipe() {
    each_act(TransportKind::Pipe, Era::Legacy);
}

#[test]
fn every_method_ends_within_its_limits_on_a_modern_pipe() {
    each_act(TransportKind::Pipe, Era::Modern);
}

#[test]
fn every_method_ends_within_its_limits_over_legacy_http() {
    each_act(TransportKind::Http, Era::Legacy);
}

#[test]
fn every_method_ends_within_its_limits_over_modern_http() {
    each_act(TransportKind::Http, Era::Modern);
}

fn act() -> impl Strategy<Value = Act> {
    prop::sample::select(&ACTS[..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Whatever the server does at each step.
    #[test]
    fn every_method_ends_with_what_was_really_sent(
        row in 0..rows().len(),
        era in prop::sample::select(&ERAS[..]),
        shape in prop::sample::select(&SHAPES[..]),
        acts in prop::collection::vec(act(), 0..5),
        last in act(),
    ) {
        prop_assert_eq!(breach(&rows()[row], era, shape, &acts, last), None);
    }
}
