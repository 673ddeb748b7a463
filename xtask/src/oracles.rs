//! `cargo xtask oracles`: the model wires against the vendors' own SDKs, and `switchboard serve` against its own
//! OpenAPI document.

use std::path::Path;

use crate::install;
use crate::shell::{self, Outcome, cargo_as_tested, command};

/// Installs the SDKs by package name and lets them judge what `codec` writes and reads. Words for
/// `run.py`, such as `--rounds 500`, are passed on.
pub(crate) fn run(words: &[String]) -> Outcome {
    let scripts = Path::new("provider-adapters/oracles");
    let python = install::pip(scripts, Path::new("target/oracles"))?.join("bin/python");
    let examples = ["codec", "signed", "compacted"];
    let examples: Vec<&str> = examples.iter().flat_map(|it| ["--example", it]).collect();
    shell::run(cargo_as_tested("build", &examples))?;
    let run = scripts.join("run.py");
    // `-B`: no compiled scripts in the source tree.
    let mut compare = command(&python.to_string_lossy(), &["-B", &run.to_string_lossy()]);
    compare.arg("target/debug/examples/codec").args(words);
    shell::run(compare)?;
    document()
}

/// Has schemathesis ask `switchboard serve` what its OpenAPI document says it answers.
fn document() -> Outcome {
    let scripts = Path::new("switchboard/oracles");
    let python = install::pip(scripts, Path::new("target/schemathesis"))?.join("bin/python");
    shell::run(cargo_as_tested("build", &["--bin", "switchboard"]))?;
    let run = scripts.join("run.py");
    let mut ask = command(&python.to_string_lossy(), &["-B", &run.to_string_lossy()]);
    ask.arg("target/debug/switchboard");
    shell::run(ask)
}
