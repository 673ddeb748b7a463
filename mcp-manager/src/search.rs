//! Finding the right tool among many, by words.

mod words;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mcp_jsonrpc::RawMap;

use self::words::each_word;
use crate::catalog::{Catalog, Entry};

/// How much a word counts by where it stands.
const NAME: f64 = 3.0;
const TITLE: f64 = 2.0;
const DESCRIPTION: f64 = 1.0;
const ARGUMENT: f64 = 1.0;

/// BM25: how soon repeating a word stops to count, and how much length does.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.6;

/// An index over the tools of a catalogue that are switched on: by name, title, description and
/// the names of their arguments. Building it reads every schema once; searching reads none.
///
/// The same catalogue and query give the same hits in the same order, on every machine.
#[derive(Debug)]
pub struct SearchIndex {
    tools: Vec<Indexed>,
    words: Words,
    mean_length: f64,
}

/// The words there are, and where each occurs.
#[derive(Debug, Default)]
struct Words {
    numbers: HashMap<Box<str>, usize>,
    /// By a word's number: tool, weight.
    postings: Vec<Vec<(usize, f64)>>,
}

#[derive(Debug)]
struct Indexed {
    entry: Arc<Entry>,
    length: f64,
}

/// A tool that fits a query.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Hit {
    /// The tool.
    pub entry: Arc<Entry>,
    /// How well it fits; comparable within one search only.
    pub score: f64,
}

impl SearchIndex {
    /// Indexes the tools of `catalog` that are switched on.
    pub fn new(catalog: &Catalog) -> Self {
        let mut tools = Vec::new();
        let mut words = Words::default();
        for entry in catalog.enabled_tools() {
            let length = words.add(tools.len(), entry);
            let entry = Arc::clone(entry);
            tools.push(Indexed { entry, length });
        }
        let total: f64 = tools.iter().map(|tool| tool.length).sum();
        Self {
            mean_length: (total / tools.len().max(1) as f64).max(1.0),
            tools,
            words,
        }
    }

    /// The tools that fit `query` best, at most `limit`, best first; equally good ones in
    /// catalogue order. A tool that has none of the words is no hit.
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
        let mut hits: Vec<(usize, f64)> = scores.into_iter().collect();
        // Stable: equal scores stay in catalogue order.
        hits.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        hits.truncate(limit);
        let hit = |(at, score): (usize, f64)| {
            let entry = Arc::clone(&self.tools.get(at)?.entry);
            Some(Hit { entry, score })
        };
        hits.into_iter().filter_map(hit).collect()
    }

    fn rarity(&self, found: usize) -> f64 {
        let (all, found) = (self.tools.len() as f64, found as f64);
        (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
    }

    fn saturated(&self, at: usize, weight: f64) -> f64 {
        let length = self.tools.get(at).map_or(0.0, |tool| tool.length);
        let norm = 1.0 - LENGTH + LENGTH * length / self.mean_length;
        weight * (SATURATION + 1.0) / (weight + SATURATION * norm)
    }
}

impl Words {
    /// Adds the words of a tool's definition, each with its weight; the sum of the weights.
    fn add(&mut self, at: usize, entry: &Entry) -> f64 {
        let mut length = 0.0;
        let mut add = |text: &str, weight: f64| {
            each_word(text, |word| {
                length += weight;
                self.count(word, at, weight);
            });
        };
        add(entry.server().as_str(), NAME);
        add(entry.name(), NAME);
        add(entry.tool().title.as_deref().unwrap_or_default(), TITLE);
        add(entry.description().unwrap_or_default(), DESCRIPTION);
        if let Ok(Schema { properties }) = entry.input_schema().parse() {
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
            // Tools come one after the other.
            Some((last, sum)) if *last == at => *sum += weight,
            _ => found.push((at, weight)),
        }
    }
}

/// What the index wants of a schema: the names of the arguments.
#[derive(serde::Deserialize)]
struct Schema {
    #[serde(default)]
    properties: RawMap,
}
