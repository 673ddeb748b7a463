//! Tool names: legal, different, and never parsed back.

use proptest::prelude::*;
use tool_schema::{Alphabet, NameRule, Names, Target};

#[track_caller]
fn exposed(rule: NameRule, names: &[&str]) -> Vec<String> {
    let exposed = Names::new(rule, names.iter().copied());
    (0..names.len())
        .map(|position| exposed.exposed(position).unwrap().to_owned())
        .collect()
}

#[test]
fn legal_names_keep_themselves() {
    assert_eq!(
        exposed(NameRule::WORD_64, &["mcp__git__status", "a-b", "X_1"]),
        ["mcp__git__status", "a-b", "X_1"]
    );
}

#[test]
fn a_changed_name_ends_in_a_hash_that_no_restart_changes() {
    assert_eq!(
        exposed(NameRule::WORD_64, &["jpl/horizons", "a b", ""]),
        ["jpl_horizons_bc94f98d", "a_b_e2bca18b", "tool_4fd0bfc1"]
    );
    assert_eq!(
        exposed(NameRule::GEMINI, &["1st.tool"]),
        ["_1st.tool_7d2309d0"]
    );
}

#[test]
fn names_that_look_alike_once_changed_stay_apart() {
    let names = exposed(NameRule::WORD_64, &["a.b", "a/b", "a_b", "a b"]);
    assert_eq!(names[2], "a_b");
    assert_eq!(
        names.iter().collect::<std::collections::HashSet<_>>().len(),
        4
    );
}

#[test]
fn names_too_long_by_their_end_stay_apart() {
    let long = |end: &str| format!("mcp__server__{}{end}", "x".repeat(80));
    let (one, two) = (long("one"), long("two"));
    let names = exposed(NameRule::PORTABLE, &[&one, &two]);
    assert_ne!(names[0], names[1]);
    assert!(names.iter().all(|name| name.len() <= 63));
}

#[test]
fn the_same_name_twice_is_two_names() {
    let names = Names::new(NameRule::WORD_64, ["search", "search", "search"]);
    let shown: Vec<&str> = (0..3)
        .map(|position| names.exposed(position).unwrap())
        .collect();
    assert_eq!(shown[0], "search");
    for (position, name) in shown.iter().enumerate() {
        assert_eq!(names.position(name), Some(position));
    }
    assert_eq!(names.renamed(), [1, 2]);
}

#[test]
fn an_unknown_name_leads_nowhere() {
    let names = Names::new(NameRule::WORD_64, ["a"]);
    assert_eq!(names.position("b"), None);
    assert_eq!(names.exposed(1), None);
}

#[test]
fn a_rule_of_ones_own_is_kept() {
    for rest in [
        Alphabet::NAME,
        Alphabet::letters_and(""),
        Alphabet::letters_digits_and("."),
    ] {
        let rule = NameRule::new(Alphabet::letters_and(""), rest, 20);
        let names = exposed(
            rule,
            &["42-is the answer to it all", "", "42-is the answer"],
        );
        assert!(names.iter().all(|name| rule.allows(name)), "{names:?}");
        assert_ne!(names[0], names[2]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn exposed_names_are_legal_unique_reversible(
        names in prop::collection::vec("[a-z_./ é\\-0-9]{0,80}", 0..40),
    ) {
        for target in Target::ALL {
            let rule = target.tool_names();
            let exposed = Names::new(rule, names.iter().map(String::as_str));
            for (position, name) in names.iter().enumerate() {
                let shown = exposed.exposed(position).unwrap();
                prop_assert!(rule.allows(shown), "{shown:?}");
                prop_assert_eq!(exposed.position(shown), Some(position));
                let first = names.iter().position(|other| other == name) == Some(position);
                if rule.allows(name) && first {
                    prop_assert_eq!(shown, name);
                }
            }
        }
    }

    /// A tool keeps its name when other tools come and go.
    #[test]
    fn a_name_does_not_depend_on_its_neighbours(name in "[a-z./ ]{1,70}", other in "[a-z./ ]{1,70}") {
        prop_assume!(name != other);
        let alone = exposed(NameRule::WORD_64, &[&name]);
        let together = exposed(NameRule::WORD_64, &[&other, &name]);
        prop_assert_eq!(&alone[0], &together[1]);
    }
}
