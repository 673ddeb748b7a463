//! The one thread that owns the terminal's keyboard.
//!
//! It reads keys in every state, gives each to the [`Router`], and draws the line that is edited.
//! While an answer is under way it draws nothing; lines that are typed then are reported as
//! [`Notice`]s, for whoever prints the answer to show between two lines of it.

#[cfg_attr(unix, path = "terminal/unix.rs")]
#[cfg_attr(windows, path = "terminal/windows.rs")]
mod tty;

use std::path::PathBuf;

use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use crate::chat::complete::{Completion, SharedWords, complete};
use crate::chat::history::History;
use crate::chat::input::{Line, Notice, Wish};
use crate::chat::key::Key;
use crate::chat::router::{Effect, Router};
use crate::chat::view::View;
use crate::display::out::{Out, Style};
use crate::display::untrusted;
use crate::lang::t;

use tty::{Tty, Woken};
pub(crate) use tty::{Waker, columns};

/// How the line looks that must be finished before a question is asked.
const UNFINISHED: &str = "> ";

/// Restores the terminal. Called when the program ends, for whatever reason.
pub(crate) fn restore() {
    tty::restore();
}

/// Starts the thread. Without it every line is the end.
pub(super) fn start(
    out: Out,
    room: usize,
    history: Option<PathBuf>,
    words: SharedWords,
    run_args: mpsc::Receiver<Wish>,
    notices: mpsc::Sender<Notice>,
) -> Option<Waker> {
    let (tty, waker) = Tty::open(out.is_plain()).ok()?;
    let serve = move || {
        Owner {
            tty,
            out,
            router: Router::new(room),
            view: match out.is_plain() {
                true => View::appending(),
                false => View::default(),
            },
            words,
            history: history.map(History::load),
            notices,
            asked: None,
            listens: room > 0,
            unfinished: false,
        }
        .serve(run_args);
    };
    std::thread::Builder::new()
        .name("switchboard-input".to_owned())
        .spawn(serve)
        .ok()?;
    Some(waker)
}

/// What is asked for now.
struct Asked {
    prompt: String,
    answer: bool,
    reply: oneshot::Sender<Line>,
}

struct Owner {
    tty: Tty,
    out: Out,
    router: Router,
    view: View,
    history: Option<History>,
    /// What can be completed.
    words: SharedWords,
    notices: mpsc::Sender<Notice>,
    asked: Option<Asked>,
    /// Whether keys are read while nothing is asked for.
    listens: bool,
    /// Whether it was explained that a line must be finished before the question.
    unfinished: bool,
}

impl Owner {
    fn serve(mut self, mut run_args: mpsc::Receiver<Wish>) {
        loop {
            if self
                .asked
                .as_ref()
                .is_some_and(|asked| asked.reply.is_closed())
            {
                self.settle();
            }
            if self.asked.is_none() {
                match run_args.try_recv() {
                    Ok(wish) => {
                        self.begin(wish);
                        continue;
                    }
                    Err(TryRecvError::Disconnected) => return self.tty.raw(false),
                    Err(TryRecvError::Empty) => {}
                }
            }
            let listens = self.listens || self.asked.is_some();
            self.tty.raw(listens);
            match self.tty.wait(listens) {
                Woken::Wish => {}
                Woken::Keys(keys) => keys.into_iter().for_each(|key| self.press(key)),
                Woken::End => {
                    self.reply(Line::End);
                    self.tty.raw(false);
                    // Dropped requests end what they wait for.
                    return;
                }
            }
        }
    }

    fn begin(&mut self, wish: Wish) {
        match wish {
            Wish::Recall => self.router.recall(),
            Wish::Message { prompt, reply } => {
                let waiting = self.router.prompt();
                self.asked = Some(Asked {
                    prompt,
                    answer: false,
                    reply,
                });
                match waiting {
                    Some(line) => {
                        let prompt = self.prompt();
                        self.show(&format!("{prompt}{}\n", untrusted::text(&line)));
                        self.deliver(line);
                    }
                    None => {
                        self.tty.raw(true);
                        self.draw();
                    }
                }
            }
            Wish::Answer {
                prompt,
                initial,
                reply,
            } => {
                self.router.ask(&initial);
                self.asked = Some(Asked {
                    prompt,
                    answer: true,
                    reply,
                });
                self.tty.raw(true);
                self.put();
            }
        }
    }

    /// Shows the question's prompt, takes out everything that was typed before it was shown, and
    /// only then lets keys be its answer. The prompt's last sign comes last, so that a program
    /// which waits for the prompt is not too early.
    fn put(&mut self) {
        let prompt = self.prompt();
        let mut words = prompt.trim_end().chars();
        words.next_back();
        self.show(words.as_str());
        self.view.begin(words.as_str());
        let Ok(keys) = self.tty.drain() else {
            return self.reply(Line::End);
        };
        for key in keys {
            self.press(key);
            if self.asked.is_none() {
                return;
            }
        }
        if !self.router.shown(self.tty.in_paste()) && !self.unfinished {
            self.unfinished = true;
            let text = t!(
                "This line was begun before the question, so it is not its answer. Enter puts it \
                 aside, Ctrl-U clears it."
            );
            self.note(&text);
        }
        self.draw();
    }

