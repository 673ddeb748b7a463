//! A language's texts: one file of `locales/`.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::fill;

/// Every file of `locales/`, by the name of its language.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/locales.rs"));

/// The deepest that texts within texts are looked for.
const DEPTH: usize = 4;

/// A language's texts by the English ones.
pub(super) struct Catalog {
    texts: HashMap<String, String>,
    plurals: HashMap<String, Map<String, Value>>,
    /// The categories of plurals that the language has, as Unicode names them.
    categories: Vec<String>,
    /// Phrases of the command line's parser, the longest first.
    phrases: Vec<(String, String)>,
    /// Texts with places, cut at these.
    patterns: Vec<Pattern>,
    /// The keys of errors and hints, which are translated as they are shown.
    #[cfg(test)]
    messages: std::collections::BTreeSet<String>,
}

struct Pattern {
    /// What stands before, between and behind the places.
    parts: Vec<String>,
    names: Vec<String>,
    into: String,
}

impl Catalog {
    /// The names of all languages but English.
    pub(super) fn languages() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    /// The texts of a language.
    pub(super) fn of(language: &str) -> Option<Self> {
        let (_, file) = FILES.iter().find(|(name, _)| *name == language)?;
        Self::read(file)
    }

    fn read(file: &str) -> Option<Self> {
        let file: Value = serde_json::from_str(file).ok()?;
        let mut catalog = Self {
            texts: HashMap::new(),
            plurals: HashMap::new(),
            categories: serde_json::from_value(file.get("plurals")?.clone()).ok()?,
            phrases: Vec::new(),
            patterns: Vec::new(),
            #[cfg(test)]
            messages: std::collections::BTreeSet::new(),
        };
        for (section, texts) in file.as_object()? {
            for (key, text) in texts.as_object().into_iter().flatten() {
                match text {
                    Value::Object(forms) => {
                        drop(catalog.plurals.insert(key.clone(), forms.clone()))
                    }
                    text if section == "parser" => {
                        catalog
                            .phrases
                            .push((key.clone(), text.as_str()?.to_owned()));
                    }
                    text => {
                        let text = text.as_str()?;
                        #[cfg(test)]
                        if section == "messages" {
                            catalog.messages.insert(key.clone());
                        }
                        if section == "messages" && key.contains('{') {
                            catalog.patterns.push(Pattern::new(key, text));
                        }
                        catalog.texts.insert(key.clone(), text.to_owned());
                    }
                }
            }
        }
        catalog
            .phrases
            .sort_by_key(|(key, _)| std::cmp::Reverse(key.len()));
        // The one with the most words of its own is the most exact.
        catalog
            .patterns
            .sort_by_key(|pattern| std::cmp::Reverse(pattern.weight()));
        Some(catalog)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.texts.get(key).map(String::as_str)
    }

    /// What the parser says, phrase by phrase: its texts are not ours.
    pub(super) fn parser(&self, english: &str) -> String {
        let phrases = self.phrases.iter();
        phrases.fold(english.to_owned(), |text, (key, into)| {
            text.replace(key, into)
        })
    }

    /// The form for a number.
    pub(super) fn count(&self, key: &str, number: usize) -> Option<&str> {
        let forms = self.plurals.get(key)?;
        forms.get(category(&self.categories, number))?.as_str()
    }

    /// A message that one of the texts was filled in to make. What was filled in may be one, too.
    pub(super) fn message<'a>(&self, english: &'a str) -> Cow<'a, str> {
        self.deep(english, DEPTH)
    }

    fn deep<'a>(&self, english: &'a str, depth: usize) -> Cow<'a, str> {
        if let Some(text) = self.text(english) {
            return Cow::Owned(text.to_owned());
        }
        if depth == 0 {
            return Cow::Borrowed(english);
        }
        for pattern in &self.patterns {
            if let Some(values) = pattern.values(english) {
                let values: Vec<(&str, String)> = values
                    .into_iter()
                    .map(|(name, value)| (name, self.deep(value, depth - 1).into_owned()))
                    .collect();
                return Cow::Owned(fill(&pattern.into, &values));
            }
        }
        Cow::Borrowed(english)
    }
}

/// Which category a number belongs to, in a language that has these.
fn category(categories: &[String], number: usize) -> &'static str {
    let has = |name: &str| categories.iter().any(|it| it == name);
    match (number % 10, number % 100) {
        _ if has("one") && !has("few") && number == 1 => "one",
        (1, rest) if has("few") && rest != 11 => "one",
        (2..=4, rest) if has("few") && !(12..=14).contains(&rest) => "few",
        _ if has("many") => "many",
        _ => "other",
    }
}

impl Pattern {
    fn new(key: &str, into: &str) -> Self {
        let (mut parts, mut names) = (Vec::new(), Vec::new());
        let mut rest = key;
        while let Some((before, from)) = rest.split_once('{') {
            let Some((name, after)) = from.split_once('}') else {
                break;
            };
            parts.push(before.to_owned());
            names.push(name.to_owned());
            rest = after;
        }
        parts.push(rest.to_owned());
        let into = into.to_owned();
        Self { parts, names, into }
    }

    /// How much of it is not filled in.
    fn weight(&self) -> usize {
        self.parts.iter().map(String::len).sum()
    }

    /// What was filled in, if the text was made from this.
    fn values<'a>(&self, text: &'a str) -> Option<Vec<(&str, &'a str)>> {
        let (first, between) = self.parts.split_first()?;
        let (last, between) = between.split_last()?;
        let mut rest = text.strip_prefix(first.as_str())?;
        let mut names = self.names.iter().map(String::as_str);
        let mut values = Vec::new();
        for part in between {
            let (value, after) = rest.split_once(part.as_str())?;
            values.push((names.next()?, value));
            rest = after;
        }
        values.push((names.next()?, rest.strip_suffix(last.as_str())?));
        Some(values)
    }
}

#[cfg(test)]
mod tests;
