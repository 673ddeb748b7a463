//! `docs/requirements.md`: every id has one row, which names tests that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const DOCUMENT: &str = "docs/requirements.md";

/// Checks the document against the sources among `files`.
pub(super) fn check(files: &[&str], problems: &mut Vec<String>) {
    let Ok(document) = fs::read_to_string(DOCUMENT) else {
        problems.push(format!(
            "{DOCUMENT}: write it: what was asked, and which test proves it"
        ));
        return;
    };
    let sources = files.iter().filter(|file| file.ends_with(".rs"));
    let sources = sources.filter_map(|file| Some((*file, fs::read_to_string(file).ok()?)));
    let mut known = Known {
        tests: functions(sources),
        scenes: BTreeMap::new(),
    };
    for file in files.iter().filter(|file| file.ends_with(".test.mjs")) {
        let name = file.rsplit('/').next().unwrap_or(file);
        let text = fs::read_to_string(file).unwrap_or_default();
        known.scenes.insert(name.replace(".test.mjs", ""), text);
    }
    problems.extend(judge(&document, &known));
}

/// The tests that there are.
struct Known {
    tests: Functions,
    /// The text of each file of browser tests, by its name.
    scenes: BTreeMap<String, String>,
}

impl Known {
    /// Whether a test is among them: `crate::module::name`, or `browser/file: scene`.
    fn has(&self, test: &str) -> bool {
        let scene = test
            .strip_prefix("browser/")
            .and_then(|it| it.split_once(": "));
        match scene {
            Some((file, title)) => self.scenes.get(file).is_some_and(|it| it.contains(title)),
            None => exists(test, &self.tests),
        }
    }
}

/// The tests of all sources, each with the modules its file's path stands for, crate first.
type Functions = BTreeMap<String, Vec<Vec<String>>>;

fn functions<'a>(sources: impl IntoIterator<Item = (&'a str, String)>) -> Functions {
    let mut functions = Functions::new();
    for (file, text) in sources {
        let path = file.trim_end_matches(".rs");
        let modules: Vec<String> = path.split('/').map(str::to_owned).collect();
        // The claims of a contract are tests of whoever is held to it.
        let is_contract = path.contains("/contract/");
        let (mut is_test, mut in_attribute) = (false, false);
        for line in text.lines().map(str::trim) {
            if in_attribute || line.starts_with("#[") {
                is_test |= line.starts_with("#[test") || line.contains("::test");
                in_attribute = !line.ends_with(']');
            } else if let Some(name) = declared(line) {
                if is_test || is_contract {
                    let places = functions.entry(name.to_owned()).or_default();
                    places.push(modules.clone());
                }
                is_test = false;
            }
        }
    }
    functions
}

/// The name of the function that a line declares.
fn declared(line: &str) -> Option<&str> {
    let words = line.trim_start().split(' ');
    let before = |word: &&str| word.starts_with("pub") || *word == "async";
    let mut words = words.skip_while(before);
    let named = (words.next()? == "fn").then(|| words.next())??;
    named
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
}

/// What is wrong with the document.
fn judge(document: &str, known: &Known) -> Vec<String> {
    let mut problems = Vec::new();
    let listed = document
        .split("```ids\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let listed: Vec<&str> = listed.unwrap_or_default().split_whitespace().collect();
    let wanted: BTreeSet<&str> = listed.iter().copied().collect();
    if wanted.len() < listed.len() {
        problems.push(format!("{DOCUMENT}: an id stands in the list of ids twice"));
    }
    let mut seen = BTreeSet::new();
    let mut above = "";
    for (number, line) in document.lines().enumerate() {
        let is_apart = !std::mem::replace(&mut above, line).starts_with('|');
        let Some(id) = row_id(line) else { continue };
        let at = format!("{DOCUMENT}:{}: {id}", number + 1);
        if !wanted.contains(id) {
            problems.push(format!("{at}: not in the list of ids; add it there"));
        }
        if !seen.insert(id) {
            problems.push(format!("{at}: has a row already; join the two"));
        }
        if is_apart {
            problems.push(format!(
                "{at}: is in no table; remove what stands before it"
            ));
        }
        if tests(line).next().is_none() && !line.contains("differs") {
            problems.push(format!(
                "{at}: names no test; name one, or say what differs from what was asked"
            ));
        }
        for test in tests(line) {
            if !known.has(test) {
                problems.push(format!(
                    "{at}: there is no test {test}; name one that exists"
                ));
            }
        }
    }
    let missing = wanted.difference(&seen);
    problems.extend(missing.map(|id| format!("{DOCUMENT}: {id} has no row; write it")));
    problems
}

/// The id that a row of a table is about: a capital letter and a number.
fn row_id(line: &str) -> Option<&str> {
    let id = line.strip_prefix("| ")?.split(" |").next()?;
    let (letter, number) = id.split_at_checked(1)?;
    let fits = letter.chars().all(|c| c.is_ascii_uppercase())
        && !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit());
    fits.then_some(id)
}

