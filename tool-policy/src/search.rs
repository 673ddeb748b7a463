//! Full-text search over tools.

mod tokenize;

use std::collections::{BTreeMap, HashMap};

use mcp_jsonrpc::{RawMap, RawObject};

use self::tokenize::each_word;
use crate::tool::ToolInfo;

/// The weight of a word by the field it is in.
const NAME: f64 = 3.0;
const TITLE: f64 = 2.0;
const DESCRIPTION: f64 = 1.0;
const ARGUMENT: f64 = 1.0;

/// BM25's `k1` (how fast repetitions saturate) and `b` (how much length counts).
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.6;

/// A full-text index over tools: their servers, names, titles, descriptions and argument names,
/// ranked by BM25. Building it parses every schema once; searching parses none.
///
/// The same documents and query give the same hits in the same order, on every machine.
///
/// ```
/// use tool_policy::{SearchIndex, ToolInfo};
///
/// let tool = |name, about| {
///     ToolInfo::new("files", name, serde_json::from_str("{}").unwrap()).with_description(about)
/// };
/// let tools = [tool("read", "Reads a file."), tool("delete", "Removes a file.")];
/// let index: SearchIndex = tools.iter().collect();
/// assert_eq!(index.search("remove file", 5)[0].position, 1);
/// ```
#[derive(Debug)]
pub struct SearchIndex {
    /// The weighted length of each document.
    lengths: Vec<f64>,
    words: Words,
    mean_length: f64,
}

/// A tool for the index.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Document<'a> {
    /// The server's name.
    pub server: &'a str,
    /// The tool's name.
    pub name: &'a str,
    /// The tool's title.
    pub title: Option<&'a str>,
    /// The tool's description.
    pub description: Option<&'a str>,
    /// The JSON Schema of the arguments.
    pub input_schema: &'a RawObject,
}

impl<'a> Document<'a> {
    /// A tool without a title and a description.
    pub fn new(server: &'a str, name: &'a str, input_schema: &'a RawObject) -> Self {
        Self {
            server,
            name,
            title: None,
            description: None,
            input_schema,
        }
    }
}

impl<'a> From<&'a ToolInfo> for Document<'a> {
    fn from(tool: &'a ToolInfo) -> Self {
        Self {
            description: tool.description.as_deref(),
            ..Self::new(&tool.server, &tool.tool, &tool.input_schema)
        }
    }
}

/// The words and their occurrences.
#[derive(Debug, Default)]
struct Words {
    numbers: HashMap<Box<str>, usize>,
    /// By a word's number: tool, weight.
    postings: Vec<Vec<(usize, f64)>>,
}

/// A tool that matches a query.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// The position of the tool among the indexed documents.
    pub position: usize,
    /// The score, comparable within one search only.
    pub score: f64,
}

impl<'a, D: Into<Document<'a>>> FromIterator<D> for SearchIndex {
    fn from_iter<I: IntoIterator<Item = D>>(documents: I) -> Self {
        let mut words = Words::default();
        let lengths: Vec<f64> = documents
            .into_iter()
            .enumerate()
            .map(|(at, document)| words.add(at, &document.into()))
            .collect();
        let total: f64 = lengths.iter().sum();
        Self {
            mean_length: (total / lengths.len().max(1) as f64).max(1.0),
            lengths,
            words,
        }
    }
}

impl SearchIndex {
    /// The tools that match `query` best, at most `limit`, best first; ties in document order. A tool
    /// without any of the query's words does not match.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        let mut asked: Vec<usize> = Vec::new();
        each_word(query, |word| {
            asked.extend(self.words.numbers.get(word).copied())
        });
        asked.sort_unstable();
        asked.dedup();
        for word in asked {
            let Some(found) = self.words.postings.get(word) else {
                continue;
            };
            let rarity = self.rarity(found.len());
            for &(at, weight) in found {
                *scores.entry(at).or_default() += rarity * self.saturated(at, weight);
            }
        }
        let hit = |(position, score)| Hit { position, score };
        let mut hits: Vec<Hit> = scores.into_iter().map(hit).collect();
        // Stable: equal scores stay in document order.
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(limit);
        hits
    }

    fn rarity(&self, found: usize) -> f64 {
        let (all, found) = (self.lengths.len() as f64, found as f64);
        (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
    }

    fn saturated(&self, at: usize, weight: f64) -> f64 {
        let length = self.lengths.get(at).copied().unwrap_or_default();
        let norm = 1.0 - LENGTH + LENGTH * length / self.mean_length;
        weight * (SATURATION + 1.0) / (weight + SATURATION * norm)
    }
}

impl Words {
    /// Adds the words of a tool, each with its weight, and returns the sum of the weights.
    fn add(&mut self, at: usize, tool: &Document<'_>) -> f64 {
        let mut length = 0.0;
        let mut add = |text: &str, weight: f64| {
            each_word(text, |word| {
                length += weight;
                self.count(word, at, weight);
            });
        };
        add(tool.server, NAME);
        add(tool.name, NAME);
        add(tool.title.unwrap_or_default(), TITLE);
        add(tool.description.unwrap_or_default(), DESCRIPTION);
        if let Ok(Schema { properties }) = tool.input_schema.parse() {
            properties.iter().for_each(|(name, _)| add(name, ARGUMENT));
        }
        length
    }

    fn count(&mut self, word: &str, at: usize, weight: f64) {
        let number = self.numbers.get(word).copied().unwrap_or_else(|| {
            let number = self.postings.len();
            self.numbers.insert(word.into(), number);
            self.postings.push(Vec::new());
            number
        });
        let Some(found) = self.postings.get_mut(number) else {
            return;
        };
        match found.last_mut() {
            // Documents are added one after the other.
            Some((last, sum)) if *last == at => *sum += weight,
            _ => found.push((at, weight)),
        }
    }
}

/// The part of a schema that is indexed: the names of the arguments.
#[derive(serde::Deserialize)]
struct Schema {
    #[serde(default)]
    properties: RawMap,
}
