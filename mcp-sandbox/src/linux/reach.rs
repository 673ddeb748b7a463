//! Where paths lead, as far as the server has no say in it.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::plan::{FileAccess, FileRule};

/// Links that are followed on the way to a file.
const MAX_LINKS: usize = 40;

/// What a server may write, and so can put links and other files into.
#[derive(Debug)]
pub(super) struct Reach {
    writable: Vec<PathBuf>,
}

impl Reach {
    /// What these rules let it write.
    pub(super) fn of(rules: &[FileRule]) -> Self {
        let writes = rules.iter().filter(|rule| rule.access == FileAccess::Write);
        let all: Vec<PathBuf> = writes
            .filter_map(|rule| rule.path.canonicalize().ok())
            .collect();
        Self { writable: all }
    }

    /// Whether a path, without links in it, is one that the server may write.
    pub(super) fn writes(&self, path: &Path) -> bool {
        self.writable.iter().any(|folder| path.starts_with(folder))
    }

    /// Where a path leads, in the folders as they are; `None` if the server may change that: some part
    /// of the path is below a folder that it may write.
    pub(super) fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let mut links = 0;
        let mut real = PathBuf::from("/");
        let mut rest: Vec<OsString> = parts(path);
        while let Some(part) = rest.pop() {
            if part == ".." {
                real.pop();
                continue;
            }
            let entry = real.join(&part);
            let is_theirs = |folder: &PathBuf| entry != *folder && entry.starts_with(folder);
            if self.writable.iter().any(is_theirs) {
                return None;
            }
            match fs::read_link(&entry) {
                Ok(_) if links >= MAX_LINKS => return None,
                Ok(target) => {
                    links += 1;
                    if target.is_absolute() {
                        real = PathBuf::from("/");
                    }
                    rest.extend(parts(&target));
                }
                Err(_) => real = entry,
            }
        }
        Some(real)
    }

    /// The rules as they are when nothing that the server may write leads elsewhere. What is below a
    /// folder that it may write needs no rule.
    pub(super) fn settle(&self, rules: Vec<FileRule>) -> Vec<FileRule> {
        let settled = rules.into_iter().filter_map(|mut rule| {
            rule.path = self.resolve(&rule.path)?;
            Some(rule)
        });
        settled.collect()
    }
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev();
    let named = parts.filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    named.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::linux::program;
    use crate::plan::file_rules;
    use crate::profile::Profile;

    struct World {
        _folder: tempfile::TempDir,
        root: PathBuf,
    }

    /// A home with a secret, an installation, and a folder `work` that the server may write.
    fn world() -> World {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for below in ["work", "own", "home/secret", "python/bin", "cargo/bin"] {
            fs::create_dir_all(root.join(below)).unwrap();
        }
        for file in [
            "home/secret/key",
            "python/pyvenv.cfg",
            "python/bin/python",
            "cargo/bin/x",
        ] {
            fs::write(root.join(file), "").unwrap();
        }
        World {
            _folder: folder,
            root,
        }
    }

    impl World {
        /// What may be read by a server that is started as this program.
        fn readable(&self, profile: &Profile, program: &str) -> Vec<String> {
            let rules = crate::linux::rules(
                profile,
                &self.root.join(program),
                Some(&self.root.join("home")),
                &self.root.join("own"),
            );
            let mut all: Vec<String> = rules
                .iter()
                .filter_map(|rule| rule.path.strip_prefix(&self.root).ok())
                .map(|path| path.display().to_string())
                .collect();
            all.sort();
            all
        }

        fn may_write(&self) -> Profile {
            Profile::new().with_write(self.root.join("work"))
        }
    }

    #[test]
    fn only_what_is_recognisably_an_installation_is_opened_with_its_program() {
        let world = world();
        let strict = Profile::new();
        assert_eq!(
            world.readable(&strict, "python/bin/python"),
            ["own", "python"]
        );
        assert_eq!(
            world.readable(&strict, "cargo/bin/x"),
            ["cargo/bin/x", "own"]
        );
    }

    #[test]
    fn an_interpreter_is_opened_for_a_program_that_the_server_cannot_write() {
        let world = world();
        let line = format!("#!{}\n", world.root.join("python/bin/python").display());
        for script in ["cargo/bin/x", "work/x"] {
            fs::write(world.root.join(script), &line).unwrap();
        }
        let profile = world.may_write();
        let opened = world.readable(&profile, "cargo/bin/x");
        assert_eq!(opened, ["cargo/bin/x", "own", "python", "work"]);
        assert_eq!(world.readable(&profile, "work/x"), ["own", "work"]);
        // The file alone may be written.
        let profile = Profile::new().with_write(world.root.join("cargo/bin/x"));
        let opened = world.readable(&profile, "cargo/bin/x");
        assert_eq!(opened, ["cargo/bin/x", "cargo/bin/x", "own"]);
    }

    #[test]
    fn a_link_that_the_server_may_make_opens_nothing() {
        let world = world();
        let secret = world.root.join("home/secret");
        symlink(&secret, world.root.join("work/link")).unwrap();
        symlink(
            world.root.join("work/link/key"),
            world.root.join("cargo/alias"),
        )
        .unwrap();
        let named = world
            .may_write()
            .with_read(world.root.join("work/link"))
            .with_read(world.root.join("cargo/alias"))
            .with_write(world.root.join("work/link"));
        for program in ["work/link/key", "cargo/alias"] {
            assert_eq!(
                world.readable(&named, program),
                ["own", "work"],
                "{program}"
            );
        }
        // One that it cannot make leads where it leads.
        symlink(&secret, world.root.join("cargo/agreed")).unwrap();
        let agreed = Profile::new().with_read(world.root.join("cargo/agreed"));
        let opened = world.readable(&agreed, "cargo/bin/x");
        assert_eq!(opened, ["cargo/bin/x", "home/secret", "own"]);
    }

    #[test]
    fn a_home_that_looks_like_an_installation_is_not_opened() {
        let world = world();
        fs::create_dir_all(world.root.join("home/bin")).unwrap();
        for file in ["home/bin/x", "home/pyvenv.cfg"] {
            fs::write(world.root.join(file), "").unwrap();
        }
        let opened = world.readable(&Profile::new(), "home/bin/x");
        assert_eq!(opened, ["home/bin/x", "own"]);
        let rules = Reach::of(&[]);
        let mut files = program::files(Path::new("/home/me/bin/x"), &rules);
        files.installations.push("/home/me".into());
        let rules = file_rules(&Profile::new(), &files, None, Path::new("/own"));
        assert!(!rules.iter().any(|rule| rule.path == Path::new("/home/me")));
    }
}
