//! What there is to be called, who calls it, and what people said about it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent_loop::testing::ScriptedModel;
use agent_loop::{
    Answer, Approval, CallContext, Decision, Definition, Invocation, Mode, Outcome, ToolInfo,
    Toolbox,
};
use async_trait::async_trait;
use parking_lot::Mutex;
use provider_adapters::{
    Arguments, AssistantPart, Reply, Request, Stop, StopReason, ToolCall, Turn as Said,
};
use tool_policy::CALL;

pub(super) const SERVERS: [&str; 2] = ["files", "web"];
pub(super) const TOOLS: [&str; 3] = ["look", "list", "write"];

/// The tools as they are now, and what really ran.
#[derive(Default)]
pub(super) struct World {
    /// How often each tool and each endpoint was changed.
    versions: Mutex<BTreeMap<(usize, usize), u32>>,
    endpoints: Mutex<BTreeMap<usize, u32>>,
    pub(super) ran: Mutex<Vec<(Invocation, Definition)>>,
}

impl World {
    fn tool(&self, server: usize, tool: usize) -> ToolInfo {
        let schema = serde_json::from_str(r#"{"type":"object"}"#).unwrap();
        let version = self.versions.lock().get(&(server, tool)).copied();
        let endpoint = self.endpoints.lock().get(&server).copied();
        let info = ToolInfo::new(SERVERS[server], TOOLS[tool], schema)
            .with_name(format!("{}_{}", SERVERS[server], TOOLS[tool]))
            .with_server_identity(format!("endpoint {}", endpoint.unwrap_or(0)))
            .with_fingerprint(format!("version {}", version.unwrap_or(0)));
        match reads(TOOLS[tool]) {
            true => info.read_only(),
            false => info,
        }
    }

    fn tools(&self) -> Vec<ToolInfo> {
        let all =
            (0..SERVERS.len()).flat_map(|server| (0..TOOLS.len()).map(move |tool| (server, tool)));
        all.map(|(server, tool)| self.tool(server, tool)).collect()
    }

    /// The tools as they are now, as approvals are bound to them.
    pub(super) fn definitions(&self) -> Vec<Definition> {
        self.tools().iter().map(ToolInfo::definition).collect()
    }

    pub(super) fn change(&self, server: usize, tool: usize) {
        *self.versions.lock().entry((server, tool)).or_default() += 1;
    }

    pub(super) fn move_endpoint(&self, server: usize) {
        *self.endpoints.lock().entry(server).or_default() += 1;
    }
}

/// Whether a tool only reads.
fn reads(tool: &str) -> bool {
    tool != "write"
}

#[async_trait]
impl Toolbox for World {
    async fn tools(&self) -> Arc<[ToolInfo]> {
        World::tools(self).into()
    }

    async fn call(&self, call: Invocation, _context: CallContext) -> Outcome {
        let tools = World::tools(self);
        let now = tools
            .iter()
            .find(|it| it.server == call.server && it.tool == call.tool);
        let now = now.unwrap().definition();
        self.ran.lock().push((call, now));
        Outcome::text("done")
    }
}

/// A tool, by the names of its server and its own.
type Named = (String, String);

fn named(definition: &Definition) -> Named {
    (definition.server.clone(), definition.tool.clone())
}

/// What people said: the oracle.
#[derive(Default)]
pub(super) struct Oracle {
    mode: Mode,
    /// Calls, by their arguments as they were approved, with the definition that was shown.
    once: BTreeMap<String, Definition>,
    /// Definitions that were approved for more than one call: for this conversation, and for good.
    here: BTreeSet<Definition>,
    lasting: BTreeSet<Definition>,
    /// What may be the definition of a tool that was approved last; nothing was, if it is not here.
    last: BTreeMap<Named, BTreeSet<Option<Definition>>>,
    /// Calls, by the model's arguments.
    denied: BTreeSet<String>,
    /// Tools that never run again, with the arguments of the calls that ran when it was said.
    forbidden: BTreeMap<Named, BTreeSet<String>>,
}

impl Oracle {
    /// What was said before: these definitions were approved for good.
    pub(super) fn new(mode: Mode, approved: &[Definition]) -> Self {
        let last = approved
            .iter()
            .map(|it| (named(it), BTreeSet::from([Some(it.clone())])));
        Self {
            mode,
            lasting: approved.iter().cloned().collect(),
            last: last.collect(),
            ..Self::default()
        }
    }

