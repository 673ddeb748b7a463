//! Tool calls: each is looked up, decided, recorded and made.

use std::sync::Arc;
use std::time::Instant;

use mcp_client::Started;
use mcp_jsonrpc::RawObject;
use mcp_jsonrpc::model::{CallTool, CallToolParams, Tool};
use mcp_manager::ServerName;
use mcp_server::{Context, Error, ToolReply};
use tool_policy::{Alarm, ToolInfo};

use crate::audit::{CallDecision, CallEnd, CallOutcome, CallRecord, digest};
use crate::gate::Refused;
use crate::gateway::Shared;
use crate::meta_tools::MetaOutcome;
use crate::relay::Start;

impl Shared {
    pub(crate) async fn call_tool(
        self: &Arc<Self>,
        mut params: CallToolParams,
        cx: &Context,
    ) -> Result<ToolReply, Error> {
        match self.call_meta_tool(&params, cx).await? {
            Some(MetaOutcome::Done(result)) => return Ok(ToolReply::Result(Box::new(result))),
            Some(MetaOutcome::Instead(instead)) => params = instead,
            None => {}
        }
        let tools = self.known(&self.tools).await;
        let Some((server, tool)) = tools.route(&params.name) else {
            return Err(self.unknown("tool", &params.name, cx));
        };
        let arguments = params.arguments.unwrap_or_else(RawObject::empty);
        self.permit_tool(server, tool, cx)?;
        let Some(info) = self.info(server, tool) else {
            return Err(self.unknown("tool", &params.name, cx));
        };
        let _running = self.gate.enter(&info, cx)?;
        let began = Instant::now();
        let id = async { Ok::<_, Error>(self.ids.next()) };
        let id = cx.step("call-id", id).await?;
        let mut record = CallRecord {
            call: id.clone(),
            caller: cx.caller().map(|it| it.id.clone()).unwrap_or_default(),
            client: cx.client_info().map(|it| it.name.clone()),
            server: info.server.clone(),
            tool: info.tool.clone(),
            fingerprint: info.fingerprint.clone(),
            arguments: digest(arguments.get()),
            decision: CallDecision::Allowed,
            end: None,
        };
        match self.gate.decide(&id, &info, &arguments, cx).await {
            Ok(decision) => record.decision = decision,
            Err(Refused::ByPolicy(refusal)) => {
                record.decision = refusal.decision;
                self.record(&record)?;
                let text = format!("`{}` was not called: {}.", params.name, refusal.reason);
                return Err(Error::failed(text));
            }
            Err(Refused::Failed(error)) => return Err(error),
        }
        // Once, however often the client comes back with answers.
        let started = async { self.record(&record) };
        cx.step("recorded", started).await?;
        let result = self.relay_call(server, tool, arguments, &info, cx).await;
        let (outcome, output) = match &result {
            Ok(ToolReply::Result(result)) if result.failed() => (CallOutcome::Failed, Some(result)),
            Ok(ToolReply::Result(result)) => (CallOutcome::Succeeded, Some(result)),
            Ok(ToolReply::Task(_)) => (CallOutcome::Task, None),
            Err(_) => (CallOutcome::Error, None),
        };
        let output = output.and_then(|result| serde_json::to_vec(&**result).ok());
        record.end = Some(CallEnd {
            outcome,
            result: output.map(digest),
            duration: began.elapsed(),
        });
        // It has run: its result is worth more than its record.
        if let Err(error) = self.record(&record) {
            tracing::error!(%error, call = id, "the end of a call was not recorded");
        }
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

    async fn relay_call(
        self: &Arc<Self>,
        server: &ServerName,
        tool: &str,
        arguments: RawObject,
        info: &ToolInfo,
        cx: &Context,
    ) -> Result<ToolReply, Error> {
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
                let task = self.expose_task(server, task, cx)?;
                Ok(ToolReply::Task(Box::new(task)))
            }
        }
    }

    /// Refuses a tool that the caller may not use.
    fn permit_tool(&self, server: &ServerName, tool: &str, cx: &Context) -> Result<(), Error> {
        self.permit(server, cx)?;
        match self.profile(cx.caller()).allows_tool(server.as_str(), tool) {
            true => Ok(()),
            false => Err(Error::invalid_params(format!(
                "the tool '{tool}' of server '{server}' is not permitted for this caller; it was not \
                 called"
            ))),
        }
    }

    fn record(&self, record: &CallRecord) -> Result<(), Error> {
        let Some(log) = &self.audit else {
            return Ok(());
        };
        log.record(record).map_err(|error| {
            tracing::error!(%error, "a call was not recorded");
            Error::internal("the call could not be recorded, so it was not made")
        })
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
    pub(crate) async fn retain_offered(&self, tools: &mut Vec<Tool>, cx: &Context) {
        let merged = self.known(&self.tools).await;
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
