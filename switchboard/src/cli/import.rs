//! `switchboard import`: takes over the servers of other programs.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::chat::clean;
use crate::cli::Global;
use crate::cli::text::{brief, count, table};
use crate::exit::{Exit, Failure};
use crate::home;
use crate::import::{Item, Plan, State, named, usual};
use crate::out::{Out, Style};
use crate::servers::{Keeping, keep};
use crate::store::{Change, Server, Store, StoredValue, UserId};

/// The biggest file that is read.
const MOST: u64 = 16 << 20;

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
        let store = home::store(global.database.as_deref()).await?;
        let stored = store.servers(&user).await?;
        let plan = self.plan(&stored);
        out.say(shown(&plan, out));
        let wanted = |item: &&Item| match item.state {
            State::New | State::NeedsInput => true,
            State::Conflict => self.overwrite,
            State::Same => false,
        };
        let number = plan.items.iter().filter(wanted).count();
        let agreed = number > 0 && (self.yes || ask(out, number).await);
        let mut imported = Vec::new();
        if agreed {
            let wanted = plan.items.iter().filter(wanted);
            imported = take_over(&*store, wanted, &stored, out).await?;
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
        let mut plan = Plan::default();
        for place in &places {
            match read(&place.path) {
                Ok(text) => plan.add(place, &text, stored),
                Err(error) => {
                    let path = place.path.to_string_lossy().into_owned();
                    plan.problems
                        .push((path, format!("it cannot be read: {error}")));
                }
            }
        }
        plan
    }
}

fn read(path: &PathBuf) -> std::io::Result<String> {
    let mut text = String::new();
    let file = std::fs::File::open(path)?;
    std::io::Read::read_to_string(&mut std::io::Read::take(file, MOST), &mut text)?;
    Ok(text)
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

async fn ask(out: &Out, number: usize) -> bool {
    if !out.is_interactive() {
        return false;
    }
    out.piece(format!("Take over {}? [y/N] ", count(number, "server")));
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    let answer = answer.await;
    matches!(answer, Ok(Ok(line)) if matches!(line.trim(), "y" | "Y" | "yes"))
}

/// Stores servers, all or none, with their values in the keyring where there is one.
async fn take_over(
    store: &dyn Store,
    items: impl Iterator<Item = &Item>,
    stored: &[Server],
    out: &Out,
) -> Result<Vec<String>, Failure> {
    let mut rows: Vec<Server> = Vec::new();
    let mut sort = stored
        .iter()
        .map(|row| row.sort + 1)
        .max()
        .unwrap_or_default();
    for item in items {
        let mut row = item.row.clone();
        let same_name = |other: &&Server| other.name == row.name;
        if let Some(other) = rows
            .iter()
            .find(same_name)
            .or(stored.iter().find(same_name))
        {
            (row.id, row.sort, row.created_at) = (other.id.clone(), other.sort, other.created_at);
        } else {
            row.sort = sort;
            sort += 1;
        }
        let mut open = false;
        let (id, env, headers) = (row.id.clone(), &mut row.env, &mut row.headers);
        let kinds = [("env", env), ("header", headers)];
        for (what, values) in kinds {
            for (name, value) in values.iter_mut() {
                let place = format!("{what}/{name}");
                *value = keep(&id, &place, value.clone(), Keeping::KeyringOrPlain).await?;
                open |= matches!(value, StoredValue::Plain(text) if !text.contains("${"));
            }
        }
        if open {
            out.remark(format!(
                "{}: there is no keyring, so its values are kept as they are, readable by you only; \
                 `switchboard servers edit {} -e NAME=env:NAME` is safer.",
                row.name, row.name
            ));
        }
        row.plain_values = row
            .env
            .values()
            .chain(row.headers.values())
            .any(StoredValue::is_plain);
        rows.retain(|other| other.name != row.name);
        rows.push(row);
    }
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let changes = rows.into_iter().map(|row| Change::PutServer(Box::new(row)));
    store.commit(changes.collect()).await?;
    Ok(names)
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
