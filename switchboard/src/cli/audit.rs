//! `switchboard audit`: what the gateway's clients called.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::cli::text::table_or;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::gateway::audit_file::{Anchor, read};
use crate::gateway::audit_folder::{files, folder, name};
use crate::gateway::audit_list::{AuditedCall, latest};
use crate::gateway::records::{Kind, Records};

/// The audit log of the gateway.
#[derive(Args, Debug)]
pub(crate) struct Audit {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the latest calls (default)
    #[command(visible_alias = "ls")]
    List {
        /// Maximum number of calls
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
        /// Only calls with this text in their caller, client, server, tool, decision or outcome
        #[arg(long, value_name = "TEXT", default_value = "")]
        search: String,
    },
    /// Check that no record and no file was changed, removed or inserted
    Verify,
    /// Print all records, a line of JSON each
    Export,
}

impl Audit {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let list = Verb::List {
            limit: 50,
            search: String::new(),
        };
        match self.verb.unwrap_or(list) {
            Verb::List { limit, search } => {
                let calls = latest(&search, limit).map_err(unreadable)?;
                let values: Vec<Value> = calls.iter().map(AuditedCall::to_json).collect();
                out.result(&json!({ "calls": values }), shown(&calls));
            }
            Verb::Export => {
                for file in files().map_err(unreadable)? {
                    for (line, _) in read(&file).map_err(unreadable)?.lines {
                        // As it is, because its hash is of these very bytes.
                        out.draw(&format!("{line}\n"));
                    }
                }
            }
            Verb::Verify => {
                let store = global.store().await?;
                let anchors = Records::read(&*store).await?.all(Kind::Anchor);
                store.close().await?;
                return verify(&anchors, out);
            }
        }
        Ok(Exit::Done)
    }
}

fn verify(anchors: &BTreeMap<String, Anchor>, out: &Out) -> Result<Exit, Failure> {
    let (mut records, mut problems, mut loose) = (0, Vec::new(), 0_u64);
    let files = files().map_err(unreadable)?;
    for file in &files {
        let checked = read(file).map_err(unreadable)?;
        let anchor = anchors.get(&name(file));
        records += checked.lines.len();
        loose += u64::from(anchor.is_none());
        let problem = checked.problem(anchor);
        problems.extend(problem.map(|problem| format!("{}, {problem}", file.display())));
    }
    let there = |file: &str| files.iter().any(|path| name(path) == file);
    let gone = anchors.iter().filter(|(file, _)| !there(file));
    problems.extend(gone.map(|(file, anchor)| {
        let path = folder().join(file);
        format!("{} is missing ({} records)", path.display(), anchor.lines)
    }));
    if let [first, ..] = problems.as_slice() {
        let text = match problems.len() {
            1 => format!("the audit log is broken: {first}"),
            count => format!(
                "the audit log is broken in {count} files: {}",
                problems.join("; ")
            ),
        };
        let hint = "What comes after such a line proves nothing.";
        return Err(Failure::new(Exit::Other, text).with_hint(hint));
    }
    if loose > 0 {
        out.remark(format!(
            "{loose} files are not anchored in this store: lines missing at their end would not be \
             noticed."
        ));
    }
    let text = format!(
        "{records} records in {} files are as they were written.",
        files.len()
    );
    let value = json!({"records": records, "files": files.len(), "notAnchored": loose});
    out.result(&value, text);
    Ok(Exit::Done)
}

fn shown(calls: &[AuditedCall]) -> String {
    let mut rows = Vec::new();
    if !calls.is_empty() {
        let heads = [
            "TIME",
            "CALLER",
            "TOOL",
            "DECISION",
            "OUTCOME",
            "TIME TAKEN",
        ];
        rows.push(heads.map(str::to_owned).to_vec());
    }
    for call in calls {
        let caller = match (call.caller.is_empty(), call.client.is_empty()) {
            (false, false) => format!("{} ({})", call.caller, call.client),
            (false, true) => call.caller.clone(),
            (true, _) => call.client.clone(),
        };
        let taken = call.duration_ms.map(|millis| format!("{millis} ms"));
        rows.push(vec![
            call.time.clone(),
            caller,
            format!("{}/{}", call.server, call.tool),
            call.decision.clone(),
            call.outcome.clone().unwrap_or_default(),
            taken.unwrap_or_default(),
        ]);
    }
    table_or("No calls.", rows)
}

fn unreadable(error: std::io::Error) -> Failure {
    let text = format!("{} cannot be read", folder().display());
    Failure::new(Exit::Other, text).caused_by(error)
}
