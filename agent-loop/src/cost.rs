//! The cost of tokens.

use provider_adapters::Usage;
use serde::{Deserialize, Serialize};

/// Prices of a model, in millionths of a currency per million tokens: 3.00 a million is 3,000,000.
///
/// ```
/// use agent_loop::Prices;
///
/// let prices = Prices::new(3_000_000, 15_000_000).with_cache(300_000, 3_750_000);
/// ```
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Prices {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

impl Prices {
    /// Creates prices per million tokens of the request, and of the reply. Cached tokens cost the same unless
    /// [`with_cache`](Self::with_cache) is set.
    pub fn new(input: u64, output: u64) -> Self {
        Self {
            input,
            output,
            cache_read: input,
            cache_write: input,
        }
    }

    /// Sets the prices of a million tokens read from, and written to, the provider's cache.
    #[must_use]
    pub fn with_cache(mut self, read: u64, write: u64) -> Self {
        self.cache_read = read;
        self.cache_write = write;
        self
    }

    /// What a reply cost, in millionths, rounded up.
    pub fn cost(&self, usage: &Usage) -> u64 {
        let read = usage.cache_read.unwrap_or(0);
        let write = usage.cache_write.unwrap_or(0);
        let fresh = usage.input.unwrap_or(0).saturating_sub(read + write);
        let parts = [
            (fresh, self.input),
            (read, self.cache_read),
            (write, self.cache_write),
            (usage.output.unwrap_or(0), self.output),
        ];
        let sum: u128 = parts
            .iter()
            .map(|(tokens, price)| u128::from(*tokens) * u128::from(*price))
            .sum();
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}
