//! Event output.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use agent_loop::{CallNumber, CallProgress, LimitKind, Reason, RunEvent, Status, ToolCallRecord};
use provider_adapters::{Media, MediaSource};
use serde_json::Value;

use crate::chat::markdown::{Look, Markdown, wrapped};
use crate::chat::media;
use crate::chat::spinner::Spinner;
use crate::chat::terminal::columns;
use crate::display::out::{Out, Style};
use crate::display::untrusted;
use crate::lang::{message, t};

/// How much of arguments and results stands on a line.
const WIDTH: usize = 160;
/// How wide a progress bar is.
const BAR: usize = 20;

/// How events are shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Show {
    /// All of them, for people.
    Chat,
    /// The answer on standard output, the rest on standard error.
    Answer,
    /// Each as a line of JSON.
    Lines,
    /// Each as a line of JSON, with the event names of middleware chains.
    Chunks,
    /// Not at all.
    Nothing,
}

/// What stands on a line that has not ended yet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Open {
    Nothing,
    Answer,
    Thought,
}

/// Shows events as they come.
#[derive(Debug)]
pub(crate) struct Screen {
    out: Out,
    show: Show,
    look: Look,
    markdown: Markdown,
    open: Open,
    spinner: Spinner,
    started: BTreeMap<CallNumber, Instant>,
    /// The call that the last line names, so that its result need not.
    named: Option<CallNumber>,
    /// Whether the model has answered something since it was last asked.
    answered: bool,
    /// Calls whose results are shown in part and stored whole.
    whole: BTreeSet<CallNumber>,
    media: PathBuf,
}

impl Screen {
    pub(crate) fn new(out: Out, show: Show, media: PathBuf) -> Self {
        let look = match (out.can_redraw(), out.has_color()) {
            (false, _) => Look::Source,
            (true, true) => Look::Color,
            (true, false) => Look::Plain,
        };
        Self {
            out,
            show,
            look,
            markdown: Markdown::new(look, columns()),
            open: Open::Nothing,
            spinner: Spinner::new(out),
            started: BTreeMap::new(),
            named: None,
            answered: false,
            whole: BTreeSet::new(),
            media,
        }
    }

    pub(crate) fn event(&mut self, event: &RunEvent) {
        match self.show {
            Show::Lines => {
                let line = serde_json::to_value(event).unwrap_or(Value::Null);
                return self.out.json_line(&line);
            }
            Show::Chunks => {
                let chunk = event
                    .chunk()
                    .and_then(|chunk| serde_json::to_value(chunk).ok());
                return chunk.iter().for_each(|chunk| self.out.json_line(chunk));
            }
            Show::Nothing => return,
            Show::Chat | Show::Answer => {}
        }
        match event {
            RunEvent::Text { text } | RunEvent::Refusal { text } => self.text(text),
            RunEvent::Reasoning { text } if self.show == Show::Chat => self.thought(text),
            RunEvent::Round { .. } => {
                self.end_line();
                self.spinner.start(&t!("thinking"));
                self.answered = false;
            }
            RunEvent::Call(record) => self.call(record),
            RunEvent::ResultStored { number, .. } => {
                self.whole.insert(*number);
            }
            RunEvent::Progress { progress, .. } => self.progress(progress),
            RunEvent::Queued {
                queued: Some(queued),
                ..
            } => self.line(
                Style::Dim,
                &format!(
                    "  {}",
                    t!(
                        "queued: {line}",
                        line = untrusted::line(&queued.to_string())
                    )
                ),
            ),
            RunEvent::Media(media) => self.media(media),
            RunEvent::Done { reason } => self.done(reason),
            event => {
                if let Some(notice) = event.notice() {
                    self.line(Style::Dim, &format!("! {}", untrusted::text(&notice)));
                }
                // A conversation that is compacted on request was answered before.
                self.answered |= matches!(event, RunEvent::Compacted { .. });
            }
        }
    }

    /// Shows how much time has passed, where nothing else is shown.
    pub(crate) fn tick(&mut self) {
        let at_line_start = match self.open {
            Open::Nothing => true,
            Open::Answer => self.look != Look::Source,
            Open::Thought => false,
        };
        if at_line_start && matches!(self.show, Show::Chat | Show::Answer) {
            self.spinner.tick();
        }
    }

