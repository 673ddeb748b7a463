//! Where each typed line goes: it is a message, the answer to a question, or it waits.
//!
//! The rule: the answer to a question is a line whose first key was pressed after the question
//! had been shown. All other lines are messages, in the order in which they were typed.

use std::collections::VecDeque;

use crate::chat::edit::Edit;
use crate::chat::key::Key;

/// The most lines that wait to be sent.
pub(crate) const QUEUE: usize = 64;

/// What lines are wanted for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// Nothing: an answer is under way.
    Busy,
    /// A message.
    Prompt,
    /// A question that is about to be shown.
    Asking,
    /// A question that has been shown.
    Question,
}

/// What comes of a key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Effect {
    /// A requested message.
    Message(String),
    /// The answer to the question that is shown.
    Answer(String),
    /// A line waits until a message is asked for.
    Queued(String),
    /// A line or pasted text is not kept, because there is no room.
    Dropped(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D on an empty line.
    Ended,
    /// Ctrl-Z.
    Suspend,
    /// The line looks different now.
    Redraw,
    /// The word before the cursor is to be completed.
    Complete,
    /// The previous or the next line of the history is wanted.
    History { back: bool },
}

/// Decides where each typed line goes.
#[derive(Debug)]
pub(crate) struct Router {
    state: State,
    /// The message that is being typed, also while no message is wanted.
    draft: Edit,
    /// The answer that is being typed.
    answer: Edit,
    queue: VecDeque<String>,
    room: usize,
}

impl Router {
    /// Lets this many lines wait.
    pub(crate) fn new(room: usize) -> Self {
        Self {
            state: State::Busy,
            draft: Edit::default(),
            answer: Edit::default(),
            queue: VecDeque::new(),
            room,
        }
    }

    /// A message is wanted: the first that waits, else what is typed next.
    pub(crate) fn prompt(&mut self) -> Option<String> {
        let waiting = self.queue.pop_front();
        self.state = match waiting {
            Some(_) => State::Busy,
            None => State::Prompt,
        };
        waiting
    }

    /// A question will be asked. Keys still belong to the message until it is [`shown`](Self::shown).
    pub(crate) fn ask(&mut self, initial: &str) {
        self.answer = Edit::new(initial);
        self.state = State::Asking;
    }

    /// The question has been shown in full, and every key that was pressed before has been given
    /// to [`key`](Self::key). `false` if a line was begun before: it must be finished first.
    pub(crate) fn shown(&mut self, in_paste: bool) -> bool {
        if self.state == State::Asking && self.draft.is_empty() && !in_paste {
            self.state = State::Question;
        }
        self.state == State::Question
    }

    /// Nothing is wanted any more.
    pub(crate) fn rest(&mut self) {
        self.state = State::Busy;
    }

    /// Puts all that waits back into the message that is being typed, to be looked at again.
    pub(crate) fn recall(&mut self) {
        let mut lines: Vec<String> = self.queue.drain(..).collect();
        if !self.draft.is_empty() {
            lines.push(self.draft.take());
        }
        self.draft = Edit::new(lines.join("\n"));
    }

    /// Whether a question waits for a line to be finished.
    pub(crate) fn is_asking(&self) -> bool {
        self.state == State::Asking
    }

    /// Whether what is typed is shown as it is typed.
    pub(crate) fn is_visible(&self) -> bool {
        self.state != State::Busy
    }

    /// The line that keys go to.
    pub(crate) fn edit(&self) -> &Edit {
        match self.state {
            State::Question => &self.answer,
            _ => &self.draft,
        }
    }

    /// Replaces the message that is being typed.
    pub(crate) fn replace(&mut self, text: &str) {
        self.draft = Edit::new(text);
    }

    /// Adds text to the message that is being typed, where the cursor is.
    pub(crate) fn insert(&mut self, text: &str) {
        self.draft.apply(&Key::Paste(text.to_owned()));
    }

    /// What comes of a key.
    pub(crate) fn key(&mut self, key: Key) -> Option<Effect> {
        match key {
            Key::Enter => self.enter(),
            Key::Interrupt => {
                match self.state {
                    State::Question => self.answer.take(),
                    _ => self.draft.take(),
                };
                Some(Effect::Interrupted)
            }
            Key::Eof if self.edit().is_empty() => {
                let wanted = matches!(self.state, State::Prompt | State::Question);
                wanted.then_some(Effect::Ended)
            }
            Key::Eof => self.apply(&Key::Delete),
            Key::Suspend => Some(Effect::Suspend),
            Key::LongPaste => Some(Effect::Dropped("pasted text of more than 1 MiB".to_owned())),
            Key::Up | Key::Down if self.state == State::Prompt => Some(Effect::History {
                back: key == Key::Up,
            }),
            Key::Tab if self.state == State::Prompt => Some(Effect::Complete),
            Key::Tab => None,
            // The answer to a question is one line.
            Key::Paste(text) if self.state == State::Question => {
                self.apply(&Key::Paste(text.replace('\n', " ")))
            }
            Key::Char('\n') if self.state == State::Question => None,
            key => self.apply(&key),
        }
    }

    fn apply(&mut self, key: &Key) -> Option<Effect> {
        let edit = match self.state {
            State::Question => &mut self.answer,
            _ => &mut self.draft,
        };
        edit.apply(key).then_some(Effect::Redraw)
    }

