//! One block of Markdown as lines of a terminal.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::table::Table;
use super::wrap::{Face, Spans, paint, wrap};

/// How a code line is set off.
pub(super) const CODE_INDENT: &str = "    ";

/// Renders a block. Every line ends with a line break.
pub(super) fn render(text: &str, color: bool, columns: usize) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer {
        color,
        columns,
        ..Writer::default()
    };
    for event in Parser::new_ext(text, options) {
        writer.event(event);
    }
    writer.flush();
    writer.out
}

#[derive(Default)]
struct Writer {
    color: bool,
    columns: usize,
    out: String,
    spans: Spans,
    /// What emphasis is open, outermost first.
    faces: Vec<Face>,
    /// What stands before every line: of quotes and lists.
    indents: Vec<Indent>,
    /// The next numbers of the open lists; nothing for those without.
    numbers: Vec<Option<u64>>,
    /// Where the open links lead.
    links: Vec<(String, usize)>,
    table: Option<Table>,
    in_code: bool,
}

struct Indent {
    first: Option<String>,
    rest: String,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.code_lines(&text),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                self.mark("`");
                let code = Face {
                    code: true,
                    ..self.face()
                };
                self.spans.push((code, text.into_string()));
                self.mark("`");
            }
            Event::SoftBreak | Event::HardBreak => self.text("\n"),
            Event::Rule => {
                self.text(&"-".repeat(self.columns.clamp(4, 40)));
                self.flush();
            }
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
            Event::FootnoteReference(name) => self.text(&format!("[{name}]")),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.flush();
                if !self.color {
                    let marks = "#".repeat(level as usize);
                    self.text(&format!("{marks} "));
                }
                let underline = level == HeadingLevel::H1;
                self.open(
                    |face| Face {
                        bold: true,
                        underline,
                        ..face
                    },
                    "",
                );
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.indents.push(Indent {
                    first: None,
                    rest: "| ".to_owned(),
                });
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.in_code = true;
            }
            Tag::List(number) => {
                self.flush();
                self.numbers.push(number);
            }
            Tag::Item => {
                self.flush();
                let mark = match self.numbers.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "- ".to_owned(),
                };
                let rest = " ".repeat(mark.len());
                self.indents.push(Indent {
                    first: Some(mark),
                    rest,
                });
            }
            Tag::Emphasis => self.open(
                |face| Face {
                    italic: true,
                    ..face
                },
                "*",
            ),
            Tag::Strong => self.open(|face| Face { bold: true, ..face }, "**"),
            Tag::Strikethrough => self.open(|face| Face { dim: true, ..face }, "~~"),
            Tag::Link { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.spans.len()));
                self.open(
                    |face| Face {
                        underline: true,
                        ..face
                    },
                    "",
                );
            }
            Tag::Image { dest_url, .. } => {
                self.text("[picture: ");
                self.links.push((dest_url.into_string(), self.spans.len()));
            }
            Tag::Table(_) => {
                self.flush();
                self.table = Some(Table::default());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(_) => {
                self.faces.pop();
                self.flush();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.indents.pop();
            }
            TagEnd::Item => {
                self.flush();
                // An item without text has its mark all the same.
                if self
                    .indents
                    .last()
                    .is_some_and(|indent| indent.first.is_some())
                {
                    self.text(" ");
                    self.flush();
                }
                self.indents.pop();
            }
            TagEnd::List(_) => {
                self.numbers.pop();
            }
            TagEnd::CodeBlock => self.in_code = false,
            TagEnd::Emphasis => self.close("*"),
            TagEnd::Strong => self.close("**"),
            TagEnd::Strikethrough => self.close("~~"),
            TagEnd::Link => {
                self.faces.pop();
                self.leads_to("");
            }
            TagEnd::Image => self.leads_to("]"),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                let most = self.room();
                if let Some(table) = self.table.take() {
                    self.spans = table.spans(most);
                }
                self.flush();
            }
            _ => {}
        }
    }

    /// Where a link leads, unless its text is that.
    fn leads_to(&mut self, closing: &str) {
        let Some((url, from)) = self.links.pop() else {
            return;
        };
        let said = self.spans.iter().skip(from);
        let said: String = said.map(|(_, text)| text.as_str()).collect();
        self.text(closing);
        if said != url && format!("mailto:{said}") != url {
            let dim = Face {
                dim: true,
                ..Face::default()
            };
            self.spans.push((dim, format!(" ({url})")));
        }
    }

    fn face(&self) -> Face {
        self.faces.last().copied().unwrap_or_default()
    }

    fn open(&mut self, change: impl Fn(Face) -> Face, mark: &str) {
        self.mark(mark);
        self.faces.push(change(self.face()));
    }

    fn close(&mut self, mark: &str) {
        self.faces.pop();
        self.mark(mark);
    }

    /// The mark itself, where no colour shows what it means.
    fn mark(&mut self, mark: &str) {
        if !self.color {
            self.text(mark);
        }
    }

    fn text(&mut self, text: &str) {
        let face = self.face();
        self.spans.push((face, text.to_owned()));
    }

    fn room(&self) -> usize {
        let taken: usize = self.indents.iter().map(|indent| indent.rest.len()).sum();
        self.columns.saturating_sub(taken)
    }

    fn code_lines(&mut self, text: &str) {
        let code = Face {
            code: true,
            ..Face::default()
        };
        for line in text.lines() {
            let start = self.line_start();
            let line: Vec<(Face, char)> = line.chars().map(|sign| (code, sign)).collect();
            self.out.push_str(&format!(
                "{start}{CODE_INDENT}{}\n",
                paint(&line, self.color)
            ));
        }
    }

    /// What stands before the next line.
    fn line_start(&mut self) -> String {
        let indents = self.indents.iter_mut();
        let parts =
            indents.map(|indent| indent.first.take().unwrap_or_else(|| indent.rest.clone()));
        parts.collect()
    }

    /// Writes what was collected.
    fn flush(&mut self) {
        let mut spans = std::mem::take(&mut self.spans);
        if let Some((_, last)) = spans.last_mut() {
            last.truncate(last.trim_end_matches('\n').len());
        }
        if spans.iter().all(|(_, text)| text.is_empty()) {
            return;
        }
        for line in wrap(&spans, self.room()) {
            let start = self.line_start();
            let line = format!("{start}{}", paint(&line, self.color));
            self.out.push_str(line.trim_end_matches(' '));
            self.out.push('\n');
        }
    }
}