    /// Prints a note between events, on a line of its own.
    pub(crate) fn line(&mut self, style: Style, text: &str) {
        self.end_line();
        let text = match self.look {
            Look::Source => text.to_owned(),
            _ => wrapped(text, columns()),
        };
        let text = self.out.paint(style, &text);
        match self.show {
            Show::Chat => self.out.say(text),
            Show::Answer => self.out.note(text),
            _ => {}
        }
    }

    /// Ends the line that text has begun.
    pub(crate) fn end_line(&mut self) {
        self.spinner.erase();
        match self.open {
            Open::Nothing => {}
            Open::Thought => self.out.piece("\n"),
            Open::Answer if self.look == Look::Source => self.out.piece("\n"),
            Open::Answer => {
                let rest = self.markdown.finish();
                self.out.piece(rest);
            }
        }
        self.open = Open::Nothing;
    }

    fn text(&mut self, text: &str) {
        if self.open != Open::Answer {
            self.end_line();
            self.markdown = Markdown::new(self.look, columns());
        }
        self.answered |= !text.trim().is_empty();
        let text = untrusted::text(text);
        let shown = self.markdown.push(&text);
        if !shown.is_empty() {
            self.spinner.erase();
            self.out.piece(shown);
        }
        self.spinner.say(&t!("writing"));
        self.open = match self.look == Look::Source && text.ends_with('\n') {
            true => Open::Nothing,
            false => Open::Answer,
        };
    }

    /// What the model thinks, apart from what it says.
    fn thought(&mut self, text: &str) {
        if self.open != Open::Thought {
            self.end_line();
        }
        let text = untrusted::text(text);
        self.out.piece(self.out.paint(Style::Dim, &text));
        self.open = match text.ends_with('\n') {
            true => Open::Nothing,
            false => Open::Thought,
        };
    }

    fn call(&mut self, record: &ToolCallRecord) {
        let name = name(record);
        match record.status {
            Status::Pending => {}
            Status::Invoking => {
                self.started.insert(record.number, Instant::now());
                let arguments = serde_json::to_string(&record.arguments).unwrap_or_default();
                let text = format!("→ {name} {}", short(&arguments));
                self.line(Style::Bold, &text);
                self.spinner.start(&name);
                self.named = Some(record.number);
            }
            status => {
                let took = self
                    .started
                    .remove(&record.number)
                    .map(|start| start.elapsed());
                let failed = status != Status::Done || record.is_error == Some(true);
                let (mark, style) = match failed {
                    true => ("✗", Style::Bad),
                    false => ("✓", Style::Good),
                };
                let took = took
                    .map(|took| format!(" {}", elapsed(took)))
                    .unwrap_or_default();
                let text = record.response_text().unwrap_or_default();
                // A call that never ran was not named before, and several may run at once.
                let named = self.named.take() == Some(record.number);
                let name = match named && self.started.is_empty() {
                    true => String::new(),
                    false => format!(" {name}"),
                };
                let (shown, is_cut) = shortened(&text);
                self.line(style, &format!("  {mark}{name}{took}  {shown}"));
                let number = record.number;
                let in_part = self.whole.remove(&number);
                if self.show == Show::Chat && (is_cut || in_part) {
                    let mut hint = t!("/output {n} shows all of it", n = number);
                    if in_part {
                        let save = t!("/save {n} FILE saves the whole result", n = number);
                        hint = format!("{hint}; {save}");
                    }
                    self.line(Style::Dim, &format!("    {hint}"));
                }
                match self.started.is_empty() {
                    true => self.spinner.stop(),
                    false => self.spinner.say(&t!("calling tools")),
                }
                self.save(record);
            }
        }
    }

    /// Saves content that is not text, and prints its path.
    fn save(&mut self, record: &ToolCallRecord) {
        let response: Option<Value> = record.response.as_ref().and_then(|raw| raw.parse().ok());
        for (mime, data) in response.iter().flat_map(media::parts) {
            self.saved(mime, data);
        }
    }

    fn saved(&mut self, mime: &str, base64: &str) {
        let text = match media::save(&self.media, mime, base64) {
            Ok(path) => t!(
                "{mime} saved as {path}",
                mime = untrusted::line(mime),
                path = path.display()
            ),
            Err(error) => t!(
                "{mime} could not be saved: {error}",
                mime = untrusted::line(mime),
                error = error
            ),
        };
        self.line(Style::Dim, &format!("  {text}"));
    }

