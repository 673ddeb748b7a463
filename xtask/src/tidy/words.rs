//! Words that `xtask/words.txt` forbids: private names for things that have a common one.

use std::collections::BTreeMap;
use std::fs;

const LEFT: &str = "xtask/words-left.txt";
const SOURCE: &str = "xtask/words.txt";

/// Extensions of the files that are read for phrases.
const TEXTS: [&str; 7] = [".rs", ".js", ".mjs", ".html", ".css", ".md", ".py"];

/// One line of the list.
#[derive(Debug, Eq, PartialEq)]
struct Rule {
    kind: Kind,
    word: String,
    instead: String,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    File,
    Name,
    Phrase,
}

/// Looks for forbidden words in the names and texts of `files`. A folder that still has more of
/// them than `xtask/words-left.txt` allows is reported, line by line.
pub(crate) fn check(files: &[&str], problems: &mut Vec<String>) {
    let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let lists = read(SOURCE)
        .and_then(|text| parse(&text))
        .and_then(|rules| Ok((rules, allowances(&read(LEFT)?)?)));
    let (rules, allowed) = match lists {
        Ok(lists) => lists,
        Err(problem) => return problems.push(problem),
    };
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files {
        let folder = file.split('/').next().unwrap_or_default();
        let found = found.entry(folder).or_default();
        if file.ends_with(".rs") {
            found.extend(in_path(&rules, file));
        }
        // Other projects' data keeps other projects' words.
        let ours = ["/fixtures/", "/corpus/", "/vendor/"];
        let ours = !ours.iter().any(|folder| file.contains(folder));
        if ours
            && TEXTS.iter().any(|end| file.ends_with(end))
            && let Ok(text) = fs::read_to_string(file)
        {
            let is_rust = file.ends_with(".rs");
            found.extend(in_text(&rules, file, &text, is_rust));
        }
    }
    for (folder, found) in found {
        let allowed = allowed.get(folder).copied().unwrap_or_default();
        if found.len() > allowed {
            problems.extend(found);
        } else if found.len() < allowed {
            println!(
                "{LEFT}: {folder} is down to {}: lower its number",
                found.len()
            );
        }
    }
}

/// Reads how many forbidden words each folder may still have: `folder number`.
fn allowances(text: &str) -> Result<BTreeMap<String, usize>, String> {
    let lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let parts = line.split_once(' ');
            parts
                .and_then(|(folder, number)| Some((folder.to_owned(), number.trim().parse().ok()?)))
                .ok_or_else(|| format!("{LEFT}: expected 'folder number', found '{line}'"))
        })
        .collect()
}

fn parse(text: &str) -> Result<Vec<Rule>, String> {
    let lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let parts: Vec<&str> = line.split('|').map(str::trim).collect();
            let (kind, word, instead) = match parts.as_slice() {
                ["file", word, instead] => (Kind::File, word, instead),
                ["name", word, instead] => (Kind::Name, word, instead),
                ["phrase", word, instead] => (Kind::Phrase, word, instead),
                _ => {
                    return Err(format!(
                        "{SOURCE}: expected 'file, name or phrase | word | instead', found '{line}'"
                    ));
                }
            };
            Ok(Rule {
                kind,
                word: (*word).to_owned(),
                instead: (*instead).to_owned(),
            })
        })
        .collect()
}

fn in_path(rules: &[Rule], file: &str) -> Option<String> {
    let rule = rules.iter().find(|rule| {
        let before = file.strip_suffix(rule.word.as_str());
        rule.kind == Kind::File && before.is_some_and(|b| b.is_empty() || b.ends_with('/'))
    })?;
    Some(format!("{file}: rename the file: {}", rule.instead))
}

fn in_text(rules: &[Rule], file: &str, text: &str, is_rust: bool) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in text.lines().enumerate() {
        // Identifiers as they are; for phrases, in lower case and with words apart.
        let spaced = line.to_lowercase().replace('_', " ");
        let is_code = is_rust && !line.trim_start().starts_with("//");
        for rule in rules {
            let found = match rule.kind {
                Kind::File => false,
                Kind::Name => is_code && contains_word(line, &rule.word, is_identifier),
                Kind::Phrase => contains_word(&spaced, &rule.word, char::is_alphanumeric),
            };
            if found {
                problems.push(format!(
                    "{file}:{}: '{}': write {}",
                    number + 1,
                    rule.word,
                    rule.instead
                ));
            }
        }
    }
    problems
}

fn is_identifier(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Whether `text` has `word` with no character beside it that would make it part of a longer one.
fn contains_word(text: &str, word: &str, joins: fn(char) -> bool) -> bool {
    text.match_indices(word).any(|(start, found)| {
        let before = text[..start].chars().next_back();
        let after = text[start + found.len()..].chars().next();
        !before.is_some_and(joins) && !after.is_some_and(joins)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Vec<Rule> {
        parse("# list\nfile | zed.rs | cursor.rs\n\nname | Zed | Cursor\nphrase | zig zag | line\n")
            .unwrap()
    }

    #[test]
    fn a_line_without_three_parts_is_refused() {
        assert!(parse("name | Zed\n").is_err());
        assert!(parse("verb | Zed | Cursor\n").is_err());
    }

    #[test]
    fn files_are_matched_by_whole_components_of_their_path() {
        assert!(in_path(&rules(), "a/src/zed.rs").is_some());
        assert!(in_path(&rules(), "a/src/gitzed.rs").is_none());
    }

    #[test]
    fn names_are_whole_identifiers_of_rust_code() {
        let found = |text: &str, is_rust| in_text(&rules(), "f", text, is_rust).len();
        assert_eq!(found("let x = Zed::new();", true), 1);
        assert_eq!(found("XZed, Zed_up, Zeds", true), 0);
        assert_eq!(found("Zed my words", false), 0);
        assert_eq!(found("    /// Zed my words", true), 0);
    }

    #[test]
    fn phrases_are_found_in_any_case_and_in_test_names() {
        let found = |text: &str| in_text(&rules(), "f", text, false).len();
        assert_eq!(found("It Zig zag."), 1);
        assert_eq!(found("fn the_client_zig_zag_at_once()"), 1);
        assert_eq!(found("zig zagging"), 0);
    }
}
