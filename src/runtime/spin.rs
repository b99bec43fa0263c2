//! Spinning before parking.

use std::time::{Duration, Instant};

use once_cell::sync::Lazy;

/// How long a waiting thread spins before it parks: waking a parked thread costs 5 to 50 microseconds.
const SPIN: Duration = Duration::from_micros(20);

/// Processors that this process may use, by affinity and the cgroup's quota.
pub fn processors() -> usize {
    static PROCESSORS: Lazy<usize> = Lazy::new(|| std::thread::available_parallelism().map_or(1, Into::into));
    *PROCESSORS
}

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
