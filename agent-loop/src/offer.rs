//! The tools offered to the model in one turn, and the mapping of its calls back to them.

pub(crate) mod deferral;
pub(crate) mod selection;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
#[cfg(feature = "validate")]
use std::sync::OnceLock;

use mcp_jsonrpc::RawObject;
use provider_adapters::{Adapter, CallProblem, ToolCall, ToolSet, ToolSpec, Wire};
use tool_policy::{BUILT_IN, MetaCall, SecretSource, Secrets, ToolInfo, reader, stand_ins};
#[cfg(feature = "validate")]
use tool_schema::Validator;

use crate::offer::deferral::Deferral;
use crate::offer::selection::spec;
use crate::run::messages;

/// The tools of one turn: their definitions for the model, and the mapping of its calls. A turn keeps its offer, so a
/// list that changes in the middle of it cannot redirect a call.
#[derive(Debug)]
pub struct Offer {
    wire: Wire,
    tools: Vec<Offered>,
    by_name: HashMap<String, usize>,
    by_place: HashMap<(String, String), usize>,
    set: Arc<ToolSet>,
    searched: bool,
    readable: bool,
    /// About how many tokens the definitions take that the model reads in any case.
    tokens: u64,
    warnings: Vec<String>,
    secrets: Arc<Secrets>,
}

#[derive(Debug)]
struct Offered {
    info: ToolInfo,
    #[cfg(feature = "validate")]
    validator: OnceLock<Option<Validator>>,
}

/// How the tools come before the model.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Way {
    /// Each is listed.
    Listed,
    /// The model finds most of them by a search of its provider's.
    Native,
    /// Two tools of ours stand in for most of them.
    StandIns,
}

/// A call, understood.
#[derive(Debug)]
pub(crate) struct Resolved<'a> {
    pub(crate) info: &'a ToolInfo,
    pub(crate) arguments: RawObject,
}

impl Offer {
    /// Compiles `tools` for the adapter's provider and this model of it. Where there are too many, by
    /// `deferral`, the provider searches those that are not always listed, or two built-in tools stand
    /// in for them. `stored`: whether there are stored results that the model may read.
    pub fn new(
        tools: &[ToolInfo],
        adapter: &dyn Adapter,
        model: &str,
        deferral: &Deferral,
        stored: bool,
    ) -> Self {
        let way = match deferral.applies(tools) {
            false => Way::Listed,
            true if deferral.is_native() && adapter.defers_tools(model) => Way::Native,
            true => Way::StandIns,
        };
        let offer = Self::compiled(tools, (adapter, model), way, deferral, stored);
        // A tool that the provider does not take can still be called by a stand-in.
        match way == Way::Native && !offer.set.left_out().is_empty() {
            true => Self::compiled(tools, (adapter, model), Way::StandIns, deferral, stored),
            false => offer,
        }
    }

    fn compiled(
        tools: &[ToolInfo],
        (adapter, model): (&dyn Adapter, &str),
        way: Way,
        deferral: &Deferral,
        stored: bool,
    ) -> Self {
        let mut own: Vec<ToolInfo> = Vec::new();
        if way == Way::StandIns {
            own.extend(stand_ins());
        }
        // From the start on: another list of tools later would lose the provider's cache.
        let readable = stored || !tools.is_empty();
        if readable {
            own.push(reader());
        }
        let listed = own.len();
        let mut offer = Self {
            wire: adapter.wire(),
            tools: Vec::with_capacity(listed + tools.len()),
            by_name: HashMap::new(),
            by_place: HashMap::new(),
            set: Arc::default(),
            searched: way != Way::Listed,
            readable,
            tokens: 0,
            warnings: Vec::new(),
            secrets: Arc::default(),
        };
        let mut specs: Vec<ToolSpec> = Vec::new();
        for (at, info) in own.into_iter().chain(tools.iter().cloned()).enumerate() {
            if at >= listed && info.is_built_in() {
                // Nothing is asked for the loop's own tools: no other tool may pass for one.
                offer.warnings.push(format!(
                    "tool {:?} is left out: the server name {BUILT_IN:?} is reserved; rename the \
                     server",
                    info.name
                ));
                continue;
            }
            if offer.by_name.contains_key(&info.name) {
                offer.warnings.push(format!(
                    "tool {:?} of server {:?} is left out: another tool has the same name",
                    info.name, info.server
                ));
                continue;
            }
            let is_kept = at < listed || way == Way::Listed || deferral.keeps(&info);
            if is_kept {
                offer.tokens += deferral::tokens(&info) as u64;
            }
            if is_kept || way == Way::Native {
                specs.push(spec(&info).with_deferred(!is_kept));
            }
            let place = (info.server.clone(), info.tool.clone());
            offer.by_name.insert(info.name.clone(), offer.tools.len());
            offer.by_place.entry(place).or_insert(offer.tools.len());
            offer.tools.push(Offered {
                info,
                #[cfg(feature = "validate")]
                validator: OnceLock::new(),
            });
        }
        let set = adapter.tools_for(model, &specs);
        for left in set.left_out() {
            let (name, reason) = (&left.name, &left.reason);
            offer
                .warnings
                .push(format!("tool {name:?} is left out: {reason}"));
        }
        offer.set = Arc::new(set);
        offer
    }

    /// Holds calls whose arguments have one of these secrets and whose server has it not.
    #[must_use]
    pub fn with_secrets(mut self, secrets: Arc<Secrets>) -> Self {
        self.secrets = secrets;
        self
    }

    /// The wire it is compiled for.
    pub fn wire(&self) -> Wire {
        self.wire
    }

    /// The listed tools, compiled for the provider.
    pub fn tool_set(&self) -> &Arc<ToolSet> {
        &self.set
    }

