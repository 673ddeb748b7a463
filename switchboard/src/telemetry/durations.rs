//! Metrics of OpenTelemetry's GenAI and MCP conventions, made of the spans that carry them.

use std::time::Instant;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Boundaries of durations in seconds, as the conventions advise for models.
const SECONDS: [f64; 14] = [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
/// Boundaries of token counts, as the conventions advise.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];
/// What distinguishes measurements: few values each, and nothing that a user typed.
const ATTRIBUTES: [&str; 8] = [
    "error.type",
    "gen_ai.agent.name",
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.tool.name",
    "mcp.method.name",
    "network.transport",
];

/// A layer that measures spans of models and servers.
#[derive(Debug)]
pub(super) struct Durations {
    model: Histogram<f64>,
    server: Histogram<f64>,
    tokens: Histogram<u64>,
}

/// What is known of an open span.
struct Open {
    since: Instant,
    attributes: Vec<KeyValue>,
    input: Option<u64>,
    output: Option<u64>,
}

impl Durations {
    pub(super) fn new(meter: &Meter) -> Self {
        let seconds = |name: &'static str| {
            let histogram = meter.f64_histogram(name).with_unit("s");
            histogram.with_boundaries(SECONDS.to_vec()).build()
        };
        Self {
            model: seconds("gen_ai.client.operation.duration"),
            server: seconds("mcp.client.operation.duration"),
            tokens: meter
                .u64_histogram("gen_ai.client.token.usage")
                .with_unit("{token}")
                .with_boundaries(TOKENS.to_vec())
                .build(),
        }
    }

    /// Where the durations of spans with this name go.
    fn histogram(&self, name: &str) -> Option<&Histogram<f64>> {
        match name {
            "chat" | "execute_tool" | "invoke_agent" => Some(&self.model),
            "mcp.call" => Some(&self.server),
            _ => None,
        }
    }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Durations {
    fn on_new_span(&self, values: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && self.histogram(span.name()).is_some()
        {
            let mut open = Open {
                since: Instant::now(),
                attributes: Vec::new(),
                input: None,
                output: None,
            };
            values.record(&mut open);
            span.extensions_mut().insert(open);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(open) = span.extensions_mut().get_mut::<Open>()
        {
            values.record(open);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else {
            return;
        };
        let Some(open) = span.extensions_mut().remove::<Open>() else {
            return;
        };
        if let Some(histogram) = self.histogram(span.name()) {
            histogram.record(open.since.elapsed().as_secs_f64(), &open.attributes);
        }
        for (kind, count) in [("input", open.input), ("output", open.output)] {
            if let Some(count) = count {
                let mut attributes = open.attributes.clone();
                attributes.push(KeyValue::new("gen_ai.token.type", kind));
                self.tokens.record(count, &attributes);
            }
        }
    }
}

impl Open {
    fn set(&mut self, field: &Field, value: String) {
        if let Some(name) = ATTRIBUTES.iter().find(|name| **name == field.name()) {
            self.attributes.retain(|known| known.key.as_str() != *name);
            self.attributes.push(KeyValue::new(*name, value));
        }
    }
}

impl Visit for Open {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "gen_ai.usage.input_tokens" => self.input = Some(value),
            "gen_ai.usage.output_tokens" => self.output = Some(value),
            _ => self.set(field, value.to_string()),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.set(field, format!("{value:?}"));
    }
}
