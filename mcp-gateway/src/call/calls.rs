//! Tool calls: each is looked up, decided, recorded and made.

use std::sync::Arc;

use mcp_client::Started;
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{CallTool, CallToolParams, Tool};
use mcp_manager::ServerName;
use mcp_server::{Context, Error, ToolReply};
use tool_policy::{Alarm, ToolInfo};

use crate::audit::{CallDecision, CallOutcome, CallRecord, digest};
use crate::call::admitted::{Admitted, record_start};
use crate::call::gate::Refused;
use crate::call::relay::Start;
use crate::catalog::meta_tools::MetaOutcome;
use crate::gateway::Shared;

/// What a call holds itself under.
const ADMITTED: &str = "admitted";

/// The tool that a call is of.
struct Target<'a> {
    server: &'a ServerName,
    /// The name that clients call it by.
    exposed: &'a str,
    info: ToolInfo,
}

impl Shared {
    pub(crate) async fn call_tool(
        self: &Arc<Self>,
        mut params: CallToolParams,
        cx: &Context,
    ) -> Result<ToolReply, Error> {
        match self.call_meta_tool(&params, cx)? {
            Some(MetaOutcome::Done(result)) => return Ok(ToolReply::Result(Box::new(result))),
            Some(MetaOutcome::Instead(instead)) => params = instead,
            None => {}
        }
        let tools = self.known(&self.tools);
        let Some((server, tool)) = tools.route(&params.name) else {
            return Err(self.unknown("tool", &params.name, cx));
        };
        let arguments = params.arguments.unwrap_or_else(RawObject::empty);
        let Some(info) = self.info(server, tool) else {
            return Err(self.unknown("tool", &params.name, cx));
        };
        let exposed = params.name.as_str();
        let id = async { Ok::<_, Error>(self.ids.next()) };
        let id = cx.step("call-id", id).await?;
        let record = CallRecord {
            call: id,
            caller: cx.caller().map(|it| it.id.clone()).unwrap_or_default(),
            client: cx.client_info().map(|it| it.name.clone()),
            server: info.server.clone(),
            tool: info.tool.clone(),
            fingerprint: info.fingerprint.clone(),
            arguments: digest(arguments.get()),
            decision: CallDecision::Allowed,
            end: None,
        };
        let refused = |decision| {
            let record = CallRecord {
                decision,
                ..record.clone()
            };
            record_start(self.audit.as_deref(), &record)
        };
        if let Err(error) = self.permit_tool(server, tool, cx) {
            refused(CallDecision::NotPermitted)?;
            return Err(error);
        }
        // The same one in all rounds.
        let call = match cx.held::<Admitted>(ADMITTED) {
            Some(call) => call,
            None => {
                let place = match self.gate.enter(&info, cx) {
                    Ok(place) => place,
                    Err(error) => {
                        refused(CallDecision::TooMany)?;
                        return Err(error);
                    }
                };
                let call = Arc::new(Admitted::new(place, self.audit.clone()));
                cx.hold(ADMITTED, Arc::clone(&call));
                call
            }
        };
        let target = Target {
            server,
            exposed,
            info,
        };
        let result = self.admitted(&call, record, &target, arguments, cx).await;
        // A call that runs has recorded its end; to the others this says that they are over.
        call.over(None);
        let reply = match result? {
            ToolReply::Result(result) => ToolReply::Result(Box::new(self.gate.screened(*result))),
            reply => reply,
        };
        match (reply, &self.meta_tools.outputs) {
            (ToolReply::Result(result), Some(outputs)) => {
                let result = outputs.fit(*result, cx)?;
                Ok(ToolReply::Result(Box::new(result)))
            }
            (reply, _) => Ok(reply),
        }
    }

    /// Decides about a call, and makes and records it.
    async fn admitted(
        self: &Arc<Self>,
        call: &Admitted,
        mut record: CallRecord,
        target: &Target<'_>,
        arguments: RawObject,
        cx: &Context,
    ) -> Result<ToolReply, Error> {
        let deciding = self.gate.decide(&record.call, &target.info, &arguments, cx);
        match cx.step("decision", deciding).await {
            Ok(decision) => record.decision = decision,
            Err(Refused::ByPolicy(refusal)) => {
                record.decision = refusal.decision;
                record_start(self.audit.as_deref(), &record)?;
                let text = format!("`{}` was not called: {}.", target.exposed, refusal.reason);
                return Err(Error::failed(text));
            }
            Err(Refused::Failed(error)) => return Err(error),
        }
        // Once, however often the client comes back with answers.
        let started = async { record_start(self.audit.as_deref(), &record) };
        cx.step("recorded", started).await?;
        call.started(&record);
        let result = self.relay_call(&record, target, arguments, cx).await;
        let (outcome, output) = match &result {
            Ok(ToolReply::Result(result)) => (CallOutcome::of(result), Some(result)),
            Ok(ToolReply::Task(_)) => (CallOutcome::Task, None),
            Err(_) => (CallOutcome::Error, None),
        };
        let output = output.and_then(|result| serde_json::to_vec(&**result).ok());
        call.over(Some((outcome, output.map(digest))));
        result
    }

