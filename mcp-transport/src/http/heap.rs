//! Has the C library keep the memory of large replies for the next ones.
//!
//! glibc gives free memory back to the system when there is more than twice the largest block it
//! has ever freed, and asks for the same pages again with the next reply: a tenth to a fifth of the
//! time of a mebibyte. So a larger block is freed once, for the whole process. It is never written
//! to and takes no memory itself. Other allocators do not mind.

use std::hint::black_box;
use std::sync::Once;

/// Enough for one reply of a mebibyte at a time, with what the HTTP library reads ahead of it.
pub(crate) fn keep_for_one() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| free_a_block(3 << 19));
}

/// Enough for many.
pub(crate) fn keep_for_many() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| free_a_block(6 << 20));
}

fn free_a_block(bytes: usize) {
    drop(black_box(Vec::<u8>::with_capacity(bytes)));
}
