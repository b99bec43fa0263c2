//! When nobody can look at a removed entry any more: `crossbeam_epoch`, with a collector for each process.
//!
//! A forked child starts a collector of its own. In the parent's some thread may have been in the middle of a look-up; in
//! the child that thread is gone and would hold back every release for ever.

use std::cell::RefCell;
use std::sync::atomic::{AtomicPtr, Ordering};

pub use crossbeam_epoch::{Atomic, Guard, Owned, Shared, unprotected};
use crossbeam_epoch::{Collector, LocalHandle};

use crate::runtime::fork;

static COLLECTOR: AtomicPtr<Collector> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// This thread's place in the collector of the process with this number.
    static LOCAL: RefCell<Option<(u32, LocalHandle)>> = const { RefCell::new(None) };
}

/// Holds back the release of everything that this thread may come to see while the guard lives.
pub fn pin() -> Guard {
    let pinned = LOCAL.try_with(|local| {
        if let Ok(local) = local.try_borrow()
            && let Some((process, handle)) = &*local
            && *process == fork::process()
        {
            return handle.pin();
        }
        let handle = collector().register();
        let guard = handle.pin();
        if let Ok(mut local) = local.try_borrow_mut() {
            // A parent's handle is forgotten: what waited there for its release may belong to threads that are gone.
            std::mem::forget(local.replace((fork::process(), handle)));
        }
        guard
    });
    // A thread whose locals are gone already (exit handlers) takes a place for this once.
    pinned.unwrap_or_else(|_| collector().register().pin())
}

fn collector() -> &'static Collector {
    let found = COLLECTOR.load(Ordering::Acquire);
    // SAFETY: a collector that was stored here is never freed.
    if let Some(collector) = unsafe { found.as_ref() } {
        return collector;
    }
    let fresh = Box::into_raw(Box::new(Collector::new()));
    match COLLECTOR.compare_exchange(found, fresh, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: just made, and never freed from here on.
        Ok(_) => unsafe { &*fresh },
        Err(other) => {
            // SAFETY: just made, and nobody has seen it.
            drop(unsafe { Box::from_raw(fresh) });
            // SAFETY: another thread's, which is never freed.
            unsafe { &*other }
        }
    }
}

/// In a forked child, before anything is looked up.
pub fn start_afresh() {
    COLLECTOR.store(std::ptr::null_mut(), Ordering::Release);
}
