//! `switchboard completions`.

use clap::{Args, Command};
use clap_complete::Shell;
use serde_json::json;

use crate::display::out::Out;
use crate::exit::{Exit, Failure};

/// Prints shell completions.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, mut command: Command, out: &Out) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "switchboard", &mut script);
        let script = String::from_utf8_lossy(&script);
        let value = json!({"shell": self.shell.to_string(), "script": script});
        out.result(&value, script.trim_end());
        Ok(Exit::Done)
    }
}
