//! What seats and bells are made of. The models in `tests/pool_models.rs` compile the same files with parts of the same names
//! that try every order in which threads can take their steps.

pub(super) use std::hint::spin_loop;
pub(super) use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

pub(super) use super::futex;
pub(super) use crate::sync::Mutex;

/// Looks at a number before sleeping until it changes: some tens of microseconds.
pub(super) const SPINS: u32 = 4000;

/// Memory whose users know who may touch it when.
#[derive(Debug)]
pub(super) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    pub(super) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    pub(super) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
