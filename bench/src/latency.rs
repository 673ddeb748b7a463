//! How long calls took, in a space that does not grow with them.

use std::time::Duration;

/// A histogram whose buckets are about 2 % wide.
#[derive(Clone)]
pub struct Latencies {
    buckets: Vec<u32>,
    count: u64,
}

const PER_OCTAVE: f64 = 32.0;
const OCTAVES: usize = 40;

impl Default for Latencies {
    fn default() -> Self {
        Self { buckets: vec![0; OCTAVES * PER_OCTAVE as usize], count: 0 }
    }
}

impl Latencies {
    /// Counts calls that took so long.
    pub fn add(&mut self, latency: Duration, calls: u32) {
        let bucket = (latency.as_nanos().max(1) as f64).log2() * PER_OCTAVE;
        let last = self.buckets.len() - 1;
        self.buckets[(bucket as usize).min(last)] += calls;
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
        bucket.map_or(0.0, |bucket| ((bucket as f64 + 0.5) / PER_OCTAVE).exp2() / 1000.0)
    }
}
