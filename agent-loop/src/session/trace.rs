//! Spans named according to OpenTelemetry's GenAI and MCP conventions, and the trace context of calls.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use mcp_jsonrpc::model::Meta;
use provider_adapters::{ModelError, Reply, Wire};
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::agent::{Agent, TraceContext};
use crate::toolbox::{FailureKind, Invocation, Outcome};

/// The trace of a session.
#[derive(Debug)]
pub(crate) struct Trace {
    /// 32 hexadecimal digits.
    id: String,
    flags: String,
    span: Span,
    content: bool,
    context: Option<TraceContext>,
}

impl Trace {
    pub(crate) fn new(agent: &Agent) -> Self {
        let id = format!("{:016x}{:016x}", chance(), chance());
        let span = info_span!(
            "invoke_agent",
            otel.name = %format_args!("invoke_agent {}", agent.name),
            gen_ai.operation.name = "invoke_agent",
            gen_ai.agent.name = %agent.name,
            gen_ai.request.model = %agent.model_name,
            trace_id = %id,
        );
        Self {
            id,
            flags: "01".to_owned(),
            span,
            content: agent.traces_content,
            context: agent.trace_context,
        }
    }

    /// The same as a part of the trace of this W3C `traceparent`.
    pub(crate) fn put_under(&mut self, traceparent: &str) {
        let parts: Vec<&str> = traceparent.split('-').collect();
        let hex = |text: &str, length| {
            text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        };
        if let [version, id, parent, flags, ..] = parts.as_slice()
            && hex(version, 2)
            && hex(id, 32)
            && hex(parent, 16)
            && hex(flags, 2)
        {
            (*id).clone_into(&mut self.id);
            (*flags).clone_into(&mut self.flags);
            self.span.record("trace_id", *id);
        }
    }

    /// A span for one reply of the model.
    pub(crate) fn chat(&self, agent: &Agent, wire: Wire) -> Span {
        info_span!(
            parent: &self.span,
            "chat",
            otel.name = %format_args!("chat {}", agent.model_name),
            otel.kind = "client",
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = provider(wire),
            gen_ai.request.model = %agent.model_name,
            gen_ai.response.finish_reasons = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.output.messages = Empty,
            error.type = Empty,
        )
    }

    /// A span for one call, and the trace context that goes along with it.
    pub(crate) fn tool(&self, call: &Invocation) -> (Span, Meta) {
        let id = format!("{:016x}", chance() | 1);
        let span = info_span!(
            parent: &self.span,
            "execute_tool",
            otel.name = %format_args!("execute_tool {}", call.tool),
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = %call.tool,
            gen_ai.tool.call.id = %call.id,
            gen_ai.tool.type = "function",
            gen_ai.tool.call.arguments = Empty,
            gen_ai.tool.call.result = Empty,
            server = %call.server,
            trace_id = %self.id,
            span_id = %id,
            arguments.size = call.arguments.get().len(),
            result.size = Empty,
            error.type = Empty,
        );
        if self.content {
            span.record("gen_ai.tool.call.arguments", call.arguments.get());
        }
        let exported = self.context.and_then(|context| span.in_scope(context));
        let traceparent = exported.unwrap_or_else(|| format!("00-{}-{id}-{}", self.id, self.flags));
        let mut meta = Meta::default();
        let _ = meta.set_traceparent(&traceparent);
        (span, meta)
    }
}

/// A span for one request to a server.
#[cfg(feature = "manager")]
pub(crate) fn mcp_call(call: &Invocation) -> Span {
    info_span!(
        "mcp.call",
        otel.name = %format_args!("tools/call {}", call.tool),
        otel.kind = "client",
        mcp.method.name = "tools/call",
        gen_ai.tool.name = %call.tool,
        server = %call.server,
        // The client records them.
        mcp.protocol.version = Empty,
        jsonrpc.request.id = Empty,
        network.transport = Empty,
    )
}

/// Notes in its span how asking the model ended.
pub(crate) fn chat_ended(span: &Span, asked: &Result<Reply, ModelError>, content: bool) {
    match asked {
        Ok(reply) => {
            span.record("gen_ai.usage.input_tokens", reply.usage.input);
            span.record("gen_ai.usage.output_tokens", reply.usage.output);
            if let Some(stop) = &reply.stop {
                span.record("gen_ai.response.finish_reasons", stop.raw.as_str());
            }
            if content {
                let parts = serde_json::to_string(&reply.parts).unwrap_or_default();
                span.record("gen_ai.output.messages", parts);
            }
            if reply.error.is_some() {
                span.record("error.type", "reply");
            }
        }
        Err(_) => {
            span.record("error.type", "request");
        }
    }
}

/// Notes in its span what became of a call.
pub(crate) fn tool_ended(span: &Span, outcome: &Outcome, content: bool) {
    match outcome {
        Outcome::Result(result) => {
            if span.is_disabled() {
                return;
            }
            let text = serde_json::to_string(&result.content).unwrap_or_default();
            span.record("result.size", text.len());
            if content {
                span.record("gen_ai.tool.call.result", text);
            }
            if result.failed() {
                span.record("error.type", "tool_error");
            }
        }
        Outcome::Failed(failure) => {
            let kind = match failure.kind {
                FailureKind::Protocol => "protocol",
                FailureKind::Timeout => "timeout",
                FailureKind::NotSent => "not_sent",
                FailureKind::Unknown => "outcome_unknown",
                FailureKind::Crashed => "crashed",
                FailureKind::NoTool => "no_tool",
            };
            span.record("error.type", kind);
        }
        Outcome::Parked(_) | Outcome::Task(_) | Outcome::Suspended => {}
    }
}

/// The provider's name in the conventions.
fn provider(wire: Wire) -> &'static str {
    match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => "openai",
        Wire::Anthropic => "anthropic",
        Wire::Gemini => "gcp.gemini",
        Wire::Vertex => "gcp.vertex_ai",
        Wire::Bedrock => "aws.bedrock",
        _ => "prompt",
    }
}

/// A number by chance; never zero for long.
fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}
