//! What operators see of the program from outside: logs on standard error, and traces and metrics
//! for an OTLP collector. Nothing is sent anywhere unless that was asked for.

mod collector;
mod durations;
mod log_line;

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry_otlp::{ExporterBuildError, MetricExporter, SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use crate::exit::{Exit, Failure};

use collector::Collector;
use durations::Durations;

/// What is exported: the spans that carry OpenTelemetry's conventions.
const EXPORTED: &str = "agent_loop=info,mcp_client=info,mcp_gateway=info,switchboard=info";
/// How long the last spans and metrics may take to be sent.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// A line of text.
    #[default]
    Text,
    /// A JSON object.
    Json,
}

/// What to log and export.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Log to standard error what this filter lets through, such as info or mcp_client=debug
    #[arg(id = "log_filter", long = "log", value_name = "FILTER", global = true, help_heading = crate::cli::GLOBAL)]
    filter: Option<String>,
    /// Write each log line as text or as a JSON object
    #[arg(id = "log_format", long = "log-format", value_name = "FORMAT", global = true, help_heading = crate::cli::GLOBAL)]
    #[arg(requires = "log_filter", hide_possible_values = true)]
    format: Option<LogFormat>,
    /// Send traces and metrics to the OTLP collector of OTEL_EXPORTER_OTLP_ENDPOINT
    #[arg(long, global = true, help_heading = crate::cli::GLOBAL)]
    otlp: bool,
}

/// What runs in the background until [`end`](Self::end).
#[derive(Debug, Default)]
pub(crate) struct Telemetry {
    providers: Option<(SdkTracerProvider, SdkMeterProvider)>,
}

impl Telemetry {
    /// Starts what the options ask for. Call it once, in the runtime that sends.
    pub(crate) fn start(options: &Options) -> Result<Self, Failure> {
        if options.filter.is_none() && !options.otlp {
            return Ok(Self::default());
        }
        let mut layers: Vec<Box<dyn Layer<Registry> + Send + Sync>> = Vec::new();
        if let Some(filter) = &options.filter {
            layers.push(log(filter, options.format.unwrap_or_default())?);
        }
        let mut providers = None;
        if options.otlp {
            let (tracer, meter) = export().map_err(|error| {
                let failure = Failure::new(Exit::Other, "traces cannot be exported");
                let failure = failure.caused_by(error);
                failure.with_hint(
                    "OTEL_EXPORTER_OTLP_ENDPOINT is a URL such as http://localhost:4318.",
                )
            })?;
            let spans = tracing_opentelemetry::layer()
                .with_tracer(tracer.tracer("switchboard"))
                .with_location(false)
                .with_threads(false)
                .with_target(false);
            layers.push(spans.with_filter(EnvFilter::new(EXPORTED)).boxed());
            let durations = Durations::new(&meter.meter("switchboard"));
            layers.push(durations.with_filter(EnvFilter::new(EXPORTED)).boxed());
            providers = Some((tracer, meter));
        }
        // Fails only where one is set already, as by a test.
        let _ = tracing::subscriber::set_global_default(Registry::default().with(layers));
        Ok(Self { providers })
    }

    /// Sends what is left.
    pub(crate) async fn end(self) {
        let Some((tracer, meter)) = self.providers else {
            return;
        };
        let flushed = tokio::task::spawn_blocking(move || {
            let _ = tracer.shutdown_with_timeout(FLUSH_TIMEOUT);
            let _ = meter.shutdown_with_timeout(FLUSH_TIMEOUT);
        });
        let _ = flushed.await;
    }
}

/// The W3C `traceparent` of the current span, if it is exported.
pub(crate) fn traceparent() -> Option<String> {
    let context = Span::current().context();
    let span = context.span();
    let span = span.span_context();
    span.is_valid().then(|| {
        let flags = span.trace_flags().to_u8();
        format!("00-{}-{}-{flags:02x}", span.trace_id(), span.span_id())
    })
}

fn log(filter: &str, format: LogFormat) -> Result<Box<dyn Layer<Registry> + Send + Sync>, Failure> {
    let filter = EnvFilter::builder().parse(filter).map_err(|error| {
        let failure = Failure::new(Exit::Other, format!("--log {filter:?} is not a filter"));
        let failure = failure.caused_by(error);
        failure.with_hint(
            "It is a level (error, warn, info, debug, trace), or CRATE=LEVEL, several with commas.",
        )
    })?;
    let lines = log_line::layer(format, std::io::stderr);
    Ok(lines.with_filter(filter).boxed())
}

fn export() -> Result<(SdkTracerProvider, SdkMeterProvider), ExporterBuildError> {
    let collector: Arc<dyn opentelemetry_http::HttpClient> = Arc::new(
        Collector::new().map_err(|error| ExporterBuildError::InternalFailure(error.to_string()))?,
    );
    let spans = SpanExporter::builder()
        .with_http()
        .with_shared_http_client(Arc::clone(&collector))
        .build()?;
    let metrics = MetricExporter::builder()
        .with_http()
        .with_shared_http_client(collector)
        .build()?;
    // `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` are read by the builder and win.
    let named = Resource::builder()
        .build()
        .get(&"service.name".into())
        .is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    let resource = match named {
        true => Resource::builder(),
        false => Resource::builder().with_service_name("switchboard"),
    };
    let resource = resource
        .with_attribute(opentelemetry::KeyValue::new(
            "service.version",
            env!("CARGO_PKG_VERSION"),
        ))
        .build();
    let tracer = SdkTracerProvider::builder()
        .with_batch_exporter(spans)
        .with_resource(resource.clone())
        .build();
    let meter = SdkMeterProvider::builder()
        .with_periodic_exporter(metrics)
        .with_resource(resource)
        .build();
    Ok((tracer, meter))
}
