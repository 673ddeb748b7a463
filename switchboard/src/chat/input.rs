//! Lines from the user: with history and editing in a terminal, one by one from a pipe.

use std::io::BufRead as _;
use std::path::PathBuf;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};
use tokio::sync::{mpsc, oneshot};

/// The most lines of history that are kept.
const HISTORY: usize = 1000;
/// The longest line that is read from a pipe.
const LINE_BYTES: u64 = 16 << 20;

/// A line from the user.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Line {
    /// What was said.
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// There will be no more.
    End,
}

/// Reads lines on a thread of its own, when asked to.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    wishes: mpsc::Sender<Wish>,
}

struct Wish {
    prompt: String,
    /// What stands there already.
    initial: String,
    remember: bool,
    answer: oneshot::Sender<Line>,
}

impl Input {
    /// From a terminal, with a history in this file.
    pub(crate) fn terminal(history: PathBuf) -> Self {
        Self::start(move |wishes| serve_terminal(&history, wishes))
    }

    /// From a pipe or a file.
    pub(crate) fn pipe() -> Self {
        Self::start(serve_pipe)
    }

    fn start(serve: impl FnOnce(mpsc::Receiver<Wish>) + Send + 'static) -> Self {
        let (wishes, waiting) = mpsc::channel(1);
        // Without the thread every line is the end.
        let _ = std::thread::Builder::new()
            .name("switchboard-input".to_owned())
            .spawn(move || serve(waiting));
        Self { wishes }
    }

    /// The next message: lines that end in a backslash go on in the next one.
    pub(crate) async fn message(&self, prompt: &str) -> Line {
        let mut whole = String::new();
        let mut prompt = prompt;
        loop {
            match self.ask(prompt, "", true).await {
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

    /// The answer to a question, which is not kept in the history.
    pub(crate) async fn answer(&self, prompt: &str, initial: &str) -> Line {
        self.ask(prompt, initial, false).await
    }

    async fn ask(&self, prompt: &str, initial: &str, remember: bool) -> Line {
        let (answer, wait) = oneshot::channel();
        let wish = Wish {
            prompt: prompt.to_owned(),
            initial: initial.to_owned(),
            remember,
            answer,
        };
        match self.wishes.send(wish).await {
            Ok(()) => wait.await.unwrap_or(Line::End),
            Err(_) => Line::End,
        }
    }
}

fn serve_terminal(history: &PathBuf, mut wishes: mpsc::Receiver<Wish>) {
    let config = Config::builder()
        .auto_add_history(false)
        .max_history_size(HISTORY)
        .map(|config| config.build());
    let Ok(config) = config else { return };
    let Ok(mut editor) = Editor::<(), FileHistory>::with_config(config) else {
        return;
    };
    // A history that is not there yet is empty.
    let _ = editor.load_history(history);
    while let Some(wish) = wishes.blocking_recv() {
        let line = match editor.readline_with_initial(&wish.prompt, (&wish.initial, "")) {
            Ok(text) => Line::Text(text),
            Err(ReadlineError::Interrupted) => Line::Interrupted,
            Err(_) => Line::End,
        };
        if let (Line::Text(text), true) = (&line, wish.remember)
            && !text.trim().is_empty()
        {
            // What cannot be kept is only missed.
            let _ = editor.add_history_entry(text);
            let _ = editor.append_history(history);
        }
        let _ = wish.answer.send(line);
    }
}

fn serve_pipe(mut wishes: mpsc::Receiver<Wish>) {
    while let Some(wish) = wishes.blocking_recv() {
        let mut text = String::new();
        let mut bounded = std::io::Read::take(std::io::stdin().lock(), LINE_BYTES);
        let line = match bounded.read_line(&mut text) {
            Ok(0) | Err(_) => Line::End,
            Ok(_) => Line::Text(text.trim_end_matches(['\n', '\r']).to_owned()),
        };
        let _ = wish.answer.send(line);
    }
}
