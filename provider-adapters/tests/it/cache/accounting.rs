//! What Anthropic's documented rules of prompt caching make of a sequence of requests.
//!
//! A prefix is cached where a breakpoint was, in the order tools, instructions, messages. A request
//! reads the longest cached prefix that ends at one of its breakpoints or at most 20 blocks before,
//! counting the breakpoint's own. At most four breakpoints, prefixes of at least 1,024 tokens, and
//! five minutes without a read are enough to forget.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;

const MAX_BREAKPOINTS: usize = 4;
const LOOK_BACK: usize = 20;
const MIN_TOKENS: u64 = 1024;
const LIFETIME: u64 = 300;

/// A provider's cache: prefixes, and the second at which each is forgotten.
#[derive(Debug, Default)]
pub(crate) struct PromptCache {
    prefixes: HashMap<u64, u64>,
}

/// How a request's input tokens are billed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Bill {
    pub(crate) read: u64,
    pub(crate) write: u64,
    pub(crate) fresh: u64,
}

/// The end of a block.
struct End {
    prefix: u64,
    tokens: u64,
    breakpoint: bool,
}

impl PromptCache {
    /// Bills a request at a second, and caches its prefixes.
    pub(crate) fn bill(&mut self, body: &Value, now: u64) -> Result<Bill, String> {
        let ends = ends(body);
        let points: Vec<usize> = (0..ends.len()).filter(|at| ends[*at].breakpoint).collect();
        if points.len() > MAX_BREAKPOINTS {
            return Err(format!(
                "{} breakpoints, at most {MAX_BREAKPOINTS}",
                points.len()
            ));
        }
        self.prefixes.retain(|_, until| *until > now);
        let reach = |point: &usize| (point.saturating_sub(LOOK_BACK - 1)..=*point).rev();
        let hit = points
            .iter()
            .flat_map(reach)
            .filter(|at| self.prefixes.contains_key(&ends[*at].prefix))
            .max();
        let read = hit.map_or(0, |at| ends[at].tokens);
        for at in points.iter().copied().chain(hit) {
            if ends[at].tokens >= MIN_TOKENS {
                self.prefixes.insert(ends[at].prefix, now + LIFETIME);
            }
        }
        let cached = points.iter().map(|at| ends[*at].tokens);
        let cached = cached.filter(|tokens| *tokens >= MIN_TOKENS).max();
        let write = cached.unwrap_or(0).saturating_sub(read);
        let all = ends.last().map_or(0, |end| end.tokens);
        Ok(Bill {
            read,
            write,
            fresh: all - read - write,
        })
    }
}

/// Every block of a request in the order of the prompt.
fn ends(body: &Value) -> Vec<End> {
    let list = |key: &str| body[key].as_array().cloned().unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    body["model"].to_string().hash(&mut hasher);
    let mut tokens = 0;
    let mut ends = Vec::new();
    let mut block = |mut block: Value, role: &Value, hasher: &mut DefaultHasher| {
        let mark = block
            .as_object_mut()
            .and_then(|members| members.remove("cache_control"));
        let text = block.to_string();
        (role.to_string(), &text).hash(hasher);
        tokens += text.len().div_ceil(4) as u64;
        ends.push(End {
            prefix: hasher.finish(),
            tokens,
            breakpoint: mark.is_some(),
        });
    };
    let deferred = |tool: &Value| tool["defer_loading"] == true;
    for tool in list("tools").into_iter().filter(|tool| !deferred(tool)) {
        block(tool, &Value::Null, &mut hasher);
    }
    let system = match &body["system"] {
        Value::Null => Vec::new(),
        Value::Array(blocks) => blocks.clone(),
        text => vec![serde_json::json!({"type": "text", "text": text})],
    };
    for text in system {
        block(text, &Value::Null, &mut hasher);
    }
    // Other settings of these only forget the messages.
    (
        body["tool_choice"].to_string(),
        body["thinking"].to_string(),
    )
        .hash(&mut hasher);
    for message in list("messages") {
        for content in message["content"].as_array().into_iter().flatten() {
            block(content.clone(), &message["role"], &mut hasher);
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A message block of `tokens` tokens, with a breakpoint or without.
    fn block(number: usize, tokens: usize, breakpoint: bool) -> Value {
        let around = json!({"type": "text", "text": ""}).to_string().len();
        let text = format!("{number:0>width$}", width = tokens * 4 - around);
        let mut block = json!({"type": "text", "text": text});
        if breakpoint {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        block
    }

    fn body(blocks: &[Value]) -> Value {
        json!({"model": "m", "messages": [{"role": "user", "content": blocks}]})
    }

    fn bill(read: u64, write: u64, fresh: u64) -> Result<Bill, String> {
        Ok(Bill { read, write, fresh })
    }

    #[test]
    fn a_prefix_is_written_once_and_then_read() {
        let mut cache = PromptCache::default();
        let body = body(&[block(0, 2000, true), block(1, 100, false)]);
        assert_eq!(cache.bill(&body, 0), bill(0, 2000, 100));
        assert_eq!(cache.bill(&body, 1), bill(2000, 0, 100));
    }

    #[test]
    fn only_breakpoints_write() {
        let mut cache = PromptCache::default();
        assert_eq!(
            cache.bill(&body(&[block(0, 2000, false)]), 0),
            bill(0, 0, 2000)
        );
        assert_eq!(
            cache.bill(&body(&[block(0, 2000, true)]), 1),
            bill(0, 2000, 0)
        );
    }

    #[test]
    fn twenty_blocks_are_looked_at_and_no_more() {
        for (blocks, read) in [(19, 2000), (20, 0)] {
            let mut cache = PromptCache::default();
            cache.bill(&body(&[block(0, 2000, true)]), 0).unwrap();
            let mut longer = vec![block(0, 2000, false)];
            longer.extend((1..=blocks).map(|number| block(number, 50, number == blocks)));
            assert_eq!(
                cache.bill(&body(&longer), 1).unwrap().read,
                read,
                "{blocks} blocks"
            );
        }
    }

    #[test]
    fn short_prefixes_are_not_cached() {
        let mut cache = PromptCache::default();
        let body = body(&[block(0, 1023, true)]);
        assert_eq!(cache.bill(&body, 0), bill(0, 0, 1023));
        assert_eq!(cache.bill(&body, 1), bill(0, 0, 1023));
    }

    #[test]
    fn a_prefix_is_forgotten_five_minutes_after_its_last_use() {
        let mut cache = PromptCache::default();
        let body = body(&[block(0, 2000, true)]);
        cache.bill(&body, 0).unwrap();
        assert_eq!(cache.bill(&body, 299).unwrap().read, 2000);
        assert_eq!(cache.bill(&body, 598).unwrap().read, 2000);
        assert_eq!(cache.bill(&body, 898).unwrap().read, 0);
    }

    #[test]
    fn another_beginning_is_another_prefix() {
        let mut cache = PromptCache::default();
        cache.bill(&body(&[block(0, 2000, true)]), 0).unwrap();
        assert_eq!(
            cache.bill(&body(&[block(1, 2000, true)]), 1),
            bill(0, 2000, 0)
        );
    }

    #[test]
    fn a_fifth_breakpoint_is_refused() {
        let blocks: Vec<Value> = (0..5).map(|number| block(number, 2000, true)).collect();
        assert!(PromptCache::default().bill(&body(&blocks), 0).is_err());
    }
}
