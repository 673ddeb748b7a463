//! Completion of the line that is typed: commands, and the names that a conversation knows.

use std::path::{MAIN_SEPARATOR, Path};
use std::sync::Arc;

use parking_lot::Mutex;

/// The most candidates that are listed.
const MAX_LISTED: usize = 40;
/// The most entries of a folder that are looked at.
const MAX_ENTRIES: usize = 5000;

/// Names that can be completed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    /// Slash commands.
    pub(crate) commands: Vec<String>,
    pub(crate) servers: Vec<String>,
    pub(crate) tools: Vec<String>,
    pub(crate) prompts: Vec<String>,
    /// URIs.
    pub(crate) resources: Vec<String>,
    pub(crate) models: Vec<String>,
    pub(crate) sessions: Vec<String>,
}

/// Names that change while a line is typed.
pub(crate) type SharedWords = Arc<Mutex<Words>>;

/// What Tab comes to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Completion {
    /// This belongs at the cursor.
    Insert(String),
    /// There are several.
    Choices(Vec<String>),
    Nothing,
}

/// Completes the word before the cursor; `before` is the line up to it.
pub(crate) fn complete(before: &str, words: &Words) -> Completion {
    let start = before.rfind(char::is_whitespace).map_or(0, |at| {
        at + before
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8)
    });
    let word = before.get(start..).unwrap_or_default();
    let mut found = candidates(before, start, word, words);
    found.retain(|it| it.starts_with(word) && it.len() >= word.len());
    found.sort_unstable();
    found.dedup();
    let Some(common) = common(&found) else {
        return Completion::Nothing;
    };
    let rest = common.get(word.len()..).unwrap_or_default();
    match (found.as_slice(), rest) {
        ([only], rest) if only.ends_with(MAIN_SEPARATOR) => Completion::Insert(rest.to_owned()),
        ([_], rest) => Completion::Insert(format!("{rest} ")),
        (_, "") => {
            found.truncate(MAX_LISTED);
            Completion::Choices(found)
        }
        (_, rest) => Completion::Insert(rest.to_owned()),
    }
}

fn candidates(before: &str, start: usize, word: &str, words: &Words) -> Vec<String> {
    if start == 0 {
        return match word.starts_with('/') {
            true => words.commands.clone(),
            false => names(word, words),
        };
    }
    let modes = || {
        ["ask", "auto-read", "auto", "plan"]
            .map(str::to_owned)
            .to_vec()
    };
    match before.split_whitespace().next().unwrap_or_default() {
        "/model" => words.models.clone(),
        "/approve" => modes(),
        "/prompts" => words.prompts.clone(),
        "/sessions" => words.sessions.clone(),
        "/export" | "/save" | "/attach" => files(word),
        _ => names(word, words),
    }
}

/// What may be meant in a message: something of a server's, or a file.
fn names(word: &str, words: &Words) -> Vec<String> {
    if word.is_empty() {
        return Vec::new();
    }
    let known = [
        &words.tools,
        &words.servers,
        &words.resources,
        &words.prompts,
    ];
    let mut all: Vec<String> = known.into_iter().flatten().cloned().collect();
    if word.contains(MAIN_SEPARATOR) || word.starts_with(['.', '~']) {
        all.extend(files(word));
    }
    all
}

/// Files and folders whose path begins so.
fn files(word: &str) -> Vec<String> {
    let cut = word.rfind(MAIN_SEPARATOR).map_or(0, |at| at + 1);
    let (folder, begun) = word.split_at(cut);
    let home = || std::env::home_dir().map(|home| home.display().to_string());
    let looked = match (folder, folder.strip_prefix('~').zip(home())) {
        ("", _) => ".".to_owned(),
        (_, Some((rest, home))) => format!("{home}{rest}"),
        (folder, None) => folder.to_owned(),
    };
    let entries = std::fs::read_dir(Path::new(&looked)).into_iter().flatten();
    let entries = entries.take(MAX_ENTRIES).flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let hidden = name.starts_with('.') && !begun.starts_with('.');
        let odd = name.contains(|sign: char| sign.is_whitespace() || sign.is_control());
        let end = match entry.path().is_dir() {
            true => MAIN_SEPARATOR.to_string(),
            false => String::new(),
        };
        (!hidden && !odd).then(|| format!("{folder}{name}{end}"))
    });
    entries.collect()
}

/// The longest beginning that all share.
fn common(all: &[String]) -> Option<String> {
    let (first, rest) = all.split_first()?;
    let mut length = first.len();
    for other in rest {
        let same = first.char_indices().zip(other.chars());
        let differs = same.into_iter().find(|((_, a), b)| a != b);
        length = length.min(differs.map_or(other.len().min(first.len()), |((at, _), _)| at));
    }
    first.get(..length).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        let list = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
        Words {
            commands: list(&["/tools", "/servers", "/sessions", "/save"]),
            tools: list(&["write_note", "write_file", "日志"]),
            servers: list(&["files"]),
            models: list(&["openai/gpt-5", "demo"]),
            ..Words::default()
        }
    }

    #[test]
    fn a_word_grows_as_far_as_it_is_clear() {
        let check = |before: &str, want: Completion| {
            assert_eq!(complete(before, &words()), want, "{before}")
        };
        let insert = |text: &str| Completion::Insert(text.to_owned());
        let choices =
            |all: &[&str]| Completion::Choices(all.iter().map(|it| (*it).to_owned()).collect());
        check("/to", insert("ols "));
        check("/se", choices(&["/servers", "/sessions"]));
        check("please wri", insert("te_"));
        check("please write_", choices(&["write_file", "write_note"]));
        check("please write_n", insert("ote "));
        check("看日", insert_nothing());
        check("看 日", insert("志 "));
        check("/model op", insert("enai/gpt-5 "));
        check("/approve p", insert("lan "));
        check("nothing like it", Completion::Nothing);
        check("", Completion::Nothing);
    }

    fn insert_nothing() -> Completion {
        Completion::Nothing
    }

    #[test]
    fn paths_are_completed_folder_by_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("reports")).unwrap();
        std::fs::write(folder.path().join("reports/july.md"), "").unwrap();
        std::fs::write(folder.path().join(".hidden"), "").unwrap();
        let path =
            |rest: &str| format!("/attach {}{MAIN_SEPARATOR}{rest}", folder.path().display());
        let none = Words::default();
        let insert = |text: String| Completion::Insert(text);
        assert_eq!(
            complete(&path("re"), &none),
            insert(format!("ports{MAIN_SEPARATOR}"))
        );
        assert_eq!(
            complete(&path(&format!("reports{MAIN_SEPARATOR}j")), &none),
            insert("uly.md ".to_owned())
        );
        assert_eq!(complete(&path("x"), &none), Completion::Nothing);
    }
}
