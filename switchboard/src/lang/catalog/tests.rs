//! What every catalogue must have.

use std::collections::BTreeSet;
use std::path::Path;

use clap::{Arg, Command, CommandFactory as _};

use super::*;
use crate::cli::Cli;

/// A literal of Rust's source that begins at the quote, and where it ends.
fn literal(source: &str) -> Option<(String, usize)> {
    let mut signs = source.strip_prefix('"')?.char_indices();
    let mut text = String::new();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => return Some((text, at + 2)),
            '\\' => match signs.next()?.1 {
                'n' => text.push('\n'),
                '\n' => {
                    let rest = &source[at + 3..];
                    let spaces = rest.len() - rest.trim_start().len();
                    for _ in 0..spaces {
                        signs.next();
                    }
                }
                other => text.push(other),
            },
            sign => text.push(sign),
        }
    }
    None
}

/// The source of the program, without its tests.
fn sources() -> Vec<String> {
    fn walk(folder: &Path, all: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, all);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("lang.rs")
            {
                let source = std::fs::read_to_string(&path).unwrap();
                all.push(source.split("#[cfg(test)]").next().unwrap().to_owned());
            }
        }
    }
    let mut all = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    all
}

/// Every literal after this beginning of a call.
fn literals(after: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for source in sources() {
        for (at, _) in source.match_indices(after) {
            // `format!(`, `assert!(` and the like end as `t!(` does.
            if source[..at].ends_with(|sign: char| sign.is_alphanumeric() || sign == '_') {
                continue;
            }
            let rest = source[at + after.len()..].trim_start();
            let rest = rest.strip_prefix("format!(").map_or(rest, str::trim_start);
            found.extend(literal(rest).map(|(text, _)| text));
        }
    }
    found
}

/// The texts of `t!`.
fn texts() -> BTreeSet<String> {
    let mut all = literals("t!(");
    all.extend(["Usage", "Commands", "Arguments", "Options", "Examples:"].map(str::to_owned));
    all
}

/// The texts of `count`: its third argument.
fn plurals() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for source in sources() {
        for (at, _) in source.match_indices("\"1 ") {
            let Some((_, end)) = literal(&source[at..]) else {
                continue;
            };
            let rest = source[at + end..].trim_start_matches([',', ' ', '\n']);
            found.extend(
                literal(rest)
                    .map(|(text, _)| text)
                    .filter(|it| it.starts_with("{n} ")),
            );
        }
    }
    found
}

/// The texts of the help.
fn help() -> BTreeSet<String> {
    fn walk(command: &Command, all: &mut BTreeSet<String>) {
        let mut add = |text: Option<String>| all.extend(text);
        add(command.get_about().map(ToString::to_string));
        add(command.get_long_about().map(ToString::to_string));
        for argument in command.get_arguments() {
            add(argument.get_help().map(ToString::to_string));
            add(argument.get_long_help().map(ToString::to_string));
            add(argument.get_help_heading().map(str::to_owned));
            let values = Arg::get_possible_values(argument);
            for value in values {
                add(value.get_help().map(ToString::to_string));
            }
        }
        command.get_subcommands().for_each(|inner| walk(inner, all));
    }
    let mut all = BTreeSet::new();
    walk(&Cli::command(), &mut all);
    all
}

/// The places of a text.
fn places(text: &str) -> BTreeSet<&str> {
    let parts = text.split('{').skip(1);
    parts
        .filter_map(|part| Some(part.split_once('}')?.0))
        .collect()
}

#[test]
fn no_language_lacks_a_text() {
    for language in Catalog::languages() {
        let catalog =
            Catalog::of(language).unwrap_or_else(|| panic!("{language} is not a catalogue"));
        let all = texts().into_iter().chain(help());
        let missing: Vec<String> = all.filter(|text| catalog.text(text).is_none()).collect();
        let list = serde_json::to_string_pretty(&missing).unwrap();
        assert!(
            missing.is_empty(),
            "{language} lacks {}: {list}",
            missing.len()
        );
    }
}

#[test]
fn every_language_has_every_form_of_every_plural() {
    assert!(plurals().contains("{n} tools"));
    for language in Catalog::languages() {
        let catalog = Catalog::of(language).unwrap();
        for key in plurals() {
            let forms = catalog
                .plurals
                .get(&key)
                .unwrap_or_else(|| panic!("{language} lacks {key}"));
            for category in &catalog.categories {
                let form = forms.get(category).and_then(Value::as_str);
                assert!(
                    form.is_some_and(|form| form.contains("{n}")),
                    "{language}: {key}, {category}"
                );
            }
        }
    }
}

#[test]
fn every_text_has_the_places_of_its_key_and_every_key_is_used() {
    let known: BTreeSet<String> = texts().into_iter().chain(help()).collect();
    for language in Catalog::languages() {
        let catalog = Catalog::of(language).unwrap();
        for (key, text) in &catalog.texts {
            assert_eq!(places(key), places(text), "{language}: {key}");
            let is_message = catalog.messages.contains(key);
            assert!(
                known.contains(key) || is_message,
                "{language} has {key:?}, which is not said"
            );
        }
    }
}

#[test]
fn the_errors_that_people_meet_most_are_translated() {
    let mut all = literals("Failure::new(Exit::Other,");
    all.extend(literals("Failure::new(Exit::Denied,"));
    all.extend(literals("Failure::new(Exit::Cancelled,"));
    all.extend(literals(".with_hint("));
    // A flag is its own name.
    all.remove("--meta");
    for language in Catalog::languages() {
        let catalog = Catalog::of(language).unwrap();
        let unknown: Vec<&String> = all
            .iter()
            .filter(|text| {
                catalog.message(&text.replace(":?}", "}")) == text.replace(":?}", "}").as_str()
            })
            .collect();
        let list = serde_json::to_string_pretty(&unknown).unwrap();
        assert!(
            unknown.is_empty(),
            "{language} lacks {} of {}: {list}",
            unknown.len(),
            all.len()
        );
    }
}

#[test]
fn plurals_follow_the_categories_of_a_language() {
    let of = |names: &[&str], number| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        category(&names, number)
    };
    assert_eq!([0, 1, 2].map(|n| of(&["other"], n)), ["other"; 3]);
    assert_eq!(
        [0, 1, 2].map(|n| of(&["one", "other"], n)),
        ["other", "one", "other"]
    );
    let slavic = ["one", "few", "many"];
    let want = ["one", "few", "many", "many", "one", "few", "many"];
    assert_eq!([1, 3, 5, 11, 21, 22, 112].map(|n| of(&slavic, n)), want);
}

#[test]
fn a_message_is_translated_with_what_was_filled_in() {
    let file = r#"{"plurals": ["other"], "messages": {
        "there is no server {name}": "没有服务器 {name}",
        "{what} cannot be read": "无法读取 {what}",
        "standard input": "标准输入"
    }}"#;
    let catalog = Catalog::read(file).unwrap();
    assert_eq!(
        catalog.message("there is no server \"a\""),
        "没有服务器 \"a\""
    );
    assert_eq!(
        catalog.message("standard input cannot be read"),
        "无法读取 标准输入"
    );
    assert_eq!(catalog.message("something else"), "something else");
}
