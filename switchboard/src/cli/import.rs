//! `switchboard import`: imports the servers of other programs.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::chat::{Input, Line, clean};
use crate::cli::Global;
use crate::cli::text::{count, table};
use crate::display::out::{Out, Style};
use crate::exit::{Exit, Failure};
use crate::servers::import::{Item, Plan, Question, Refused, State, named, take_over, usual};
use crate::servers::{PlainSecrets, answer, forget_unused, keep_answer, stored_value};
use crate::store::{Change, Server, UserId};

/// Finds the servers of Claude Desktop, Claude Code, Cursor, VS Code, Cline, Roo Code, Codex, Gemini CLI,
/// Copilot CLI, Amazon Q, opencode, Windsurf, Zed, LM Studio, goose, Continue and LibreChat, shows them,
/// and imports them after confirmation: all, or one by one. A file that is named may also be a
/// `server.json` of the MCP registry or the `manifest.json` of an MCP bundle. No file is written.
#[derive(Args, Debug)]
pub(crate) struct Import {
    /// Read these files instead of the default locations
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Import without asking
    #[arg(long, short)]
    yes: bool,
    /// Import this server only; can be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Replace servers of the same name
    #[arg(long)]
    overwrite: bool,
    /// Store secrets as plain text instead of in the keyring
    #[arg(long)]
    plain: bool,
}

impl Import {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let user = UserId::local();
        let store = global.store().await?;
        let stored = store.servers(&user).await?;
        let plan = self.plan(&stored);
        out.say(shown(&plan, out));
        if let Some(name) = self.unknown(&plan) {
            store.close().await?;
            let failure = Failure::new(
                Exit::Other,
                format!("there is no server {name:?} to import"),
            );
            return Err(failure.with_hint("The list above has their names."));
        }
        let wanted = |item: &&Item| match item.state {
            _ if !self.only.is_empty() && !self.only.contains(&item.row.name) => false,
            State::New | State::NeedsInput => true,
            State::Conflict => self.overwrite,
            State::Same => false,
        };
        let items: Vec<&Item> = plan.items.iter().filter(wanted).collect();
        let number = items.len();
        let items = match self.yes || items.is_empty() {
            true => items,
            false => ask(out, items).await?,
        };
        let agreed = !items.is_empty();
        let mut imported: Vec<String> = Vec::new();
        let mut refused = Vec::new();
        if agreed {
            let plain = PlainSecrets::allowed_if(self.plain);
            let mut taken = take_over(items.into_iter(), &stored, plain).await;
            if out.is_interactive() {
                for row in &mut taken.rows {
                    let mut items = plan.items.iter();
                    let item =
                        items.find(|it| (&it.row.name, &it.row.source) == (&row.name, &row.source));
                    ask_all(out, row, item.map_or(&[], |item| &item.asks), plain).await?;
                }
            }
            refused = taken.refused;
            imported = taken.rows.iter().map(|row| row.name.clone()).collect();
            let put = |row: &Server| Change::PutServer(Box::new(row.clone()));
            store.commit(taken.rows.iter().map(put).collect()).await?;
            for row in &taken.rows {
                if let Some(before) = stored.iter().find(|other| other.id == row.id) {
                    forget_unused(before, Some(row)).await?;
                }
            }
        }
        store.close().await?;
        for Refused { name, from, why } in &refused {
            let text = format!("{name} of {from} was not imported");
            let reported = Failure::new(Exit::Other, text).caused_by(why.chain());
            out.failure(&reported.with_hint(why.hint().unwrap_or(REFUSED)));
        }
        let text = match (number, imported.len()) {
            (0, _) => "Nothing to import.".to_owned(),
            (number, 0) if agreed => format!("Imported none of {}.", count(number, "server")),
            (number, 0) => format!(
                "Nothing changed; --yes imports {}.",
                count(number, "server")
            ),
            (_, done) => format!("Imported {}.", count(done, "server")),
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
        match refused.is_empty() && !self.is_vain(&plan) {
            true => Ok(Exit::Done),
            false => Ok(Exit::Other),
        }
    }

    /// A name that was asked for and that no file has.
    fn unknown(&self, plan: &Plan) -> Option<&String> {
        let known = |name: &&String| plan.items.iter().any(|item| item.row.name == **name);
        self.only.iter().find(|name| !known(name))
    }

