//! How long calls took, in a space that does not grow with them.

use std::time::Duration;

/// A histogram with 32 buckets of the same width for each power of two.
#[derive(Clone)]
pub struct Latencies {
    buckets: Vec<u32>,
    count: u64,
}

/// A bucket is identified by the highest bit and this number of bits after it.
const BITS: u32 = 5;

impl Default for Latencies {
    fn default() -> Self {
        Self { buckets: vec![0; 64 << BITS], count: 0 }
    }
}

impl Latencies {
    /// Counts calls that took so long.
    pub fn add(&mut self, latency: Duration, calls: u32) {
        let nanos = (latency.as_nanos() as u64).max(1);
        let highest = nanos.ilog2();
        // Without the highest bit, and cut or padded to that width.
        let rest = (nanos << (63 - highest) << 1) >> (64 - BITS);
        self.buckets[(highest << BITS) as usize + rest as usize] += calls;
        self.count += u64::from(calls);
    }

    /// Adds those of another.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(to, from)| *to += from);
        self.count += other.count;
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The time in microseconds within which this share of calls was done.
    pub fn at(&self, share: f64) -> f64 {
        let wanted = (self.count as f64 * share) as u64;
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|calls| {
            seen += u64::from(*calls);
            seen > wanted
        });
        let middle = |bucket: usize| {
            let (octave, rest) = (bucket >> BITS, bucket % (1 << BITS));
            (1.0 + (rest as f64 + 0.5) / f64::from(1 << BITS)) * (octave as f64).exp2()
        };
        bucket.map_or(0.0, |bucket| middle(bucket) / 1000.0)
    }
}
