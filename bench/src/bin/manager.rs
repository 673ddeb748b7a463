//! Many servers at once: what the resource cache gives per second, against `moka` and a plain
//! mutexed map, and what a catalogue of 10,000 tools costs.
//!
//! ```text
//! manager [part of a table's title]
//! ```

use bench::allocations::Counted;
use bench::{cache_race, catalog_times};

#[global_allocator]
static HEAP: Counted = Counted;

fn main() {
    cache_race::one_thread();
    cache_race::two_threads();
    catalog_times::run();
}
