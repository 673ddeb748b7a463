//! Asks for what an installation needs.

use mcp_config::{Input as Wanted, InputKind};

use crate::chat::{Input, Line};
use crate::display::out::{Out, Style};
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::lang::t;
use crate::servers::install::{Answers, check, default_values};
use crate::store::StoredValue;

/// How often a wrong answer is asked about again.
const TRIES: u32 = 10;

/// The answers that `--input ID=VALUE` gives.
pub(super) fn given(inputs: &[Wanted], said: &[String]) -> Result<Answers, Failure> {
    let here = std::env::current_dir().ok();
    let mut answers = Answers::new();
    for pair in said {
        let Some((id, text)) = pair.split_once('=') else {
            return Err(Failure::new(
                Exit::Other,
                format!("{pair:?} is not ID=VALUE"),
            ));
        };
        let wrong = |why: String| Failure::new(Exit::Other, format!("--input {id}: {why}"));
        let value = match inputs.iter().find(|input| input.id == id) {
            Some(input) => check(input, text, here.as_deref()).map_err(wrong)?,
            // The plan says what there is to answer.
            None => StoredValue::Plain(text.to_owned()),
        };
        let values = answers.entry(id.to_owned()).or_default();
        let is_one = inputs.iter().any(|input| input.id == id && !input.multiple);
        if is_one && !values.is_empty() {
            return Err(wrong("it takes one value".to_owned()));
        }
        values.push(value);
    }
    Ok(answers)
}

/// Asks for what has no answer yet, where there is a terminal.
pub(super) async fn ask(
    out: &Out,
    inputs: &[Wanted],
    answers: &mut Answers,
) -> Result<(), Failure> {
    if !out.is_interactive() {
        return Ok(());
    }
    for input in inputs {
        if answers.contains_key(&input.id) {
            continue;
        }
        let values = values(out, input).await?;
        if !values.is_empty() {
            answers.insert(input.id.clone(), values);
        }
    }
    Ok(())
}

/// The values of one input: nothing leaves it to its defaults.
async fn values(out: &Out, input: &Wanted) -> Result<Vec<StoredValue>, Failure> {
    let here = std::env::current_dir().ok();
    let defaults = default_values(input);
    say(out, input, &defaults);
    let mut values = Vec::new();
    for _ in 0..TRIES {
        let text = line(out, input).await?;
        let text = text.trim();
        match (
            text.is_empty(),
            values.is_empty() && defaults.is_empty() && input.required,
        ) {
            (true, true) => {
                out.say(out.paint(Style::Bad, &t!("    ! it is needed")));
                continue;
            }
            (true, false) => return Ok(values),
            (false, _) => {}
        }
        match check(input, &chosen(input, text), here.as_deref()) {
            Ok(value) if input.multiple => values.push(value),
            Ok(value) => return Ok(vec![value]),
            Err(why) => out.say(out.paint(Style::Bad, &format!("    ! {}", untrusted::line(&why)))),
        }
    }
    match values.is_empty() {
        true => Err(Failure::new(Exit::Cancelled, "cancelled")),
        false => Ok(values),
    }
}

/// What is asked for, in lines.
fn say(out: &Out, input: &Wanted, defaults: &[StoredValue]) {
    let text = input.description.as_deref().unwrap_or(&input.id);
    let mark = if input.required { "*" } else { "" };
    out.say(untrusted::line(&format!("  {}{mark}: {text}", input.id)));
    for (at, option) in input.options.iter().flatten().enumerate() {
        out.say(untrusted::line(&format!("    {}. {option}", at + 1)));
    }
    let defaults: Vec<String> = defaults.iter().map(ToString::to_string).collect();
    if !defaults.is_empty() && !input.password {
        let value = untrusted::line(&defaults.join(", ")).into_owned();
        out.say(t!("    Enter: {value}", value = value));
    }
    if input.multiple {
        out.say(t!("    One value a line; an empty line ends them."));
    }
}

/// What an answer stands for: the number of a choice is that choice.
fn chosen(input: &Wanted, text: &str) -> String {
    let options = input.options.as_deref().unwrap_or_default();
    if options.iter().any(|option| option == text) {
        return text.to_owned();
    }
    let number = text.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
    let option = number.and_then(|at| options.get(at));
    option.map_or_else(|| text.to_owned(), Clone::clone)
}

async fn line(out: &Out, input: &Wanted) -> Result<String, Failure> {
    let hint = match input.kind {
        InputKind::Number => t!("a number"),
        InputKind::Boolean => t!("yes or no"),
        InputKind::File => t!("a file"),
        InputKind::Folder => t!("a folder"),
        _ => "".into(),
    };
    let prompt = match &*hint {
        "" => "    > ".to_owned(),
        hint => format!("    ({hint}) > "),
    };
    if input.password {
        out.piece(prompt);
        let read = tokio::task::spawn_blocking(rpassword::read_password).await;
        return Ok(read.ok().and_then(Result::ok).unwrap_or_default());
    }
    match Input::answers(*out).answer(&prompt, "").await {
        Line::Text(text) => Ok(text),
        Line::End => Ok(String::new()),
        Line::Interrupted => Err(Failure::new(Exit::Cancelled, "cancelled")),
    }
}

/// Asks for a yes. Without anybody to ask it is a no.
pub(super) async fn agreed(out: &Out, prompt: &str) -> Result<bool, Failure> {
    if !out.is_interactive() {
        return Ok(false);
    }
    match Input::answers(*out).answer(prompt, "").await {
        Line::Text(text) => Ok(matches!(text.trim(), "y" | "Y" | "yes" | "是")),
        Line::End => Ok(false),
        Line::Interrupted => Err(Failure::new(Exit::Cancelled, "cancelled")),
    }
}