    /// Whether most tools are searched for instead of listed.
    pub fn is_searched(&self) -> bool {
        self.searched
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Whether `read_output` is listed.
    pub(crate) fn is_readable(&self) -> bool {
        self.readable
    }

    /// Warnings for people: tools that were omitted, and why.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The tool of a server, as it is now.
    pub(crate) fn at(&self, server: &str, tool: &str) -> Option<&ToolInfo> {
        let place = (server.to_owned(), tool.to_owned());
        let at = *self.by_place.get(&place)?;
        self.tools.get(at).map(|tool| &tool.info)
    }

    /// A secret in the arguments of a call that its server has no business with.
    pub(crate) fn secret_in(&self, info: &ToolInfo, arguments: &RawObject) -> Option<SecretSource> {
        match info.is_built_in() {
            true => None,
            false => self.secrets.find(&info.server, arguments).cloned(),
        }
    }

    /// The fingerprints of a server's tools that change nothing.
    pub(crate) fn read_only_of(&self, server: &str) -> BTreeMap<String, String> {
        self.tools
            .iter()
            .map(|tool| &tool.info)
            .filter(|tool| tool.server == server && tool.is_read_only())
            .map(|tool| (tool.tool.clone(), tool.fingerprint.clone()))
            .collect()
    }

    /// The tool and the arguments of a call, or an error for the model.
    pub(crate) fn resolve(&self, call: &ToolCall) -> Result<Resolved<'_>, String> {
        let rejection = || {
            let result = call.rejection();
            result.map_or_else(String::new, |result| {
                provider_adapters::flatten(&result.content)
            })
        };
        let found = self.find(&call.name);
        match &call.problem {
            None | Some(CallProblem::UnknownTool) => {}
            Some(CallProblem::Malformed { reason }) if found.is_some() => {
                let schema = found.map_or("", |tool| tool.info.input_schema.get());
                return Err(messages::bad_arguments(
                    &call.name,
                    &format!("{reason}."),
                    schema,
                ));
            }
            Some(_) => return Err(rejection()),
        }
        let tool = found.ok_or_else(|| self.unknown(&call.name))?;
        let arguments = call.arguments.object().ok_or_else(rejection)?.clone();
        if tool.info.is_built_in() {
            let call = MetaCall::parse(&tool.info.tool, &arguments).map_err(|error| {
                let schema = tool.info.input_schema.get();
                messages::bad_arguments(&tool.info.tool, &error.to_string(), schema)
            })?;
            // The tool behind it is judged and called.
            if let MetaCall::Call { name, arguments } = call {
                let tool = self.find(&name).ok_or_else(|| self.unknown(&name))?;
                tool.check(&arguments)?;
                return Ok(Resolved {
                    info: &tool.info,
                    arguments,
                });
            }
        }
        tool.check(&arguments)?;
        Ok(Resolved {
            info: &tool.info,
            arguments,
        })
    }

    /// Whether arguments fit a tool, or what is wrong with them.
    pub(crate) fn check(
        &self,
        server: &str,
        tool: &str,
        arguments: &RawObject,
    ) -> Result<(), String> {
        let place = (server.to_owned(), tool.to_owned());
        let at = self.by_place.get(&place);
        match at.and_then(|at| self.tools.get(*at)) {
            Some(tool) => tool.check(arguments),
            None => Err(messages::unknown_tool(tool, &[])),
        }
    }

    /// The tool of this name; or the only one whose server calls it so, or that older programs
    /// call so; or the only one whose name differs in case alone.
    fn find(&self, name: &str) -> Option<&Offered> {
        let only = |fits: &dyn Fn(&ToolInfo) -> bool| {
            let mut fitting = self.tools.iter().filter(|tool| fits(&tool.info));
            fitting.next().filter(|_| fitting.next().is_none())
        };
        let exact = self.by_name.get(name).and_then(|at| self.tools.get(*at));
        exact
            .or_else(|| only(&|tool| tool.tool == name || is_alias(tool, name)))
            .or_else(|| only(&|tool| tool.name.eq_ignore_ascii_case(name)))
    }

    fn unknown(&self, name: &str) -> String {
        let wanted = name.to_lowercase();
        let similar: Vec<&str> = self
            .tools
            .iter()
            .map(|tool| &tool.info)
            .filter(|tool| {
                let (name, own) = (tool.name.to_lowercase(), tool.tool.to_lowercase());
                !wanted.is_empty() && (name.contains(&wanted) || wanted.contains(&own))
            })
            .map(|tool| tool.name.as_str())
            .take(3)
            .collect();
        messages::unknown_tool(name, &similar)
    }
}

/// Whether `name` is `server__tool`, as older programs name a server's tool.
fn is_alias(tool: &ToolInfo, name: &str) -> bool {
    let rest = name.strip_prefix(tool.server.as_str());
    rest.and_then(|rest| rest.strip_prefix("__")) == Some(tool.tool.as_str())
}

impl Offered {
    /// Without the feature `validate` the server checks the arguments.
    #[cfg(not(feature = "validate"))]
    fn check(&self, _: &RawObject) -> Result<(), String> {
        Ok(())
    }

    /// Checks arguments; the error is for the model. What cannot be checked is left to the server.
    #[cfg(feature = "validate")]
    fn check(&self, arguments: &RawObject) -> Result<(), String> {
        let schema = &self.info.input_schema;
        let validator = self.validator.get_or_init(|| {
            let schema = schema.parse().ok()?;
            Validator::new(&schema).ok()
        });
        let (Some(validator), Ok(arguments)) = (validator, arguments.parse()) else {
            return Ok(());
        };
        validator.check(&arguments).map_err(|mismatch| {
            messages::bad_arguments(&self.info.name, &mismatch.to_string(), schema.get())
        })
    }
}
