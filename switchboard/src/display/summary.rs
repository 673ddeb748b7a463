//! One-line summaries of long texts.

/// The first line of a text, cut where it gets long.
pub(crate) fn summary(text: &str, most: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default().trim_end()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut() {
        assert_eq!(summary("one\ntwo", 10), "one");
        assert_eq!(summary("eleven chars", 6), "eleven…");
    }
}