    fn press(&mut self, key: Key) {
        let asking = self.router.is_asking();
        let effect = self.router.key(key).unwrap_or(Effect::Redraw);
        match effect {
            // A line that was cleared is out of the way as well.
            Effect::Redraw if asking && self.router.edit().is_empty() => self.finished(),
            Effect::Redraw => self.draw(),
            Effect::Message(line) | Effect::Answer(line) => {
                self.leave(&line);
                self.deliver(line);
            }
            Effect::Interrupted => {
                let text = self.router.edit().text().to_owned();
                self.leave(&format!("{text}^C"));
                match self.asked {
                    Some(_) => self.reply(Line::Interrupted),
                    None => self.notify(Notice::Interrupted),
                }
            }
            Effect::Ended => {
                self.leave("");
                self.reply(Line::End);
            }
            Effect::Suspend => {
                let cleared = self.view.clear();
                self.show(&cleared);
                self.tty.suspend();
                self.draw();
            }
            Effect::Complete => {
                let edit = self.router.edit();
                let before = edit.text().get(..edit.cursor()).unwrap_or_default();
                let completion = complete(before, &self.words.lock());
                match completion {
                    Completion::Insert(text) => self.router.insert(&text),
                    Completion::Choices(all) => self.note(&all.join("  ")),
                    Completion::Nothing => {}
                }
                self.draw();
            }
            Effect::History { back } => {
                let typed = self.router.edit().text().to_owned();
                let found = self
                    .history
                    .as_mut()
                    .and_then(|history| history.find(back, &typed));
                if let Some(line) = found {
                    self.router.replace(&line);
                    self.draw();
                }
            }
            Effect::Queued(line) if asking => {
                self.note(&t!(
                    "Typed before the question, so sent after it: {line}",
                    line = line
                ));
                self.finished();
            }
            Effect::Dropped(line) if asking => {
                self.note(&t!(
                    "Typed before the question, so ignored: {line}",
                    line = line
                ));
                self.finished();
            }
            Effect::Queued(line) => self.notify(Notice::Queued(line)),
            Effect::Dropped(line) if self.asked.is_some() => {
                self.note(&t!("Not taken: {line}", line = line));
                self.draw();
            }
            Effect::Dropped(line) => self.notify(Notice::Dropped(line)),
        }
    }

    /// A line that was begun before the question is out of its way.
    fn finished(&mut self) {
        if std::mem::take(&mut self.unfinished) {
            self.put();
        }
    }

    /// Hands over a line that was asked for.
    fn deliver(&mut self, line: String) {
        let answer = self.asked.as_ref().is_some_and(|asked| asked.answer);
        if let (false, Some(history)) = (answer, &mut self.history) {
            history.add(&line);
        }
        self.reply(Line::Text(line));
    }

    fn reply(&mut self, line: Line) {
        if !self.listens {
            // The receiver of the line may read the terminal directly next.
            self.tty.raw(false);
        }
        if let Some(asked) = self.asked.take() {
            let _ = asked.reply.send(line);
        }
        self.settle();
    }

    /// Nothing is asked for any more.
    fn settle(&mut self) {
        if self.asked.take().is_some() {
            // It was withdrawn.
            let cleared = self.view.clear();
            self.show(&cleared);
        }
        self.unfinished = false;
        self.router.rest();
    }

    fn notify(&self, notice: Notice) {
        // Where nothing shows them, nothing is missed: the lines themselves are kept.
        let _ = self.notices.try_send(notice);
    }

    fn prompt(&self) -> String {
        let asked = self.asked.as_ref();
        asked.map(|asked| asked.prompt.clone()).unwrap_or_default()
    }

    /// Draws the line that is edited, if it is shown.
    fn draw(&mut self) {
        if self.asked.is_none() || !self.router.is_visible() {
            return;
        }
        let prompt = match self.router.is_asking() {
            true => UNFINISHED.to_owned(),
            false => self.prompt(),
        };
        let text = self
            .view
            .draw(&prompt, self.router.edit(), self.tty.columns());
        self.show(&text);
    }

    /// Ends the line that was edited, with this text in it.
    fn leave(&mut self, text: &str) {
        if self.asked.is_none() {
            return;
        }
        let prompt = self.prompt();
        let edit = crate::chat::edit::Edit::new(text);
        let text = self.view.leave(&prompt, &edit, self.tty.columns());
        self.show(&text);
    }

    /// A line of ours above the one that is edited.
    fn note(&mut self, text: &str) {
        let cleared = self.view.clear();
        let text = self
            .out
            .paint(Style::Dim, &format!("  {}", untrusted::text(text)));
        self.show(&format!("{cleared}{text}\n"));
    }

    fn show(&self, text: &str) {
        self.out.draw(text);
    }
}
