//! Locks that survive `fork`.
//!
//! The standard library's futex locks keep all their state in place: a lock that the forking thread holds can be released
//! in the child, whatever other threads were doing. (`parking_lot` keeps its queues in one global table whose buckets
//! another thread may have locked at the moment of the fork.) Poisoning is ignored: a change behind these locks is either
//! one assignment or comes last, so a panic leaves nothing half-done.

use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;
/// From here, so that `tests/gate_models.rs` can have another.
pub use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::tsan;

/// The lock of one object.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

/// Access to what a [`Mutex`] protects.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    /// `None` only inside [`Condvar::wait_until`].
    guard: Option<std::sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    /// An unlocked lock.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tsan::acquire(self);
        MutexGuard { mutex: self, guard: Some(guard) }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_deref().unwrap_or_else(|| unreachable!("a guard that is in use has the lock"))
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_deref_mut().unwrap_or_else(|| unreachable!("a guard that is in use has the lock"))
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        tsan::release(self.mutex);
    }
}

/// Where threads wait for a change of what a [`Mutex`] protects.
#[derive(Debug, Default)]
pub struct Condvar(std::sync::Condvar);

impl Condvar {
    /// With nobody waiting.
    pub const fn new() -> Self {
        Self(std::sync::Condvar::new())
    }

    /// Wakes every waiting thread.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Wakes one waiting thread.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Releases the lock, waits until it is notified or the deadline has passed (`None`: for ever), and locks again.
    /// It may also return for no reason: the caller checks its condition and the clock.
    pub fn wait_until<'a, T>(&self, mut guard: MutexGuard<'a, T>, deadline: Option<Instant>) -> MutexGuard<'a, T> {
        tsan::release(guard.mutex);
        guard.guard = guard.guard.take().map(|inner| match deadline {
            None => self.0.wait(inner).unwrap_or_else(PoisonError::into_inner),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                self.0.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0
            }
        });
        tsan::acquire(guard.mutex);
        guard
    }
}
