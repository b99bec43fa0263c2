//! `fork`: a child has its parent's memory, but none of its threads.

use std::sync::atomic::{AtomicU32, Ordering};

static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Which process this is, counted from the one that loaded the library: contexts, streams and events of another are dead.
pub fn process() -> u32 {
    PROCESS.load(Ordering::Relaxed)
}
