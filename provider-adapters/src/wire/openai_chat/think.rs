//! Splits `<think>…</think>` off the start of a text.

use crate::adapter::reply_builder::TextKind;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Reads text piece by piece. A thought is only looked for at the very start: later on the tag is
/// something the model talks about.
#[derive(Debug, Default)]
pub(crate) struct ThinkSplitter {
    state: State,
    /// What may be the start of a tag.
    held: String,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum State {
    #[default]
    Start,
    Inside,
    /// After the thought; blanks that follow it are not part of the text.
    Closed,
    Over,
}

impl ThinkSplitter {
    /// Takes text in; `say` gets what is certain.
    pub(crate) fn push(&mut self, text: &str, say: &mut impl FnMut(TextKind, &str)) {
        if self.state == State::Over {
            return say(TextKind::Text, text);
        }
        self.held.push_str(text);
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        loop {
            match self.state {
                State::Start => {
                    let trimmed = rest.trim_start();
                    if let Some(after) = trimmed.strip_prefix(OPEN) {
                        self.state = State::Inside;
                        rest = after;
                    } else if OPEN.starts_with(trimmed) {
                        rest.clone_into(&mut self.held);
                        return;
                    } else {
                        self.state = State::Over;
                    }
                }
                State::Inside => {
                    if let Some((thought, after)) = rest.split_once(CLOSE) {
                        say(TextKind::Reasoning, thought);
                        self.state = State::Closed;
                        rest = after;
                    } else {
                        let keep = tag_start(rest, CLOSE);
                        let (thought, kept) = rest.split_at(rest.len() - keep);
                        say(TextKind::Reasoning, thought);
                        kept.clone_into(&mut self.held);
                        return;
                    }
                }
                State::Closed => {
                    rest = rest.trim_start();
                    if rest.is_empty() {
                        return;
                    }
                    self.state = State::Over;
                }
                State::Over => {
                    say(TextKind::Text, rest);
                    return;
                }
            }
        }
    }

    /// Nothing more comes: says what was held back.
    pub(crate) fn finish(&mut self, say: &mut impl FnMut(TextKind, &str)) {
        let held = std::mem::take(&mut self.held);
        let voice = if self.state == State::Inside {
            TextKind::Reasoning
        } else {
            TextKind::Text
        };
        say(voice, &held);
    }
}

/// How many bytes at the end of `text` may be the start of `tag`.
fn tag_start(text: &str, tag: &str) -> usize {
    let longest = tag.len().saturating_sub(1).min(text.len());
    (1..=longest)
        .rev()
        .find(|len| tag.get(..*len).is_some_and(|start| text.ends_with(start)))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, thought: &str, rest: &str) {
        for size in 1..=text.len() {
            let mut splitter = ThinkSplitter::default();
            let (mut thoughts, mut said) = (String::new(), String::new());
            let mut say = |voice, piece: &str| match voice {
                TextKind::Reasoning => thoughts.push_str(piece),
                _ => said.push_str(piece),
            };
            for piece in text.as_bytes().chunks(size) {
                splitter.push(std::str::from_utf8(piece).unwrap(), &mut say);
            }
            splitter.finish(&mut say);
            assert_eq!(
                (thoughts.as_str(), said.as_str()),
                (thought, rest),
                "pieces of {size}"
            );
        }
    }

    #[test]
    fn a_thought_at_the_start_is_split_off_at_any_chunking() {
        check(
            "\n<think>a <b> </think\n></think>\n\nanswer",
            "a <b> </think\n>",
            "answer",
        );
        check("<think>never ends</thin", "never ends</thin", "");
        check("<think></think>x", "", "x");
    }

    #[test]
    fn a_tag_later_on_is_text() {
        check(" <thin>no</think>", "", " <thin>no</think>");
        check("see <think>x</think>", "", "see <think>x</think>");
        check("<thi", "", "<thi");
    }
}