    /// Whether a file that was named gave no server.
    fn is_vain(&self, plan: &Plan) -> bool {
        let mut places = named(&self.files).into_iter();
        places.any(|place| {
            let source = place.path.to_string_lossy();
            let mut items = plan.items.iter();
            !items.any(|item| item.row.source.as_deref() == Some(&*source))
        })
    }

    fn plan(&self, stored: &[Server]) -> Plan {
        let places = match self.files.is_empty() {
            true => usual(&std::env::current_dir().unwrap_or_default()),
            false => named(&self.files),
        };
        Plan::read(&UserId::local(), &places, stored)
    }
}

/// What to do where there is no keyring.
const REFUSED: &str = "Put a variable in its place in the file, as in ${NAME}, or allow plain \
                       text in the store with --plain.";

fn shown(plan: &Plan, out: &Out) -> String {
    let mut rows = vec![
        ["NAME", "STATE", "SOURCE", "COMMAND OR URL"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for item in &plan.items {
        rows.push(vec![
            item.row.name.clone(),
            item.state.as_str().to_owned(),
            item.from.clone(),
            item.endpoint.clone(),
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

/// Asks which of these to import: all, none, or each on its own.
async fn ask<'a>(out: &Out, items: Vec<&'a Item>) -> Result<Vec<&'a Item>, Failure> {
    if !out.is_interactive() {
        return Ok(Vec::new());
    }
    let number = count(items.len(), "server");
    let choice = match items.as_slice() {
        [_] => "[y/N]",
        _ => "[y: all, o: one by one, N]",
    };
    let said = answered(out, &format!("Import {number}? {choice} ")).await?;
    match said.as_str() {
        "y" | "Y" | "yes" => return Ok(items),
        "o" | "O" => {}
        _ => return Ok(Vec::new()),
    }
    let mut chosen = Vec::new();
    for item in items {
        let what = clean(&format!("{}: {}", item.row.name, item.endpoint)).replace('\n', " ");
        let said = answered(out, &format!("Import {what}? [y/N] ")).await?;
        if matches!(said.as_str(), "y" | "Y" | "yes") {
            chosen.push(item);
        }
    }
    Ok(chosen)
}

async fn answered(out: &Out, prompt: &str) -> Result<String, Failure> {
    match Input::answers(*out).answer(prompt, "").await {
        Line::Text(line) => Ok(line.trim().to_owned()),
        Line::Interrupted => Err(Failure::new(Exit::Cancelled, "cancelled")),
        Line::End => Ok(String::new()),
    }
}

/// Asks for the inputs of a server's file. An input left open is reported when the server is used.
async fn ask_all(
    out: &Out,
    row: &mut Server,
    questions: &[Question],
    plain: PlainSecrets,
) -> Result<(), Failure> {
    for question in questions {
        out.piece(prompt(&row.name, question));
        let secret = question.secret;
        let read = tokio::task::spawn_blocking(move || match secret {
            true => rpassword::read_password(),
            false => {
                let mut line = String::new();
                std::io::stdin().read_line(&mut line).map(|_| line)
            }
        });
        let said = match read.await {
            Ok(Ok(said)) => chosen(question, said.trim()),
            // Where nothing can be typed in, it stays open.
            _ => continue,
        };
        if said.is_empty() {
            continue;
        }
        let (id, said) = (&question.id, stored_value(&said));
        let kept = match keep_answer(row, id, said, question.secret, plain).await {
            Ok(kept) => kept,
            // It stays open, and the rest is taken over.
            Err(error) => {
                out.failure(&error.into());
                continue;
            }
        };
        answer(row, &question.id, kept);
    }
    Ok(())
}

/// A question for the terminal, with the answers there are to choose from.
fn prompt(server: &str, question: &Question) -> String {
    let line = |text: &str| clean(text).replace('\n', " ");
    let mut text = format!("{server} asks: {}", line(&question.text));
    for (at, option) in question.options.iter().enumerate() {
        text.push_str(&format!("\n  {}. {}", at + 1, line(option)));
    }
    if !question.options.is_empty() {
        text.push_str("\nYour choice");
    }
    match &question.default {
        Some(default) => text.push_str(&format!(" (Enter: {}): ", line(default))),
        None => text.push_str(" (Enter: later): "),
    }
    text
}

/// What an answer stands for: the number of a choice is that choice, and nothing is the default.
fn chosen(question: &Question, said: &str) -> String {
    if said.is_empty() {
        return question.default.clone().unwrap_or_default();
    }
    let number = said.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
    let option = number.and_then(|at| question.options.get(at));
    option.map_or_else(|| said.to_owned(), Clone::clone)
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
