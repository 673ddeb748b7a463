//! Crates depend only along the arrows that ARCHITECTURE.md draws.

use std::collections::BTreeMap;
use std::fs;

use crate::metadata::Package;

const SOURCE: &str = "ARCHITECTURE.md";

/// Compares every dependency between our crates with the list in ARCHITECTURE.md.
pub(crate) fn check(packages: &BTreeMap<String, Package>) -> Result<Vec<String>, String> {
    let text = fs::read_to_string(SOURCE).map_err(|e| format!("{SOURCE}: {e}"))?;
    let allowed = parse(&text);
    let mut problems = Vec::new();
    for package in packages.values() {
        let Some(targets) = allowed.get(package.name.as_str()) else {
            problems.push(format!(
                "{SOURCE}: add {} to the list of arrows",
                package.name
            ));
            continue;
        };
        for arrow in package
            .arrows
            .iter()
            .filter(|arrow| !targets.contains(&arrow.as_str()))
        {
            problems.push(format!(
                "{}/Cargo.toml: {} must not depend on {arrow}: {SOURCE} has no such arrow",
                package.folder.display(),
                package.name
            ));
        }
    }
    Ok(problems)
}

/// Reads the fenced block marked `arrows`: a line per crate, `name: what it may depend on`.
fn parse(text: &str) -> BTreeMap<&str, Vec<&str>> {
    text.lines()
        .skip_while(|line| line.trim() != "```arrows")
        .skip(1)
        .take_while(|line| line.trim() != "```")
        .filter_map(|line| line.split_once(':'))
        .map(|(name, targets)| (name.trim(), targets.split_whitespace().collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_from_its_fenced_block_only() {
        let text = "a: x\n```arrows\nlow:\nhigh: low mid\n```\nb: y\n";
        let want = BTreeMap::from([("low", vec![]), ("high", vec!["low", "mid"])]);
        assert_eq!(parse(text), want);
    }
}
