//! The chaos table as a whole.

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_testkit::Fault;
use mcp_testkit::chaos::{Case, Target, cases};

/// Cases whose server has no fault, or that have no server.
const FAULTLESS: [&str; 6] = [
    "baseline",
    "baseline-json",
    "baseline-sse",
    "cancel",
    "command-missing",
    "refused",
];

fn fault(case: &Case) -> Option<Fault> {
    match &case.target {
        Target::Server { fault, .. } => *fault,
        _ => None,
    }
}

#[test]
fn the_table_is_as_published() {
    let mut text = String::new();
    for case in cases() {
        text.push_str(&format!(
            "{} | {} | {:?} | {} ms of {} s, exit {} s, {} MB | {:?} | never {:?} | {}\n",
            case.name,
            case.plan,
            case.expect,
            case.timeout.as_millis(),
            case.within.as_secs(),
            case.exit_within.as_secs(),
            case.memory_mb,
            case.checks,
            case.never,
            case.reason,
        ));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn names_are_unique_and_faults_fit() {
    let mut names = BTreeSet::new();
    for case in cases() {
        assert!(
            names.insert(case.name.clone()),
            "{} is there twice",
            case.name
        );
        let last = case.name.rsplit('/').next().unwrap();
        match fault(&case) {
            Some(fault) => assert!(fault.fits(case.shape), "{}", case.name),
            None => assert!(
                FAULTLESS.contains(&last),
                "{} has no fault of its name",
                case.name
            ),
        }
    }
}

#[test]
fn every_fault_has_a_case() {
    let used: BTreeSet<&str> = cases()
        .iter()
        .filter_map(fault)
        .map(|fault| fault.name())
        .collect();
    let unused: Vec<&str> = Fault::all()
        .map(|fault| fault.name())
        .filter(|name| !used.contains(name))
        .collect();
    assert_eq!(unused, Vec::<&str>::new());
}

#[test]
fn fault_names_are_unique_and_in_kebab_case() {
    let mut names = BTreeSet::new();
    for fault in Fault::all() {
        assert!(names.insert(fault.name()), "{fault} is there twice");
        let kebab =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        assert!(fault.name().chars().all(kebab), "{fault}");
        assert!(
            !fault.about().is_empty() && !fault.about().ends_with('.'),
            "{fault}: {}",
            fault.about()
        );
        assert_eq!(
            Fault::named(fault.name()).map(|found| found.about()),
            Some(fault.about())
        );
    }
}

/// Either the client's time-out comes in time, or it cannot be what ends the case.
#[test]
fn a_time_out_ends_only_cases_that_are_silent() {
    for case in cases() {
        let silent = case.timeout < case.within;
        let prompt = case.timeout > case.exit_within + Duration::from_secs(5);
        assert!(
            silent != prompt,
            "{}: {:?} of {:?}",
            case.name,
            case.timeout,
            case.within
        );
        assert!(case.within < case.exit_within, "{}", case.name);
    }
}
