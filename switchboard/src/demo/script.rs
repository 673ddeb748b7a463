//! The demo model's script: rules of a file, then its default behaviour.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use mcp_jsonrpc::RawJson;
use provider_adapters::server::{Asked, Said, ScriptedReply};
use provider_adapters::{StopReason, ToolSpec, Wire};
use serde::Deserialize;

use super::fill;
use super::habit;

/// What stands in the first line of everything the demo model says.
pub const LABEL: &str = "demo model, not an AI";
/// The name of the demo model, in every reply.
pub const MODEL: &str = "demo-model-not-an-ai";
/// The dialogue of `getTime`, as a script. The tests see to it that it can be read.
static GET_TIME: LazyLock<DemoScript> =
    LazyLock::new(|| DemoScript::from_json(include_str!("get_time.json")).unwrap_or_default());

/// A script for the demo model, such as the file of `switchboard demo-model --script`.
///
/// ```json
/// {"rules": [
///   {"when": ["weather"], "say": "I will look.", "call": [{"tool": "forecast", "arguments": {"city": "Oslo"}}]},
///   {"when": ["weather"], "after": "forecast", "say": "The server says: {result}"},
///   {"when": ["overload"], "fail": {"status": 529, "message": "Overloaded"}}
/// ]}
/// ```
///
/// The first rule that fits is played; where none fits, the model follows its own habits: it calls
/// the tool the user seems to mean, with arguments made up from its schema, and quotes what comes
/// back. Where tools are searched for instead of listed, it searches with the user's words first.
///
/// | member | meaning |
/// |---|---|
/// | `when` | fits if the user's last words contain one of these, in any case; none: always |
/// | `after` | fits only if this tool has answered last since the user spoke; `"*"`: any tool. Without it: only if none has |
/// | `result` | … and only if the answer contains this |
/// | `think`, `say` | what it thinks and says. `{result}` is the last answer, `{question}` the user's words. An object tells wires apart: `{"anthropic": …, "prompt": …, "*": …}` |
/// | `call` | tools to call: `tool`, `arguments` (made up if missing), `id` (by wire, too). A rule whose tools are not offered does not fit, unless it has `"anyway": true` |
/// | `stop` | why it stops: `max_tokens`, `refusal`, … |
/// | `fail` | answers with an HTTP `status` and a `message` instead |
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DemoScript {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    #[serde(default)]
    when: Vec<String>,
    after: Option<String>,
    result: Option<String>,
    think: Option<ByWire>,
    say: Option<ByWire>,
    #[serde(default)]
    call: Vec<RuleCall>,
    #[serde(default)]
    anyway: bool,
    stop: Option<StopReason>,
    fail: Option<Fail>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleCall {
    tool: String,
    arguments: Option<RawJson>,
    id: Option<ByWire>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fail {
    status: u16,
    message: String,
}

/// A text, or one for each wire.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum ByWire {
    Any(String),
    Each(BTreeMap<String, String>),
}

/// What the demo model does with a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Played {
    /// It replies.
    Reply(ScriptedReply),
    /// It fails as a provider fails.
    Failure {
        /// The HTTP status.
        status: u16,
        /// What went wrong.
        message: String,
    },
}

impl DemoScript {
    /// Reads a script.
    pub fn from_json(text: &str) -> Result<Self, ScriptError> {
        serde_json::from_str(text).map_err(|error| ScriptError(Box::new(error)))
    }

    /// What the model answers. The same request always gets the same answer.
    pub fn play(&self, asked: &Asked) -> Played {
        let mut rules = self.rules.iter().chain(&GET_TIME.rules);
        let reply = match rules.find(|rule| rule.fits(asked)) {
            Some(Rule {
                fail: Some(fail), ..
            }) => {
                return Played::Failure {
                    status: fail.status,
                    message: fail.message.clone(),
                };
            }
            Some(rule) => rule.reply(asked),
            None => habit::reply(asked),
        };
        let made = asked
            .said
            .iter()
            .filter(|said| matches!(said, Said::Call { .. }))
            .count();
        Played::Reply(reply.with_model(MODEL).with_id(format!("demo{made}")))
    }
}