    /// Approvals for good are taken back.
    pub(super) fn withdraw(&mut self) {
        self.lasting.clear();
    }

    /// A tool is forbidden while these calls run.
    pub(super) fn forbid(&mut self, shown: &Approval, running: BTreeSet<String>) {
        self.forbidden
            .entry(named(&shown.definition))
            .or_insert(running);
    }

    /// Hears an answer; whether it counts may be unknown.
    pub(super) fn hear(&mut self, shown: &Approval, decision: &Decision, is_certain: bool) {
        if !matches!(decision.answer, Answer::Deny | Answer::AlwaysDeny) {
            let last = self.last.entry(named(&shown.definition));
            let last = last.or_insert_with(|| BTreeSet::from([None]));
            if is_certain {
                last.clear();
            }
            last.insert(Some(shown.definition.clone()));
        }
        let own = shown.record.arguments.text().to_owned();
        let used = decision.arguments.as_ref();
        let used = used.map_or(own.clone(), |arguments| arguments.get().to_owned());
        let definition = shown.definition.clone();
        match decision.answer {
            Answer::Deny | Answer::AlwaysDeny => drop(self.denied.insert(own)),
            Answer::Once => drop(self.once.insert(used, definition)),
            Answer::AlwaysServerReadOnly => {
                self.once.insert(used, definition.clone());
                for (tool, fingerprint) in &shown.read_only_tools {
                    self.lasting.insert(Definition::new(
                        &definition.server,
                        &definition.server_identity,
                        tool,
                        fingerprint,
                    ));
                }
            }
            Answer::ThisRun => {
                self.once.insert(used, definition.clone());
                self.here.insert(definition);
            }
            _ => {
                self.once.insert(used, definition.clone());
                self.lasting.insert(definition);
            }
        }
    }

    pub(super) fn judge(&self, call: &Invocation, now: &Definition) {
        let arguments = call.arguments.get();
        assert!(
            !self.denied.contains(arguments),
            "a denied call ran: {call:?}"
        );
        assert_ne!(self.mode, Mode::Plan, "{call:?} ran in plan mode");
        let exempt = self.forbidden.get(&named(now));
        assert!(
            exempt.is_none_or(|running| running.contains(arguments)),
            "a forbidden tool ran: {call:?}"
        );
        let approved = self.once.get(arguments) == Some(now)
            || self.here.contains(now)
            || self.lasting.contains(now);
        let last = self.last.get(&named(now));
        let is_unchanged =
            last.is_none_or(|last| last.contains(&None) || last.contains(&Some(now.clone())));
        let unasked = match self.mode {
            Mode::Auto => is_unchanged,
            Mode::AutoRead => is_unchanged && reads(&now.tool),
            _ => false,
        };
        assert!(approved || unasked, "nothing covered {call:?} as {now:?}");
    }
}

/// How many calls a model of this seed makes in a round.
pub(super) fn calls(seed: usize, round: usize) -> usize {
    if round < 3 { 1 + (seed + round) % 3 } else { 0 }
}

/// A model whose calls all differ: their arguments tell them apart.
pub(super) fn model(seed: usize) -> ScriptedModel {
    ScriptedModel::improvising(move |request: &Request| {
        let turns = request.conversation.turns();
        let begun = turns.iter().rposition(|turn| matches!(turn, Said::User(_)));
        let round = turns.len() - begun.map_or(0, |place| place + 1);
        let mut reply = Reply::default();
        reply.parts.push(AssistantPart::text("So."));
        let calls = calls(seed, round);
        for call in 0..calls {
            let pick = seed + 5 * round + call;
            let name = format!(
                "{}_{}",
                SERVERS[pick % SERVERS.len()],
                TOOLS[pick / 2 % TOOLS.len()]
            );
            let unique = format!(r#"{{"n":"{}.{round}.{call}"}}"#, turns.len());
            let id = format!("call_{}_{round}_{call}", turns.len());
            let (name, arguments) = match seed % 3 {
                // Behind the tool that calls others.
                0 => (
                    CALL.to_owned(),
                    format!(r#"{{"name":"{name}","arguments":{unique}}}"#),
                ),
                _ => (name, unique),
            };
            let call = ToolCall::new(id, name, Arguments::read(arguments));
            reply.parts.push(AssistantPart::from(call));
        }
        let reason = if calls > 0 {
            StopReason::ToolUse
        } else {
            StopReason::End
        };
        reply.stop = Some(Stop::new(reason, "scripted"));
        reply
    })
}
