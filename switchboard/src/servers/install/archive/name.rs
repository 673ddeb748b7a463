//! Names in bundles: each is a place of its own below the bundle's folder, on every file system.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

const LONGEST: usize = 1024;
const LONGEST_PART: usize = 255;
const DEEPEST: usize = 64;
/// Names of devices on Windows.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// A name that stays below the folder it is unpacked into.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Safe {
    parts: Vec<String>,
    pub(super) is_folder: bool,
}

impl Safe {
    /// Whether it is this file.
    pub(super) fn is(&self, path: &str) -> bool {
        let path = path.strip_prefix("./").unwrap_or(path);
        !self.is_folder && self.parts.iter().map(String::as_str).eq(path.split('/'))
    }

    /// Its place in a folder.
    pub(super) fn within(&self, folder: &Path) -> PathBuf {
        self.parts
            .iter()
            .fold(folder.to_owned(), |path, part| path.join(part))
    }
}

impl fmt::Display for Safe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.parts.join("/"))
    }
}

/// The names of a bundle so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Each path, folders on the way included, as file systems without case see it: as it is written, and
    /// whether it is a folder.
    seen: BTreeMap<String, (String, bool)>,
}

impl Names {
    /// Adds a name, or says why it may not be in a bundle.
    pub(super) fn add(&mut self, raw: &[u8]) -> Result<Safe, String> {
        let safe = read(raw)?;
        let mut path = String::new();
        let last = safe.parts.len();
        for (at, part) in safe.parts.iter().enumerate() {
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(part);
            let is_folder = at + 1 < last || safe.is_folder;
            let key = path.to_lowercase();
            match self.seen.get(&key) {
                None => {
                    self.seen.insert(key, (path.clone(), is_folder));
                }
                Some((other, true)) if is_folder && *other == path => {}
                Some((other, _)) => return Err(format!("{path:?} and {other:?} are in one place")),
            }
        }
        Ok(safe)
    }
}

fn read(raw: &[u8]) -> Result<Safe, String> {
    let odd = |why: &str| {
        let shown: String = String::from_utf8_lossy(raw).chars().take(100).collect();
        Err(format!("the name {shown:?} {why}"))
    };
    let Ok(name) = std::str::from_utf8(raw) else {
        return odd("is not UTF-8");
    };
    if name.is_empty() || name.len() > LONGEST {
        return odd("is empty or too long");
    }
    if name.contains(|c: char| c.is_control() || c == '\\') {
        return odd("has signs that names in bundles do not have");
    }
    let (path, is_folder) = match name.strip_suffix('/') {
        Some(path) => (path, true),
        None => (name, false),
    };
    let parts: Vec<&str> = path.split('/').collect();
    if parts.len() > DEEPEST {
        return odd("is too deep");
    }
    for part in &parts {
        match *part {
            "" | "." | ".." => return odd("leads elsewhere"),
            part if part.len() > LONGEST_PART => return odd("is too long"),
            part if cfg!(windows) && is_foreign_to_windows(part) => {
                return odd("is no name on Windows");
            }
            _ => {}
        }
    }
    // A drive of Windows is nowhere else, but no one has such a folder either.
    let is_drive =
        |part: &&str| matches!(part.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if parts.first().is_some_and(is_drive) {
        return odd("leads elsewhere");
    }
    Ok(Safe {
        parts: parts.into_iter().map(str::to_owned).collect(),
        is_folder,
    })
}

fn is_foreign_to_windows(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).to_ascii_lowercase();
    let stem = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    part.contains(['<', '>', ':', '"', '|', '?', '*'])
        || part.ends_with(['.', ' '])
        || DEVICES.contains(&stem)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_lead_out_or_meet_another_one_are_refused() {
        for bad in [
            "../a",
            "a/../../b",
            "/etc/passwd",
            "a//b",
            "./a",
            "a/.",
            "",
            "/",
            "a\\b",
            "..\\a",
            "C:/a",
            "c:a",
            "a\0b",
            "a\nb",
            "..",
        ] {
            assert!(Names::default().add(bad.as_bytes()).is_err(), "{bad:?}");
        }
        assert!(Names::default().add(&[b'a', 0xff]).is_err());
        for (one, other) in [
            ("a", "a"),
            ("a", "A"),
            ("a", "a/b"),
            ("a/b", "a"),
            ("Lib/a", "lib/b"),
            ("a/", "A/"),
            ("ä", "Ä"),
        ] {
            let mut names = Names::default();
            names.add(one.as_bytes()).unwrap();
            assert!(names.add(other.as_bytes()).is_err(), "{one} {other}");
        }
        let mut names = Names::default();
        for good in ["a/", "a/b", "a/c/d.js", "..a", "a/...", "b c", "Foo::Bar.3"] {
            names.add(good.as_bytes()).unwrap();
        }
    }

    #[test]
    fn devices_are_no_names_on_windows() {
        for bad in ["CON", "com1", "nul.txt", "a:b", "a.", "a "] {
            assert!(is_foreign_to_windows(bad), "{bad}");
        }
        for good in ["console", "a.b", "compass"] {
            assert!(!is_foreign_to_windows(good), "{good}");
        }
    }

    proptest! {
        #[test]
        fn a_name_that_is_taken_is_below_its_folder(name in "[./\\\\a-cA:]{0,12}") {
            if let Ok(safe) = Names::default().add(name.as_bytes()) {
                let path = safe.within(Path::new("/bundle"));
                let mut inside = path.strip_prefix("/bundle").unwrap().components();
                prop_assert!(inside.all(|part| matches!(part, std::path::Component::Normal(_))));
            }
        }
    }
}