impl Rule {
    fn fits(&self, asked: &Asked) -> bool {
        let question = asked.question().unwrap_or_default().to_lowercase();
        let meant = self.when.is_empty()
            || self
                .when
                .iter()
                .any(|word| question.contains(&word.to_lowercase()));
        let answers = asked.answers();
        let in_turn = match (&self.after, answers.last()) {
            (None, last) => last.is_none(),
            (Some(_), None) => false,
            (Some(tool), Some(last)) => {
                let offered = find_tool(asked, tool).is_some_and(|it| it.name == last.name);
                let is_it = tool == "*" || offered || same_tool(&last.name, tool);
                is_it
                    && self
                        .result
                        .as_ref()
                        .is_none_or(|part| last.text.contains(part))
            }
        };
        let offered = |call: &RuleCall| find_tool(asked, &call.tool).is_some();
        meant && in_turn && (self.anyway || self.call.iter().all(offered))
    }

    fn reply(&self, asked: &Asked) -> ScriptedReply {
        let mut reply = ScriptedReply::new();
        let said = |text: &ByWire| text.get(asked).map(|text| placed(text, asked));
        if let Some(text) = self.think.as_ref().and_then(said) {
            reply = reply.with_reasoning(text);
        }
        if let Some(text) = self.say.as_ref().and_then(said) {
            reply = reply.with_text(labelled(&text));
        }
        for (number, call) in self.call.iter().enumerate() {
            let tool = find_tool(asked, &call.tool);
            let name = tool.map_or(call.tool.as_str(), |tool| tool.name.as_str());
            let arguments = match (&call.arguments, tool) {
                (Some(arguments), _) => arguments.get().to_owned(),
                (None, Some(tool)) => fill::arguments(tool, asked.question().unwrap_or_default()),
                (None, None) => "{}".to_owned(),
            };
            let id = call.id.as_ref().and_then(|id| id.get(asked));
            let id = id.map_or_else(|| call_id(asked, number), str::to_owned);
            reply = reply.with_call(id, name, arguments);
        }
        match self.stop {
            Some(reason) => reply.with_stop(reason),
            None => reply,
        }
    }
}

impl ByWire {
    fn get(&self, asked: &Asked) -> Option<&str> {
        let wire = match (asked.prompt_mode, asked.wire) {
            (true, _) => Wire::Prompt,
            (false, Wire::Vertex) => Wire::Gemini,
            (false, wire) => wire,
        };
        match self {
            Self::Any(text) => Some(text),
            Self::Each(texts) => texts
                .get(wire.as_str())
                .or(texts.get("*"))
                .map(String::as_str),
        }
    }
}

fn placed(text: &str, asked: &Asked) -> String {
    let answers = asked.answers();
    let result = answers.last().map_or("", |answer| answer.text.as_str());
    text.replace("{result}", result)
        .replace("{question}", asked.question().unwrap_or_default())
}

/// `text` with a first line that says whose it is.
pub(crate) fn labelled(text: &str) -> String {
    format!("[{LABEL}]\n{text}")
}

/// A call's id, as the provider of the wire would make one; Gemini makes none.
pub(crate) fn call_id(asked: &Asked, number: usize) -> String {
    let made = asked
        .said
        .iter()
        .filter(|said| matches!(said, Said::Call { .. }))
        .count();
    let start = match asked.wire {
        Wire::Anthropic => "toolu",
        Wire::Gemini | Wire::Vertex => return String::new(),
        _ => "call",
    };
    format!("{start}_demo{}", made + number)
}

/// The tool of this name among those offered, whatever a host put before it and, where the name
/// is not to every provider's taste, behind it.
fn find_tool<'a>(asked: &'a Asked, name: &str) -> Option<&'a ToolSpec> {
    let tools = || asked.tools.iter().filter(|_| asked.may_call);
    let begins = |tool: &&ToolSpec| letters(short_name(&tool.name)).starts_with(&letters(name));
    tools()
        .find(|tool| tool.name == name)
        .or_else(|| tools().find(|tool| same_tool(&tool.name, name)))
        .or_else(|| tools().find(begins))
}

/// Whether both mean the same tool: the same letters and digits, after any prefix.
fn same_tool(exposed: &str, name: &str) -> bool {
    letters(short_name(exposed)) == letters(name)
}

fn letters(text: &str) -> String {
    let kept = text.chars().filter(|sign| sign.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

/// A tool's name without what a host put before it: `mcp__server__tool` is `tool`.
pub(crate) fn short_name(exposed: &str) -> &str {
    exposed
        .rsplit("__")
        .find(|part| !part.is_empty())
        .unwrap_or(exposed)
}

/// A script that cannot be read.
#[derive(Debug)]
pub struct ScriptError(Box<dyn std::error::Error + Send + Sync>);

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this is not a script for the demo model")
    }
}

impl std::error::Error for ScriptError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.0.as_ref())
    }
}
