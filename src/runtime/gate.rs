//! Waiting for one thing to happen, once: a recorded event, a callback that a stream waits for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use once_cell::sync::Lazy;

use crate::sync::{Condvar, Mutex};
use crate::tsan;

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

/// Closed at first; once open it stays open.
#[derive(Debug, Default)]
pub struct Gate {
    open: AtomicBool,
    /// How many threads are parked: waking costs a system call also where there is nobody.
    parked: Mutex<usize>,
    changed: Condvar,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The gate is open.
    Open,
    /// The deadline passed.
    TimedOut,
    /// The waiter was told to give up.
    Interrupted,
}

impl Gate {
    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        let open = self.open.load(Ordering::Acquire);
        if open {
            tsan::acquire(self);
        }
        open
    }

    /// Opens it and lets everybody through.
    pub fn open(&self) {
        tsan::release(self);
        self.open.store(true, Ordering::Release);
        self.nudge();
    }

    /// Makes every waiter look at its `give_up` again.
    pub fn nudge(&self) {
        // Whoever is about to park has not looked at `open` yet, or is counted.
        if *self.parked.lock() > 0 {
            self.changed.notify_all();
        }
    }

    /// Waits until it is open, the deadline (`None`: never) has passed or `give_up` says so.
    pub fn wait(&self, deadline: Option<Instant>, give_up: impl Fn() -> bool) -> Outcome {
        if spin_until(|| self.is_open()) {
            return Outcome::Open;
        }
        let mut parked = self.parked.lock();
        loop {
            if self.is_open() {
                return Outcome::Open;
            }
            if give_up() {
                return Outcome::Interrupted;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Outcome::TimedOut;
            }
            *parked += 1;
            parked = self.changed.wait_until(parked, deadline);
            *parked -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_for_waiters_and_times_out_otherwise() {
        let gate = Gate::default();
        assert_eq!(gate.wait(Some(Instant::now()), || false), Outcome::TimedOut);
        assert_eq!(gate.wait(None, || true), Outcome::Interrupted);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| gate.wait(None, || false));
            gate.open();
            assert_eq!(waiter.join().unwrap(), Outcome::Open);
        });
        assert_eq!(gate.wait(Some(Instant::now()), || true), Outcome::Open);
    }
}
