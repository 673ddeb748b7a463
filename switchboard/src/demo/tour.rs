//! The tour: list, call, approval, result, answer, next steps.

use std::time::Instant;

use agent_loop::{Agent, Answer, Policy, Reason, Run, RunEvent, Status, ToolCallRecord};
use provider_adapters::Wire;
use serde_json::{Value, json};

use super::script::LABEL;
use super::stage::{DemoStage, SERVER};
use crate::chat::{Input, Line};
use crate::display::out::{Out, Style};
use crate::display::signature::signature;
use crate::exit::{Exit, Failure};
use crate::setup::DEFAULT_MODE;

/// How much of a tool's signature is shown.
const WIDTH: usize = 56;
/// How much of an answer is shown.
const SHOWN: usize = 300;

/// The tour's messages: one for a read-only tool, one that needs approval.
const QUESTIONS: [(&str, &str); 2] = [
    (
        "A question. The model calls a tool that only reads, so you are not asked:",
        "What time was it yesterday?",
    ),
    (
        "Another one. This tool changes something, so you are asked first:",
        "Write a note: buy milk",
    ),
];

/// Runs the tour; with `--json` it only prints the results.
pub(crate) async fn tour(
    stage: &DemoStage,
    wire: Wire,
    next: &[String],
    out: &Out,
) -> Result<Exit, Failure> {
    let began = Instant::now();
    let mut reported = Vec::new();
    out.say(format!(
        "{}\nNo key, no network: the model is a {LABEL}, and the server is this same program,\n\
         started as a child. All between them is the real thing: {wire} over HTTP, MCP over stdio.\n",
        out.paint(Style::Bold, "Switchboard, in half a minute."),
    ));
    let tools = list(stage, out);
    let agent = stage.agent(wire)?;
    let mut run = Run::default().with_policy(Policy::new(DEFAULT_MODE));
    for (number, (why, question)) in QUESTIONS.into_iter().enumerate() {
        let heading = format!("{}. {why}", number + 2);
        out.say(format!(
            "\n{}\n   you> {question}",
            out.paint(Style::Bold, &heading)
        ));
        run.ask(question);
        reported.push(turn(&agent, &mut run, question, out).await?);
    }
    let seconds = began.elapsed().as_secs_f64();
    out.say(format!(
        "\n{}\n{}",
        out.paint(Style::Bold, "4. What to try next:"),
        indent(&next.join("\n"))
    ));
    out.say(format!(
        "\n{}",
        out.paint(Style::Dim, &format!("Done in {seconds:.1} s."))
    ));
    if out.is_json() {
        let reported = json!({"model": LABEL, "wire": wire.as_str(), "server": SERVER, "tools": tools, "turns": reported, "next": next});
        out.result(&reported, "");
    }
    Ok(Exit::Done)
}

/// Shows the server's tools; their names.
fn list(stage: &DemoStage, out: &Out) -> Vec<String> {
    let catalog = stage.manager().catalog();
    let heading = format!(
        "1. The server \"{SERVER}\" offers {} tools:",
        catalog.tools().len()
    );
    out.say(out.paint(Style::Bold, &heading));
    for tool in catalog.tools() {
        let schema: Value = tool.input_schema().parse().unwrap_or_default();
        let mut shown: String = signature(tool.name(), &schema);
        if let Some((at, _)) = shown.char_indices().nth(WIDTH) {
            shown.truncate(at);
            shown.push('…');
        }
        let manner = if tool.is_read_only() {
            "reads"
        } else {
            "changes"
        };
        out.say(format!("   {shown:<WIDTH$}  {manner}"));
    }
    catalog
        .tools()
        .iter()
        .map(|tool| tool.name().to_owned())
        .collect()
}

/// One question, from the asking to the answer.
async fn turn(agent: &Agent, run: &mut Run, question: &str, out: &Out) -> Result<Value, Failure> {
    let mut calls = Vec::new();
    let mut answer = String::new();
    let mut session = agent.session(run);
    while let Some(event) = session.next().await {
        match event {
            RunEvent::Text { text } => {
                if answer.is_empty() {
                    out.piece("   ");
                }
                out.piece(text.replace('\n', "\n   "));
                answer.push_str(&text);
            }
            RunEvent::Call(record) => call(&record, &mut calls, out),
            RunEvent::Approval(approval) => {
                let record = &approval.record;
                let (allowed, by) = ask(record, out).await?;
                let decision = if allowed { Answer::Once } else { Answer::Deny };
                note(&mut calls, record, "approved_by", by.into());
                let answered = session.answer(&approval.consent(), decision).await;
                answered.map_err(|error| {
                    Failure::new(Exit::Other, "the approval did not count").caused_by(error)
                })?;
            }
            RunEvent::Done {
                reason: Reason::Finished,
            } => {}
            RunEvent::Done { reason } => {
                return Err(Failure::new(
                    Exit::Model,
                    format!("the demo ended early: {reason}"),
                ));
            }
            _ => {}
        }
    }
    out.say("");
    let calls: Vec<Value> = calls.into_iter().map(|(_, reported)| reported).collect();
    Ok(json!({"question": question, "calls": calls, "answer": answer}))
}

/// Shows what became of a call.
fn call(record: &ToolCallRecord, calls: &mut Vec<(u64, Value)>, out: &Out) {
    let arguments = record.arguments.text();
    note(calls, record, "tool", record.tool_name.as_str().into());
    note(
        calls,
        record,
        "arguments",
        serde_json::from_str(arguments).unwrap_or_default(),
    );
    match record.status {
        Status::Invoking => out.say(format!("   → {} {arguments}", record.tool_name)),
        status if status.is_over() => {
            let text = record.response_text().unwrap_or_default();
            let shown: String = text.chars().take(SHOWN).collect();
            let style = if record.is_error == Some(true) {
                Style::Bad
            } else {
                Style::Good
            };
            out.say(format!("   {} {shown}", out.paint(style, "←")));
            note(calls, record, "result", text.into());
            note(calls, record, "is_error", record.is_error.into());
        }
        _ => {}
    }
}

/// Adds a member to the report of a call.
fn note(calls: &mut Vec<(u64, Value)>, record: &ToolCallRecord, key: &str, value: Value) {
    let number = record.number.get();
    if !calls.iter().any(|(known, _)| *known == number) {
        calls.push((number, json!({})));
    }
    for (_, reported) in calls.iter_mut().filter(|(known, _)| *known == number) {
        if let Some(members) = reported.as_object_mut() {
            members.insert(key.to_owned(), value.clone());
        }
    }
}

/// Decides whether the call may run: the user, or the tour if no user can be asked.
async fn ask(record: &ToolCallRecord, out: &Out) -> Result<(bool, &'static str), Failure> {
    let what = format!("   ? {} {}", record.tool_name, record.arguments.text());
    let prompt = "     Allow it, this once? [Y/n] ";
    out.say(what);
    if !out.is_interactive() {
        out.piece(prompt);
        out.say("yes (said by the tour: this is not a terminal)");
        return Ok((true, "tour"));
    }
    let allowed = match Input::answers(*out).answer(prompt, "").await {
        Line::Text(line) => matches!(line.trim().to_lowercase().as_str(), "" | "y" | "yes"),
        Line::Interrupted => return Err(Failure::new(Exit::Cancelled, "cancelled")),
        Line::End => false,
    };
    Ok((allowed, "user"))
}

fn indent(text: &str) -> String {
    format!("   {}", text.replace('\n', "\n   "))
}
