//! Counts heap allocations, so that a figure does not depend on the machine.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The system's allocator, counted. A binary that prints allocations declares it:
/// `#[global_allocator] static HEAP: Counted = Counted;`.
pub struct Counted;

static COUNT: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// What was allocated while something ran.
#[derive(Clone, Copy, Debug)]
pub struct Allocations {
    /// How often, growing included.
    pub count: u64,
    /// How many bytes, growth counted as what was added.
    pub bytes: u64,
}

/// Runs `work` and counts what it allocates. Only for single-threaded programs.
pub fn allocations<R>(work: impl FnOnce() -> R) -> Allocations {
    let (count, bytes) = (COUNT.load(Relaxed), BYTES.load(Relaxed));
    let result = work();
    let counted = Allocations {
        count: COUNT.load(Relaxed) - count,
        bytes: BYTES.load(Relaxed) - bytes,
    };
    drop(result);
    counted
}

// SAFETY: forwards every call to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        BYTES.fetch_add(layout.size() as u64, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        BYTES.fetch_add(new_size.saturating_sub(layout.size()) as u64, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}
