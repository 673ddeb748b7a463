//! Which tests are property tests, as their source files show: no list that could go stale.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The property tests of one source file.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Found {
    /// Functions inside `proptest! { … }`.
    names: BTreeSet<String>,
    /// The file draws cases in another way, for instance in a helper: any of its tests may use it.
    whole_file: bool,
}

impl Found {
    /// Reads a source file's text.
    fn of(text: &str) -> Self {
        let mut found = Self::default();
        let mut rest = text;
        while let Some((_, after)) = rest.split_once("proptest!") {
            rest = after;
            match after.trim_start().strip_prefix('{') {
                Some(block) => found.names.extend(functions(until_closed(block))),
                None => found.whole_file = true,
            }
        }
        found.whole_file |= text.contains("PROPTEST_RNG_SEED") || text.contains("TestRunner");
        found
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty() && !self.whole_file
    }

    /// Of a binary's `tests`, those that are meant, if `module` is the file's module path.
    /// Fails on a property test that the binary does not have.
    pub(crate) fn among<'a>(
        &self,
        tests: &'a [String],
        module: &str,
    ) -> Result<Vec<&'a str>, String> {
        let inside = |test: &&String| {
            module.is_empty()
                || test
                    .strip_prefix(module)
                    .is_some_and(|rest| rest.starts_with("::"))
        };
        let name = |test: &str| test.rsplit("::").next().unwrap_or(test).to_owned();
        let own: Vec<&String> = tests.iter().filter(inside).collect();
        let missing = self
            .names
            .iter()
            .find(|wanted| !own.iter().any(|test| name(test) == **wanted));
        if let Some(missing) = missing {
            return Err(format!("no test '{missing}' in module '{module}'"));
        }
        let meant = own
            .into_iter()
            .filter(|test| self.whole_file || self.names.contains(&name(test)));
        Ok(meant.map(String::as_str).collect())
    }
}

/// Every file below `folder` with property tests, and its module path.
pub(crate) fn below(folder: &Path) -> Result<Vec<(String, Found)>, String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(inner) = folders.pop() {
        let entries = fs::read_dir(&inner).map_err(|e| format!("{}: {e}", inner.display()))?;
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        Ok((module(folder, &file), Found::of(&text)))
    };
    let found: Result<Vec<_>, String> = files.into_iter().map(read).collect();
    Ok(found?
        .into_iter()
        .filter(|(_, found)| !found.is_empty())
        .collect())
}

/// The module path of a file of the crate whose root is in `folder`.
fn module(folder: &Path, file: &Path) -> String {
    let path = file.strip_prefix(folder).unwrap_or(file).with_extension("");
    let steps: Vec<_> = path.iter().map(|step| step.to_string_lossy()).collect();
    match steps.as_slice() {
        [root] if root == "lib" || root == "main" => String::new(),
        steps => steps.join("::"),
    }
}

/// The text before the brace that closes the block. Braces in strings come in pairs.
fn until_closed(block: &str) -> &str {
    let mut depth = 1_usize;
    for (at, letter) in block.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return block.get(..at).unwrap_or(block);
        }
    }
    block
}

/// The functions marked as tests in the text of a `proptest!` block.
fn functions(block: &str) -> impl Iterator<Item = String> {
    block.split("#[test]").skip(1).filter_map(|after| {
        let (_, signature) = after.split_once("fn ")?;
        let (name, _) = signature.split_once('(')?;
        Some(name.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests() -> Vec<String> {
        ["a::one", "a::tests::two", "a::b::three", "ab::one"]
            .map(str::to_owned)
            .to_vec()
    }

    #[test]
    fn functions_inside_a_block_are_property_tests_and_those_beside_it_are_not() {
        let found = Found::of(
            "fn helper() {}\nproptest! {\n#![proptest_config(few(3))]\n\
             /// A claim.\n#[test]\nfn one(x in 0..3) { if x { y } }\n\
             #[test]\nfn two(y: u8) {}\n}\n#[test]\nfn beside() {}",
        );
        assert_eq!(found.names, ["one", "two"].map(str::to_owned).into());
        assert!(!found.whole_file);
        assert_eq!(
            found.among(&tests(), "a").unwrap(),
            ["a::one", "a::tests::two"]
        );
    }

    #[test]
    fn a_file_that_draws_cases_in_a_helper_counts_as_a_whole() {
        for text in [
            "fn check() { proptest!(|(n: u8)| {}) }",
            "env::var(\"PROPTEST_RNG_SEED\")",
        ] {
            let found = Found::of(text);
            assert_eq!(found.among(&tests(), "a::b").unwrap(), ["a::b::three"]);
        }
    }

    #[test]
    fn a_property_test_that_no_binary_has_is_an_error() {
        let found = Found::of("proptest! { #[test] fn lost(n: u8) {} }");
        assert!(found.among(&tests(), "a").unwrap_err().contains("lost"));
    }

    #[test]
    fn a_file_stands_for_its_module() {
        let of = |file: &str| module(Path::new("c/src"), Path::new(file));
        assert_eq!(of("c/src/lib.rs"), "");
        assert_eq!(of("c/src/http/escape.rs"), "http::escape");
    }
}
