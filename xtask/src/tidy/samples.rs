//! Code in our Markdown that nothing compiles is the same as code that is compiled.

use std::fs;

/// Its Rust lines are in the SDK's README, which is a doc test.
const FRONT: &str = "README.md";
const SDK: &str = "switchboard-sdk/README.md";
/// It shows these sources, in this order, and counts their lines.
const COMPARISON: &str = "docs/compare.md";
const COMPARED: [[&str; 2]; 3] = [
    [
        "bench/examples/compare/rmcp_stdio.rs",
        "switchboard-sdk/tests/compare/stdio.rs",
    ],
    [
        "bench/examples/compare/rmcp_form.rs",
        "switchboard-sdk/tests/compare/form.rs",
    ],
    [
        "bench/examples/compare/rig_agent.rs",
        "switchboard-sdk/tests/compare/agent.rs",
    ],
];

/// Adds a problem for every sample that differs from what is compiled.
pub(crate) fn check(problems: &mut Vec<String>) {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    for line in missing(&read(FRONT), &read(SDK)) {
        problems.push(format!(
            "{FRONT}: '{line}' is not in {SDK}, where it is compiled"
        ));
    }
    let comparison = read(COMPARISON);
    let mut shown = rust_blocks(&comparison).into_iter();
    for pair in COMPARED {
        let sources = pair.map(read);
        for (name, source) in pair.iter().zip(&sources) {
            if shown.next().as_ref() != Some(source) {
                problems.push(format!(
                    "{COMPARISON}: copy {name} anew, with all its lines"
                ));
            }
        }
        let [theirs, ours] = sources.map(|source| count(&source));
        let row = format!("| {theirs} | {ours} |");
        if !comparison.contains(&row) {
            problems.push(format!("{COMPARISON}: the table needs a row with '{row}'"));
        }
    }
}

/// The expressions of the first Rust block of `text` that `compiled` does not have.
fn missing(text: &str, compiled: &str) -> Vec<String> {
    let first = rust_blocks(text).into_iter().next().unwrap_or_default();
    let expressions = first.lines().filter_map(|line| line.split_once(" = "));
    let missing = expressions.filter(|(_, expression)| !compiled.contains(expression));
    missing
        .map(|(_, expression)| expression.to_owned())
        .collect()
}

/// What is in the fences marked as Rust.
fn rust_blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        match &mut open {
            Some(_) if line == "```" => blocks.extend(open.take()),
            Some(block) => {
                block.push_str(line);
                block.push('\n');
            }
            None if line.starts_with("```rust") => open = Some(String::new()),
            None => {}
        }
    }
    blocks
}

fn count(source: &str) -> usize {
    source
        .lines()
        .filter(|line| !line.trim().is_empty())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_that_is_not_compiled_is_found() {
        let text =
            "# T\n```sh\nlet x = no;\n```\n```rust,ignore\nlet a = one();\nlet b = two()?;\n```\n";
        assert_eq!(missing(text, "let c = one();\nlet b = two();"), ["two()?;"]);
        assert_eq!(rust_blocks(text), ["let a = one();\nlet b = two()?;\n"]);
        assert_eq!(count("a\n\n b\n"), 2);
    }
}
