//! What idle helpers watch, and sleep on: a number that grows with every job.

use super::primitives::{AtomicU32, AtomicUsize, Ordering, SPINS, futex, spin_loop};

/// See above.
#[derive(Debug)]
pub(super) struct Bell {
    rings: AtomicU32,
    sleeping: AtomicUsize,
}

impl Bell {
    pub(super) fn new() -> Self {
        Self { rings: AtomicU32::new(0), sleeping: AtomicUsize::new(0) }
    }

    /// How often it has rung.
    pub(super) fn rings(&self) -> u32 {
        self.rings.load(Ordering::SeqCst)
    }

    /// Rings for those that are awake.
    pub(super) fn ring(&self) {
        self.rings.fetch_add(1, Ordering::SeqCst);
    }

    /// Wakes up to `count` of those that sleep. To be called after [`Bell::ring`].
    pub(super) fn wake(&self, count: usize) {
        // Either this sees a helper that is about to sleep, or that helper sees the new number and doesn't.
        if count > 0 && self.sleeping.load(Ordering::SeqCst) > 0 {
            futex::wake(&self.rings, count);
        }
    }

    /// Waits until it has rung other than `seen` times: how often now. Uses up the `looks` that are left, and then sleeps;
    /// whoever was woken has [`SPINS`] again.
    pub(super) fn wait(&self, seen: u32, looks: &mut u32) -> u32 {
        loop {
            let now = self.rings();
            if now != seen {
                return now;
            }
            *looks = looks.saturating_sub(1);
            if *looks > 0 {
                spin_loop();
            } else {
                self.sleeping.fetch_add(1, Ordering::SeqCst);
                futex::wait(&self.rings, seen);
                self.sleeping.fetch_sub(1, Ordering::SeqCst);
                *looks = SPINS;
            }
        }
    }
}
