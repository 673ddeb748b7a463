//! Log lines that stay lines, whatever the names and texts in them are: what would begin another line,
//! be obeyed by a terminal or not be seen becomes escapes.

use std::borrow::Cow;
use std::fmt;

use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, Layer, MakeWriter};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer as _, Registry};

use super::LogFormat;
use crate::display::untrusted;

/// What writes log lines.
pub(super) fn layer<W>(
    format: LogFormat,
    writer: W,
) -> Box<dyn tracing_subscriber::Layer<Registry> + Send + Sync>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = Layer::default().with_writer(writer);
    match format {
        LogFormat::Text => {
            let lines = lines.with_ansi(false);
            let escape = untrusted::line;
            lines
                .map_event_format(|inner| OneLine { inner, escape })
                .boxed()
        }
        LogFormat::Json => {
            let escape = untrusted::json_text;
            let lines = lines.json();
            lines
                .map_event_format(|inner| OneLine { inner, escape })
                .boxed()
        }
    }
}

/// An event as one line.
struct OneLine<F> {
    inner: F,
    escape: fn(&str) -> Cow<'_, str>,
}

impl<S, N, F> FormatEvent<S, N> for OneLine<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = String::new();
        self.inner
            .format_event(context, Writer::new(&mut line), event)?;
        writeln!(writer, "{}", (self.escape)(line.trim_end_matches('\n')))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// What is logged of a name, as a field, as a message and in a span.
    fn logged(format: LogFormat) -> String {
        let kept = Kept::default();
        let writer = kept.clone();
        let lines = layer(format, move || writer.clone());
        let name = "x\nFORGED\r\u{2028}\u{1b}[2J\u{202e}\u{200b}y";
        tracing::subscriber::with_default(Registry::default().with(lines), || {
            let _span = tracing::info_span!("called", server = name).entered();
            tracing::info!(tool = %name, "{name}\n");
        });
        let bytes = kept.0.lock().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_name_cannot_forge_a_line_of_the_log() {
        for format in [LogFormat::Text, LogFormat::Json] {
            let text = logged(format);
            assert_eq!(text.lines().count(), 1, "{text}");
            let line = text.strip_suffix('\n').unwrap();
            assert!(!line.contains(tool_policy::is_hidden), "{line:?}");
            assert!(line.contains("FORGED"), "{line}");
        }
    }

    #[test]
    fn a_line_of_json_says_what_was_logged() {
        let value: serde_json::Value = serde_json::from_str(&logged(LogFormat::Json)).unwrap();
        let tool = value["fields"]["tool"].as_str().unwrap();
        assert_eq!(tool, "x\nFORGED\r\u{2028}\u{1b}[2J\u{202e}\u{200b}y");
    }
}
