//! Input history.

use std::io::Write as _;
use std::path::PathBuf;

use crate::home;

/// Maximum number of lines.
const KEPT: usize = 1000;

/// Input history, kept in a file.
#[derive(Debug)]
pub(crate) struct History {
    file: PathBuf,
    lines: Vec<String>,
    /// What is looked at, and the beginning it was looked for with.
    at: Option<(usize, String)>,
}

impl History {
    /// What this file has; one that is not there yet is empty.
    pub(crate) fn load(file: PathBuf) -> Self {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let lines = text
            .lines()
            .filter(|line| *line != "#V2" && !line.is_empty());
        let mut lines: Vec<String> = lines.map(unescape).collect();
        if lines.len() > KEPT {
            lines.drain(..lines.len() - KEPT);
            let whole: String = lines.iter().map(|line| escape(line) + "\n").collect();
            // A history that cannot be shortened is harmless.
            let _ = std::fs::write(&file, whole);
        }
        Self {
            file,
            lines,
            at: None,
        }
    }

    /// Keeps a line, unless it is the last one again.
    pub(crate) fn add(&mut self, line: &str) {
        self.at = None;
        if line.trim().is_empty() || self.lines.last().is_some_and(|last| last == line) {
            return;
        }
        self.lines.push(line.to_owned());
        let file = home::private().append(true).create(true).open(&self.file);
        // A line that cannot be stored is harmless.
        let _ = file.and_then(|mut file| writeln!(file, "{}", escape(line)));
    }

    /// The previous or next line that begins as `typed` did when the search began.
    pub(crate) fn find(&mut self, back: bool, typed: &str) -> Option<String> {
        let (at, begun) = match self.at.take() {
            // What was found has been edited: it is a new beginning.
            Some((at, begun)) if self.lines.get(at).is_some_and(|line| line == typed) => {
                (at, begun)
            }
            _ => (self.lines.len(), typed.to_owned()),
        };
        let fits = |(_, line): &(usize, &String)| line.starts_with(&begun) && *line != typed;
        let found = match back {
            true => {
                let mut older = self.lines.iter().enumerate().take(at).rev();
                older.find(fits)
            }
            false => self.lines.iter().enumerate().skip(at + 1).find(fits),
        };
        let found = found.map(|(place, line)| (place, line.clone()));
        match found {
            Some((place, line)) => {
                self.at = Some((place, begun));
                Some(line)
            }
            // Forward beyond the last is what was typed; back beyond the first is nothing.
            None if back => {
                self.at = Some((at, begun)).filter(|_| at < self.lines.len());
                None
            }
            None => Some(begun),
        }
    }
}

fn escape(line: &str) -> String {
    line.replace('\\', "\\\\").replace('\n', "\\n")
}

fn unescape(line: &str) -> String {
    let mut text = String::new();
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
            char => text.push(char),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_their_beginning_and_survive_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history.txt");
        let mut history = History::load(file.clone());
        for line in [
            "first\nsecond \\ line",
            "other",
            "first again",
            "first again",
            " ",
        ] {
            history.add(line);
        }
        let mut history = History::load(file);
        assert_eq!(history.lines.len(), 3);
        assert_eq!(history.find(true, "fi").as_deref(), Some("first again"));
        let oldest = history.find(true, "first again").unwrap();
        assert_eq!(oldest, "first\nsecond \\ line");
        assert_eq!(history.find(true, &oldest), None);
        assert_eq!(history.find(false, &oldest).as_deref(), Some("first again"));
        assert_eq!(history.find(false, "first again").as_deref(), Some("fi"));
        assert_eq!(history.find(true, "").as_deref(), Some("first again"));
    }
}
