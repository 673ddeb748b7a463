//! The demo model's behaviour with deferred tools: it searches with the user's words and calls the
//! best hit.

use mcp_jsonrpc::RawObject;
use provider_adapters::ToolSpec;
use provider_adapters::server::{Asked, Said, ScriptedReply, ToolAnswer};
use serde::Deserialize;
use serde_json::json;

use super::fill;
use super::habit::{score, words};
use super::script::{call_id, labelled, short_name};

/// Finds tools.
const SEARCH: &str = "tool_search";
/// Calls a tool that was found.
const CALL: &str = "tool_call";
/// Reads on in a result that was cut.
const READ: &str = "read_output";
/// How many hits are named.
const NAMED: usize = 5;
/// Words that are in every question and in every description.
const COMMON: [&str; 40] = [
    "about", "all", "and", "any", "are", "can", "could", "did", "does", "for", "from", "has",
    "have", "hello", "how", "into", "its", "let", "me", "my", "now", "please", "show", "some",
    "tell", "thank", "thanks", "that", "the", "then", "there", "this", "use", "was", "what",
    "when", "which", "with", "you", "your",
];

/// One line of a search result.
#[derive(Deserialize)]
struct Hit {
    name: String,
    #[serde(default)]
    description: String,
    arguments: RawObject,
}

/// The search for a tool, if that is how tools are offered.
pub(super) fn search(asked: &Asked, question: &str) -> Option<ScriptedReply> {
    offered(asked, CALL)?;
    let tool = offered(asked, SEARCH)?;
    let words = telling(question);
    let query = match words.is_empty() {
        true => question.trim().to_owned(),
        false => words.join(" "),
    };
    let arguments = json!({ "query": query }).to_string();
    Some(ScriptedReply::new().with_call(call_id(asked, 0), tool.name.as_str(), arguments))
}

/// What follows a search: a call of the best hit, or what was found where none fits.
pub(super) fn follow(asked: &Asked, question: &str, last: &ToolAnswer) -> Option<ScriptedReply> {
    if !is_search(last) {
        return None;
    }
    let hits: Vec<Hit> = last
        .text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    if let (Some(call), Some(hit)) = (offered(asked, CALL), best(&hits, question)) {
        let tool = ToolSpec::new(hit.name.as_str(), hit.arguments.clone());
        let arguments = format!(
            "{{\"name\":{},\"arguments\":{}}}",
            json!(hit.name),
            fill::arguments(&tool, question)
        );
        let id = call_id(asked, 0);
        return Some(ScriptedReply::new().with_call(id, call.name.as_str(), arguments));
    }
    let found: Vec<&str> = hits
        .iter()
        .take(NAMED)
        .map(|hit| short_name(&hit.name))
        .collect();
    let text = match found.is_empty() {
        true => "I searched the tools with your words and found none.".to_owned(),
        false => format!(
            "I searched the tools with your words and found none that fits. The nearest are: {}.",
            found.join(", ")
        ),
    };
    let text = format!(
        "{text}\nI do not think: say what a tool does, or its name, and I call it and quote its \
         answer."
    );
    Some(ScriptedReply::new().with_text(labelled(&text)))
}

/// Whether it is what a search found.
pub(super) fn is_search(answer: &ToolAnswer) -> bool {
    answer.name == SEARCH && !answer.is_error
}

/// Whether it is one of the host's own tools, which no user means.
pub(super) fn is_built_in(tool: &ToolSpec) -> bool {
    [SEARCH, CALL, READ].contains(&tool.name.as_str())
}

/// The name of the tool that answered: of a stand-in's answer, the tool that it called.
pub(super) fn called(asked: &Asked, answer: &ToolAnswer) -> String {
    #[derive(Deserialize)]
    struct Inner {
        name: String,
    }
    // It makes one call at a time: the last one is the one that was answered last.
    let last = asked.said.iter().rev().find_map(|said| match said {
        Said::Call {
            name, arguments, ..
        } if name == CALL && answer.name == CALL => serde_json::from_str::<Inner>(arguments).ok(),
        _ => None,
    });
    last.map_or_else(|| answer.name.clone(), |inner| inner.name)
}

fn offered<'a>(asked: &'a Asked, name: &str) -> Option<&'a ToolSpec> {
    let mut tools = asked.tools.iter().filter(|_| asked.may_call);
    tools.find(|tool| tool.name == name)
}

/// The hit that the question means most: by its name, then by its description; the earlier of equals.
fn best<'a>(hits: &'a [Hit], question: &str) -> Option<&'a Hit> {
    let lower = question.to_lowercase();
    let (all, telling_words) = (words(&lower), telling(question));
    let mut best: Option<(usize, &Hit)> = None;
    for hit in hits {
        let about = telling(&hit.description);
        let shared = telling_words.iter().filter(|word| about.contains(word));
        let score = score(short_name(&hit.name), &lower, &all) + shared.count();
        if score > best.map_or(0, |(most, _)| most) {
            best = Some((score, hit));
        }
    }
    best.map(|(_, hit)| hit)
}

/// The significant words of a text, in lower case.
fn telling(text: &str) -> Vec<String> {
    let words = text.split(|sign: char| !sign.is_alphanumeric());
    words
        .filter(|word| word.len() > 2)
        .map(str::to_lowercase)
        .filter(|word| !COMMON.contains(&word.as_str()))
        .collect()
}
