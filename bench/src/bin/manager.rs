//! Many servers at once: what the resource cache gives per second, against `moka` and a plain
//! mutexed map, what a catalogue of 10,000 tools costs, how long twenty programs take to start, and
//! what a thousand idle servers need.
//!
//! ```text
//! manager [part of a table's title]
//! ```

use bench::allocations::Counted;
use bench::{cache_race, catalog_times, server_pool};

#[global_allocator]
static HEAP: Counted = Counted;

fn main() {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return server_pool::serve();
    }
    cache_race::one_thread();
    cache_race::two_threads();
    catalog_times::run();
    server_pool::starts();
    server_pool::idle();
}
