//! Waiting for one thing to happen, once: a recorded event, a callback that a stream waits for.
//!
//! `tests/gate_models.rs` compiles this file with atomics and locks that try every order in which threads can take their steps.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::spin::linger_until;
use crate::sync::{AtomicBool, Condvar, Mutex};
use crate::tsan;

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

    /// How many threads are parked here.
    #[cfg(test)]
    #[allow(dead_code, reason = "the models look at no counts")]
    pub fn waiters(&self) -> usize {
        *self.parked.lock()
    }

    /// Waits until it is open, the deadline (`None`: never) has passed or `give_up` says so.
    pub fn wait(&self, deadline: Option<Instant>, give_up: impl Fn() -> bool) -> Outcome {
        if linger_until(deadline, || self.is_open()) {
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
