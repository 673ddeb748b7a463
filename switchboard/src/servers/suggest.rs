//! What a user could ask, made from the tools and prompts of the user's servers.

use std::collections::VecDeque;

use serde::Serialize;

/// How many suggestions there are at most.
const MAX_SUGGESTIONS: usize = 6;
/// The longest suggestion, in characters.
const MAX_CHARS: usize = 90;

/// A tool or a prompt that may be suggested.
#[derive(Clone, Debug)]
pub(crate) struct Offered {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    /// Whether it is a prompt.
    pub(crate) is_prompt: bool,
    /// Whether it changes nothing, as its server states.
    pub(crate) reads: bool,
    /// How many values it must be given.
    pub(crate) required: usize,
}

/// Something to ask.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub(crate) struct Suggestion {
    /// What to ask; for a prompt, what it is about.
    pub(crate) text: String,
    pub(crate) server: String,
    pub(crate) tool: Option<String>,
    pub(crate) prompt: Option<String>,
}

/// Suggestions from each server in turn, what is easiest first: prompts, then tools that only read
/// and want few values.
pub(crate) fn suggest(servers: Vec<(String, Vec<Offered>)>) -> Vec<Suggestion> {
    let mut queues: VecDeque<(String, VecDeque<Offered>)> = servers
        .into_iter()
        .map(|(server, mut offered)| {
            offered.sort_by_key(|it| (!it.is_prompt, !it.reads, it.required));
            (server, offered.into())
        })
        .collect();
    let mut found: Vec<Suggestion> = Vec::new();
    while let Some((server, mut offered)) = queues.pop_front() {
        let Some(next) = offered.pop_front() else {
            continue;
        };
        if let Some(text) = text(&next)
            && !found.iter().any(|it| it.text == text)
        {
            let (tool, prompt) = match next.is_prompt {
                true => (None, Some(next.name)),
                false => (Some(next.name), None),
            };
            found.push(Suggestion {
                text,
                server: server.clone(),
                tool,
                prompt,
            });
        }
        if found.len() == MAX_SUGGESTIONS {
            break;
        }
        queues.push_back((server, offered));
    }
    found
}

/// The first sentence of a description, if it is short; else the title.
fn text(offered: &Offered) -> Option<String> {
    let sentence = offered.description.as_deref().and_then(|text| {
        let line = text.trim().lines().next()?.trim();
        let sentence = line.split_once(". ").map_or(line, |(first, _)| first);
        let sentence = sentence.trim_end_matches(['.', ':']).trim();
        let count = sentence.chars().count();
        let fits = (3..=MAX_CHARS).contains(&count);
        let begins = sentence.chars().next().is_some_and(char::is_alphabetic);
        (fits && begins).then(|| sentence.to_owned())
    });
    let title = || {
        offered
            .title
            .clone()
            .filter(|title| !title.trim().is_empty())
    };
    sentence.or_else(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(name: &str, description: &str, reads: bool, required: usize) -> Offered {
        Offered {
            name: name.to_owned(),
            title: None,
            description: Some(description.to_owned()),
            is_prompt: false,
            reads,
            required,
        }
    }

    #[test]
    fn every_server_is_suggested_in_turn_and_what_reads_comes_first() {
        let files = vec![
            offered("write", "Write a file. It is replaced.", false, 2),
            offered("read", "Read a file. The whole of it.", true, 1),
            offered("long", &"x".repeat(200), true, 0),
        ];
        let clock = vec![offered("time", "Tell the time.", true, 0)];
        let all = suggest(vec![
            ("files".to_owned(), files),
            ("clock".to_owned(), clock),
        ]);
        let texts: Vec<&str> = all.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["Tell the time", "Read a file", "Write a file"]);
    }

    #[test]
    fn there_are_few() {
        let many = (0..50).map(|n| offered("t", &format!("Do thing {n}"), true, 0));
        assert_eq!(
            suggest(vec![("s".to_owned(), many.collect())]).len(),
            MAX_SUGGESTIONS
        );
    }
}