    fn media(&mut self, media: &Media) {
        self.answered = true;
        let mime = media
            .mime_type
            .as_deref()
            .unwrap_or("application/octet-stream");
        match &media.source {
            MediaSource::Data(base64) => self.saved(mime, base64),
            MediaSource::Url(url) => {
                let text = format!("  {} at {}", untrusted::line(mime), untrusted::line(url));
                self.line(Style::Dim, &text);
            }
            _ => {}
        }
    }

    /// A bar that is drawn over, in a terminal only.
    fn progress(&mut self, progress: &CallProgress) {
        if self.show != Show::Chat {
            return;
        }
        self.end_line();
        let message = progress.message.as_deref().unwrap_or_default();
        let bar = match progress.total.filter(|total| *total > 0.0) {
            Some(total) => bar(progress.progress / total),
            None => format!("{}", progress.progress),
        };
        self.spinner.show(&format!("{bar} {}", short(message)));
    }

    fn done(&mut self, reason: &Reason) {
        self.end_line();
        self.spinner.stop();
        let hint = match reason {
            Reason::Finished if self.answered => return,
            Reason::Finished => {
                return self.line(Style::Dim, &t!("The model ended without an answer."));
            }
            // It is the failure of the verb, and reported once, as that.
            Reason::Failed { .. } if self.show != Show::Chat => return,
            _ if self.show != Show::Chat => String::new(),
            Reason::Limit(LimitKind::Cost | LimitKind::Rounds)
            | Reason::Loop
            | Reason::Cancelled => format!(" ({})", t!("/continue goes on")),
            _ => String::new(),
        };
        let reason = reason.to_string();
        let text = format!("{}{hint}", untrusted::text(&message(&reason)));
        self.line(Style::Bad, &text);
    }
}

/// Display name of a call: its server and tool or, for an unknown tool, the model's name for it.
fn name(record: &ToolCallRecord) -> String {
    let (server, tool) = (&record.server_name, &record.tool_name);
    match (server.is_empty(), tool.is_empty()) {
        (_, true) => untrusted::line(&record.display_name).into_owned(),
        (true, false) => untrusted::line(tool).into_owned(),
        (false, false) => format!("{} · {}", untrusted::line(server), untrusted::line(tool)),
    }
}

fn bar(part: f64) -> String {
    let full = (part.clamp(0.0, 1.0) * BAR as f64) as usize;
    format!("[{}{}]", "=".repeat(full), " ".repeat(BAR - full))
}

/// The beginning of a text, in one line.
fn short(text: &str) -> String {
    shortened(text).0
}

/// The beginning of a text, in one line, and whether there is more of it.
fn shortened(text: &str) -> (String, bool) {
    let text = untrusted::text(text);
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(WIDTH) {
        line.truncate(end);
        line.push('…');
        return (line, true);
    }
    let lines = text.trim().lines().count() > 1;
    (line, lines)
}

fn elapsed(took: Duration) -> String {
    match took.as_millis() {
        millis @ 0..1000 => format!("{millis} ms"),
        _ => format!("{:.1} s", took.as_secs_f64()),
    }
}

/// Millionths of a dollar, for people.
pub(crate) fn money(micros: u64) -> String {
    match micros {
        0 => "$0".to_owned(),
        1..10_000 => format!("${:.4}", micros as f64 / 1e6),
        _ => format!("${:.2}", micros as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_safe() {
        assert_eq!(short("a\n  b\u{1b}[2J"), "a b\u{fffd}[2J");
        assert_eq!(short(&"x".repeat(500)).chars().count(), WIDTH + 1);
    }

    #[test]
    fn figures_are_for_people() {
        assert_eq!(bar(0.5), "[==========          ]");
        assert_eq!(bar(7.0), format!("[{}]", "=".repeat(BAR)));
        assert_eq!(elapsed(Duration::from_millis(12)), "12 ms");
        assert_eq!(elapsed(Duration::from_millis(1250)), "1.2 s");
        assert_eq!(
            (money(0), money(1234), money(2_500_000)),
            ("$0".into(), "$0.0012".into(), "$2.50".into())
        );
    }
}
