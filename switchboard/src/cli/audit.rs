//! `switchboard audit`: what the gateway's clients called.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::gateway::audit_file::{files, folder, read};

/// The audit log of the gateway.
#[derive(Args, Debug)]
pub(crate) struct Audit {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Check that no record was changed, removed or inserted
    Verify,
    /// Print all records, a line of JSON each
    Export,
}

impl Audit {
    pub(crate) fn run(self, out: &Out) -> Result<Exit, Failure> {
        let failed = |error: std::io::Error| {
            let text = format!("{} cannot be read", folder().display());
            Failure::new(Exit::Other, text).caused_by(error)
        };
        let (mut records, mut broken) = (0_u64, None);
        let files = files().map_err(failed)?;
        for file in &files {
            let lines = read(file).map_err(failed)?;
            for (at, (line, verdict)) in lines.iter().enumerate() {
                match (&self.verb, verdict) {
                    // As it is, because its hash is of these very bytes.
                    (Verb::Export, _) => out.draw(&format!("{line}\n")),
                    (Verb::Verify, Err(problem)) if broken.is_none() => {
                        broken = Some(format!("{}, line {}: {problem}", file.display(), at + 1));
                    }
                    (Verb::Verify, _) => {}
                }
                records += 1;
            }
        }
        if let Verb::Export = self.verb {
            return Ok(Exit::Done);
        }
        if let Some(problem) = broken {
            let failure = Failure::new(Exit::Other, format!("the audit log is broken: {problem}"));
            return Err(failure.with_hint("What comes after this line proves nothing."));
        }
        let text = format!(
            "{records} records in {} files are as they were written.",
            files.len()
        );
        out.result(&json!({"records": records, "files": files.len()}), text);
        Ok(Exit::Done)
    }
}
