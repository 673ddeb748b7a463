//! Relative links in our Markdown lead somewhere.

use std::fs;
use std::path::Path;

/// Adds a problem for every relative link whose file or heading does not exist.
pub(crate) fn check(files: &[&str], problems: &mut Vec<String>) {
    for file in files.iter().filter(|file| file.ends_with(".md")) {
        let Ok(text) = fs::read_to_string(file) else {
            continue;
        };
        for link in targets(&text) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => Path::new(file).to_path_buf(),
                path => Path::new(file).parent().unwrap_or(Path::new("")).join(path),
            };
            if !target.exists() {
                problems.push(format!("{file}: dead link '{link}': fix the path"));
            } else if !anchor.is_empty() && !has_heading(&target, anchor) {
                problems.push(format!("{file}: dead link '{link}': no such heading"));
            }
        }
    }
}

/// The targets of inline links outside code fences, apart from those with a scheme.
fn targets(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for part in line.split("](").skip(1) {
            let target = part.split([')', ' ']).next().unwrap_or_default();
            let rustdoc = target.contains("::");
            if !target.contains("://")
                && !target.starts_with("mailto:")
                && !rustdoc
                && !target.is_empty()
            {
                found.push(target);
            }
        }
    }
    found
}

fn has_heading(file: &Path, anchor: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| {
        text.lines()
            .filter(|line| line.starts_with('#'))
            .any(|line| slug(line) == anchor)
    })
}

/// A heading's anchor, as the usual Markdown hosts build it.
fn slug(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| {
            if c == ' ' {
                '-'
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_and_with_a_scheme_are_left_alone() {
        let text = "[a](x.md) [b](http://x/) `c`\n```\n[d](y.md)\n```\n[e](#top \"title\")\n";
        assert_eq!(targets(text), ["x.md", "#top"]);
    }

    #[test]
    fn slugs_follow_the_headings() {
        assert_eq!(slug("## A tool call's journey"), "a-tool-calls-journey");
    }
}
