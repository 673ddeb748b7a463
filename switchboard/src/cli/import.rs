//! `switchboard import`: takes over the servers of other programs.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::brief::brief;
use crate::chat::{Input, Line, clean};
use crate::cli::Global;
use crate::cli::text::{count, table};
use crate::exit::{Exit, Failure};
use crate::import::{Item, Plan, Question, State, named, take_over, usual};
use crate::out::{Out, Style};
use crate::servers::{Keeping, answer, keep, stored_value};
use crate::store::{Change, Server, UserId};

/// Finds the servers of Claude Desktop, Claude Code, Cursor, VS Code, Cline, Codex, Gemini CLI and
/// Windsurf, shows them, and takes them over after one yes. Their files are never written.
#[derive(Args, Debug)]
pub(crate) struct Import {
    /// Read these files, not those in the usual places
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Take over what is shown without asking
    #[arg(long, short)]
    yes: bool,
    /// Replace servers of the same name
    #[arg(long)]
    overwrite: bool,
}

impl Import {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let user = UserId::local();
        let store = global.store().await?;
        let stored = store.servers(&user).await?;
        let plan = self.plan(&stored);
        out.say(shown(&plan, out));
        let wanted = |item: &&Item| match item.state {
            State::New | State::NeedsInput => true,
            State::Conflict => self.overwrite,
            State::Same => false,
        };
        let number = plan.items.iter().filter(wanted).count();
        let agreed = number > 0 && (self.yes || ask(out, number).await?);
        let mut imported: Vec<String> = Vec::new();
        if agreed {
            let wanted = plan.items.iter().filter(wanted);
            let mut taken = take_over(wanted, &stored, Keeping::KeyringOrPlain).await?;
            if out.is_interactive() {
                for row in &mut taken.rows {
                    let item = plan.items.iter().rfind(|item| item.row.name == row.name);
                    ask_all(out, row, item.map_or(&[], |item| &item.asks)).await?;
                }
            }
            for notice in taken.notices {
                out.remark(notice);
            }
            imported = taken.rows.iter().map(|row| row.name.clone()).collect();
            let put = |row| Change::PutServer(Box::new(row));
            store
                .commit(taken.rows.into_iter().map(put).collect())
                .await?;
        }
        store.close().await?;
        let text = match (number, imported.len()) {
            (0, _) => "Nothing to take over.".to_owned(),
            (number, 0) => format!(
                "Nothing changed; --yes takes {} over.",
                count(number, "server")
            ),
            (_, done) => format!("Took over {}.", count(done, "server")),
        };
        let items: Vec<Value> = plan.items.iter().map(to_json).collect();
        let problems = plan.problems.iter();
        let problems = problems.map(|(file, problem)| json!({"file": file, "problem": problem}));
        let value = json!({
            "servers": items,
            "problems": problems.collect::<Vec<_>>(),
            "imported": imported,
        });
        out.result(&value, text);
        Ok(Exit::Done)
    }

    fn plan(&self, stored: &[Server]) -> Plan {
        let places = match self.files.is_empty() {
            true => usual(&std::env::current_dir().unwrap_or_default()),
            false => named(&self.files),
        };
        Plan::read(&UserId::local(), &places, stored)
    }
}

fn shown(plan: &Plan, out: &Out) -> String {
    let mut rows = vec![
        ["NAME", "STATE", "SOURCE", "COMMAND OR URL"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for item in &plan.items {
        let source = item.row.source.as_deref().unwrap_or_default();
        rows.push(vec![
            item.row.name.clone(),
            item.state.as_str().to_owned(),
            source.to_owned(),
            brief(&item.endpoint, 80),
        ]);
        if !item.note.is_empty() {
            rows.push(vec![String::new(), format!("({})", item.note)]);
        }
    }
    let mut text = match plan.items.is_empty() {
        true => "No servers found.".to_owned(),
        false => notes(&rows),
    };
    for (file, problem) in &plan.problems {
        let line = clean(&format!("{file}: {problem}")).into_owned();
        text.push_str(&format!("\n{}", out.paint(Style::Bad, &line)));
    }
    text.push('\n');
    text
}

/// A table in which a row of two cells is a note on the row above.
fn notes(rows: &[Vec<String>]) -> String {
    let whole: Vec<Vec<String>> = rows.iter().filter(|row| row.len() > 2).cloned().collect();
    let lines = table(&whole);
    let mut lines = lines.lines();
    let texts = rows.iter().map(|row| match row.as_slice() {
        [_, note] => format!("    {}", clean(note).replace('\n', " ")),
        _ => lines.next().unwrap_or_default().to_owned(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

async fn ask(out: &Out, number: usize) -> Result<bool, Failure> {
    if !out.is_interactive() {
        return Ok(false);
    }
    let prompt = format!("Take over {}? [y/N] ", count(number, "server"));
    match Input::answers(*out).answer(&prompt, "").await {
        Line::Text(line) => Ok(matches!(line.trim(), "y" | "Y" | "yes")),
        Line::Interrupted => Err(Failure::new(Exit::Cancelled, "cancelled")),
        Line::End => Ok(false),
    }
}

/// Asks what a server's file asks for. A question left open is told when the server is used.
async fn ask_all(out: &Out, row: &mut Server, questions: &[Question]) -> Result<(), Failure> {
    for question in questions {
        let text = clean(&question.text).replace('\n', " ");
        out.piece(format!("{} asks: {text} (Enter: later): ", row.name));
        let secret = question.secret;
        let read = tokio::task::spawn_blocking(move || match secret {
            true => rpassword::read_password(),
            false => {
                let mut line = String::new();
                std::io::stdin().read_line(&mut line).map(|_| line)
            }
        });
        let said = match read.await {
            Ok(Ok(said)) => said.trim().to_owned(),
            // Where nothing can be typed in, it stays open.
            _ => continue,
        };
        if said.is_empty() {
            continue;
        }
        let place = format!("input/{}", question.id);
        let kept = keep(
            &row.id,
            &place,
            stored_value(&said),
            Keeping::KeyringOrPlain,
        )
        .await?;
        answer(row, &question.id, kept);
    }
    Ok(())
}

fn to_json(item: &Item) -> Value {
    json!({
        "name": item.row.name,
        "endpoint": item.endpoint,
        "source": item.row.source,
        "state": item.state.as_str(),
        "trust": item.row.trust,
        "note": item.note,
    })
}