/// What the last cell of a row names in code marks.
fn tests(line: &str) -> impl Iterator<Item = &str> {
    let cell = line.trim_end().trim_end_matches('|').rsplit(" |").next();
    cell.unwrap_or_default().split('`').skip(1).step_by(2)
}

/// Whether a file of the crate, whose path ends in the modules, has this function.
fn exists(test: &str, functions: &Functions) -> bool {
    let parts: Vec<&str> = test.split("::").collect();
    let [folder, modules @ .., name] = parts.as_slice() else {
        return false;
    };
    let places = functions.get(*name).into_iter().flatten();
    places.into_iter().any(|place| {
        place.first().is_some_and(|first| first == folder)
            && place
                .iter()
                .map(String::as_str)
                .rev()
                .zip(modules.iter().rev())
                .all(|(a, b)| a == *b)
            && place.len() > modules.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        let one = "#[test]\n#[cfg(unix)]\nfn holds() {}\nfn helps() {}\n";
        let two = "    #[tokio::test(\n    x = 1\n)]\n    pub(super) async fn other(\n";
        let claim = "pub fn claimed(\n";
        Known {
            tests: functions([
                ("a/tests/it/deep/one.rs", one.to_owned()),
                ("b/src/two.rs", two.to_owned()),
                ("b/src/store/contract/three.rs", claim.to_owned()),
            ]),
            scenes: [("page".to_owned(), "scene('it opens')".to_owned())].into(),
        }
    }

    fn document(rows: &str) -> String {
        format!("```ids\nA1 A2\n```\n\n| id | asked | tests |\n|---|---|---|\n{rows}")
    }

    #[test]
    fn a_document_whose_tests_exist_is_in_order() {
        let rows = "| A1 | x `y` | `a::deep::one::holds`, `browser/page: it opens` |\n\
             | A2 | z | `b::two::other`, `a::one::holds`, `b::three::claimed` |\n";
        assert_eq!(judge(&document(rows), &known()), Vec::<String>::new());
    }

    #[test]
    fn a_test_that_is_gone_or_elsewhere_is_found() {
        let rows = "| A1 | x | `a::one::gone` |\n| A2 | z | `b::one::holds`, `a::two::holds` |\n";
        let problems = judge(&document(rows), &known());
        assert_eq!(problems.len(), 3, "{problems:?}");
    }

    #[test]
    fn what_only_helps_a_test_and_a_scene_that_is_gone_are_no_tests() {
        let rows = "| A1 | x | `a::one::helps` |\n| A2 | z | `browser/page: it closes` |\n";
        let problems = judge(&document(rows), &known());
        assert_eq!(problems.len(), 2, "{problems:?}");
    }

    #[test]
    fn ids_are_complete_and_unique() {
        let rows = ["A1", "A1", "B7"].map(|id| format!("| {id} | x | `a::one::holds` |\n"));
        let problems = judge(&document(&rows.concat()), &known());
        let about = |what: &str| problems.iter().any(|problem| problem.contains(what));
        assert!(about("A1: has a row already"), "{problems:?}");
        assert!(about("B7: not in the list"), "{problems:?}");
        assert!(about("A2 has no row"), "{problems:?}");
        assert_eq!(problems.len(), 3);
    }
    #[test]
    fn a_row_names_a_test_or_says_what_differs() {
        let rows = "| A1 | x | `not the last cell` | |\n| A2 | differs: z | |\n";
        let problems = judge(&document(rows), &known());
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("A1: names no test"), "{problems:?}");
    }

    #[test]
    fn a_row_stands_in_its_table() {
        let rows = "| A1 | x | `a::one::holds` |\n\n| A2 | z | `a::one::holds` |\n";
        let problems = judge(&document(rows), &known());
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("A2: is in no table"), "{problems:?}");
    }
}
