//! One recording of an event: a point in a stream's work that is reached once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use once_cell::sync::Lazy;

use super::gate::{Gate, Outcome};

/// A point in a stream's work. Whoever needs it keeps an `Arc` of it; the event only knows its latest.
#[derive(Debug, Default)]
pub struct Record {
    gate: Gate,
    /// Nanoseconds, 0 where none was taken.
    time: AtomicU64,
}

/// Time stamps come from the monotonic clock and are shown as time since 1970, as at the vendor's system clock's start.
static START: Lazy<(Instant, Duration)> =
    Lazy::new(|| (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()));

/// Starts the clock, before a fork.
pub(super) fn start_clock() {
    Lazy::force(&START);
}

impl Record {
    /// The stream has come to this point.
    pub fn complete(&self) {
        let (start, since_epoch) = *START;
        let now = (since_epoch + start.elapsed()).as_nanos();
        self.time.store(u64::try_from(now).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.gate.open();
    }

    /// The stream will never come to this point (its work was dropped): nobody is to wait for it.
    pub fn abandon(&self) {
        self.gate.open();
    }

    /// Whether nobody has to wait for it any more.
    pub fn is_over(&self) -> bool {
        self.gate.is_open()
    }

    /// Whether it is over without having been reached.
    pub fn is_abandoned(&self) -> bool {
        self.is_over() && self.time().is_none()
    }

    /// When it was reached, in nanoseconds; `None` where it was not.
    pub fn time(&self) -> Option<u64> {
        (self.is_over()).then(|| self.time.load(Ordering::Relaxed)).filter(|time| *time > 0)
    }

    /// Waits for it.
    pub fn wait(&self, deadline: Option<Instant>, give_up: impl Fn() -> bool) -> Outcome {
        self.gate.wait(deadline, give_up)
    }

    /// How many threads are parked until it is over.
    #[cfg(test)]
    pub fn waiters(&self) -> usize {
        self.gate.waiters()
    }

    /// Makes every waiter look at its `give_up` again.
    pub fn nudge(&self) {
        self.gate.nudge();
    }
}
