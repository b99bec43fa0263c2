//! The working memory of one thread.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::ptr::NonNull;

/// Room for the accumulators and tiles of one unit at a time. Pages that no unit needs are never touched: a unit uses 260 KiB
/// at most.
pub struct Scratch {
    memory: NonNull<u8>,
}

// SAFETY: it owns its memory.
unsafe impl Send for Scratch {}

impl Scratch {
    /// Its size.
    pub const BYTES: usize = 360 << 10;
    /// A page: arrays at round offsets stand on whole lines, and no two threads share one.
    const LAYOUT: Layout = match Layout::from_size_align(Self::BYTES, 4096) {
        Ok(layout) => layout,
        Err(_) => panic!("a round size"),
    };

    /// Reserves it; pages come with their first use.
    pub fn new() -> Self {
        // SAFETY: the layout has a size.
        let memory = unsafe { alloc_zeroed(Self::LAYOUT) };
        Self { memory: NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(Self::LAYOUT)) }
    }

    /// Its first byte.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.memory.as_ptr()
    }

    /// Calls `body` with the calling thread's own scratch; with a fresh one where that is in use, or already gone because
    /// the thread is ending.
    pub fn with<R>(body: impl FnOnce(&mut Self) -> R) -> R {
        thread_local!(static OWN: RefCell<Option<Scratch>> = const { RefCell::new(None) });
        let mut body = Some(body);
        let mut call = |scratch: &mut Self| body.take().map(|body| body(scratch));
        let done = OWN.try_with(|own| {
            let mut own = own.try_borrow_mut().ok()?;
            call(own.get_or_insert_with(Self::new))
        });
        match done {
            Ok(Some(result)) => result,
            _ => call(&mut Self::new()).expect("not called so far"),
        }
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.memory.as_ptr(), Self::LAYOUT) }
    }
}
