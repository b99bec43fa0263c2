//! Spinning before parking.

use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::{Duration, Instant};

use crate::kernel::processors;

/// How long a waiting thread spins before it parks: waking a parked thread costs 5 to 50 microseconds.
const SPIN: Duration = Duration::from_micros(20);
/// How long a thread lingers that waits for work which is under way. On a virtual processor, work of 50 to 300 microseconds took
/// 1.2 to 2 times as long where the waiting thread was parked at its end.
const LINGER: Duration = Duration::from_millis(1);

/// Threads that linger now, and workers that have a task: more than there are processors, and lingering would be in the way. A
/// worker whose task is to wait counts twice while it lingers: it leaves room for those it waits for.
static BUSY: AtomicIsize = AtomicIsize::new(0);

/// Spins until `done` says so, for [`SPIN`] at most; whether it did. On one processor spinning only holds up whom it waits
/// for.
pub fn spin_until(done: impl Fn() -> bool) -> bool {
    if processors() == 1 {
        return done();
    }
    let start = Instant::now();
    loop {
        for _ in 0..16 {
            if done() {
                return true;
            }
            std::hint::spin_loop();
        }
        if start.elapsed() >= SPIN {
            return false;
        }
    }
}

/// Counts a thread as busy while it lives.
#[derive(Debug)]
pub struct Busy(());

impl Busy {
    /// The calling thread has something to do from here on.
    pub fn begin() -> Self {
        BUSY.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        BUSY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// As [`spin_until`], and then lingers until `deadline`, or for [`LINGER`] at most, as long as there are processors for all who
/// are busy. Other threads, of this program or another, have this one's processor whenever they want it.
pub fn linger_until(deadline: Option<Instant>, done: impl Fn() -> bool) -> bool {
    if spin_until(&done) {
        return true;
    }
    let _busy = Busy::begin();
    let end = Instant::now() + LINGER;
    let end = deadline.map_or(end, |deadline| deadline.min(end));
    let has_room = || BUSY.load(Ordering::Relaxed) <= processors().cast_signed();
    while has_room() && Instant::now() < end {
        std::thread::yield_now();
        for _ in 0..16 {
            if done() {
                return true;
            }
            std::hint::spin_loop();
        }
    }
    false
}

/// In a forked child: only the thread that forked is left.
pub(super) fn start_afresh() {
    BUSY.store(0, Ordering::Relaxed);
}
