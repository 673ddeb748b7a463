//! Lines from the user: typed in a terminal, or one by one from a pipe.

use std::io::BufRead as _;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::chat::complete::SharedWords;
use crate::chat::router::QUEUE;
use crate::chat::terminal::{self, Waker};
use crate::display::out::Out;

/// The longest line that is read from a pipe.
const LINE_BYTES: u64 = 16 << 20;
/// The most notices that wait to be shown.
const NOTICES: usize = 256;

/// A line from the user.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Line {
    /// A line of text.
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// End of input.
    End,
}

/// What the keyboard did while no line was asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Notice {
    /// This line waits to be sent.
    Queued(String),
    /// This is not kept, because there is no room.
    Dropped(String),
    /// Ctrl-C.
    Interrupted,
}

/// Lines from the user. One thread owns standard input, from the first line to the last.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    run_args: mpsc::Sender<Wish>,
    waker: Option<Waker>,
}

/// What the thread is asked for.
#[derive(Debug)]
pub(crate) enum Wish {
    Message {
        prompt: String,
        reply: oneshot::Sender<Line>,
    },
    Answer {
        prompt: String,
        /// What is in the line already.
        initial: String,
        reply: oneshot::Sender<Line>,
    },
    /// Puts the lines that wait back into the line that is edited next.
    Recall,
}

impl Input {
    /// From a terminal, with a history in this file. Lines that are typed while none is asked for
    /// wait, and are the next messages.
    pub(crate) fn terminal(
        out: Out,
        history: PathBuf,
        words: &SharedWords,
    ) -> (Self, mpsc::Receiver<Notice>) {
        Self::of_terminal(out, QUEUE, Some(history), Arc::clone(words))
    }

    /// From a terminal, for answers alone. Lines that are typed while none is asked for are
    /// dropped, visibly.
    pub(crate) fn answers(out: Out) -> Self {
        Self::of_terminal(out, 0, None, SharedWords::default()).0
    }

    fn of_terminal(
        out: Out,
        room: usize,
        history: Option<PathBuf>,
        words: SharedWords,
    ) -> (Self, mpsc::Receiver<Notice>) {
        let (notices, noticed) = mpsc::channel(NOTICES);
        let (run_args, waiting) = mpsc::channel(1);
        let waker = terminal::start(out, room, history, words, waiting, notices);
        (Self { run_args, waker }, noticed)
    }

    /// From a pipe or a file, whose lines are messages. A pipe has no before and after, so they
    /// answer questions only if `answers` says that they are meant to.
    pub(crate) fn pipe(answers: bool) -> Self {
        let (run_args, waiting) = mpsc::channel(1);
        // Without the thread every line is the end.
        let _ = std::thread::Builder::new()
            .name("switchboard-input".to_owned())
            .spawn(move || serve_pipe(waiting, answers));
        let waker = None;
        Self { run_args, waker }
    }

    /// The next message: lines that end in a backslash go on in the next one.
    pub(crate) async fn message(&self, prompt: &str) -> Line {
        let mut whole = String::new();
        let mut prompt = prompt;
        loop {
            let (reply, wait) = oneshot::channel();
            let wish = Wish::Message {
                prompt: prompt.to_owned(),
                reply,
            };
            match self.ask(wish, wait).await {
                Line::Text(text) => match text.strip_suffix('\\') {
                    Some(begun) => {
                        whole.push_str(begun);
                        whole.push('\n');
                        prompt = "… ";
                    }
                    None => return Line::Text(whole + &text),
                },
                Line::End if !whole.is_empty() => return Line::Text(whole),
                other => return other,
            }
        }
    }

    /// The answer to a question that has just been shown: a line that was begun after it. It is
    /// not kept in the history.
    pub(crate) async fn answer(&self, prompt: &str, initial: &str) -> Line {
        let (reply, wait) = oneshot::channel();
        let wish = Wish::Answer {
            prompt: prompt.to_owned(),
            initial: initial.to_owned(),
            reply,
        };
        self.ask(wish, wait).await
    }

    /// Does not send the lines that wait, but shows them at the next prompt to be edited.
    pub(crate) async fn recall(&self) {
        self.wish(Wish::Recall).await;
    }

    async fn ask(&self, wish: Wish, wait: oneshot::Receiver<Line>) -> Line {
        self.wish(wish).await;
        wait.await.unwrap_or(Line::End)
    }

    async fn wish(&self, wish: Wish) {
        // If the thread has ended, the reply channel is dropped.
        let _ = self.run_args.send(wish).await;
        if let Some(waker) = &self.waker {
            waker.wake();
        }
    }
}

fn serve_pipe(mut run_args: mpsc::Receiver<Wish>, answers: bool) {
    while let Some(wish) = run_args.blocking_recv() {
        let reply = match wish {
            Wish::Message { reply, .. } => reply,
            Wish::Answer { reply, .. } if answers => reply,
            Wish::Answer { reply, .. } => {
                let _ = reply.send(Line::End);
                continue;
            }
            Wish::Recall => continue,
        };
        let mut text = String::new();
        let mut bounded = std::io::Read::take(std::io::stdin().lock(), LINE_BYTES);
        let line = match bounded.read_line(&mut text) {
            Ok(0) | Err(_) => Line::End,
            Ok(_) => Line::Text(text.trim_end_matches(['\n', '\r']).to_owned()),
        };
        let _ = reply.send(line);
    }
}