    async fn relay_call(
        self: &Arc<Self>,
        record: &CallRecord,
        target: &Target<'_>,
        arguments: RawObject,
        cx: &Context,
    ) -> Result<ToolReply, Error> {
        let (server, info) = (target.server, &target.info);
        let tool = info.tool.as_str();
        let bare = RawObject::from_serialize(&serde_json::json!({
            "name": tool, "arguments": arguments,
        }))?;
        // What was decided about is what is called.
        let fingerprint = self.gate.policy.is_some().then(|| info.fingerprint.clone());
        let manager = self.manager.clone();
        let (name, tool) = (server.clone(), tool.to_owned());
        let takes_tasks = cx.takes_tasks();
        let start: Start<Started> = Box::new(move |mut options, revision| {
            if let Some(fingerprint) = fingerprint {
                options = options.with_fingerprint(fingerprint);
            }
            Box::pin(async move {
                let (server, tool) = (name.as_str(), tool.as_str());
                if takes_tasks && revision.is_modern() {
                    return manager
                        .call_tool_or_task(server, tool, arguments, options)
                        .await;
                }
                let result = manager.call_tool_with(server, tool, arguments, options);
                result.await.map(Started::Done)
            })
        });
        match self
            .relay(server, cx)
            .call::<CallTool>(&bare, start)
            .await?
        {
            Started::Done(result) => Ok(ToolReply::Result(Box::new(result))),
            Started::Task(task) => {
                let task = task.created().cloned();
                let task = task.ok_or_else(|| Error::internal("a task without a handle"))?;
                let task = self.expose_task(record, task, cx)?;
                Ok(ToolReply::Task(Box::new(task)))
            }
        }
    }

    /// Refuses a tool that the caller may not use.
    pub(crate) fn permit_tool(
        &self,
        server: &ServerName,
        tool: &str,
        cx: &Context,
    ) -> Result<(), Error> {
        self.permit(server, cx)?;
        match self.profile(cx.caller()).allows_tool(server.as_str(), tool) {
            true => Ok(()),
            false => Err(Error::invalid_params(format!(
                "the tool '{tool}' of server '{server}' is not permitted for this caller; it was not \
                 called"
            ))),
        }
    }

    /// A tool as the policy sees it.
    fn info(&self, server: &ServerName, tool: &str) -> Option<ToolInfo> {
        let catalog = self.manager.catalog();
        let entry = catalog.find(server, tool)?;
        let config = self.manager.server(server.as_str())?.config;
        let mut info = ToolInfo::new(server.as_str(), tool, entry.input_schema().clone())
            .with_annotations(entry.annotations().cloned().unwrap_or_default())
            .with_fingerprint(entry.fingerprint().to_string())
            .with_server_identity(config.identity())
            .with_alarm(Alarm::of(catalog.findings(entry)))
            .with_source(Arc::clone(entry.tool()))
            .with_trust(config.is_trusted());
        if let Some(id) = config.id() {
            id.clone_into(&mut info.server_id);
        }
        Some(info)
    }

    /// Leaves out the tools that are switched off or denied to the caller.
    pub(crate) fn retain_offered(&self, tools: &mut Vec<Tool>, cx: &Context) {
        let merged = self.known(&self.tools);
        let catalog = self.manager.catalog();
        let profile = self.profile(cx.caller());
        tools.retain(|tool| {
            let Some((server, name)) = merged.route(&tool.name) else {
                return false;
            };
            let enabled = catalog
                .find(server, name)
                .is_none_or(|entry| entry.is_enabled());
            let visible = profile.allows_tool(server.as_str(), name);
            let denied = |info: &ToolInfo| !self.gate.offers(info, cx);
            let judged = self.gate.policy.is_some();
            enabled && visible && !(judged && self.info(server, name).as_ref().is_some_and(denied))
        });
    }
}