    fn enter(&mut self) -> Option<Effect> {
        match self.state {
            State::Question => {
                self.state = State::Busy;
                Some(Effect::Answer(self.answer.take()))
            }
            State::Prompt => {
                self.state = State::Busy;
                Some(Effect::Message(self.draft.take()))
            }
            State::Busy | State::Asking => {
                let line = self.draft.take();
                if line.trim().is_empty() {
                    return None;
                }
                if self.queue.len() >= self.room {
                    return Some(Effect::Dropped(line));
                }
                self.queue.push_back(line.clone());
                Some(Effect::Queued(line))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn press(router: &mut Router, text: &str) -> Vec<Effect> {
        let key = |char| match char {
            '\r' => Key::Enter,
            char => Key::Char(char),
        };
        let effects = text.chars().filter_map(|char| router.key(key(char)));
        effects.filter(|effect| *effect != Effect::Redraw).collect()
    }

    #[test]
    fn a_line_typed_before_a_question_is_a_message() {
        let mut router = Router::new(QUEUE);
        assert_eq!(press(&mut router, "y\r"), [Effect::Queued("y".to_owned())]);
        router.ask("");
        assert_eq!(
            press(&mut router, "yes\r"),
            [Effect::Queued("yes".to_owned())]
        );
        assert!(router.shown(false));
        // The second line comes before the next question.
        let answered = [
            Effect::Answer("n".to_owned()),
            Effect::Queued("y".to_owned()),
        ];
        assert_eq!(press(&mut router, "n\ry\r"), answered);
        router.ask("");
        assert!(router.shown(false));
        assert_eq!(press(&mut router, "c\r"), [Effect::Answer("c".to_owned())]);
        let next = [(); 4].map(|()| router.prompt());
        assert_eq!(
            next,
            [Some("y"), Some("yes"), Some("y"), None].map(|it| it.map(str::to_owned))
        );
    }

    #[test]
    fn a_line_begun_before_a_question_is_finished_first() {
        let mut router = Router::new(QUEUE);
        press(&mut router, "ye");
        router.ask("");
        assert!(!router.shown(false));
        assert_eq!(
            press(&mut router, "s\r"),
            [Effect::Queued("yes".to_owned())]
        );
        assert!(!router.shown(true), "a paste is under way");
        assert!(router.shown(false));
    }

    #[test]
    fn where_there_is_no_room_a_line_is_reported() {
        let mut router = Router::new(1);
        let effects = [
            Effect::Queued("a".to_owned()),
            Effect::Dropped("b".to_owned()),
        ];
        assert_eq!(press(&mut router, "a\r \rb\r"), effects);
        press(&mut router, "c");
        router.recall();
        assert_eq!(router.edit().text(), "a\nc");
    }

    #[derive(Clone, Debug)]
    enum Step {
        Type,
        Paste,
        Enter,
        Ask,
        Shown { in_paste: bool },
        Prompt,
        Rest,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => Just(Step::Type),
            1 => Just(Step::Paste),
            4 => Just(Step::Enter),
            2 => Just(Step::Ask),
            3 => any::<bool>().prop_map(|in_paste| Step::Shown { in_paste }),
            2 => Just(Step::Prompt),
            1 => Just(Step::Rest),
        ]
    }

    proptest! {
        /// Every key carries the moment it was pressed, so that a line tells when it was begun.
        #[test]
        fn no_line_begun_before_a_question_is_its_answer_and_none_is_lost(
            steps in prop::collection::vec(step(), 0..60)
        ) {
            let mut router = Router::new(QUEUE);
            let mut clock = 0u32;
            let mut shown_at = None;
            let (mut pressed, mut arrived) = (Vec::new(), Vec::new());
            let mut messages = Vec::new();
            let text = |clock: u32| format!("<{clock}>");
            let begun = |line: &str| line.split(['<', '>']).nth(1)?.parse::<u32>().ok();
            for step in steps {
                clock += 1;
                let effect = match step {
                    Step::Type => {
                        pressed.push(text(clock));
                        text(clock).chars().for_each(|char| drop(router.key(Key::Char(char))));
                        None
                    }
                    Step::Paste => {
                        pressed.push(text(clock));
                        router.key(Key::Paste(text(clock)))
                    }
                    Step::Enter => router.key(Key::Enter),
                    Step::Ask if !matches!(router.state, State::Question) => {
                        shown_at = None;
                        router.ask("");
                        None
                    }
                    Step::Shown { in_paste } => {
                        let before = router.state;
                        if router.shown(in_paste) && before != State::Question {
                            shown_at = Some(clock);
                        }
                        None
                    }
                    Step::Prompt if router.state == State::Busy => {
                        router.prompt().map(Effect::Message)
                    }
                    Step::Rest if router.state == State::Prompt => {
                        router.rest();
                        None
                    }
                    _ => None,
                };
                match effect {
                    Some(Effect::Answer(line)) => {
                        if let Some(begun) = begun(&line) {
                            prop_assert!(Some(begun) > shown_at, "{line} at {shown_at:?}");
                        }
                        prop_assert!(shown_at.take().is_some(), "an answer to nothing");
                        arrived.push(line);
                    }
                    Some(Effect::Message(line)) => {
                        messages.extend(begun(&line));
                        arrived.push(line);
                    }
                    Some(Effect::Dropped(line)) => prop_assert!(false, "lost {line}"),
                    _ => {}
                }
            }
            prop_assert!(messages.is_sorted(), "out of order: {messages:?}");
            // What is still typed or waits is there as well.
            arrived.extend(router.queue.iter().cloned());
            arrived.extend([router.draft.text().to_owned(), router.answer.text().to_owned()]);
            let all = arrived.concat();
            for mark in pressed {
                prop_assert_eq!(all.matches(&mark).count(), 1, "{} in {}", mark, all);
            }
        }
    }
}
