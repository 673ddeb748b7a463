//! The demo model's default behaviour: it calls the tool the user seems to mean and quotes the
//! result.

use provider_adapters::ToolSpec;
use provider_adapters::server::{Asked, Said, ScriptedReply, ToolAnswer};

use super::deferred;
use super::fill;
use super::script::{call_id, labelled, short_name};

/// How much of an answer is quoted.
const QUOTED: usize = 400;
/// How many tools are named.
const NAMED: usize = 20;

/// Words that mean a tool of the demo server.
const KEYWORDS: [(&str, &[&str]); 13] = [
    (
        "get_time",
        &[
            "time",
            "clock",
            "date",
            "day",
            "today",
            "yesterday",
            "tomorrow",
            "时间",
            "日期",
            "昨天",
            "今天",
        ],
    ),
    ("add", &["plus", "sum", "+"]),
    ("echo", &["repeat", "again"]),
    ("write_note", &["note", "write", "remember"]),
    ("slow", &["wait", "progress"]),
    ("fail", &["failure", "error"]),
    ("picture", &["image", "draw"]),
    ("sound", &["tone", "audio", "hear"]),
    ("big", &["huge", "long"]),
    ("ask_name", &["name", "me"]),
    ("grow", &["new"]),
    ("crash", &["die"]),
    ("odd", &["strange"]),
];

/// What it says or calls.
pub(crate) fn reply(asked: &Asked) -> ScriptedReply {
    let question = asked.question().unwrap_or_default();
    let answers = asked.answers();
    if let Some(last) = answers.last() {
        if let Some(reply) = deferred::follow(asked, question, last) {
            return reply;
        }
        let answers = answers.iter().filter(|it| !deferred::is_search(it));
        let lines: Vec<String> = answers.map(|answer| quote(asked, answer)).collect();
        return ScriptedReply::new().with_text(labelled(&lines.join("\n")));
    }
    if let Some(tool) = meant(asked, question) {
        let arguments = fill::arguments(tool, question);
        return ScriptedReply::new().with_call(call_id(asked, 0), tool.name.as_str(), arguments);
    }
    let search = deferred::search(asked, question);
    search.unwrap_or_else(|| {
        let text = match shown(asked) {
            0 => offer(asked),
            count => format!("Files that I was shown: {count}. {}", offer(asked)),
        };
        ScriptedReply::new().with_text(labelled(&text))
    })
}

/// How many pictures, sounds and documents came with the user's last message.
fn shown(asked: &Asked) -> usize {
    let said = asked.said.iter().rev();
    let latest = said.take_while(|said| matches!(said, Said::User(_) | Said::Media));
    latest.filter(|said| **said == Said::Media).count()
}

/// What came back, in a line.
fn quote(asked: &Asked, answer: &ToolAnswer) -> String {
    let called = deferred::called(asked, answer);
    let name = short_name(&called);
    let text = answer.text.trim();
    let lower = text.to_lowercase();
    let denied = ["denied", "declined", "forbids", "was not made"];
    if answer.is_error && denied.iter().any(|word| lower.contains(word)) {
        return format!("{name} was not allowed, so I left it.");
    }
    let mut shown: String = text.chars().take(QUOTED).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    match (answer.is_error, shown.is_empty()) {
        (true, _) => format!("{name} failed: {shown}"),
        (false, true) => format!("{name} answered nothing."),
        (false, false) => format!("{name} answered: {shown}"),
    }
}

/// The tool that the question means: the one with most of its name, and words for it, in there.
fn meant<'a>(asked: &'a Asked, question: &str) -> Option<&'a ToolSpec> {
    let lower = question.to_lowercase();
    let words = words(&lower);
    let mut best: Option<(usize, &ToolSpec)> = None;
    let tools = asked.tools.iter().filter(|_| asked.may_call);
    for tool in tools.filter(|tool| !deferred::is_built_in(tool)) {
        let score = score(short_name(&tool.name), &lower, &words);
        if score > best.map_or(0, |(most, _)| most) {
            best = Some((score, tool));
        }
    }
    best.map(|(_, tool)| tool)
}

/// The words of a text; a tool's name is one.
pub(super) fn words(text: &str) -> Vec<&str> {
    text.split(|sign: char| !sign.is_alphanumeric() && sign != '_')
        .collect()
}

/// How much of a tool's name, and of the words for it, is in a text.
pub(super) fn score(name: &str, lower: &str, words: &[&str]) -> usize {
    let has = |word: &str| {
        // What is not letters of an alphabet has no spaces around it.
        words.contains(&word)
            || !word.is_ascii() && lower.contains(word)
            || word == "+" && lower.contains('+')
    };
    let lower_name = name.to_lowercase();
    // A name that not every provider takes may have got a tail.
    let begins = |word: &&str| word.contains('_') && lower_name.starts_with(*word);
    let parts: Vec<String> = parts(name);
    let whole = usize::from(has(&lower_name) || words.iter().any(begins)) * 100;
    let named = parts
        .iter()
        .filter(|part| part.len() > 2 && has(part))
        .count();
    let known = KEYWORDS
        .iter()
        .filter(|(tool, _)| *tool == lower_name)
        .flat_map(|(_, words)| *words)
        .filter(|word| has(word))
        .count();
    whole + (named + known) * 10
}

/// The words a name is made of: `getUser_name` is get, user, name.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for sign in name.chars() {
        if !sign.is_alphanumeric() || sign.is_uppercase() {
            parts.push(String::new());
        }
        if let (true, Some(part)) = (sign.is_alphanumeric(), parts.last_mut()) {
            part.extend(sign.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// A list of what it can do, for other requests.
fn offer(asked: &Asked) -> String {
    let mut text = String::from(
        "I do not think: I look for the name of a tool in what you write, call it, and quote its answer.",
    );
    let tools = asked.tools.iter();
    let names: Vec<&str> = tools
        .filter(|tool| !deferred::is_built_in(tool))
        .map(|tool| short_name(&tool.name))
        .collect();
    if !asked.may_call || names.is_empty() {
        text.push_str("\nThere are no tools here that I could call.");
        return text;
    }
    let shown: Vec<&str> = names.iter().copied().take(NAMED).collect();
    text.push_str(&format!("\nI can call: {}", shown.join(", ")));
    match names.len().saturating_sub(shown.len()) {
        0 => text.push('.'),
        more => text.push_str(&format!(" and {more} more.")),
    }
    let tries = [
        ("get_time", "What time was it yesterday?"),
        ("add", "Add 2 and 40."),
        ("write_note", "Write a note: buy milk"),
    ];
    let tries: Vec<&str> = tries
        .iter()
        .filter(|(tool, _)| names.contains(tool))
        .map(|(_, say)| *say)
        .collect();
    if !tries.is_empty() {
        text.push_str(&format!("\nTry: {}", tries.join(" | ")));
    }
    text
}
