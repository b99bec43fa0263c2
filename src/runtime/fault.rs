//! Faults on demand: `ACLCPU_FAULT=task:N` or `malloc:N` makes the N-th queued task or device allocation of the process
//! fail, so that a caller's error paths (and ours) can be tested.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::config::{self, Fault};

/// Whether the task that is queued now is the one that is to fail.
pub fn next_task_fails() -> bool {
    static QUEUED: AtomicU64 = AtomicU64::new(0);
    matches!(config::fault(), Some(Fault::Task(n)) if QUEUED.fetch_add(1, Ordering::Relaxed) + 1 == n)
}

/// Whether the device allocation that is made now is the one that is to fail.
pub fn next_malloc_fails() -> bool {
    static MADE: AtomicU64 = AtomicU64::new(0);
    matches!(config::fault(), Some(Fault::Malloc(n)) if MADE.fetch_add(1, Ordering::Relaxed) + 1 == n)
}
